"""The retriever: runs the legs, fuses and filters their results, and reads the hits."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.analysis import asked_name, asked_words, joined_terms, query_terms
from core.rag.analysis.language import question_language
from core.rag.analysis.words import is_stop_word
from core.rag.dbhandler.checks import check_k
from core.rag.dbhandler.store import MAX_K
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.retrieval.as_read import filter_of
from core.rag.retrieval.bm25 import Bm25
from core.rag.retrieval.chunk_names import fuzzy_index
from core.rag.retrieval.copies import apart, preferring_others
from core.rag.retrieval.fusion import Fused, fuse_hybrid
from core.rag.retrieval.hits import MODES, Hit, SearchMode
from core.rag.retrieval.legs import Legs
from core.rag.retrieval.link_lists import without_lists_in_front
from core.rag.retrieval.message import added, taken_apart, weighed
from core.rag.retrieval.term_proximity import best, near, proximities
from core.rag.together import all_together, together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.reranker import Reranker
    from core.rag.retrieval.dialogue import Dialogue
    from core.rag.retrieval.filters import Filter
    from core.rag.retrieval.graph.searching import GraphSearch

#: Scored candidates: chunk id to (final score, score of each leg).
Ranking = dict[str, tuple[float, dict[str, float]]]

#: A chunk id with its scores, as in a ranking.
Scored = tuple[str, tuple[float, dict[str, float]]]

#: Returns a ranking of about this many chunks, or of all.
Rank = Callable[[int], Awaitable[Ranking]]

#: Returns a ranking of only the given chunks (id to analysed words).
Among = Callable[[Mapping[str, str]], Awaitable[Ranking]]

_FIRST_CANDIDATES = 100
#: Of so many chunks that pass a filter all are ranked, where none or few of them are among the best of the corpus.
_MOST_PASSING = 100_000
#: So many times the hits that are wanted are looked at for others than copies.
_SEARCHED_FOR_OTHERS = 10

#: The modes whose hits a reranker puts in order. The others show what one leg finds.
_RERANKED = frozenset({"auto", "graph", "hybrid"})


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
        rank, among = self._ranking(legs, query, mode, dialogue, graph)
        # A follow-up question says too little to judge texts by, unless it was rewritten.
        asked = query if dialogue is None else dialogue.rewritten or ""
        reranker = self._reranker if asked and mode in _RERANKED else None
        size = k if reranker is None else max(k, self._candidates)

        async def ranked(size: int) -> list[Scored]:
            if wanted is None:
                # More than returned, for fusion and approximate indexes; a keyword search needs neither, and would
                # read more texts from a server.
                found = await rank(size if mode == "keyword" else max(size, _FIRST_CANDIDATES))
            else:
                found = await self._filtered(legs, rank, among, wanted, size)
            return sorted(found.items(), key=lambda item: (-item[1][0], item[0]))

        # Names are asked for to find files, and so each copy.
        hits = await (self._hits((await ranked(size))[:size]) if mode == "fuzzy" else self._best(legs, ranked, size))
        if graph is not None:
            reasons = await graph.because([hit.chunk_id for hit in hits], wanted)
            for hit in hits:
                hit.because = reasons.get(hit.chunk_id)
        if reranker is not None:
            from core.rag.retrieval.reranking import reranked

            hits = preferring_others(await reranked(reranker, asked, hits), k)
        return hits

    async def expanded(self, hits: Sequence[Hit], reach: int) -> list[Hit]:
        """Return hits with the text of up to so many chunks on either side of each."""
        return await all_together(self._expanded(hit, reach) for hit in hits)

    def _ranking(
        self, legs: Legs, query: str, mode: SearchMode, dialogue: Dialogue | None, graph: GraphSearch | None
    ) -> tuple[Rank, Among]:
        terms = weighed(query, _terms)
        if dialogue is not None:
            terms = dialogue.terms(terms)

        async def direction() -> Sequence[float] | None:
            embedding = await self._embed(query)
            return embedding if dialogue is None or embedding is None else dialogue.vector(embedding)

        async def vector(k: int) -> Ranking:
            found = await legs.vector(await direction(), k)
            return {key: (score, {"vector": score}) for key, score in found.items()}

        async def keyword(k: int) -> Ranking:
            return {key: (score, {"keyword": score}) for key, score in (await legs.keyword(terms, k)).items()}

        async def fuzzy(k: int) -> Ranking:
            index = await fuzzy_index(self._client)
            found = await asyncio.to_thread(index.rank, query, k)
            return {key: (score, {"fuzzy": score}) for key, score in found.items()}

        async def as_asked(k: int) -> Ranking:
            return await self._hybrid(legs, await direction(), terms, k, dialogue)

        async def as_rewritten(text: str, k: int) -> Ranking:
            return await self._hybrid(legs, await self._embed(text), weighed(text, _terms), k)

        async def hybrid(k: int) -> Ranking:
            found = await as_asked(k)
            if dialogue is None or dialogue.rewritten is None:
                return found
            return _mixed(found, await as_rewritten(dialogue.rewritten, k))

        async def by_graph(k: int) -> Ranking:
            assert graph is not None
            auto = mode == "auto"
            if dialogue is None or dialogue.rewritten is None:
                return await graph.search(query, query_terms(query), await direction(), await as_asked(k), auto=auto)
            # The names of the rewritten question go with its words and meaning, not with those of "And what of it?".
            text = dialogue.rewritten
            meant, plain = await self._embed(text), await as_rewritten(text, k)
            led = await graph.search(text, query_terms(text), meant, plain, auto=auto)
            return _mixed(await as_asked(k), led)

        async def among(texts: Mapping[str, str]) -> Ranking:
            if graph is not None:
                graph.leave()
            if mode == "fuzzy":
                return {key: value for key, value in (await fuzzy(sys.maxsize)).items() if key in texts}
            found = await of(texts, await direction(), terms, dialogue)
            if dialogue is None or dialogue.rewritten is None:
                return found
            text = dialogue.rewritten
            return _mixed(found, await of(texts, await self._embed(text), weighed(text, _terms), None))

        async def of(
            texts: Mapping[str, str],
            query: Sequence[float] | None,
            words: Mapping[str, float],
            dialogue: Dialogue | None,
        ) -> Ranking:
            vectors = await legs.cosines(query, texts) if mode != "keyword" else {}
            by_words = await asyncio.to_thread(_by_words, texts, words) if mode != "vector" else {}
            weight = self._embedder.vector_weight
            fused = fuse_hybrid(vectors, by_words, sample=vectors.values(), total=len(texts), vector_weight=weight)
            if mode in {"keyword", "vector"}:
                return _scored(fused)
            return await _near(legs, fused, words if dialogue is None else {}, weight)

        if graph is not None:
            return by_graph, among
        return {"vector": vector, "keyword": keyword, "fuzzy": fuzzy, "hybrid": hybrid}[mode], among

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

    async def _hybrid(
        self,
        legs: Legs,
        query: Sequence[float] | None,
        terms: Mapping[str, float],
        k: int,
        dialogue: Dialogue | None = None,
    ) -> Ranking:
        """Fuse the best of both legs; chunks that only keywords found get their exact cosine."""
        vectors, words, sample, total = await together(
            legs.vector(query, k), legs.keyword(terms, k), legs.sampled_cosines(query), legs.total()
        )
        more = {"earlier": dialogue.earlier_leg()} if dialogue is not None and dialogue.earlier else {}
        others = {*words, *(key for leg in more.values() for key in leg.scores)}
        exact = await legs.cosines(query, [key for key in others if key not in vectors])
        weight = self._embedder.vector_weight
        fused = fuse_hybrid({**exact, **vectors}, words, sample=sample, total=total, vector_weight=weight, more=more)
        # The words of several turns have no reason to stand together.
        return await _near(legs, fused, terms if dialogue is None else {}, weight)

    async def _filtered(self, legs: Legs, rank: Rank, among: Among, wanted: Filter, k: int) -> Ranking:
        """Rank more and more chunks until enough of them pass the filter; if few pass, rank only those."""
        facts: dict[str, dict[str, Any]] = {}
        passing: Ranking = {}
        for size in (max(4 * k, _FIRST_CANDIDATES), max(20 * k, 10 * _FIRST_CANDIDATES), MAX_K):
            if size == MAX_K:
                texts = await legs.terms_where(wanted, MAX_K)
                if texts is not None:
                    return await among(texts)
            ranking = await rank(min(size, MAX_K))
            facts.update(await legs.facts([key for key in ranking if key not in facts]))
            passing = {key: value for key, value in ranking.items() if key in facts and wanted.matches(facts[key])}
            if len(passing) >= k or len(ranking) < min(size, MAX_K):
                return passing
        # What passes is unlike the question: texts in another language, say.
        texts = await legs.terms_where(wanted, _MOST_PASSING)
        return passing if texts is None else await among(texts)

    async def _best(self, legs: Legs, ranked: Callable[[int], Awaitable[list[Scored]]], size: int) -> list[Hit]:
        """Read the best hits; copies of a better hit are among them only if there are too few others."""
        found = await ranked(size)
        hits = await self._hits(found[:size])
        others, copies = apart(hits)
        if copies and len(hits) == size:
            most = min(_SEARCHED_FOR_OTHERS * size, MAX_K, await legs.total())
            if len(found) < most:
                found, hits, others = await ranked(most), [], []
            for start in range(len(hits), min(most, len(found)), size):
                if len(others) >= size:
                    break
                hits += await self._hits(found[start : start + size])
                others, _ = apart(hits)
        return preferring_others(hits, size)

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
        text, start, end = parts[0]["content"], parts[0]["start_char"], parts[0]["end_char"]
        for part in parts[1:]:
            text += part["content"][max(end - part["start_char"], 0) :]
            end = max(end, part["end_char"])
        hit.content, hit.start_char, hit.end_char = text, start, end
        for key in ("table_header", "fields"):  # of what the text begins with now
            hit.metadata.pop(key, None)
            if key in parts[0]["metadata"]:
                hit.metadata[key] = parts[0]["metadata"][key]
        return hit


def _by_words(texts: Mapping[str, str], words: Mapping[str, float]) -> dict[str, float]:
    return Bm25(texts.items(), only=words.keys()).top(words, len(texts))


def _scored(fused: Sequence[Fused]) -> Ranking:
    return {item.id: (item.score, item.scores) for item in fused}


async def _near(legs: Legs, fused: Sequence[Fused], terms: Mapping[str, float], vector_weight: float) -> Ranking:
    """Raise what has the words of the question close together, and lower what only lists links."""
    scores = {item.id: item.score for item in fused}
    (words, texts), sample = await together(legs.texts(best(scores)), legs.sampled_words())
    scores = near(scores, proximities(words, terms, sample), vector_weight)
    scores = without_lists_in_front(scores, texts)
    return {item.id: (scores[item.id], item.scores) for item in fused}


#: A number with a unit, in one word or two; and what a half of such a word weighs.
_MEASURE = re.compile(r"(?<![\w.,])(\d{1,9})[ \N{NO-BREAK SPACE}]?([A-Za-z]{1,3})(?!\w)")
_PART = 0.5
#: What also stands behind numbers. Of function words, single letters are units: 5 s, 2 t.
_NO_UNITS = frozenset({"a", "pm"})

#: What the word of a definition weighs, compared with those of a question for it (ADR 7 has the measurements).
_DEFINED = 3.0
#: What its other words weigh: "What does pluribus mean?" is not about means.
_ASKING = 0.2


def _terms(query: str) -> dict[str, float]:
    """Return the words to search for, with their weights.

    For "back up" also "backup", for "16 GB" also "16GB" and the other way round, and the word of a definition.

    Two nouns are not joined: the joined word is rare, often by accident, and would weigh the most (on cranfield,
    recall@5 falls by 0.2 points with "highspeed" for "high speed").
    """
    terms = dict.fromkeys((*query_terms(query), *joined_terms(query, verbs=True)), 1.0)
    language = question_language(query.split())
    for number, unit in _MEASURE.findall(query.lower()):
        if unit not in _NO_UNITS and (len(unit) == 1 or not is_stop_word(unit, language)):
            for term, weight in ((number + unit, 1.0), (number, _PART), (unit, _PART)):
                terms.setdefault(term, weight)
    if not (words := asked_words(query)):
        return terms
    if name := asked_name(query):
        own = {*query_terms(name), *joined_terms(name)}
        terms = {term: weight if term in own else _ASKING for term, weight in terms.items()}
    return terms | dict.fromkeys(words, _DEFINED)


def _mixed(found: Ranking, rewritten: Ranking) -> Ranking:
    """Combine the rankings of a question and of the rewritten question; a chunk missing in one scores 0 there."""
    from core.rag.retrieval.rewriting import REWRITTEN_SHARE

    mixed: Ranking = {}
    for key in (*found, *(key for key in rewritten if key not in found)):
        score, scores = found.get(key, (0.0, {}))
        other, _ = rewritten.get(key, (0.0, {}))
        total = (1 - REWRITTEN_SHARE) * score + REWRITTEN_SHARE * other
        mixed[key] = (total, {**scores, "rewritten": other} if key in rewritten else scores)
    return mixed
