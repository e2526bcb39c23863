"""A language model of one's own: with one method, or with all of them but none that follows a schema."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from core.rag import CustomLanguageModel, KnowledgeBase, LanguageModel, Message
from core.rag.answering.understanding.analysis import QueryAnalysis
from core.rag.errors import InvalidInputError, LanguageModelError, StructuredOutputError
from core.rag.llm import Completion, Delta, Usage
from libs.dataloader import Document

MILL = Document(path="mill", content="The tide mill of Harrow turns with the ebb. Ada Lane owns it.")
BREAD = Document(path="bread", content="Bread is baked on Mondays, and sold when it turns brown.")
FACT = {"subject": "Ada Lane", "relation": "owns", "object": "tide mill", "sentence": "Ada Lane owns it."}
NAMED = [{"name": "Ada Lane", "type": "person"}, {"name": "tide mill", "type": "building"}]


def said_to(messages: Sequence[Message]) -> str:
    """What a model says that is asked for facts, for an analysis, or for an answer."""
    asked = "\n".join(message.content for message in messages)
    if '"facts"' in asked:
        return "Here you are:\n```json\n" + json.dumps({"entities": NAMED, "facts": [FACT]}) + "\n```"
    if '"intent"' in asked:
        return json.dumps({"entities": ["tide mill"], "intent": "factual"})
    return "The mill turns with the ebb [1]."


class Mine(CustomLanguageModel):
    """A model with as little as possible."""

    def __init__(self, *first: Any) -> None:
        self.first = list(first)
        self.asked: list[Sequence[Message]] = []

    @property
    def model(self) -> str:
        return "mine"

    async def answer(self, messages: Sequence[Message], *, temperature: float, max_tokens: int) -> str:
        assert temperature >= 0 < max_tokens
        self.asked.append(messages)
        said = self.first.pop(0) if self.first else said_to(messages)
        if isinstance(said, Exception):
            raise said
        return said


class OnlyText:
    """A model with all methods of the interface, which leaves schemas to others."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    @property
    def model(self) -> str:
        return "only-text"

    @property
    def usage(self) -> Usage:
        return Usage()

    async def complete(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, schema: object = None
    ) -> Completion[Any]:
        return Completion(self.text, None)

    async def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        yield Delta(said_to(messages))
        yield Delta("", "stop", Usage())

    async def close(self) -> None: ...


async def test_one_method_is_enough_for_answers_and_facts() -> None:
    model = Mine()
    async with KnowledgeBase.open("embedded::memory:", language_model=model) as kb:
        report = await kb.ingest(MILL, facts=True)
        answer = await kb.ask("When does the tide mill turn?")
        owned = await kb.neighbors("Ada Lane", relations=["owns"])

    assert report.facts is not None
    assert (report.facts["facts"], report.facts["failed"]) == (1, [])
    assert [node.name for node in owned.nodes] == ["tide mill"]
    assert (answer.text, answer.supported) == ("The mill turns with the ebb [1].", True)
    assert answer.metrics.analysis_metrics.llm_parsing_success
    assert model.usage.requests == len(model.asked) == 3


async def test_an_answer_that_does_not_follow_the_schema_is_asked_for_once_more() -> None:
    question = [Message("user", "What is it about?")]
    model = Mine("It is about a mill.", '{"entities": ["mill"], "intent": "factual"}')
    found = await model.complete(question, temperature=0, max_tokens=100, schema=QueryAnalysis)
    assert (found.parsed.entities, found.usage.requests) == (["mill"], 2)
    assert [message.role for message in model.asked[1]] == ["user", "user", "assistant", "user"]

    with pytest.raises(StructuredOutputError, match="mine does not answer in the requested form"):
        await Mine("No.", "No.").complete(question, temperature=0, max_tokens=100, schema=QueryAnalysis)
    with pytest.raises(InvalidInputError, match="The answer of mine has to be text, not dict"):
        await Mine({"text": "No."}).complete(question, temperature=0, max_tokens=100)


async def test_a_model_that_fails_at_the_analysis_still_answers(caplog: pytest.LogCaptureFixture) -> None:
    model = Mine(LanguageModelError("The service is busy."))
    async with KnowledgeBase.open("embedded::memory:", language_model=model) as kb:
        await kb.ingest(MILL)
        answer = await kb.ask("When does the tide mill turn?")
    assert answer.text == "The mill turns with the ebb [1]."
    assert "The service is busy." in caplog.text


async def test_a_model_that_leaves_schemas_to_others_is_read_as_far_as_possible(
    caplog: pytest.LogCaptureFixture,
) -> None:
    models: list[LanguageModel] = [OnlyText("Hello."), OnlyText('{"entities": ["tide mill"], "intent": "factual"}')]
    analysed = []
    for model in models:
        async with KnowledgeBase.open("embedded::memory:", language_model=model) as kb:
            await kb.ingest(MILL)
            answer = await kb.ask("When does the tide mill turn?")
            assert answer.text == "The mill turns with the ebb [1]."
            assert (await kb.ask("Who owns the tide mill?", "drift")).citations
            analysed.append(answer.metrics.analysis_metrics.llm_parsing_success)
            failed = (await kb.extract_facts()).failed
            assert "only-text was asked for a PassageFacts" in "".join(failed.values())
    assert analysed == [False, True]
    assert "core.rag.CustomLanguageModel follows schemas" in caplog.text
