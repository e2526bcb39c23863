"""Second stage: retrieves entities, relations and passages that are relevant to a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.rag.answering.admission import Admission
from core.rag.answering.computing.computed import Computed, computed
from core.rag.answering.computing.in_documents import computed_in_documents
from core.rag.answering.computing.question import chained
from core.rag.answering.graph_index.search import IndexSearch
from core.rag.answering.metrics import Metrics
from core.rag.answering.of_records import openings, with_records
from core.rag.answering.prose import LOOKED_AT, best_to_read
from core.rag.answering.record_passages import merged, record_passages
from core.rag.answering.relevance.judging import judge
from core.rag.answering.relevance.scores import (
    best_entities,
    best_facts,
    entity_score,
    fact_score,
    scored,
    search_terms,
)
from core.rag.answering.types import Analysis, FoundEntity, FoundFact, Intent, Knowledge
from core.rag.answering.understanding.asked_times import of_times_asked, times_asked
from core.rag.answering.whole_records import whole_records
from core.rag.errors import EmbeddingError, StoreError
from core.rag.extraction.words import normalize_name
from core.rag.retrieval.hits import Hit, SearchMode, hits_of
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.answering.services import AnsweringBase

NODE_LIMIT = 15
EDGE_LIMIT = 20
PATTERN_SHARE = 0.6
#: With fewer than this share of what is wanted, vectors are asked as well.
VECTOR_FALLBACK_THRESHOLD = 0.5

#: Passages that the search gives, and how many more those of the best relations may add.
PASSAGES = 5
FACT_PASSAGES = 3
#: How the passages of an intent are searched for.
MODES: dict[Intent, SearchMode] = {
    "factual": "auto",
    "relationship": "graph",
    "summary": "auto",
    "exploration": "graph",
}
#: What a leg may fail with while the others go on.
LEG_ERRORS = (StoreError, EmbeddingError)
#: The leg without which nothing can be said of what is not there.
_OF_PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How much to look for.

    Attributes:
        node_limit: Entities.
        edge_limit: Relations.
        passages: Passages of the search.
        fact_passages: More passages, of the best relations.
        search: What is handed on to the search: ``filters``, ``conversation_id``, ``user_id``.
        before: What was said before that the question goes on with.
        earlier: The questions before it in the conversation, the newest first.
    """

    node_limit: int = NODE_LIMIT
    edge_limit: int = EDGE_LIMIT
    passages: int = PASSAGES
    fact_passages: int = FACT_PASSAGES
    search: dict[str, Any] = field(default_factory=dict)
    before: str = ""
    earlier: tuple[str, ...] = ()


async def retrieve_knowledge(
    analysis: Analysis, kb: AnsweringBase, options: RetrievalOptions | None = None, metrics: Metrics | None = None
) -> Knowledge:
    """Find what the graph knows about a question.

    Entities and relations are looked for by pattern (60 % of the limit) and by trigrams (40 %; what one does not fill
    goes to the other), both at the same time; by vectors, too, where the two give less than half of the limit. Passages
    come from the search, and from the relations.

    Args:
        analysis: What the question names and wants.
        kb: The knowledge base.
        options: How much to look for.
        metrics: Where to count.

    Returns:
        What was found. Legs that failed are in ``errors``, and the others go on without them.

    Raises:
        StoreError: When every leg failed.
    """
    options = options or RetrievalOptions()
    metrics = metrics or Metrics()
    started = time.monotonic()
    work = _Retrieval(analysis, kb, options, metrics)
    knowledge = await work.run()
    metrics.search_metrics.total_retrieval_time = time.monotonic() - started
    return knowledge


class _Retrieval:
    """One retrieval under way."""

    def __init__(self, analysis: Analysis, kb: AnsweringBase, options: RetrievalOptions, metrics: Metrics) -> None:
        self._analysis = analysis
        self._kb = kb
        self._options = options
        self._counts = metrics.search_metrics
        self._graph = IndexSearch(kb.client, tuple(times_asked(analysis.query).values()))
        self._terms = search_terms(analysis.entities)
        self._legs = 0
        self._failures: dict[str, Exception] = {}
        self._nearest: asyncio.Task[list[Hit]] | None = None
        self._asked, self._later = chained(analysis.query, options.earlier)
        self._looked_at: list[Hit] = []

    async def run(self) -> Knowledge:
        """Run all legs, and return their scored results."""
        entities, facts, hits, worked_out, records = await together(
            self._both(
                "entities",
                self._graph.entities_by_pattern,
                self._graph.entities_by_trigram,
                self._graph.entities_by_vector,
                lambda entity: entity.id,
                self._options.node_limit,
            ),
            self._both(
                "relations",
                self._graph.facts_by_pattern,
                self._graph.facts_by_trigram,
                self._graph.facts_by_vector,
                lambda fact: fact.key,
                self._options.edge_limit,
            ),
            self._leg(_OF_PASSAGES, self._passages()),
            self._computed(),
            self._records(),
        )
        if self._failures and len(self._failures) == self._legs:
            raise next(iter(self._failures.values()))
        scored(entities, self._terms)
        # The ends that count are those that the question names, not what trigrams brought along.
        named = {entity.id for entity in entities if entity.score > 1}
        for fact in facts:
            fact.score = fact_score(fact, self._terms, named)
        facts = best_facts(of_times_asked(facts, self._analysis.query))
        others = await self._missing_ends(entities, facts)
        hits += await self._fact_passages(facts, hits)
        if not worked_out:
            worked_out = await self._of_documents()
        if not worked_out:
            hits = await merged(self._kb.client, self._analysis, self._options.before, hits, records)
        self._counts.passages = len(hits)
        told = {hit.chunk_id for hit in hits}
        asked = await self._leg(
            "records", with_records(self._kb.client, [one for one in entities if one.id in named], told)
        )
        question = f" {normalize_name(self._analysis.query)} "
        in_full = [one for one in asked if f" {normalize_name(one.name)} " in question]
        hits += await self._leg("fields of documents", openings(self._kb.client, in_full, hits))
        entities = best_entities({one.id: one for one in (*entities, *others, *asked)}.values())
        if worked_out:  # beside which single rows say nothing
            hits = [hit for hit in hits if "row" not in hit.metadata and not any(one.has(hit) for one in worked_out)]
        failure = self._failures.get(_OF_PASSAGES)
        knowledge = Knowledge(entities, facts, hits, errors=self._counts.failed, failure=failure)
        if filters := self._options.search.get("filters"):
            knowledge = await Admission(self._kb.client, filters).narrowed(knowledge)
        await judge(self._analysis, knowledge, self._kb.client, self._options.before)
        knowledge.computed = tuple(one.hit for one in worked_out)
        return knowledge

    async def _computed(self) -> list[Computed]:
        """Return what all records of a collection come to; not of some documents only, which records do not tell."""
        if not self._computes:
            return []
        return await self._leg("records", computed(self._kb.client, self._asked, self._later))

    async def _records(self) -> list[Hit]:
        """Return records that no document has; none where only what is in some documents is wanted."""
        if self._options.search.get("filters"):
            return []
        analysis, options = self._analysis, self._options
        found = record_passages(self._kb.client, analysis, options.before, options.passages)
        return await self._leg("passages of records", found)

    async def _of_documents(self) -> list[Computed]:
        """Return what all rows of a table come to that is part of one of the documents that were found."""
        if not self._computes:
            return []
        client = self._kb.client
        return await self._leg("tables", computed_in_documents(client, self._asked, self._later, self._looked_at))

    @property
    def _computes(self) -> bool:
        return bool(self._asked) and not self._options.search.get("filters")

    async def _both[Found: FoundEntity | FoundFact](
        self,
        name: str,
        by_pattern: Callable[[list[str], int], Awaitable[list[Found]]],
        by_trigram: Callable[[list[str], int], Awaitable[list[Found]]],
        by_vector: Callable[[dict[str, float], int], Awaitable[list[Found]]],
        key: Callable[[Found], Any],
        limit: int,
    ) -> list[Found]:
        pattern, trigram = await together(
            self._leg(f"{name} by pattern", by_pattern(self._terms, limit)),
            self._leg(f"{name} by trigrams", by_trigram(self._terms, limit)),
        )
        found = _shared(pattern, trigram, key, limit)
        self._counts.sql_results += sum(item.method == "pattern" for item in found)
        self._counts.trigram_results += sum(item.method == "trigram" for item in found)
        if len(found) >= limit * VECTOR_FALLBACK_THRESHOLD:
            return found
        self._counts.fallback_activated = True
        near = {hit.chunk_id: hit.scores.get("vector", hit.score) for hit in await self._near()}
        more = await self._leg(f"{name} by vectors", by_vector(near, limit)) if near else []
        known = {key(item) for item in found}
        new = [item for item in more if key(item) not in known][: limit - len(found)]
        self._counts.vector_results += len(new)
        return found + new

    async def _near(self) -> list[Hit]:
        """Return the passages nearest to the question, searched once."""
        if self._nearest is None:
            self._nearest = asyncio.create_task(self._find_nearest())
        return await self._nearest

    async def _find_nearest(self) -> list[Hit]:
        return await self._leg("nearest passages", self._search("vector"))

    async def _passages(self) -> list[Hit]:
        mode, wanted = MODES[self._analysis.intent], self._options.passages
        self._looked_at = await self._search(mode, LOOKED_AT * wanted)
        best = best_to_read(self._analysis.query, self._looked_at, len(self._looked_at))
        return await whole_records(self._kb.client, best, wanted)

    async def _search(self, mode: SearchMode, k: int | None = None) -> list[Hit]:
        return await self._kb.search(self._analysis.query, k or self._options.passages, mode, **self._options.search)

    async def _leg[Found](self, name: str, work: Awaitable[list[Found]]) -> list[Found]:
        self._legs += 1
        try:
            return await work
        except LEG_ERRORS as error:
            self._failures[name] = error
            self._counts.failed.append(f"{name}: {error}")
            return []

    async def _missing_ends(self, entities: Iterable[FoundEntity], facts: Iterable[FoundFact]) -> list[FoundEntity]:
        known = {entity.id for entity in entities}
        ends = dict.fromkeys(end for fact in facts for end in (fact.source_id, fact.target_id) if end not in known)
        resolved = await self._leg("ends of relations", self._graph.entities_by_id(list(ends))) if ends else []
        for entity in resolved:
            entity.score = entity_score(entity, self._terms)
        self._counts.resolved_nodes = len(resolved)
        return resolved

    async def _fact_passages(self, facts: Iterable[FoundFact], hits: Iterable[Hit]) -> list[Hit]:
        """Return the passages of the best relations that the search did not find."""
        known = {hit.chunk_id for hit in hits}
        sure = [fact for fact in facts if fact.score >= 1]
        wanted = dict.fromkeys(chunk for fact in sure for chunk in fact.chunk_ids[:1] if chunk not in known)
        ids = list(wanted)[: self._options.fact_passages]
        return await self._leg("passages of relations", hits_of(self._kb.client, ids)) if ids else []


def _shared[Found](pattern: list[Found], trigram: list[Found], key: Callable[[Found], Any], limit: int) -> list[Found]:
    """Return the best ``limit`` of two lists: 60 % from ``pattern``, the rest from ``trigram``; each once.

    Where one of the lists is too short, the other one fills its places.
    """
    share = round(limit * PATTERN_SHARE)
    found = {key(item): item for item in pattern[:share]}
    for item in (*trigram, *pattern[share:]):
        if len(found) >= limit:
            break
        found.setdefault(key(item), item)
    return list(found.values())
