"""The rankings of chunks for a question, one for each search mode."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
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
    NAMED,
    WITHOUT,
    WholeDocument,
    dealt,
    in_turn,
    is_long,
    leading,
    may_name,
    mixed,
    mostly_of,
    names_of_things,
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is searched for.

    Attributes:
        text: The question.
        vector: Its vector; ``None`` if it has nothing to compare.
        terms: Its words with their weights.
        dialogue: The messages that it goes on with.
    """

    text: str
    vector: Sequence[float] | None
    terms: Mapping[str, float]
    dialogue: Dialogue | None = None


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
        found = await self._of(texts, await self._asked())
        if self._rewritten is None:
            return found
        return _mixed(found, await self._of(texts, await self._meant(self._rewritten)))

    async def _direction(self) -> Sequence[float] | None:
        embedding = await self._embed(self._query)
        return embedding if self._dialogue is None or embedding is None else self._dialogue.vector(embedding)

    async def _asked(self) -> _Asked:
        return _Asked(self._query, await self._direction(), self._terms, self._dialogue)

    async def _meant(self, text: str) -> _Asked:
        return _Asked(text, await self._embed(text), weighed(text, searched_terms))

    async def _as_asked(self, k: int) -> Ranking:
        return await self._hybrid(await self._asked(), k)

    async def _as_rewritten(self, text: str, k: int) -> Ranking:
        return await self._hybrid(await self._meant(text), k)

    async def _by_graph(self, graph: GraphSearch, k: int) -> Ranking:
        query, auto = self._query, self._mode == "auto"
        if (text := self._rewritten) is None:
            meant, plain = await self._direction(), await self._as_asked(k)
            return await graph.search(query, [*query_terms(query), *self._short], meant, plain, auto=auto)
        # The names of the rewritten question go with its words and meaning, not with those of "And what of it?".
        meant, plain = await self._embed(text), await self._as_rewritten(text, k)
        led = await graph.search(text, query_terms(text), meant, plain, auto=auto)
        return _mixed(await self._as_asked(k), led)

    async def _hybrid(self, asked: _Asked, k: int) -> Ranking:
        """Fuse the best of both legs; chunks that only keywords found get their exact cosine."""
        legs, query, dialogue = self._legs, asked.vector, asked.dialogue
        vectors, words, sample, total = await together(
            legs.vector(query, k), legs.keyword(asked.terms, k), legs.sampled_cosines(query), legs.total()
        )
        more = {"earlier": dialogue.earlier_leg()} if dialogue is not None and dialogue.earlier else {}
        others = {*words, *(key for leg in more.values() for key in leg.scores)}
        exact = await legs.cosines(query, [key for key in others if key not in vectors])
        weight = self._vector_weight
        fused = fuse_hybrid({**exact, **vectors}, words, sample=sample, total=total, vector_weight=weight, more=more)
        return await self._ordered(fused, asked)

    async def _of(self, texts: Mapping[str, str], asked: _Asked) -> Ranking:
        vectors = await self._legs.cosines(asked.vector, texts) if self._mode != "keyword" else {}
        words = await asyncio.to_thread(_by_words, texts, asked.terms) if self._mode != "vector" else {}
        sample, weight = vectors.values(), self._vector_weight
        fused = fuse_hybrid(vectors, words, sample=sample, total=len(texts), vector_weight=weight)
        if self._mode in {"keyword", "vector"}:
            return {item.id: (item.score, item.scores) for item in fused}
        return await self._ordered(fused, asked, texts)

    async def _ordered(self, fused: Sequence[Fused], asked: _Asked, only: Mapping[str, str] | None = None) -> Ranking:
        """Put what was found in order: as the question has it, and within a document that it names by its rest.

        Args:
            fused: What was found.
            asked: What is searched for.
            only: The passages that may be found, by their ids; ``None``: all.
        """
        is_alone = asked.dialogue is None
        # The words of several turns have no reason to stand together.
        ranking, passages = await self._near(fused, asked.terms if is_alone else {})
        if is_alone and not may_name(asked.text):
            return ranking
        if is_alone and any(is_long(one) for one in passages.values()):
            compared = await self._compared(asked.text, only)
            if len(compared) > 1:
                return await self._side_by_side(compared, ranking, asked)
        first = sorted(ranking, key=lambda key: (-ranking[key][0], key))[:FIRST]
        earlier = () if is_alone else asked.terms.keys() - {*query_terms(asked.text)}
        for path in leading([passages[key] for key in first if key in passages]):
            document, name = await self._called(path, asked.text, earlier)
            rest = {word: weight for word, weight in asked.terms.items() if word not in name}
            if document is not None and name and rest:
                # A conversation goes on in its own direction.
                other = await self._embed(without(asked.text, name)) if is_alone else asked.vector
                directions, terms = (asked.vector, other), (asked.terms, rest)
                within = await self._within(document, ranking, directions, terms, near=is_alone)
                ranking = dealt(ranking, document.terms, within)
        return ranking

    async def _called(
        self, path: str, text: str, earlier: Collection[str] = ()
    ) -> tuple[WholeDocument | None, frozenset[str]]:
        """Return a document, and those words of a question that it is called by; ``None`` if it has been removed."""
        document, sample, total = await together(self._legs.whole(path), self._legs.sampled_words(), self._legs.total())
        return document, frozenset() if document is None else own_name(document, text, earlier, sample, total)

    async def _compared(self, text: str, only: Mapping[str, str] | None) -> list[tuple[WholeDocument, frozenset[str]]]:
        """Return the long documents that a question compares, with the words that it names each by."""
        named: dict[str, frozenset[str]] = {}
        for name in names_of_things(text):
            path = mostly_of(await self._legs.passages(await self._legs.keyword(dict.fromkeys(name, 1.0), NAMED)))
            if path:
                named[path] = named.get(path, frozenset()) | name
        found: list[tuple[WholeDocument, frozenset[str]]] = []
        for path, name in named.items() if len(named) > 1 else ():
            document, own = await self._called(path, text)
            if document is not None and own & name and (only is None or document.terms.keys() <= only.keys()):
                found.append((document, name))
        return found

    async def _side_by_side(
        self, compared: Sequence[tuple[WholeDocument, frozenset[str]]], ranking: Ranking, asked: _Asked
    ) -> Ranking:
        """Put the best passages of the documents first that a question compares, each in its turn."""
        names = frozenset().union(*(name for _, name in compared))
        rest = {word: weight for word, weight in asked.terms.items() if word not in names}
        if not rest:
            return ranking
        direction = await self._embed(without(asked.text, names))
        orders: list[Ranking] = []
        for document, name in compared:
            own = rest | {word: asked.terms[word] for word in name & asked.terms.keys()}
            orders.append(await self._within(document, ranking, (direction, direction), (own, rest), near=True))
        return in_turn(ranking, orders)

    async def _within(
        self,
        document: WholeDocument,
        ranking: Ranking,
        directions: tuple[Sequence[float] | None, Sequence[float] | None],
        terms: tuple[Mapping[str, float], Mapping[str, float]],
        *,
        near: bool,
    ) -> Ranking:
        """Rank the passages of a document by a question with its name, and without.

        Args:
            document: The document.
            ranking: What was found before; its passages of the document are ranked, too.
            directions: The vectors of the question.
            terms: Its words.
            near: Whether words that stand close together count.
        """
        legs, (named, rest) = self._legs, terms
        held = await asyncio.to_thread(Bm25, document.terms.items(), only=named.keys())
        words = [held.top(some, COMPARED) for some in terms]
        compared = {*words[0], *words[1], *(ranking.keys() & document.terms.keys())}
        vectors = await legs.cosines_of_each(directions, compared)
        spreads = await together(*map(legs.sampled_cosines, directions))
        of, weight = len(document.terms), self._vector_weight
        both = [
            fuse_hybrid(vectors[one], words[one], sample=spreads[one], total=of, vector_weight=weight) for one in (0, 1)
        ]
        half = {word: weigh if word in rest else WITHOUT * weigh for word, weigh in named.items()}
        return (await self._near(mixed(*both), half if near else {}))[0]

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
