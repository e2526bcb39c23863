"""Facts that a language model found in a chunk, in the form in which they are stored with it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from core.rag.extraction.words import is_unspaced, normalize_name

#: Maximum number of entities of a chunk; more are noise.
MAX_ENTITIES: Final = 40
MAX_FACTS: Final = 40
_MAX_TYPE_CHARS: Final = 60
_MAX_FACT_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class TypedName:
    """An entity that a chunk names.

    Attributes:
        name: Its normalised name.
        text: Its spelling.
        type: ``person``, ``organization`` …
    """

    name: str
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact in a chunk about two entities.

    Attributes:
        source: Normalised name of the entity that it is about.
        target: Normalised name of the other entity.
        type: The relation, in ``snake_case``.
        text: The fact as a sentence.
    """

    source: str
    target: str
    type: str
    text: str


@dataclass(slots=True)
class ChunkFacts:
    """Entities and facts of a chunk; the two ends of a fact are among the entities."""

    entities: list[TypedName] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    @classmethod
    def of(cls, entities: Iterable[tuple[str, str]], facts: Iterable[tuple[str, str, str, str]]) -> ChunkFacts:
        """Clean the output of a model.

        Args:
            entities: ``(name, type)``.
            facts: ``(source, relation, target, sentence)``; facts about entities that are not names are left out.
        """
        known: dict[str, TypedName] = {}
        for text, kind in entities:
            _take(known, text, kind)
        found: dict[tuple[str, str, str], Fact] = {}
        for source, relation, target, sentence in facts:
            a, b = _take(known, source, ""), _take(known, target, "")
            kind = snake_case(relation)
            if a and b and a != b and kind and len(found) < MAX_FACTS:
                found.setdefault((a, b, kind), Fact(a, b, kind, " ".join(sentence.split())[:_MAX_FACT_CHARS]))
        return cls(list(known.values()), list(found.values()))

    @property
    def size(self) -> int:
        """Number of entities and facts."""
        return len(self.entities) + len(self.facts)

    def to_json(self) -> str:
        """Return the JSON that is stored with the chunk."""
        data = {
            "entities": [[item.text, item.type] for item in self.entities],
            "facts": [[item.source, item.target, item.type, item.text] for item in self.facts],
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | None) -> ChunkFacts:
        """Read the result of :meth:`to_json`; empty for ``None``."""
        if not text:
            return cls()
        data = json.loads(text)
        entities = [TypedName(normalize_name(spelt), spelt, kind) for spelt, kind in data["entities"]]
        return cls(entities, [Fact(*parts) for parts in data["facts"]])


def plain_type(kind: str) -> str:
    """Return a type of entities in the form in which it is stored: ``research paper``."""
    return " ".join(kind.lower().split())[:_MAX_TYPE_CHARS]


def snake_case(relation: str) -> str:
    """Return a relation as ``works_at``; characters of scripts without spaces stay together."""
    text = ""
    for word in normalize_name(relation).split():
        apart = text and not (is_unspaced(text[-1]) and is_unspaced(word))
        text += f"_{word}" if apart else word
    return text[:_MAX_TYPE_CHARS]


def _take(known: dict[str, TypedName], text: str, kind: str) -> str:
    """Add an entity, and return its normalised name; empty if it is not a name."""
    spelt = " ".join(text.split())
    name = normalize_name(spelt)
    if not name or (name not in known and len(known) >= MAX_ENTITIES):
        return ""
    kind = plain_type(kind)
    if name not in known:
        known[name] = TypedName(name, spelt, kind)
    elif kind and not known[name].type:
        known[name] = TypedName(name, known[name].text, kind)
    return name
