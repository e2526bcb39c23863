"""BasicRAG: one vector search, one of records by words, and an answer; see ``flow`` for everything else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from core.rag.answering.events import AnalysisEvent, Event, final_answer
from core.rag.answering.metrics import Metrics
from core.rag.answering.pipeline import answered
from core.rag.answering.record_passages import merged, record_passages
from core.rag.answering.recording import recorded
from core.rag.answering.relevance.judging import judge
from core.rag.answering.services import AnsweringBase, Services, checked_base, checked_instructions
from core.rag.answering.types import Analysis, Answer, Knowledge
from core.rag.answering.understanding.intents import intent_of
from core.rag.answering.whole_records import whole_records
from core.rag.arguments import check_text
from core.rag.llm.base import checked_model

if TYPE_CHECKING:
    from core.rag.llm import LanguageModel


class BasicRAG:
    """Answers questions from the passages that are nearest in meaning.

    Example:
        >>> answer = await BasicRAG(kb).query("When does the mill turn?")
    """

    def __init__(
        self,
        kb: AnsweringBase,
        model: LanguageModel | None = None,
        top_k: int = 5,
        *,
        instructions: str | None = None,
    ) -> None:
        """Prepare.

        Args:
            kb: The knowledge base.
            model: The language model; ``None``: that of the knowledge base.
            top_k: Number of passages.
            instructions: What else to tell the model about its answer; ``None``: ``MGRAG_ANSWER_INSTRUCTIONS``.

        Raises:
            InvalidInputError: on what is no knowledge base, language model or text.
        """
        self._services = Services(
            checked_base(kb),
            checked_model(model or kb.language_model, "stream"),
            passages=top_k,
            instructions=checked_instructions(kb.client, instructions),
        )

    async def query(self, question: str) -> Answer:
        """Answer a question; typing errors are corrected, and told, as by :meth:`core.rag.KnowledgeBase.ask`.

        Raises:
            InvalidInputError: if the question is empty or not text.
            LanguageModelError: if the model fails.
            StoreError: if the graph database fails.
        """
        question = check_text("The question", question)
        return await final_answer(recorded(basic_events, question, self._services, conversation_id=None))


async def basic_events(question: str, services: Services) -> AsyncGenerator[Event, None]:
    """Answer a question, step by step."""
    metrics, started = Metrics(), time.monotonic()
    analysis = Analysis(question, (), intent_of(question))
    metrics.analysis_metrics.intent_classification = analysis.intent
    yield AnalysisEvent(analysis)
    client, before = services.kb.client, services.before
    hits = await services.kb.search(question, services.passages, "vector", **services.search)
    hits = await whole_records(client, hits, services.passages)
    if not services.search.get("filters"):
        records = await record_passages(client, analysis, before, services.passages)
        hits = await merged(client, analysis, before, hits, records)
    metrics.search_metrics.vector_results = metrics.search_metrics.passages = len(hits)
    metrics.search_metrics.total_retrieval_time = time.monotonic() - started
    knowledge = Knowledge(hits=hits)
    await judge(analysis, knowledge, client, before)
    async with contextlib.aclosing(answered("basic", services, analysis, knowledge, metrics, started)) as events:
        async for event in events:
            yield event
