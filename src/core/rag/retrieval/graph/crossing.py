"""Crosses bridges: from what the walk ranked best to what its sentences name, and from there once more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from core.rag.analysis import analyze
from core.rag.extraction.matching import NameTable, mentions
from core.rag.indexing.splitting.sentences import sentence_spans
from core.rag.retrieval.graph.bridging import Seed, Sentence, targets, ways, worths
from core.rag.retrieval.graph.question import Question
from core.rag.retrieval.graph.ranked import Ranked
from core.rag.retrieval.graph.reading import GraphReader, Text, all_of
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: Number of passages from which bridges start, besides the anchors, and in a second step.
SEEDS: Final = 6
MORE_SEEDS: Final = 4
#: A second step is taken if at least this share of the question is in no passage of the way.
LEFT: Final = 0.15
_MAX_SENTENCES: Final = 60


class Crossing:
    """The bridges for one question; what they lead to is added to what was ranked."""

    def __init__(
        self,
        reader: GraphReader,
        embedder: EmbeddingService | None,
        question: Question,
        ranked: Ranked,
        near: Mapping[str, float],
    ) -> None:
        """Prepare.

        Args:
            reader: Reads passages and what is around them.
            embedder: Embeds sentences; ``None``: words only.
            question: The question.
            ranked: What the walk ranked.
            near: How close each passage is to the question.
        """
        self._reader = reader
        self._embedder = embedder
        self._question = question
        self._ranked = ranked
        self._around = ranked.around
        self._near = near

    async def cross(self, texts: Mapping[str, Text]) -> None:
        """Take a step from the best passages and the anchors, and a second one where that adds to the answer.

        Args:
            texts: Texts of passages that have been read already.
        """
        base = self._ranked.scores
        best = sorted(base, key=lambda passage: (-base[passage], passage))[:SEEDS]
        seeds = await self._seeds(dict.fromkeys([*best, *self._ranked.anchors]), {}, texts)
        await self._step(seeds, gaining=False)
        await self._further(seeds)

    async def _further(self, seeds: Sequence[Seed]) -> None:
        """Take a second step from the best passages of the first one, as long as it adds to the answer."""
        ranked, question = self._ranked, self._question
        words = {seed.passage: seed.words for seed in seeds}
        reached = [passage for passage, way in ranked.ways.items() if passage not in words]
        reached = sorted(reached, key=lambda passage: (-ranked.scores[passage], passage))[:MORE_SEEDS]
        led = {passage: words[ranked.ways[passage].seed] for passage in reached}
        if not reached:
            return
        await self._reader.widen(self._around, set(reached))
        more = await self._seeds(reached, led, {})
        more = [seed for seed in more if question.share(question.weights.keys() - seed.words) >= LEFT]
        await self._step(more, gaining=True)

    async def _step(self, seeds: Sequence[Seed], *, gaining: bool) -> None:
        ranked = self._ranked
        words = await self._reader.words(targets(self._around, seeds))
        found = ways(self._around, self._question, seeds, words, self._near, named=ranked.named, gaining=gaining)
        for passage, way in found.items():
            known = ranked.ways.get(passage)
            if known is None or way.score > known.score:
                ranked.ways[passage] = way
                score = ranked.scores.get(passage, 0.0)
                ranked.scores[passage] = score + way.score * (1 - score)

    async def _seeds(
        self, passages: Iterable[str], led: Mapping[str, frozenset[str]], known: Mapping[str, Text]
    ) -> list[Seed]:
        """Read passages from which bridges may lead; ``led`` has the words on the way to each."""
        scores = {passage: self._ranked.scores[passage] for passage in passages}
        texts = {**known, **await self._reader.texts([passage for passage in scores if passage not in known])}
        spans = {key: sentence_spans(text.content)[:_MAX_SENTENCES] for key, text in texts.items()}
        sentences = {key: [texts[key].content[start:end] for start, end in spans[key]] for key in texts}
        cosines = await self._cosines(sentences)
        seeds = [
            self._seed(key, texts[key], score, spans[key], cosines.get(key), led.get(key, frozenset()))
            for key, score in scores.items()
            if key in texts and key in self._around.beginnings  # otherwise it has just been removed
        ]
        return await self._by_every_name(seeds)

    async def _by_every_name(self, seeds: list[Seed]) -> list[Seed]:
        """Return seeds whose sentences also name the entities that are the same as those they name."""
        same = await self._reader.add_same(
            self._around, {key for seed in seeds for part in seed.sentences for key in part.entities}
        )
        if not same:
            return seeds
        await self._reader.add_surroundings(self._around, all_of(same))

        def widened(sentence: Sentence) -> Sentence:
            also = [other for key in sentence.entities for other in same.get(key, ())]
            return replace(sentence, entities=tuple(dict.fromkeys((*sentence.entities, *also)))) if also else sentence

        return [replace(seed, sentences=tuple(map(widened, seed.sentences))) for seed in seeds]

    def _seed(
        self,
        passage: str,
        text: Text,
        score: float,
        spans: Sequence[tuple[int, int]],
        cosines: Sequence[float] | None,
        led: frozenset[str],
    ) -> Seed:
        around = self._around
        held = around.mentions.get(passage, {})
        own = {entity for entity in held if passage in around.subjects.get(entity, ())}
        ids = {around.entities[entity].name: entity for entity in held if entity not in own}
        places = mentions(text.content, NameTable(ids))
        parts = [text.content[start:end] for start, end in spans]
        facts = [fact for entity in sorted(own) for fact in around.facts.get(entity, ()) if fact.entity not in own]
        values = worths(
            self._question,
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

    async def _cosines(self, sentences: Mapping[str, Sequence[str]]) -> dict[str, list[float]]:
        """Return the cosine of each sentence with the question."""
        if self._embedder is None or self._question.vector is None:
            return {}
        from core.rag.embedder import embed_texts

        texts = [part for parts in sentences.values() for part in parts]
        if not texts:
            return {}
        vectors = np.asarray(await embed_texts(self._embedder, texts), dtype=np.float64)
        direction = np.asarray(self._question.vector, dtype=np.float64)
        values = iter((unit_vectors(vectors) @ unit_vectors(direction)).tolist())
        return {key: [next(values) for _ in parts] for key, parts in sentences.items()}
