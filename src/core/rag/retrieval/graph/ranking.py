"""Ranks passages by the graph around a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from core.rag.analysis import analyze
from core.rag.retrieval.graph.anchors import anchors, bearers, is_common
from core.rag.retrieval.graph.crossing import Crossing
from core.rag.retrieval.graph.neighbourhood import Entity, Neighbourhood
from core.rag.retrieval.graph.order import in_order, sides
from core.rag.retrieval.graph.pagerank import pagerank
from core.rag.retrieval.graph.question import (
    Question,
    but_for_accents,
    is_small,
    is_written,
    named_in,
    possible_names,
)
from core.rag.retrieval.graph.ranked import Found, Ranked
from core.rag.retrieval.graph.reading import GraphReader, Text, all_of
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: Number of passages of the first search around which the neighbourhood is built.
BASE: Final = 40
#: Number of passages of each leg at which a walk starts, and of the first search among which an anchor has to be.
_BEGINNINGS: Final = 20
#: Weight of the first search besides the graph; it orders passages about which the graph has no information.
_REST: Final = 0.05


class GraphRanking:
    """Ranks passages by the graph around a question."""

    def __init__(self, reader: GraphReader, embedder: EmbeddingService | None) -> None:
        """Prepare a ranking.

        Args:
            reader: Reads the neighbourhood.
            embedder: Embeds sentences; ``None``: words only.
        """
        self._reader = reader
        self._embedder = embedder

    async def rank(self, question: Question, found: Found) -> Ranked:
        """Rank the passages found, and those that the graph leads to from there.

        Args:
            question: The question.
            found: The passages found.
        """
        around = Neighbourhood(found.total)
        base = [key for key, _ in sorted(found.scores.items(), key=lambda item: (-item[1], item[0]))[:BASE]]
        entities, mentioned = await together(
            self._reader.entities(possible_names(question.text)), self._reader.mentioned(base)
        )
        named = named_in(question.text, entities)
        also = await self._reader.add_same(around, [entity.id for entity in named])
        # Names are looked up as they are asked for. Words are found without their accents, and so are the passages.
        there = {*all_of(also), *(entity.id for entity in named)}
        others = but_for_accents(question.text, [entity for entity in mentioned.entities() if entity.id not in there])
        if others:
            named += others
            also |= await self._reader.add_same(around, [entity.id for entity in others])
        around.add_entities(named)
        aliases = [key for key in all_of(also) if all(key != entity.id for entity in named)]
        named += [around.entities[key] for key in aliases]
        around.add_passages(base)
        await self._reader.add_titled(around, [entity.id for entity in bearers(named)])
        await self._reader.add_holders(around, [entity.id for entity in named if not entity.titled])
        # Another name is no rarer than the one that the question has: "root mean squared error" for RMSE.
        shares = {
            around.entities[other].name: around.entities[key].mention_count / max(found.total, 1)
            for key, others in also.items()
            for other in others
            if other in aliases
        }
        commonness = cache(lambda name: shares.get(name) or question.commonness(name))
        small = partial(is_small, text=question.text)
        asked = anchors(around, named, lambda passage: found.scores.get(passage, 0.0), commonness, small)
        texts, _ = await together(self._reader.texts(asked), self._reader.widen(around, {*base, *asked}, mentioned))
        best = base[:_BEGINNINGS]
        written = {entity.id for entity in named if entity in others or is_written(entity.name, question.text)}
        sure = {*aliases, *written}
        common = {passage for passage, text in texts.items() if _is_common(around, asked[passage][1], text)}
        subjects = {entity for _, entity in asked.values()} | {entity.id for entity in named if entity.is_selective}
        await self._reader.add_facts(
            around, subjects, {entity.id for entity in named}, lambda text: question.share(analyze(text))
        )
        near = _closeness(around, found)
        scores = _walk(around, named, found, near, commonness)
        for passage, (strength, _) in asked.items():
            if passage not in common:
                scores[passage] = max(scores.get(passage, 0.0), strength)
        ids = frozenset(entity.id for entity in named)
        doubted = common | {key for key, (_, entity) in asked.items() if entity not in sure and key not in best}
        ranked = Ranked(
            scores,
            dict(scores),
            ids,
            anchors=asked,
            around=around,
            doubted=doubted,
            written=max(
                (around.specificity(entity.id) for entity in named if entity.is_selective and entity.id in written),
                default=0.0,
            ),
            sides=sides(asked, ids.difference(aliases), common) if asked.keys() - doubted else [],
        )
        await Crossing(self._reader, self._embedder, question, ranked, near).cross(texts)
        for passage, score in found.scores.items():
            known = ranked.scores.get(passage, 0.0)
            ranked.scores[passage] = known + _REST * score * (1 - known)
        ranked.scores = in_order(ranked.scores, found.scores, ranked.places())
        return ranked


def _is_common(around: Neighbourhood, entity: str, text: Text) -> bool:
    return is_common(around.entities[entity].name, text.title, text.content)


def _closeness(around: Neighbourhood, found: Found) -> dict[str, float]:
    """Return the closeness of each passage to the question: the mean of its scores, each divided by the best."""
    most = max(found.keyword.values(), default=0.0)
    nearest = max(found.cosine.values(), default=0.0)
    usual = max(found.usual, 0.0) / nearest if nearest > 0 else 0.0
    near = dict.fromkeys(around.mentions, usual / 2)
    for passage in near.keys() & (found.keyword.keys() | found.cosine.keys()):
        words = found.keyword.get(passage, 0.0) / most if most > 0 else 0.0
        meaning = max(found.cosine.get(passage, found.usual), 0.0) / nearest if nearest > 0 else 0.0
        near[passage] = (words + meaning) / 2
    return near


def _walk(
    around: Neighbourhood,
    named: Sequence[Entity],
    found: Found,
    near: Mapping[str, float],
    commonness: Callable[[str], float],
) -> dict[str, float]:
    """Return scores from 0 to 1 of a walk that starts at the passages found and the entities named.

    The rarer an entity, the more of the walk starts there; as for anchors, a name is no rarer than the word.
    """
    begun = {entity.id: around.specificity(entity.id, commonness(entity.name)) for entity in named}
    mass = pagerank(around, begun, _beginnings(found), near)
    top = max(mass.values(), default=0.0)
    return {passage: share / top for passage, share in mass.items()} if top > 0 else {}


def _beginnings(found: Found) -> dict[str, float]:
    near = sorted(found.cosine.items(), key=lambda item: (-item[1], item[0]))[:_BEGINNINGS]
    low = near[-1][1] if near else 0.0
    spread = (near[0][1] - low if near else 0.0) or 1.0
    weights = {passage: (cosine - low) / spread for passage, cosine in near}
    words = sorted(found.keyword.items(), key=lambda item: (-item[1], item[0]))[:_BEGINNINGS]
    for rank, (passage, _) in enumerate(words):
        weights[passage] = weights.get(passage, 0.0) + 1 / (1 + 0.2 * rank)
    return weights
