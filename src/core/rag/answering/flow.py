"""The Knowledge RAG flow: analyze_query -> retrieve_knowledge -> build_context -> generate_response."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.rag.answering.context import build_context
from core.rag.answering.events import AnalysisEvent, DoneEvent, Event, TokenEvent
from core.rag.answering.metrics import Metrics
from core.rag.answering.pipeline import answered
from core.rag.answering.reaching import tried_once
from core.rag.answering.recording import recorded
from core.rag.answering.response import Response, generate_response
from core.rag.answering.retrieval import RetrievalOptions, retrieve_knowledge
from core.rag.answering.services import AnsweringBase, Services, checked_base, checked_instructions
from core.rag.answering.types import Analysis, Answer, Context, Knowledge
from core.rag.answering.understanding.analysis import analyze_query
from core.rag.errors import InvalidInputError
from core.rag.llm.base import checked_model

if TYPE_CHECKING:
    from core.rag.llm import LanguageModel


@dataclass(frozen=True, slots=True)
class ChunkDelta:
    """The text of a part of a streamed answer."""

    content: str


@dataclass(frozen=True, slots=True)
class ChunkChoice:
    """The only choice of a part."""

    delta: ChunkDelta


@dataclass(frozen=True, slots=True)
class AnswerChunk:
    """A part of a streamed answer, in the form that chat clients know: ``chunk.choices[0].delta.content``."""

    choices: tuple[ChunkChoice, ...]


OnNewChunk = Callable[[AnswerChunk], Awaitable[None] | None]


async def flow_events(question: str, services: Services) -> AsyncGenerator[Event, None]:
    """Answer a question, step by step."""
    metrics, started = Metrics(), time.monotonic()
    services = tried_once(services)
    analysis = await analyze_query(
        question, services.kb.client, services.model, metrics, services.dialogue, services.before
    )
    yield AnalysisEvent(analysis)
    options = RetrievalOptions(
        passages=services.passages, search=services.search, before=services.before, earlier=services.earlier
    )
    knowledge = await retrieve_knowledge(analysis, services.kb, options, metrics)
    async with contextlib.aclosing(answered("flow", services, analysis, knowledge, metrics, started)) as events:
        async for event in events:
            yield event


class KnowledgeRAGFlow:
    """The flow strategy as one object, whose stages can also be called one by one.

    A state is a mapping with ``query``, and perhaps ``session_id``: the conversation in which the question, what was
    retrieved and the answer are recorded.

    Example:
        >>> flow = KnowledgeRAGFlow(kb)
        >>> flow.set_callbacks(on_new_chunk=lambda chunk: print(chunk.choices[0].delta.content, end=""))
        >>> result = await flow.run({"query": "How is Alice connected to Google?"})
        >>> print(result.final_message, result.mermaid_diagram)
    """

    def __init__(
        self, kb: AnsweringBase, model: LanguageModel | None = None, *, instructions: str | None = None
    ) -> None:
        """Prepare.

        Args:
            kb: The knowledge base.
            model: The language model; ``None``: that of the knowledge base.
            instructions: What else to tell the model about its answer; ``None``: ``MGRAG_ANSWER_INSTRUCTIONS``.

        Raises:
            InvalidInputError: on what is no knowledge base, language model or text.
        """
        self._kb = checked_base(kb)
        self._model = checked_model(model or kb.language_model, "stream")
        self._instructions = checked_instructions(kb.client, instructions)
        self._on_new_chunk: OnNewChunk | None = None

    def set_callbacks(self, on_new_chunk: OnNewChunk | None = None) -> None:
        """Set the functions that receive the parts of answers as they arrive. They may be asynchronous.

        Raises:
            InvalidInputError: on what is no function.
        """
        if on_new_chunk is not None and not callable(on_new_chunk):
            raise InvalidInputError(
                f"on_new_chunk must be a function that takes a part of an answer, not {type(on_new_chunk).__name__}."
            )
        self._on_new_chunk = on_new_chunk

    async def run(self, state: Mapping[str, str] | str) -> Answer:
        """Run all four stages.

        Args:
            state: The question, or a mapping with ``query`` and perhaps ``session_id``.

        Raises:
            InvalidInputError: if the state has no question, or anything that is not known.
            LanguageModelError: if the model fails while it writes the answer.
            StoreError: if the graph fails.
        """
        question = _question(state)
        session = state.get("session_id") if isinstance(state, Mapping) else None
        services = Services(self._kb, self._model, instructions=self._instructions)
        told = self._on_new_chunk is not None
        async with contextlib.aclosing(recorded(flow_events, question, services, session, told=told)) as events:
            async for event in events:
                if isinstance(event, TokenEvent) and self._on_new_chunk is not None:
                    done = self._on_new_chunk(AnswerChunk((ChunkChoice(ChunkDelta(event.text)),)))
                    if inspect.isawaitable(done):
                        await done
                if isinstance(event, DoneEvent):
                    return event.answer
        raise AssertionError("an answer ends with its end")

    async def analyze_query_node(self, state: Mapping[str, str] | str) -> Analysis:
        """Run the first stage: entities and intent (``extracted_entities``, ``query_intent``)."""
        return await analyze_query(_question(state), self._kb.client, self._model)

    async def retrieve_knowledge_node(self, analysis: Analysis) -> Knowledge:
        """Run the second stage: entities, relations and passages, and whether they are relevant to the question."""
        return await retrieve_knowledge(analysis, self._kb)

    def build_context_node(self, knowledge: Knowledge) -> Context:
        """Run the third stage: the context and the diagram; empty if nothing is relevant, so that no model guesses."""
        unsaid = Knowledge(computed=knowledge.computed, failure=knowledge.failure)
        return build_context(knowledge if knowledge.relevant else unsaid)

    async def generate_response_node(self, analysis: Analysis, context: Context) -> Response:
        """Run the fourth stage: the answer.

        Raises:
            StoreError, EmbeddingError: if the passages could not be searched, and nothing else answers.
            LanguageModelError: if the model fails.
        """
        parts = generate_response(analysis, context, self._model, self._kb.embedder, instructions=self._instructions)
        async with contextlib.aclosing(parts) as written:
            async for part in written:
                if isinstance(part, Response):
                    return part
        raise AssertionError("an answer ends with its end")


_STATE = ("query", "session_id")


def _question(state: Mapping[str, str] | str) -> str:
    question = state.get("query") if isinstance(state, Mapping) else state
    if not isinstance(question, str) or not question.strip():
        raise InvalidInputError("There is no question: pass {'query': '…'}.")
    if unknown := [str(key)[:50] for key in state if key not in _STATE] if isinstance(state, Mapping) else ():
        raise InvalidInputError(f"A state has {' and '.join(_STATE)}, not {', '.join(map(repr, unknown))}.")
    return question
