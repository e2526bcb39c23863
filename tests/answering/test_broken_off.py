"""Answers that end before their end: what their conversation has of them then, and how it goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from core.rag import KnowledgeBase, KnowledgeRAGFlow
from core.rag.answering.events import DoneEvent, TokenEvent
from core.rag.answering.graph_index.search import IndexSearch
from core.rag.dbhandler import MemGraphClient
from core.rag.errors import LanguageModelError, StoreUnavailableError, StreamCutError
from core.rag.llm import Completion, Usage
from core.rag.llm.base import Delta
from libs.dataloader import Document
from tests.answering.models import Talking
from tests.answering.people import fill
from tests.dbhandler.kit import Engine
from tests.fakes.openai_chat import Stream
from tests.fakes.openai_server import fail

ANALYSIS = json.dumps({"entities": ["Alice"], "intent": "factual"})
QUESTION = "What does Alice lead?"


async def messages(kb: KnowledgeBase) -> list[tuple[str, str, Any]]:
    return [
        (message["role"], message["content"], message["metadata"].get("cut"))
        for message in await kb.client.get_conversation_messages("talk")
    ]


async def listen(kb: KnowledgeBase, begun: asyncio.Event) -> None:
    async with contextlib.aclosing(kb.ask_stream(QUESTION, conversation_id="talk", user_id="ann")) as events:
        async for event in events:
            if isinstance(event, TokenEvent):
                begun.set()


async def test_who_leaves_an_answer_finds_what_was_told_of_it(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS, Stream(["Alice leads ", "Lighthouse [1]."], proceed=asyncio.Event()), ANALYSIS, "Yes [1].")
    async with contextlib.aclosing(talker.ask_stream(QUESTION, conversation_id="talk")) as events:
        async for event in events:
            if isinstance(event, TokenEvent):
                break
    assert await messages(talker) == [("user", QUESTION, None), ("assistant", "Alice leads", "stopped")]
    await talker.ask("And now?", conversation_id="talk")
    assert "assistant: Alice leads" in said.chat.bodies[-1]["messages"][1]["content"]
    assert [cut for _, _, cut in await messages(talker)] == [None, "stopped", None, None]


async def test_so_does_who_is_cancelled_again_and_again(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS, Stream(["Alice leads ", "Lighthouse [1]."], proceed=asyncio.Event()))
    begun = asyncio.Event()
    listening = asyncio.create_task(listen(talker, begun))
    await begun.wait()
    while not listening.done():  # as servers do that give a request up
        listening.cancel()
        await asyncio.sleep(0)
    assert listening.cancelled()
    assert await messages(talker) == [("user", QUESTION, None), ("assistant", "Alice leads", "stopped")]
    [answer] = [memory for memory in await talker.memories("talk") if memory.role == "assistant"]
    assert answer.user_id == "ann"


async def test_a_whole_answer_is_not_recorded_as_a_cut_one(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS, "Alice leads Lighthouse [1].")
    async with contextlib.aclosing(talker.ask_stream(QUESTION, conversation_id="talk")) as events:
        async for event in events:
            if isinstance(event, DoneEvent):
                break
    assert await messages(talker) == [("user", QUESTION, None), ("assistant", "Alice leads Lighthouse [1].", None)]


async def test_an_answer_that_reaches_its_maximum_length_says_so_in_the_conversation(
    talker: KnowledgeBase, said: Talking
) -> None:
    said.chat.then(ANALYSIS, Stream(["Alice leads ", "Light"], finish_reason="length"))
    await talker.ask(QUESTION, conversation_id="talk")
    assert [cut for _, _, cut in await messages(talker)] == [None, "length"]


async def test_of_a_stream_that_the_model_cuts_off_what_was_told_stays(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS, Stream(["Alice ", "leads"], cut=True))
    with pytest.raises(StreamCutError):
        async for _ in talker.ask_stream(QUESTION, conversation_id="talk"):
            pass
    [question, (role, text, cut)] = await messages(talker)
    assert (question[0], role, cut) == ("user", "assistant", "failed")
    assert text and "Alice leads".startswith(text.strip())


async def test_so_does_what_the_error_has_where_nothing_was_streamed(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS, Stream(["Alice ", "leads"], cut=True), ANALYSIS, "Lighthouse [1].")
    with pytest.raises(StreamCutError) as caught:
        await talker.ask(QUESTION, conversation_id="talk")
    assert await messages(talker) == [("user", QUESTION, None), ("assistant", caught.value.received, "failed")]
    await talker.ask("Go on.", conversation_id="talk")
    assert "assistant: Alice leads" in said.chat.bodies[-1]["messages"][1]["content"]


class Own:
    """A model that is none of ours: something happens after the first words."""

    model, usage = "own", Usage()

    def __init__(self, happens: Callable[[], Awaitable[object]]) -> None:
        self._happens = happens

    async def complete(self, *_: Any, schema: Any = None, **__: Any) -> Completion[Any]:
        return Completion(ANALYSIS, schema.model_validate_json(ANALYSIS))

    async def stream(self, *_: Any, **__: Any) -> AsyncGenerator[Delta, None]:
        yield Delta("Alice leads ")
        await self._happens()
        yield Delta("Lighthouse [1].")
        yield Delta("", "stop", Usage())

    async def close(self) -> None: ...


async def test_so_it_is_where_a_model_fails_in_a_way_of_its_own(engine: Engine) -> None:
    async def fails() -> None:
        raise RuntimeError("What is this?")

    async with engine.knowledge(language_model=Own(fails)) as kb:
        await fill(kb)
        with pytest.raises(RuntimeError, match="What is this"):
            async for _ in kb.ask_stream(QUESTION, conversation_id="talk"):
                pass
        assert await messages(kb) == [("user", QUESTION, None), ("assistant", "Alice leads", "failed")]


async def test_an_answer_refers_to_a_document_that_is_deleted_meanwhile(engine: Engine) -> None:
    """Else its conversation would have the id of a chunk as an address."""
    document = Document(path="notes/lighthouse.md", content="Alice leads Lighthouse.")

    async def deleted() -> None:
        await kb.delete("notes/lighthouse.md")

    async with engine.knowledge(language_model=Own(deleted)) as kb:
        await kb.ingest([document])
        await kb.ask(QUESTION, conversation_id="talk")
        [_, answer] = await kb.client.get_conversation_messages("talk")
        assert len(answer["references"]) == 1 and answer["references"][0].endswith("notes/lighthouse.md")
        await kb.ingest([document])
        [_, answer] = await kb.client.get_conversation_messages("talk")
        assert answer["references"] == ["notes/lighthouse.md"]


async def test_the_numbers_of_earlier_answers_are_not_told_again(talker: KnowledgeBase, said: Talking) -> None:
    """They are those of other passages now, and a model would cite them."""
    said.chat.then(ANALYSIS, "Alice leads Lighthouse [1].", ANALYSIS, "Yes [1].")
    await talker.ask(QUESTION, conversation_id="talk")
    await talker.ask("Is item [1] of my list right?", conversation_id="talk")
    await talker.ask("And now?", conversation_id="talk")
    told = said.chat.bodies[-1]["messages"][1]["content"].split("Said before:")[1].split("The sources:")[0]
    assert "assistant: Alice leads Lighthouse.\n" in told
    assert "user: Is item [1] of my list right?" in told


async def test_of_an_answer_that_nobody_saw_the_question_stays_and_can_be_asked_again(
    talker: KnowledgeBase, said: Talking
) -> None:
    said.chat.then(ANALYSIS, stopping := Stream(["Alice ", "leads"], proceed=asyncio.Event()))
    said.chat.then(ANALYSIS, "Alice leads Lighthouse [1].")
    asking = asyncio.create_task(talker.ask(QUESTION, conversation_id="talk"))
    while not stopping.sent:
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await messages(talker) == [("user", QUESTION, None)]
    await talker.ask(f" {QUESTION} ", conversation_id="talk")
    assert await messages(talker) == [("user", QUESTION, None), ("assistant", "Alice leads Lighthouse [1].", None)]
    assert f"user: {QUESTION}" not in said.chat.bodies[-1]["messages"][1]["content"]


@pytest.mark.parametrize(("seen", "kept"), [(True, ["user", "assistant"]), (False, ["user"])])
async def test_of_a_flow_that_is_left_is_kept_what_was_seen(
    talker: KnowledgeBase, said: Talking, seen: bool, kept: list[str]
) -> None:
    said.chat.then(ANALYSIS, stopping := Stream(["Alice leads ", "Lighthouse."], proceed=asyncio.Event()))
    flow, told = KnowledgeRAGFlow(talker), asyncio.Event()
    flow.set_callbacks((lambda _: told.set()) if seen else None)
    running = asyncio.create_task(flow.run({"query": QUESTION, "session_id": "talk"}))
    while not (told.is_set() if seen else stopping.sent):
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [role for role, _, _ in await messages(talker)] == kept


async def test_the_same_question_of_somebody_else_is_another_one(talker: KnowledgeBase, said: Talking) -> None:
    said.chat.then(ANALYSIS)
    said.server.then(None, fail(401))
    with pytest.raises(LanguageModelError):
        await talker.ask(QUESTION, conversation_id="talk", user_id="ann")
    said.chat.then(ANALYSIS, "Lighthouse [1].")
    await talker.ask(QUESTION, conversation_id="talk", user_id="bob")
    assert [role for role, _, _ in await messages(talker)] == ["user", "user", "assistant"]


async def test_a_question_that_the_caller_has_recorded_is_not_recorded_again(
    talker: KnowledgeBase, said: Talking
) -> None:
    said.chat.then(ANALYSIS, "Alice leads Lighthouse [1].")
    await talker.remember("talk", "user", QUESTION)
    await talker.ask(QUESTION, conversation_id="talk")
    assert [role for role, _, _ in await messages(talker)] == ["user", "assistant"]


async def test_that_it_cannot_be_recorded_hides_no_reason(
    talker: KnowledgeBase, said: Talking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def down(*_: Any, **__: Any) -> str:
        raise StoreUnavailableError("The graph is gone.")

    said.chat.then(ANALYSIS, Stream(["Alice leads ", "Lighthouse [1]."], proceed=asyncio.Event()))
    begun = asyncio.Event()
    listening = asyncio.create_task(listen(talker, begun))
    await begun.wait()
    monkeypatch.setattr(talker.client, "add_message", down)
    listening.cancel()
    with caplog.at_level(logging.WARNING), pytest.raises(asyncio.CancelledError):
        await listening
    assert "The graph is gone." in caplog.text


async def test_an_answer_that_cannot_be_recorded_is_given_and_says_so(
    talker: KnowledgeBase, said: Talking, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = talker.client.add_message

    async def full(conversation: str, content: str, role: Any, **options: Any) -> str:
        if role == "assistant":
            raise StoreUnavailableError("The graph is gone.")
        return await add(conversation, content, role, **options)

    async def gone(*_: Any, **__: Any) -> None:
        raise StoreUnavailableError("The graph is gone.")

    monkeypatch.setattr(talker.client, "add_message", full)
    monkeypatch.setattr(talker.client, "record_retrieved", gone)
    said.chat.then(ANALYSIS, "Alice leads Lighthouse [1].")
    answer = await talker.ask(QUESTION, conversation_id="talk")
    assert (answer.text, answer.message_id) == ("Alice leads Lighthouse [1].", None)
    assert answer.details == {"not_recorded": "The graph is gone."}
    assert await messages(talker) == [("user", QUESTION, None)]


@pytest.mark.parametrize("place", [(MemGraphClient, "known_terms"), (IndexSearch, "names_in")], ids=["words", "names"])
async def test_a_graph_that_cannot_be_reached_is_waited_for_once(
    place: tuple[type, str], talker: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: Any, **__: Any) -> Any:  # after as long as it tries
        raise StoreUnavailableError("The graph is gone.")

    monkeypatch.setattr(*place, down)
    with pytest.raises(StoreUnavailableError, match="gone"):
        await talker.ask("Which project does Alice lead at Lighthouse?", extracts=True)
