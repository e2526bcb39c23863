"""Which types of entities and which relations a language model is to extract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.rag.arguments import check_text
from core.rag.errors import InvalidInputError
from core.rag.extraction.facts import ChunkFacts, Fact, plain_type, snake_case

#: A relation: its name, ``person > owns > building``, or these three as a sequence.
RelationLike = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class WantedRelation:
    """A relation, and the types that it connects; an empty one stands for any."""

    name: str
    source: str = ""
    target: str = ""

    def __str__(self) -> str:
        return f"{self.name} (from {self.source} to {self.target})" if self.source else self.name


@dataclass(frozen=True, slots=True)
class WantedFacts:
    """What is wanted of the facts in a text; where nothing is said, all are.

    Attributes:
        types: Types of entities.
        relations: Relations; of one name there may be several.
    """

    types: tuple[str, ...] = ()
    relations: tuple[WantedRelation, ...] = ()

    @classmethod
    def parse(cls, types: Iterable[str], relations: Iterable[RelationLike]) -> WantedFacts:
        """Read what a caller or a setting says; blank items are passed over.

        Raises:
            InvalidInputError: if a relation has another form, or names a type that is not among the types.
        """
        _check_list("entity_types", types)
        _check_list("relations", relations)
        kinds = tuple(dict.fromkeys(kind for item in types if (kind := plain_type(check_text("A type", item)))))
        wanted = tuple(
            dict.fromkeys(_relation(item, kinds) for item in relations if not isinstance(item, str) or item.strip())
        )
        return cls(kinds, wanted)

    def text(self) -> str:
        """Return what a prompt says of it, as items of a list; empty if all is wanted."""
        items = []
        if self.types:
            items.append(f"- Only entities of these types: {', '.join(self.types)}. Leave out all others.")
        if self.relations:
            items.append(f"- Only these relations: {', '.join(map(str, self.relations))}. Leave out all others.")
        return "\n".join(items)

    def of(self, facts: ChunkFacts) -> ChunkFacts:
        """Return what of these facts is wanted: models do not always keep to what they are told."""
        kinds = {item.name: item.type for item in facts.entities}
        entities = [item for item in facts.entities if not self.types or item.type in self.types]
        kept = {item.name for item in entities}
        return ChunkFacts(entities, [fact for fact in facts.facts if self._wants(fact, kinds, kept)])

    def _wants(self, fact: Fact, kinds: dict[str, str], kept: set[str]) -> bool:
        if fact.source not in kept or fact.target not in kept:
            return False
        ends = (kinds[fact.source], kinds[fact.target])
        same = [relation for relation in self.relations if relation.name == fact.type]
        return not self.relations or any(not one.source or (one.source, one.target) == ends for one in same)


def _relation(given: RelationLike, kinds: Sequence[str]) -> WantedRelation:
    if not isinstance(given, Sequence):
        raise InvalidInputError(f"A relation must be text, not {type(given).__name__}.")
    parts = given.split(">") if isinstance(given, str) else list(given)
    parts = [check_text("A part of a relation", part) for part in parts]
    name = snake_case(parts[len(parts) // 2]) if parts else ""
    source, target = (plain_type(parts[0]), plain_type(parts[-1])) if len(parts) == 3 else ("", "")
    if not name or len(parts) not in (1, 3) or (len(parts) == 3 and not (source and target)):
        raise InvalidInputError(
            f"{given!r} is not a relation: write owns, or person > owns > building for those between such entities."
        )
    for kind in (source, target):
        if kind and kinds and kind not in kinds:
            raise InvalidInputError(f"The relation {given!r} names the type {kind!r}, which is not among the types.")
    return WantedRelation(name, source, target)


def _check_list(name: str, given: object) -> None:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"{name} must be a list of texts, not {type(given).__name__}.")
