"""The retriever: has chunks ranked, filters them, and reads the hits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.analysis import query_terms
from core.rag.dbhandler.checks import check_k
from core.rag.dbhandler.store import MAX_K
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.retrieval.as_read import filter_of
from core.rag.retrieval.hits import MODES, Hit, SearchMode, joined
from core.rag.retrieval.legs import Legs
from core.rag.retrieval.ordering.copies import apart, preferring_others
from core.rag.retrieval.ordering.introductions import AMONG, OPENING, speaker_asked_of, with_introductions
from core.rag.retrieval.rankings import Ranking, Rankings
from core.rag.retrieval.wording.message import added, taken_apart
from core.rag.retrieval.wording.short_words import short_words
from core.rag.together import all_together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.reranker import Reranker
    from core.rag.retrieval.dialogue import Dialogue
    from core.rag.retrieval.filters import Filter
    from core.rag.retrieval.graph.searching import GraphSearch

#: A chunk id with its scores, as in a ranking.
Scored = tuple[str, tuple[float, dict[str, float]]]

_FIRST_CANDIDATES = 100
#: Of so many chunks that pass a filter all are ranked, where none or few of them are among the best of the corpus.
_MOST_PASSING = 100_000
#: Fewer hits than this are looked at together with those behind them, which may be copies of them.
_LOOKED_AT = 10
#: So many times as many are looked at for others than copies, and then so many more: a licence may be in each package.
_FURTHER = 10
_MOST_COPIES = 2_000

#: The modes whose hits are put in order once more. The others show what one leg finds.
_ORDERED = frozenset({"auto", "graph", "hybrid"})


class Retriever:
    """Finds chunks in one namespace."""

    def __init__(
        self,
        client: MemGraphClient,
        embedder: EmbeddingService,
        *,
        dialogue: Dialogue | None = None,
        reranker: Reranker | None = None,
        candidates: int = 0,
    ) -> None:
        """Prepare a retriever.

        Args:
            client: The graph.
            embedder: Embeds questions; of the model of the namespace.
            dialogue: The messages before the question.
            reranker: Puts the hits of a search in order.
            candidates: How many hits it is shown at least.
        """
        self._client = client
        self._embedder = embedder
        self._dialogue = dialogue
        self._reranker = reranker
        self._candidates = candidates
        self._embedded: dict[str, list[float]] = {}

    async def search(
        self,
        query: str,
        k: int,
        mode: SearchMode,
        *,
        filters: str | Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """See :meth:`core.rag.KnowledgeBase.search`."""
        k = check_k(k)
        if mode not in MODES:
            raise InvalidInputError(f"There is no search mode {str(mode)[:50]!r}; the modes are {', '.join(MODES)}.")
        query = query.encode("utf-8", "replace").decode()  # lone surrogates are not text
        if not query.strip():
            raise InvalidInputError("The query is empty.")
        wanted = filter_of(filters)
        dialogue = self._dialogue
        by_words = mode in {"keyword", "fuzzy"} and dialogue is None
        legs = Legs(self._client, None if by_words else await self._client.vector_store_for(self._embedder))
        if dialogue is not None and await dialogue.is_left_by(
            legs, await self._embed(query), dict.fromkeys(query_terms(query), 1.0), await legs.total()
        ):
            dialogue = None
        graph: GraphSearch | None = None
        if mode in {"graph", "auto"}:
            from core.rag.retrieval.graph.searching import GraphSearch

            graph = GraphSearch(self._client, self._embedder, legs)
        short = await short_words(self._client, query) if mode not in {"vector", "fuzzy"} else []
        rankings = Rankings(
            self._client,
            legs,
            query,
            mode,
            short,
            embed=self._embed,
            vector_weight=self._embedder.vector_weight,
            dialogue=dialogue,
            graph=graph,
        )
        # A follow-up question says too little to judge texts by, unless it was rewritten.
        asked = query if dialogue is None else dialogue.rewritten or ""
        reranker = self._reranker if asked and mode in _ORDERED else None
        size = k if reranker is None else max(k, self._candidates)

        async def ranked(size: int) -> list[Scored]:
            if wanted is None:
                # More than returned, for fusion and approximate indexes; a keyword search needs neither, and would
                # read more texts from a server.
                found = await rankings.best(size if mode == "keyword" else max(size, _FIRST_CANDIDATES))
            else:
                found = await self._filtered(legs, rankings, wanted, size)
            return sorted(found.items(), key=lambda item: (-item[1][0], item[0]))

        # Names are asked for to find files, and so each copy.
        if mode == "fuzzy":
            hits = (await self._first(ranked, size))[1]
        else:
            found, hits = await self._best(legs, ranked, size)
            if mode in _ORDERED and wanted is None:
                hits = await self._introducing(query, hits, found)
        if graph is not None:
            reasons = await graph.because([hit.chunk_id for hit in hits], wanted)
            for hit in hits:
                hit.because = reasons.get(hit.chunk_id)
        if reranker is not None:
            from core.rag.retrieval.ordering.reranking import reranked

            hits = preferring_others(await reranked(reranker, asked, hits), k)
        return hits

    async def expanded(self, hits: Sequence[Hit], reach: int) -> list[Hit]:
        """Return hits with the text of up to so many chunks on either side of each."""
        return await all_together(self._expanded(hit, reach) for hit in hits)

    async def _embed(self, query: str) -> Sequence[float] | None:
        """Return the vector of a query; ``None`` if it has nothing to compare, such as a single emoji."""
        from core.rag.embedder import embed_queries, is_blank

        if is_blank(query):
            return None
        if query not in self._embedded:
            parts = [part for part in taken_apart(query) if not is_blank(part)]
            vectors = [
                vector.tolist() for vector in await embed_queries(self._embedder, parts, ["the query"] * len(parts))
            ]
            self._embedded[query] = vectors[0] if len(vectors) == 1 else added(*vectors)
        return self._embedded[query]

    async def _filtered(self, legs: Legs, rankings: Rankings, wanted: Filter, k: int) -> Ranking:
        """Rank more and more chunks until enough of them pass the filter; if few pass, rank only those."""
        facts: dict[str, dict[str, Any]] = {}
        passing: Ranking = {}
        for size in (max(4 * k, _FIRST_CANDIDATES), max(20 * k, 10 * _FIRST_CANDIDATES), MAX_K):
            if size == MAX_K:
                texts = await legs.terms_where(wanted, MAX_K)
                if texts is not None:
                    return await rankings.among(texts)
            ranking = await rankings.best(min(size, MAX_K))
            facts.update(await legs.facts(wanted, [key for key in ranking if key not in facts]))
            passing = {key: value for key, value in ranking.items() if key in facts and wanted.matches(facts[key])}
            if len(passing) >= k or len(ranking) < min(size, MAX_K):
                return passing
        # What passes is unlike the question: texts in another language, say.
        texts = await legs.terms_where(wanted, _MOST_PASSING)
        return passing if texts is None else await rankings.among(texts)

    async def _best(
        self, legs: Legs, ranked: Callable[[int], Awaitable[list[Scored]]], size: int
    ) -> tuple[list[Scored], list[Hit]]:
        """Rank, and read the best hits; copies of a better hit are among them only if there are too few others."""
        looked = max(size, _LOOKED_AT)
        found, hits = await self._first(ranked, looked)
        others, copies = apart(hits)
        for more in (_FURTHER * looked, _FURTHER * looked + _MOST_COPIES) if copies else ():
            if len(others) >= size:
                break
            depth = min(more, MAX_K, await legs.total())
            if len(found) < depth:
                found = await ranked(depth)
            hits = await self._hits(found[:depth])
            others, _ = apart(hits)
        return found, preferring_others(hits, size)

    async def _introducing(self, query: str, hits: list[Hit], found: Sequence[Scored]) -> list[Hit]:
        """Return hits with those that say who speaks in them, if that is asked; see ``ordering/introductions.py``."""
        if (speaker := speaker_asked_of(query, hits)) is None:
            return hits
        begun = [await self._client.first_chunks(document, OPENING) for document in speaker.documents]
        openings = [Hit.of_chunk(row, 0.0, {}) for rows in begun if len(rows) == OPENING for row in rows]
        if not openings:  # of short talks, the hits are much of what there is
            return hits
        return with_introductions(hits, speaker, openings, await self._hits(found[len(hits) : AMONG]))

    async def _first(
        self, ranked: Callable[[int], Awaitable[list[Scored]]], size: int
    ) -> tuple[list[Scored], list[Hit]]:
        """Rank, and read the best; once more if some of them were replaced or removed before they were read."""
        found = await ranked(size)
        hits = await self._hits(found[:size])
        if len(hits) < len(found[:size]):
            found = await ranked(size)
            hits = await self._hits(found[:size])
        return found, hits

    async def _hits(self, top: Sequence[Scored]) -> list[Hit]:
        chunks = await self._client.chunks_by_id([key for key, _ in top])
        hits = [Hit.of_chunk(chunks[key], score, scores) for key, (score, scores) in top if key in chunks]
        return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.chunk_index))  # copies have the same score

    async def _expanded(self, hit: Hit, reach: int) -> Hit:
        """Return the hit with the text of its neighbours; overlaps are not repeated."""
        try:
            parts = await self._client.neighbouring_chunks(hit.chunk_id, reach)
        except NotFoundError:
            return hit  # its document has been removed or replaced since it was found
        if all(part["chunk_id"] != hit.chunk_id for part in parts):
            return hit
        hit.content, hit.start_char, hit.end_char = joined(parts)
        for key in ("table_header", "fields", "speaker"):  # of what the text begins with now
            hit.metadata.pop(key, None)
            if key in parts[0]["metadata"]:
                hit.metadata[key] = parts[0]["metadata"][key]
        return hit
