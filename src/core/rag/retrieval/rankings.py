"""The rankings of chunks for a question, one for each search mode."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from core.rag.analysis import query_terms
from core.rag.analysis.purposes import Purpose, purpose_asked
from core.rag.headings import headings_of
from core.rag.retrieval.bm25 import Bm25
from core.rag.retrieval.chunk_names import fuzzy_index
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.legs import Legs
from core.rag.retrieval.ordering.asked_sections import Passage, asked_first, asked_sections, section_beside
from core.rag.retrieval.ordering.fusion import Fused, fuse_hybrid
from core.rag.retrieval.ordering.link_lists import without_lists_in_front
from core.rag.retrieval.ordering.named_documents import (
    COMPARED,
    FIRST,
    WITHOUT,
    dealt,
    leading,
    may_name,
    mixed,
    own_name,
    without,
)
from core.rag.retrieval.ordering.term_proximity import best, near, proximities, shares
from core.rag.retrieval.wording.message import weighed
from core.rag.retrieval.wording.terms import searched_terms
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.retrieval.dialogue import Dialogue
    from core.rag.retrieval.graph.searching import GraphSearch

#: What a passage keeps of its score for which the section beside it is asked.
_BEHIND: Final = 0.99

#: Scored candidates: chunk id to (final score, score of each leg).
Ranking = dict[str, tuple[float, dict[str, float]]]

#: The vector of a text; ``None`` if it has nothing to compare.
Embed = Callable[[str], Awaitable[Sequence[float] | None]]


class Rankings:
    """Ranks chunks for a question, in the way of one search mode."""

    def __init__(
        self,
        client: MemGraphClient,
        legs: Legs,
        query: str,
        mode: SearchMode,
        short: Sequence[str] = (),
        *,
        embed: Embed,
        vector_weight: float,
        dialogue: Dialogue | None = None,
        graph: GraphSearch | None = None,
    ) -> None:
        """Prepare the rankings.

        Args:
            client: The graph.
            legs: Read what is ranked.
            query: The question.
            mode: The search mode.
            short: Further words to search for (:func:`core.rag.retrieval.wording.short_words.short_words`).
            embed: Embeds texts.
            vector_weight: What the vectors of the embedder weigh in a fusion.
            dialogue: The messages that the question goes on with.
            graph: For the modes ``graph`` and ``auto``.
        """
        self._client = client
        self._legs = legs
        self._query = query
        self._mode = mode
        self._embed = embed
        self._vector_weight = vector_weight
        self._dialogue = dialogue
        self._rewritten = None if dialogue is None else dialogue.rewritten
        self._graph = graph
        self._short = short
        terms = weighed(query, searched_terms) | dict.fromkeys(short, 1.0)
        self._terms = terms if dialogue is None else dialogue.terms(terms)

    async def best(self, k: int) -> Ranking:
        """Rank about this many of the best chunks, or all that match."""
        if self._graph is not None:
            return await self._by_graph(self._graph, k)
        if self._mode == "hybrid":
            asked = await self._as_asked(k)
            return asked if self._rewritten is None else _mixed(asked, await self._as_rewritten(self._rewritten, k))
        if self._mode == "vector":
            found = await self._legs.vector(await self._direction(), k)
        elif self._mode == "keyword":
            found = await self._legs.keyword(self._terms, k)
        else:
            index = await fuzzy_index(self._client)
            found = await asyncio.to_thread(index.rank, self._query, k)
        return {key: (score, {self._mode: score}) for key, score in found.items()}

    async def among(self, texts: Mapping[str, str]) -> Ranking:
        """Rank only the given chunks, by id with their analysed words."""
        if self._graph is not None:
            self._graph.leave()
        if self._mode == "fuzzy":
            return {key: value for key, value in (await self.best(sys.maxsize)).items() if key in texts}
        found = await self._of(texts, self._query, await self._direction(), self._terms, self._dialogue)
        if self._rewritten is None:
            return found
        meant, words = await self._embed(self._rewritten), weighed(self._rewritten, searched_terms)
        return _mixed(found, await self._of(texts, self._rewritten, meant, words, None))

    async def _direction(self) -> Sequence[float] | None:
        embedding = await self._embed(self._query)
        return embedding if self._dialogue is None or embedding is None else self._dialogue.vector(embedding)

    async def _as_asked(self, k: int) -> Ranking:
        return await self._hybrid(self._query, await self._direction(), self._terms, k, self._dialogue)

    async def _as_rewritten(self, text: str, k: int) -> Ranking:
        return await self._hybrid(text, await self._embed(text), weighed(text, searched_terms), k, None)

    async def _by_graph(self, graph: GraphSearch, k: int) -> Ranking:
        query, auto = self._query, self._mode == "auto"
        if (text := self._rewritten) is None:
            meant, plain = await self._direction(), await self._as_asked(k)
            return await graph.search(query, [*query_terms(query), *self._short], meant, plain, auto=auto)
        # The names of the rewritten question go with its words and meaning, not with those of "And what of it?".
        meant, plain = await self._embed(text), await self._as_rewritten(text, k)
        led = await graph.search(text, query_terms(text), meant, plain, auto=auto)
        return _mixed(await self._as_asked(k), led)

    async def _hybrid(
        self,
        text: str,
        query: Sequence[float] | None,
        terms: Mapping[str, float],
        k: int,
        dialogue: Dialogue | None,
    ) -> Ranking:
        """Fuse the best of both legs; chunks that only keywords found get their exact cosine."""
        legs = self._legs
        vectors, words, sample, total = await together(
            legs.vector(query, k), legs.keyword(terms, k), legs.sampled_cosines(query), legs.total()
        )
        more = {"earlier": dialogue.earlier_leg()} if dialogue is not None and dialogue.earlier else {}
        others = {*words, *(key for leg in more.values() for key in leg.scores)}
        exact = await legs.cosines(query, [key for key in others if key not in vectors])
        weight = self._vector_weight
        fused = fuse_hybrid({**exact, **vectors}, words, sample=sample, total=total, vector_weight=weight, more=more)
        return await self._ordered(fused, text, query, terms, dialogue)

    async def _of(
        self,
        texts: Mapping[str, str],
        text: str,
        query: Sequence[float] | None,
        terms: Mapping[str, float],
        dialogue: Dialogue | None,
    ) -> Ranking:
        vectors = await self._legs.cosines(query, texts) if self._mode != "keyword" else {}
        words = await asyncio.to_thread(_by_words, texts, terms) if self._mode != "vector" else {}
        sample, weight = vectors.values(), self._vector_weight
        fused = fuse_hybrid(vectors, words, sample=sample, total=len(texts), vector_weight=weight)
        if self._mode in {"keyword", "vector"}:
            return {item.id: (item.score, item.scores) for item in fused}
        return await self._ordered(fused, text, query, terms, dialogue)

    async def _ordered(
        self,
        fused: Sequence[Fused],
        text: str,
        query: Sequence[float] | None,
        terms: Mapping[str, float],
        dialogue: Dialogue | None,
    ) -> Ranking:
        """Put what was found in order: as the question has it, and within a document that it names by its rest."""
        # The words of several turns have no reason to stand together.
        ranking, passages = await self._near(fused, terms if dialogue is None else {})
        if dialogue is None and not may_name(text):
            return ranking
        first = sorted(ranking, key=lambda key: (-ranking[key][0], key))[:FIRST]
        for path in leading([passages[key] for key in first if key in passages]):
            ranking = await self._within(path, ranking, text, query, terms, dialogue)
        return ranking

    async def _within(
        self,
        path: str,
        ranking: Ranking,
        text: str,
        query: Sequence[float] | None,
        terms: Mapping[str, float],
        dialogue: Dialogue | None,
    ) -> Ranking:
        """Put the passages of a document in order by the question without its name, if it has that."""
        legs = self._legs
        document, sample, total = await together(legs.whole(path), legs.sampled_words(), legs.total())
        name = frozenset() if document is None else own_name(document, text, terms, sample, total)
        rest = {word: weight for word, weight in terms.items() if word not in name}
        if document is None or not name or not rest:
            return ranking
        # A conversation goes on in its own direction.
        other = await self._embed(without(text, name)) if dialogue is None else query
        held = await asyncio.to_thread(Bm25, document.terms.items(), only=terms.keys())
        words = [held.top(some, COMPARED) for some in (terms, rest)]
        compared = {*words[0], *words[1], *(ranking.keys() & document.terms.keys())}
        vectors = await legs.cosines_of_each((query, other), compared)
        spreads = await together(legs.sampled_cosines(query), legs.sampled_cosines(other))
        of, weight = len(document.terms), self._vector_weight
        both = [
            fuse_hybrid(vectors[one], words[one], sample=spreads[one], total=of, vector_weight=weight) for one in (0, 1)
        ]
        half = rest | {word: WITHOUT * terms[word] for word in name}
        within, _ = await self._near(mixed(*both), half if dialogue is None else {})
        return dealt(ranking, document.terms, within)

    async def _near(self, fused: Sequence[Fused], terms: Mapping[str, float]) -> tuple[Ranking, Mapping[str, Passage]]:
        """Raise what has the words close together, or as its name, and lower lists of links; with the best passages."""
        scores = {item.id: item.score for item in fused}
        passages, sample = await together(self._legs.passages(best(scores)), self._legs.sampled_words())
        words = {key: passage.terms for key, passage in passages.items()}
        of_question = shares(words.values(), terms, sample)
        scores = near(scores, proximities(words, of_question), self._vector_weight)
        purpose = purpose_asked(self._query)
        asked = asked_sections(passages, of_question, purpose)
        scores = asked_first(scores, asked, self._vector_weight)
        texts = {key: (one.path, one.heading, one.content) for key, one in passages.items()}
        scores = without_lists_in_front(scores, texts, self._query)
        if purpose is not None and scores:  # what a filter is for are documents, so sections beside pass, too
            scores = await self._with_section(scores, passages, purpose)
        found = {item.id: item.scores for item in fused}
        return {key: (score, found.get(key, {})) for key, score in scores.items()}, passages

    async def _with_section(
        self, scores: Mapping[str, float], passages: Mapping[str, Passage], purpose: Purpose
    ) -> dict[str, float]:
        """Return scores by which the section that is for what is asked comes before the best passage, if beside it."""
        best = max(scores, key=lambda key: scores[key])
        if best not in passages or purpose.above(headings_of(passages[best].heading)) is not None:
            return dict(scores)
        section = section_beside(passages[best], await self._legs.around(best), purpose)
        return {**scores, best: _BEHIND * scores[best], section: scores[best]} if section else dict(scores)


def _by_words(texts: Mapping[str, str], words: Mapping[str, float]) -> dict[str, float]:
    return Bm25(texts.items(), only=words.keys()).top(words, len(texts))


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
