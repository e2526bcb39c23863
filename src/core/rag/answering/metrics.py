"""Counts and timings of the answering stages."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field

from core.rag.llm.base import Usage

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class AnalysisMetrics:
    """Metrics of the analysis of the question.

    Attributes:
        entities_extracted: Number of entities in it.
        intent_classification: Its intent.
        llm_parsing_success: Whether a model analysed it.
        fallback_used: Whether its plain words were used, because no name was recognised.
        seconds: Wall time.
    """

    entities_extracted: int = 0
    intent_classification: str = ""
    llm_parsing_success: bool = False
    fallback_used: bool = False
    seconds: float = 0.0


@dataclass(slots=True)
class SearchMetrics:
    """Metrics of the retrieval, by method.

    Attributes:
        sql_results: Entities and relations found by pattern.
        trigram_results: Further ones found by trigrams.
        vector_results: Further ones found by vectors.
        fallback_activated: Whether vectors were searched.
        resolved_nodes: Ends of relations that had to be fetched.
        passages: Passages, including those that relations cite.
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
    """Metrics of the answer.

    Attributes:
        knowledge_context_length: Characters of the context.
        context_tokens: Tokens of the context.
        cited_facts_count: Number of cited passages.
        response_length: Characters of the answer.
        streaming_chunks: Number of parts in which it arrived; 0 for extracts.
        first_token_seconds: Time from the beginning of this stage to the first part.
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
    """Metrics of all stages of an answer.

    Attributes:
        analysis_metrics: Analysis of the question.
        search_metrics: Retrieval.
        response_metrics: The answer.
        usage: Tokens, requests and cost of the language model.
        context_seconds: Time for building the context.
        total_seconds: Time from the question to the answer.
    """

    analysis_metrics: AnalysisMetrics = field(default_factory=AnalysisMetrics)
    search_metrics: SearchMetrics = field(default_factory=SearchMetrics)
    response_metrics: ResponseMetrics = field(default_factory=ResponseMetrics)
    usage: Usage = field(default_factory=Usage)
    context_seconds: float = 0.0
    total_seconds: float = 0.0

    def log(self, strategy: str) -> None:
        """Log the metrics at level INFO, without any text of questions or documents."""
        _log.info("answered by %s: %s", strategy, asdict(self))
