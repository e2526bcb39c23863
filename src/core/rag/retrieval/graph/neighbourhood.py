"""The part of the graph around a question: passages, the entities they mention, and documents so titled.

It is filled with the rows of a few bounded queries and never grows beyond ``MAX_PASSAGES`` passages, whatever the size
of the corpus.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from core.rag.retrieval.graph.subjects import section, subjects_among

#: Maximum number of passages.
MAX_PASSAGES: Final = 1_500
#: An entity with more mentions, or titles of more documents, is too common to follow.
MAX_HOLDERS: Final = 20

_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the graph.

    Attributes:
        id: Id of the node.
        name: Its normalised name; see :func:`core.rag.extraction.words.normalize_name`.
        mention_count: How many chunks of the corpus mention it.
        titled: How many documents of the corpus have it as their title.
    """

    id: str
    name: str
    mention_count: int
    titled: int

    @classmethod
    def of(cls, key: str, name: str, mention_count: int | None, titled: int | None) -> Entity:
        """Make an entity from its properties."""
        return cls(key, name, int(mention_count or 0), int(titled or 0))

    @property
    def is_selective(self) -> bool:
        """Whether it has few enough passages to read all of them."""
        return self.mention_count <= MAX_HOLDERS


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about two entities, extracted by a language model or added by the caller.

    Attributes:
        text: The fact as a sentence.
        entity: The entity that it leads to.
    """

    text: str
    entity: str


@dataclass(frozen=True, slots=True)
class Beginning:
    """The place and beginning of a passage.

    Attributes:
        document: Id of its document.
        heading: Its heading path.
        opening: Its first words, if it is the beginning of the document.
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
        total: Number of chunks in the corpus.
        entities: Entities by id.
        mentions: For each passage, how often it mentions each entity.
        subjects: For each entity, the passages that are about it by the title of their document, the heading of their
            section, or the name that their document begins with, and the document or section of each.
        facts: For each entity, the facts about it.
        beginnings: Places and beginnings of the passages for which these were requested.
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
        """Add entities."""
        self.entities.update((entity.id, entity) for entity in entities)

    def add_rows(self, rows: Iterable[Sequence[Any]]) -> None:
        """Add entities from rows that end with the arguments of :meth:`Entity.of`; known ones do not change."""
        known = self.entities
        for row in rows:
            key = row[-4]
            if key not in known:
                known[key] = Entity.of(*row[-4:])

    def add_passages(self, passages: Iterable[str]) -> None:
        """Add passages, up to the maximum."""
        for passage in passages:
            self._room_for(passage)

    def add_mention(self, passage: str, entity: str, count: float) -> None:
        """Add a mention of a known entity in a passage."""
        self.add_mentions(((passage, entity, count),))

    def add_mentions(self, found: Iterable[tuple[str, str, float]]) -> None:
        """Add many mentions: passage, entity, and how often."""
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
        """Add that a passage is about an entity, as part of a document or section of that name."""
        if entity in self.entities and self._room_for(passage):
            self.subjects.setdefault(entity, {})[passage] = place
            self.add_mention(passage, entity, 1.0)

    def settle_subjects(self) -> None:
        """Determine what passages are about, among what they mention, by their beginnings."""
        for passage, begins in self.beginnings.items():
            held = self.mentions[passage]
            if self._compared.get(passage) == len(held):
                continue
            self._compared[passage] = len(held)
            # The title of one document is not the subject of another one that only begins with it.
            names = {
                self.entities[entity].name: entity
                for entity in held
                if begins.heading or not self.entities[entity].titled
            }
            for name in subjects_among(names, begins.heading, begins.opening):
                if passage not in self.subjects.get(names[name], ()):
                    self.add_subject(names[name], passage, begins.section)

    def holders(self, entity: str) -> AbstractSet[str]:
        """Return the known passages that mention an entity, by name or in their title."""
        return self._holders.get(entity, _NONE)

    def titles(self) -> dict[str, str]:
        """Return the title entities of the document of each passage, as one string; without untitled ones."""
        found: dict[str, list[str]] = {}
        for entity in sorted(self.subjects):
            if self.entities[entity].titled:
                for passage, place in self.subjects[entity].items():
                    begins = self.beginnings.get(passage)
                    if begins is not None and place == begins.document:
                        found.setdefault(passage, []).append(entity)
        return {passage: " ".join(entities) for passage, entities in found.items()}

    def rarity(self, entity: str) -> float:
        """Return the weight of an entity: ln(1 + N / n) for one that n of the N chunks mention."""
        return math.log1p(self.total / max(self.entities[entity].mention_count, 1))

    def specificity(self, entity: str, held: float = 0.0) -> float:
        """Return the rarity of an entity scaled to 0 to 1: 1 for one that a single chunk mentions.

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
