"""Reads all records of a collection, in parts."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import batched
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.json_texts import from_json
from core.rag.errors import NotFoundError
from core.rag.retrieval.tables.dates import Dates

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Number of records that are read at once.
_PART: Final = 2_000
#: Number of records that are given at once, before others have their turn: a wide one takes a millisecond to look at.
_GIVEN: Final = 100
#: Characters of records that are kept at most.
_KEPT: Final = 100_000_000
#: Number of records that tell how dates are written.
_LOOKED_AT: Final = 500


class AllRecords:
    """The records of a collection, for what looks at all of them.

    Their texts are kept for who looks several times, as a question does, unless they are too long together.
    """

    def __init__(self, client: MemGraphClient, collection: str) -> None:
        """Prepare.

        Args:
            client: The graph.
            collection: Name of the collection.
        """
        self.collection = collection
        self._client = client
        self._kept: list[list[tuple[str, str]]] | None = None

    async def dated(self) -> tuple[Dates, AsyncIterator[Sequence[Mapping[str, Any]]]]:
        """Return how the records write dates, and what yields them, a hundred at once in the order of
        their ids: ``id`` and ``data``.

        The first ones are looked through for that; all, until one tells, if a date may be of two months.

        Raises:
            NotFoundError: if there is no such collection; names those that there are.
        """
        dates, first, number = Dates(), list[Sequence[Mapping[str, Any]]](), 0
        parts = self._parts()
        async for part in parts:
            first.append(part)
            dates.take(record["data"] for record in part)
            number += len(part)
            if number >= _LOOKED_AT and not dates.is_waiting:
                break

        async def all_parts() -> AsyncIterator[Sequence[Mapping[str, Any]]]:
            while first:
                yield first.pop(0)
            async for part in parts:
                yield part

        return dates, all_parts()

    async def _parts(self) -> AsyncIterator[list[dict[str, Any]]]:
        async for texts in self._texts():
            for some in batched(texts, _GIVEN):
                yield [{"id": identifier, "data": from_json(text)} for identifier, text in some]
                await asyncio.sleep(0)

    async def _texts(self) -> AsyncIterator[list[tuple[str, str]]]:
        if self._kept is not None:
            for part in self._kept:
                yield part
            return
        ids = await self._client.record_ids(self.collection)
        if not ids:
            raise NotFoundError(_unknown("collection", self.collection, await self._client.collections()))
        kept, length = list[list[tuple[str, str]]](), 0
        for some in batches(ids, max_rows=_PART):
            found = await self._client.record_data(some)
            part = [(identifier, found[identifier]) for identifier in some if identifier in found]
            length += sum(len(text) for _, text in part)
            if length <= _KEPT:
                kept.append(part)
            yield part
        if length <= _KEPT:
            self._kept = kept


def unknown_field(collection: str, field: str, there: Iterable[str]) -> str:
    """Return the text of an error about a field that no record of a collection has."""
    return f"In {collection[:100]!r}: {_unknown('field', field, there)}"


def _unknown(kind: str, name: str, there: Iterable[str]) -> str:
    """Return the text of an error about a name that does not exist, with the nearest of those that do."""
    names = sorted(there)
    if not names:
        return f"There is no {kind} {name[:100]!r}; there is none at all."
    near = difflib.get_close_matches(name, names, 5, 0.6)
    if len(names) <= 30:
        return f"There is no {kind} {name[:100]!r}; there are: {', '.join(names)}."
    some = near or names[:20]
    return f"There is no {kind} {name[:100]!r}, but {', '.join(some)} and {len(names) - len(some)} others."
