"""The keyword indexes of the embedded engine: made where a search misses one, and left out while texts are removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sized
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.embedded import dialect
from core.rag.dbhandler.embedded.word_scores import WordScores
from core.rag.dbhandler.store import Match
from core.rag.schema import TextIndex

if TYPE_CHECKING:
    from core.rag.dbhandler.embedded.store import EmbeddedStore

_AT_LEAST = 100  # results that are asked for
_REMOVED_AT_ONCE = 100  # texts that are taken out of an index by making it anew


class KeywordIndexes:
    """The keyword indexes of one store.

    Args:
        store: It calls the engine.
        words: What it has kept of earlier searches.
        can_write: Whether an index can be made.
    """

    def __init__(self, store: EmbeddedStore, words: WordScores, *, can_write: bool) -> None:
        self._store = store
        self._words = words
        self._can_write = can_write
        self._removing: Counter[TextIndex] = Counter()

    async def ensure(self, index: TextIndex) -> None:
        """Make an index unless it exists, or texts are being removed that need not be in it first."""
        if not self._removing[index]:
            await self._make(index)

    async def drop(self, index: TextIndex) -> None:
        """Drop an index."""
        await self._store.exclusively(lambda db: dialect.drop_text_index(db, index), "Dropping a keyword index")

    @asynccontextmanager
    async def removing(self, index: TextIndex, number: Callable[[], Awaitable[int]]) -> AsyncIterator[None]:
        """Do without an index inside of the ``async with`` where many texts go, and make it anew at the end.

        A search meanwhile makes the index, and so does the next one where the process is killed.
        """
        if not self._can_write or await number() < _REMOVED_AT_ONCE:
            yield
            return
        self._removing[index] += 1
        try:
            await self.drop(index)
            yield
        finally:
            self._removing[index] -= 1
            await self.ensure(index)

    async def search(self, index: TextIndex, terms: Mapping[str, float], k: int) -> list[Match] | None:
        """Return the best matches; ``None`` if there is no index, and none can be made."""
        # More than asked for: of equal scores the engine leaves out any, and here the first by id are given.
        wanted = max(k, _AT_LEAST)
        found = await self._found(index, lambda db: self._words.search(db, index, terms, wanted))
        if found is None:
            return None
        found.sort(key=lambda match: (-match[1], match[0]))
        return [Match(identifier, score) for identifier, score in found[:k]]

    async def known(self, index: TextIndex, words: Collection[str]) -> set[str] | None:
        """Return those of some words that any text has; ``None`` if there is no index, and none can be made."""

        def find(db: Any) -> set[str]:
            return {word for word in words if dialect.word_search(db, index, word, 1)}

        return await self._found(index, find)

    async def _found[T: Sized](self, index: TextIndex, find: Callable[[Any], T]) -> T | None:
        """Search an index, and make it first if that is why nothing is found."""
        found = await self._store.reading(find, "A keyword search")
        if not found and await self._store.reading(lambda db: dialect.lacks_text_index(db, index), "A keyword search"):
            if not self._can_write:
                return None
            await self._make(index)
            found = await self._store.reading(find, "A keyword search")
        return found

    async def _make(self, index: TextIndex) -> None:
        def make(db: Any) -> None:
            if not dialect.has_text_index(db, index):
                dialect.create_text_index(db, index)

        await self._store.exclusively(make, f"Creating the keyword index of {index.label}")
