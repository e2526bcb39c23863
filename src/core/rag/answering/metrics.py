"""Counts and timings of the answering stages."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field

from core.rag.llm.base import Usage

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class AnalysisMetrics:
    """How the question was understood.

    Attributes:
        entities_extracted: How many entities it names.
        intent_classification: Its intent.
        llm_parsing_success: Whether a model analysed it.
        fallback_used: Whether its words stand for entities, because none was recognised.
        seconds: Wall time.
    """

    entities_extracted: int = 0
    intent_classification: str = ""
    llm_parsing_success: bool = False
    fallback_used: bool = False
    seconds: float = 0.0


@dataclass(slots=True)
class SearchMetrics:
    """What was found, by which method.

    Attributes:
        sql_results: Entities and relations by pattern.
        trigram_results: By trigrams, that patterns had not found.
        vector_results: By vectors, that neither had found.
        fallback_activated: Whether vectors were asked.
        resolved_nodes: Ends of relations that had to be fetched.
        passages: Passages, those that relations name included.
        failed: Legs that failed.
        total_retrieval_time: Seconds.
    """

    sql_results: int = 0
    trigram_results: int = 0
    vector_results: int = 0
    fallback_activated: bool = False
    resolved_nodes: int = 0
    passages: int = 0
    failed: list[str] = field(default_factory=list)
    total_retrieval_time: float = 0.0


@dataclass(slots=True)
class ResponseMetrics:
    """What was answered.

    Attributes:
        knowledge_context_length: Characters of the context.
        context_tokens: Tokens of it.
        cited_facts_count: Passages that are cited.
        response_length: Characters of the answer.
        streaming_chunks: Parts in which it arrived; 0 for extracts.
        first_token_seconds: Until the first of them, from the beginning of this stage.
        prompt: Name and version of the prompt; empty for extracts.
        seconds: Wall time.
    """

    knowledge_context_length: int = 0
    context_tokens: int = 0
    cited_facts_count: int = 0
    response_length: int = 0
    streaming_chunks: int = 0
    first_token_seconds: float = 0.0
    prompt: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Metrics:
    """All of them.

    Attributes:
        analysis_metrics: How the question was understood.
        search_metrics: What was found.
        response_metrics: What was answered.
        usage: Tokens, requests and cost of the language model.
        context_seconds: Building the context.
        total_seconds: From the question to the answer.
    """

    analysis_metrics: AnalysisMetrics = field(default_factory=AnalysisMetrics)
    search_metrics: SearchMetrics = field(default_factory=SearchMetrics)
    response_metrics: ResponseMetrics = field(default_factory=ResponseMetrics)
    usage: Usage = field(default_factory=Usage)
    context_seconds: float = 0.0
    total_seconds: float = 0.0

    def log(self, strategy: str) -> None:
        """Write them to the log, at level INFO; no text of questions or documents."""
        _log.info("answered by %s: %s", strategy, asdict(self))
