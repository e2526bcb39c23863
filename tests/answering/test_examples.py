"""The examples of the description of the Knowledge RAG flow, in Python."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.context import build_context
from core.rag.answering.flow import AnswerChunk, KnowledgeRAGFlow
from core.rag.answering.types import FoundEntity, FoundFact, Knowledge
from core.rag.answering.understanding.analysis import fallback_entities
from core.rag.answering.understanding.intents import intent_of, subject_of
from tests.answering.models import Talking
from tests.answering.people import fill
from tests.dbhandler.kit import Engine
from tests.fakes.openai_chat import Stream


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await fill(opened)
        yield opened


async def test_analysis_with_a_model(kb: KnowledgeBase, said: Talking) -> None:
    said.chat.then(json.dumps({"entities": ["Alice", "Google", "projects"], "intent": "factual"}))
    flow = KnowledgeRAGFlow(kb, said.model)
    found = await flow.analyze_query_node({"query": "What projects has Alice worked on at Google?"})
    assert found.extracted_entities == ["Alice", "Google", "projects"]
    assert found.query_intent == "factual"
    assert (said.chat.bodies[0]["temperature"], said.chat.bodies[0]["max_tokens"]) == (0.1, 1024)
    assert "stream" not in said.chat.bodies[0] or not said.chat.bodies[0]["stream"]


async def test_query_analysis_only(kb: KnowledgeBase) -> None:
    found = await KnowledgeRAGFlow(kb).analyze_query_node(
        {"query": "Tell me about the relationship between Alice and Bob"}
    )
    assert found.extracted_entities == ["Alice", "Bob"]
    assert found.query_intent == "relationship"


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("Compare Alice and Carol", ["Alice", "Carol"]),
        ("List Carol's projects", ["Carol"]),
        ("Vergleiche Alice und Carol", ["Alice", "Carol"]),
        ("Please describe Carol", ["Carol"]),
        ("Show Boat, a play by Carol", ["Show Boat", "Carol"]),
    ],
)
async def test_the_verb_of_a_request_is_no_part_of_a_name(kb: KnowledgeBase, query: str, entities: list[str]) -> None:
    await kb.add_triples([("Show Boat", "is_a", "play")])
    found = await KnowledgeRAGFlow(kb).analyze_query_node({"query": query})
    assert [name for name in found.extracted_entities if name != "play"] == entities


async def test_basic_query_processing(kb: KnowledgeBase) -> None:
    result = await KnowledgeRAGFlow(kb).run({"query": "What projects has Alice worked on?", "session_id": "user-123"})
    assert "Lighthouse" in result.final_message
    assert result.mermaid_diagram.startswith("graph LR")
    assert '["Alice"]' in result.mermaid_diagram
    messages = await kb.client.get_conversation_messages("user-123")
    assert [message["role"] for message in messages] == ["user", "assistant"]


async def test_streaming_response(kb: KnowledgeBase, said: Talking) -> None:
    said.chat.then(
        json.dumps({"entities": ["Alice", "Google"], "intent": "relationship"}),
        Stream(["Alice started ", "working at Google ", "in 2020 [1]."]),
    )
    flow = KnowledgeRAGFlow(kb, said.model)
    parts: list[str] = []
    flow.set_callbacks(on_new_chunk=lambda chunk: parts.append(chunk.choices[0].delta.content))
    result = await flow.run({"query": "How is Alice connected to Google?"})
    assert len(parts) == 3
    assert "".join(parts) == result.final_message == "Alice started working at Google in 2020 [1]."
    asked = said.chat.bodies[1]
    assert (asked["temperature"], asked["max_tokens"], asked["stream"]) == (0.3, 4096, True)
    assert result.metrics.response_metrics.streaming_chunks == 3
    assert result.metrics.usage.requests == 2


async def test_a_callback_may_be_asynchronous(kb: KnowledgeBase, said: Talking) -> None:
    said.chat.then(json.dumps({"entities": ["Alice"], "intent": "factual"}), Stream(["Alice started ", "in 2020 [1]."]))
    flow = KnowledgeRAGFlow(kb, said.model)
    parts: list[str] = []

    async def send(chunk: AnswerChunk) -> None:
        await asyncio.sleep(0)
        parts.append(chunk.choices[0].delta.content)

    flow.set_callbacks(on_new_chunk=send)
    await flow.run({"query": "When did Alice start at Google?"})
    assert "".join(parts) == "Alice started in 2020 [1]."


def test_the_format_of_the_context() -> None:
    knowledge = Knowledge(
        entities=[
            FoundEntity("1", "Alice", summary="Software Engineer at Google", score=3),
            FoundEntity("2", "Bob", summary="Product Manager at Microsoft", score=3),
        ],
        facts=[
            FoundFact("1", "Alice", "3", "Google", "WORKS_FOR", "Alice started working at Google in 2020"),
            FoundFact(
                "2", "Bob", "1", "Alice", "COLLABORATES_WITH", "They worked together on the search optimization project"
            ),
        ],
    )
    assert build_context(knowledge).text == (
        "<definitions>Alice: Software Engineer at Google, Bob: Product Manager at Microsoft</definitions>\n\n"
        "<facts>Alice WORKS_FOR Google, Alice started working at Google in 2020. Bob COLLABORATES_WITH Alice, They "
        "worked together on the search optimization project.</facts>"
    )


@pytest.mark.parametrize(
    "question, intent",
    [
        ("What is Alice's role at Google?", "factual"),
        ("How is Alice connected to Bob?", "relationship"),
        ("Tell me about Alice's background", "summary"),
        ("What else should I know about this project?", "exploration"),
    ],
)
async def test_the_four_intents_take_the_flow(kb: KnowledgeBase, question: str, intent: str) -> None:
    answer = await kb.ask(question)
    assert (answer.strategy, answer.intent) == ("flow", intent)
    assert answer.metrics.analysis_metrics.intent_classification == intent


def test_a_discovery_is_a_thing_and_no_wish_to_explore() -> None:
    questions = ("Help me discover papers on wheels", "What is a discovery system?", "Was ist ein Discovery-System?")
    assert list(map(intent_of, questions)) == ["exploration", "factual", "factual"]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("How do I connect to the VPN?", "factual"),
        ("How can I link to another page?", "factual"),
        ("How to disconnect the printer?", "factual"),
        ("Wie stelle ich die Verbindung zum Drucker her?", "factual"),
        ("How is the VPN connected to the printer?", "relationship"),
        ("How are you connected to Bob?", "relationship"),
        ("How do I find the link between Alice and Bob?", "relationship"),
        ("How do I tell how Alice is connected to Bob?", "relationship"),
        ("Wie sind Alice und Bob verbunden?", "relationship"),
    ],
)
def test_who_wants_to_connect_something_does_not_ask_for_relations(question: str, intent: str) -> None:
    assert intent_of(question) == intent
    assert ("connect" in subject_of(question)) == ("connect" in question and intent == "factual")


async def test_the_style_follows_the_intent(kb: KnowledgeBase, said: Talking) -> None:
    prompts = []
    for intent in ("factual", "relationship", "summary", "exploration"):
        said.chat.then(json.dumps({"entities": ["Alice"], "intent": intent}), "Alice leads Lighthouse [1].")
        await KnowledgeRAGFlow(kb, said.model).run("Alice and Lighthouse?")
        prompts.append(said.chat.bodies[-1]["messages"][0]["content"])
    assert len(set(prompts)) == 4


async def test_where_nothing_is_recognised_long_words_stand_for_entities(kb: KnowledgeBase) -> None:
    found = await KnowledgeRAGFlow(kb).analyze_query_node({"query": "when should one water the flowers"})
    assert found.fallback
    assert found.query_intent == "factual"
    assert set(found.extracted_entities) == {"water", "flowers"}
    assert fallback_entities("how do I fix it") == []


async def test_a_model_that_answers_nonsense_is_replaced_by_rules(kb: KnowledgeBase, said: Talking) -> None:
    said.chat.then("nonsense", "{}", "Alice is a software engineer at Google [1].")
    result = await KnowledgeRAGFlow(kb, said.model).run("How is Alice connected to Google?")
    assert result.intent == "relationship"
    assert not result.metrics.analysis_metrics.llm_parsing_success
    assert result.text == "Alice is a software engineer at Google [1]."


async def test_each_stage_can_be_called_alone(kb: KnowledgeBase) -> None:
    flow = KnowledgeRAGFlow(kb)
    analysis = await flow.analyze_query_node("Where did Bob live before?")
    knowledge = await flow.retrieve_knowledge_node(analysis)
    assert {"Bob"} <= {entity.name for entity in knowledge.entities}
    context = flow.build_context_node(knowledge)
    assert "[1]" in context.text
    response = await flow.generate_response_node(analysis, context)
    assert "Oslo" in response.checked.text


async def test_the_metrics_of_every_stage(kb: KnowledgeBase) -> None:
    answer = await kb.ask("How is Alice connected to Bob?")
    metrics = answer.metrics
    assert metrics.analysis_metrics.entities_extracted == 2
    assert not metrics.analysis_metrics.fallback_used
    assert metrics.search_metrics.sql_results >= 4
    assert metrics.search_metrics.passages >= 3
    assert metrics.search_metrics.total_retrieval_time > 0
    assert metrics.response_metrics.knowledge_context_length == len(answer.context)
    assert metrics.response_metrics.response_length == len(answer.text)
    assert metrics.response_metrics.cited_facts_count == len(answer.citations)
    assert metrics.response_metrics.streaming_chunks == 0
    assert metrics.total_seconds >= metrics.search_metrics.total_retrieval_time
