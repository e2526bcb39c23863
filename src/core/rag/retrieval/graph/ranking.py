"""Ranks passages by the graph around a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from core.rag.analysis import analyze
from core.rag.extraction.matching import NameTable, mentions
from core.rag.indexing.splitting.sentences import sentence_spans
from core.rag.retrieval.graph.anchors import anchors, bearers, is_common
from core.rag.retrieval.graph.bridging import Seed, Sentence, Way, targets, ways, worths
from core.rag.retrieval.graph.neighbourhood import Entity, Neighbourhood
from core.rag.retrieval.graph.order import in_order, sides
from core.rag.retrieval.graph.pagerank import pagerank
from core.rag.retrieval.graph.question import Question, but_for_accents, is_written, named_in, possible_names
from core.rag.retrieval.graph.reading import GraphReader, Text
from core.rag.retrieval.graph.why import Trace, trace
from core.rag.together import together
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: Number of passages of the first search around which the neighbourhood is built.
BASE: Final = 40
#: Number of passages from which bridges start, besides the anchors, and in a second step.
SEEDS: Final = 6
MORE_SEEDS: Final = 4
#: A second step is taken if at least this share of the question is in no passage of the way.
LEFT: Final = 0.15
#: Number of passages of each leg at which a walk starts, and of the first search among which an anchor has to be.
_BEGINNINGS: Final = 20
#: Weight of the first search besides the graph; it orders passages about which the graph has no information.
_REST: Final = 0.05
_MAX_SENTENCES: Final = 60


@dataclass(frozen=True, slots=True)
class Found:
    """The results of the first search.

    Attributes:
        scores: Fused score by passage, 0 to 1.
        keyword: BM25 score by passage.
        cosine: Cosine of each passage with the question.
        usual: The average cosine of a passage.
        total: Number of chunks in the corpus.
    """

    scores: Mapping[str, float]
    keyword: Mapping[str, float]
    cosine: Mapping[str, float]
    usual: float
    total: int


@dataclass(slots=True)
class Ranked:
    """Passages ranked by the graph.

    Attributes:
        scores: Scores by passage, 0 to 1.
        walked: The part of the scores from the walk, before any bridge.
        named: Ids of the entities that the question names.
        ways: The way to each passage that was reached over a bridge.
        anchors: The passages that the question names, with their strengths and entities.
        around: The neighbourhood.
        doubted: The anchors that may be accidents: their name is a common word, or the question writes it small and the
            first search, in which the words of a title count more than others, has them not among its best.
        written: The specificity of the rarest name that the question writes with a capital and few passages mention;
            0 if there is none.
        sides: The passages about each thing that the question names.
    """

    scores: dict[str, float]
    walked: dict[str, float] = field(default_factory=dict)
    named: frozenset[str] = frozenset()
    ways: dict[str, Way] = field(default_factory=dict)
    anchors: dict[str, tuple[float, str]] = field(default_factory=dict)
    around: Neighbourhood = field(default_factory=lambda: Neighbourhood(0))
    doubted: AbstractSet[str] = frozenset()
    written: float = 0.0
    sides: Sequence[Sequence[str]] = ()

    @property
    def is_linked(self) -> bool:
        """Whether any entities were extracted from the passages found."""
        return any(self.around.mentions.values())

    def places(self) -> dict[str, str]:
        """Return the documents of passages, or their sections if the graph led to the section.

        Documents of the same title count as one, since a name leads to all of them alike.
        """
        meant = {passage: entity for passage, (_, entity) in self.anchors.items()}
        meant.update((passage, way.entity) for passage, way in self.ways.items() if way.about)
        titles = self.around.titles()
        found = {}
        for passage, begins in self.around.beginnings.items():
            place = self.around.subjects.get(meant.get(passage, ""), {}).get(passage, begins.document)
            found[passage] = titles.get(passage, place) if place == begins.document else place
        return found

    def traces(self, passages: Iterable[str]) -> dict[str, Trace]:
        """Return how passages were found."""
        told = {key: way for key, way in self.ways.items() if 2 * way.score >= self.walked.get(key, 0.0)}
        found = {}
        for passage in passages:
            shared = self.around.mentions.get(passage, {}).keys() & self.named
            rarest = max(sorted(shared), key=self.around.rarity, default="")
            found[passage] = trace(passage, told, self.anchors, rarest)
        return found


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

    async def rank(self, question: Question, found: Found, others: Sequence[Entity] = ()) -> Ranked:
        """Rank the passages found, and those that the graph leads to from there.

        Args:
            question: The question.
            found: The passages found.
            others: Entities that the question names, too, but for their accents.
        """
        around = Neighbourhood(found.total)
        named = named_in(question.text, await self._reader.entities(possible_names(question.text)))
        named += others
        around.add_entities(named)
        also = await self._reader.add_same(around, [entity.id for entity in named])
        aliases = [key for key in _others(also) if all(key != entity.id for entity in named)]
        named += [around.entities[key] for key in aliases]
        base = [key for key, _ in sorted(found.scores.items(), key=lambda item: (-item[1], item[0]))[:BASE]]
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
        asked = anchors(around, named, lambda passage: found.scores.get(passage, 0.0), commonness)
        texts, _ = await together(self._reader.texts(asked), self._widen(around, {*base, *asked}))
        # Names are looked up as they are asked for. Words are found without their accents, and so are the passages.
        if not others and (others := but_for_accents(question.text, _mentioned(around, base, named))):
            return await self.rank(question, found, others)
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
        await self._bridge(question, ranked, named, near, texts)
        for passage, score in found.scores.items():
            known = ranked.scores.get(passage, 0.0)
            ranked.scores[passage] = known + _REST * score * (1 - known)
        ranked.scores = in_order(ranked.scores, found.scores, ranked.places())
        return ranked

    async def _widen(self, around: Neighbourhood, passages: set[str]) -> None:
        await self._reader.add_mentions(around, passages)
        entities = {entity for passage in passages for entity in around.mentions.get(passage, ())}
        await self._reader.add_surroundings(around, entities)

    async def _bridge(
        self,
        question: Question,
        ranked: Ranked,
        named: Sequence[Entity],
        near: Mapping[str, float],
        texts: Mapping[str, Text],
    ) -> None:
        base = dict(ranked.scores)
        best = sorted(base, key=lambda passage: (-base[passage], passage))[:SEEDS]
        chosen = list(dict.fromkeys([*best, *ranked.anchors]))
        seeds = await self._seeds(question, ranked, {passage: base[passage] for passage in chosen}, {}, texts)
        await self._step(question, ranked, seeds, named, near, gaining=False)
        await self._further(question, ranked, seeds, named, near)

    async def _further(
        self,
        question: Question,
        ranked: Ranked,
        seeds: Sequence[Seed],
        named: Sequence[Entity],
        near: Mapping[str, float],
    ) -> None:
        """Take a second step from the best passages of the first one, as long as it adds to the answer."""
        words = {seed.passage: seed.words for seed in seeds}
        reached = [passage for passage, way in ranked.ways.items() if passage not in words]
        reached = sorted(reached, key=lambda passage: (-ranked.scores[passage], passage))[:MORE_SEEDS]
        led = {passage: words[ranked.ways[passage].seed] for passage in reached}
        if not reached:
            return
        await self._widen(ranked.around, set(reached))
        more = await self._seeds(question, ranked, {passage: ranked.scores[passage] for passage in reached}, led, {})
        more = [seed for seed in more if question.share(question.weights.keys() - seed.words) >= LEFT]
        await self._step(question, ranked, more, named, near, gaining=True)

    async def _step(
        self,
        question: Question,
        ranked: Ranked,
        seeds: Sequence[Seed],
        named: Sequence[Entity],
        near: Mapping[str, float],
        *,
        gaining: bool,
    ) -> None:
        words = await self._reader.words(targets(ranked.around, seeds))
        found = ways(
            ranked.around, question, seeds, words, near, named={entity.id for entity in named}, gaining=gaining
        )
        for passage, way in found.items():
            known = ranked.ways.get(passage)
            if known is None or way.score > known.score:
                ranked.ways[passage] = way
                score = ranked.scores.get(passage, 0.0)
                ranked.scores[passage] = score + way.score * (1 - score)

    async def _seeds(
        self,
        question: Question,
        ranked: Ranked,
        scores: Mapping[str, float],
        led: Mapping[str, frozenset[str]],
        known: Mapping[str, Text],
    ) -> list[Seed]:
        texts = {**known, **await self._reader.texts([passage for passage in scores if passage not in known])}
        spans = {key: sentence_spans(text.content)[:_MAX_SENTENCES] for key, text in texts.items()}
        sentences = {key: [texts[key].content[start:end] for start, end in spans[key]] for key in texts}
        cosines = await self._cosines(question, sentences)
        seeds = [
            self._seed(
                question, ranked.around, key, texts[key], score, spans[key], cosines.get(key), led.get(key, frozenset())
            )
            for key, score in scores.items()
            if key in texts and key in ranked.around.beginnings  # otherwise it has just been removed
        ]
        return await self._by_every_name(ranked.around, seeds)

    async def _by_every_name(self, around: Neighbourhood, seeds: list[Seed]) -> list[Seed]:
        """Return seeds whose sentences also name the entities that are the same as those they name."""
        same = await self._reader.add_same(
            around, {key for seed in seeds for part in seed.sentences for key in part.entities}
        )
        if not same:
            return seeds
        await self._reader.add_surroundings(around, _others(same))

        def widened(sentence: Sentence) -> Sentence:
            also = [other for key in sentence.entities for other in same.get(key, ())]
            return replace(sentence, entities=tuple(dict.fromkeys((*sentence.entities, *also)))) if also else sentence

        return [replace(seed, sentences=tuple(map(widened, seed.sentences))) for seed in seeds]

    def _seed(
        self,
        question: Question,
        around: Neighbourhood,
        passage: str,
        text: Text,
        score: float,
        spans: Sequence[tuple[int, int]],
        cosines: Sequence[float] | None,
        led: frozenset[str],
    ) -> Seed:
        held = around.mentions.get(passage, {})
        own = {entity for entity in held if passage in around.subjects.get(entity, ())}
        ids = {around.entities[entity].name: entity for entity in held if entity not in own}
        places = mentions(text.content, NameTable(ids))
        parts = [text.content[start:end] for start, end in spans]
        facts = [fact for entity in sorted(own) for fact in around.facts.get(entity, ()) if fact.entity not in own]
        values = worths(
            question,
            analyze(" ".join((text.title, *(around.entities[entity].name for entity in sorted(own))))),
            [analyze(part) for part in (*parts, *(fact.text for fact in facts))],
            None if cosines is None else [*cosines, *[0.0] * len(facts)],
        )
        told = [
            Sentence(fact.text, worth, (fact.entity,)) for fact, worth in zip(facts, values[len(parts) :], strict=True)
        ]
        for (start, end), part, worth in zip(spans, parts, values[: len(parts)], strict=True):
            names = dict.fromkeys(name for begin, _, name in places if start <= begin < end)
            told.append(Sentence(part, worth, tuple(ids[name] for name in names)))
        begins = around.beginnings[passage]
        return Seed(passage, begins.document, begins.section, score, text.words | led, tuple(told))

    async def _cosines(self, question: Question, sentences: Mapping[str, Sequence[str]]) -> dict[str, list[float]]:
        """Return the cosine of each sentence with the question."""
        if self._embedder is None or question.vector is None:
            return {}
        from core.rag.embedder import embed_texts

        texts = [part for parts in sentences.values() for part in parts]
        if not texts:
            return {}
        vectors = np.asarray(await embed_texts(self._embedder, texts), dtype=np.float64)
        direction = np.asarray(question.vector, dtype=np.float64)
        values = iter((unit_vectors(vectors) @ unit_vectors(direction)).tolist())
        return {key: [next(values) for _ in parts] for key, parts in sentences.items()}


def _others(same: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(other for others in same.values() for other in others))


def _mentioned(around: Neighbourhood, passages: Iterable[str], named: Iterable[Entity]) -> list[Entity]:
    """Return what passages mention, without what is named."""
    mentioned = {entity for passage in passages for entity in around.mentions.get(passage, ())}
    return [around.entities[entity] for entity in sorted(mentioned - {entity.id for entity in named})]


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
