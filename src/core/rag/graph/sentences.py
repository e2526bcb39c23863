"""What is told of a fact to somebody who may see only some of the texts that it is from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Of a fact: the ids of both ends, and the relation.
Key = tuple[str, str, str]


class Sentences:
    """The sentences of facts that a model found. An edge has only that of its first chunk."""

    def __init__(self, said: dict[Key, dict[str, str]]) -> None:
        """Take what each chunk says, by fact."""
        self._said = said

    @classmethod
    async def of(cls, client: MemGraphClient, facts: Iterable[Key]) -> Sentences:
        """Read those of some facts."""
        return cls(await client.sentences_of_facts((source, target) for source, target, _ in facts))

    def chunks(self, fact: Key, written: str) -> list[str]:
        """Return the chunks that say a fact; empty if what is written of it is not from a text, but from a caller."""
        said = self._said.get(fact, {})
        return list(said) if written in said.values() else []

    def among(self, fact: Key, written: str, passing: Collection[str]) -> str:
        """Return what the first chunk says of a fact that passes, instead of what is written of it."""
        chunks = self.chunks(fact, written)
        return next((self._said[fact][chunk] for chunk in chunks if chunk in passing), "" if chunks else written)
