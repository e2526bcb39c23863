"""The part of the graph around a question: passages, the entities they mention, and documents so titled.

It is filled with the rows of a few bounded queries and never grows beyond ``MAX_PASSAGES`` passages, whatever the size
of the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from core.rag.retrieval.graph.subjects import section, subjects_among

#: Passages taken in at most.
MAX_PASSAGES: Final = 1_500
#: An entity that more chunks mention, or more documents are titled like, leads nowhere in particular.
MAX_HOLDERS: Final = 20

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the graph.

    Attributes:
        id: Of the node.
        name: Normalised; see :func:`core.rag.extraction.words.normalize_name`.
        mention_count: How many chunks of the corpus mention it.
        titled: How many documents of the corpus are titled so.
    """

    id: str
    name: str
    mention_count: int
    titled: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Entity:
        """From a row of its properties."""
        return cls(row["id"], row["name"], int(row["mention_count"] or 0), int(row["titled"] or 0))

    @property
    def is_selective(self) -> bool:
        """Whether few enough passages have to do with it to look at all of them."""
        return self.mention_count <= MAX_HOLDERS


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known to hold between two entities: found by a language model, or stated by the caller.

    Attributes:
        text: It as a sentence.
        entity: The entity that it leads to.
    """

    text: str
    entity: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a passage begins.

    Attributes:
        document: Id of its document.
        heading: Its heading path.
        opening: Its first words, where the document begins with it.
    """

    document: str
    heading: str
    opening: str

    @property
    def section(self) -> str:
        """The section that it is part of; see :func:`core.rag.retrieval.graph.subjects.section`."""
        return section(self.document, self.heading)


@dataclass(slots=True)
class Neighbourhood:
    """Passages and entities around a question.

    Attributes:
        total: How many chunks the corpus has.
        entities: By id.
        mentions: For each passage, how often it mentions each entity.
        subjects: For each entity, the passages that are about it by the title of their document, the heading of their
            section, or the name that their document begins with, and the document or section of each.
        facts: For each entity, what is known of it.
        beginnings: Where passages stand, and how they begin; of those that were asked for.
    """

    total: int
    entities: dict[str, Entity] = field(default_factory=dict)
    mentions: dict[str, dict[str, float]] = field(default_factory=dict)
    subjects: dict[str, dict[str, str]] = field(default_factory=dict)
    facts: dict[str, list[Fact]] = field(default_factory=dict)
    beginnings: dict[str, Beginning] = field(default_factory=dict)
    _holders: dict[str, set[str]] = field(default_factory=dict)
    _compared: dict[str, int] = field(default_factory=dict)

    def add_entities(self, entities: Iterable[Entity]) -> None:
        """Take in entities."""
        self.entities.update((entity.id, entity) for entity in entities)

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """The same from rows with ``id``, ``name``, ``mention_count`` and ``titled``; known ones stay as they are."""
        known = self.entities
        for row in rows:
            key = row["id"]
            if key not in known:
                known[key] = Entity.of(row)

    def add_passages(self, passages: Iterable[str]) -> None:
        """Take in passages, as far as there is room."""
        for passage in passages:
            self._room_for(passage)

    def add_mention(self, passage: str, entity: str, count: float) -> None:
        """Take in that a passage mentions an entity that is known."""
        self.add_mentions(((passage, entity, count),))

    def add_mentions(self, found: Iterable[tuple[str, str, float]]) -> None:
        """The same for many: passage, entity, and how often."""
        entities, mentions, holders = self.entities, self.mentions, self._holders
        for passage, entity, count in found:
            if entity not in entities:
                continue
            held = mentions.get(passage)
            if held is None:
                if len(mentions) >= MAX_PASSAGES:
                    continue
                held = mentions[passage] = {}
            if held.get(entity, 0.0) < count:
                held[entity] = count
            there = holders.get(entity)
            if there is None:
                holders[entity] = {passage}
            else:
                there.add(passage)

    def add_subject(self, entity: str, passage: str, place: str) -> None:
        """Take in that a passage is about an entity, as part of a document or section that is called like it."""
        if entity in self.entities and self._room_for(passage):
            self.subjects.setdefault(entity, {})[passage] = place
            self.add_mention(passage, entity, 1.0)

    def settle_subjects(self) -> None:
        """Find out what passages are about by how they begin, among what they mention."""
        for passage, begins in self.beginnings.items():
            held = self.mentions[passage]
            if self._compared.get(passage) == len(held):
                continue
            self._compared[passage] = len(held)
            # What some document is called by is not the subject of another one that only begins with it.
            names = {
                self.entities[entity].name: entity
                for entity in held
                if begins.heading or not self.entities[entity].titled
            }
            for name in subjects_among(names, begins.heading, begins.opening):
                if passage not in self.subjects.get(names[name], ()):
                    self.add_subject(names[name], passage, begins.section)

    def holders(self, entity: str) -> AbstractSet[str]:
        """The passages known to mention an entity, by its name or in their title."""
        return self._holders.get(entity, _NONE)

    def titles(self) -> dict[str, str]:
        """What the document of each passage is titled like, as one string; without those that have no title."""
        found: dict[str, list[str]] = {}
        for entity in sorted(self.subjects):
            if self.entities[entity].titled:
                for passage, place in self.subjects[entity].items():
                    begins = self.beginnings.get(passage)
                    if begins is not None and place == begins.document:
                        found.setdefault(passage, []).append(entity)
        return {passage: " ".join(entities) for passage, entities in found.items()}

    def rarity(self, entity: str) -> float:
        """The weight of an entity: ln(1 + N / n) for one that n of the N chunks mention."""
        return math.log1p(self.total / max(self.entities[entity].mention_count, 1))

    def specificity(self, entity: str, held: float = 0.0) -> float:
        """The same from 0 to 1: 1 for what one chunk mentions.

        Args:
            entity: The entity.
            held: The share of the chunks that have its name as a word, mentioned or not.
        """
        if not self.total:
            return 0.0
        rarity = min(self.rarity(entity), math.log1p(1 / held)) if held > 0.0 else self.rarity(entity)
        return rarity / math.log1p(max(self.total, 1))

    def _room_for(self, passage: str) -> bool:
        if passage not in self.mentions:
            if len(self.mentions) >= MAX_PASSAGES:
                return False
            self.mentions[passage] = {}
        return True
