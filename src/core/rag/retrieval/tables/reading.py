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
#: Number of records that tell how dates are written.
_LOOKED_AT: Final = 500


async def read_records(client: MemGraphClient, collection: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the records of a collection in the order of their ids, a hundred at once: ``id`` and ``data``.

    Raises:
        NotFoundError: if there is no such collection; names those that there are.
    """
    ids = await client.record_ids(collection)
    if not ids:
        raise NotFoundError(_unknown("collection", collection, await client.collections()))
    for part in batches(ids, max_rows=_PART):
        found = {row["id"]: row for row in await client.record_texts(part)}
        for some in batched((found.pop(identifier) for identifier in part if identifier in found), _GIVEN):
            yield [{"id": row["id"], "data": from_json(row["data"])} for row in some]
            await asyncio.sleep(0)


async def read_dated(
    client: MemGraphClient, collection: str
) -> tuple[Dates, AsyncIterator[Sequence[Mapping[str, Any]]]]:
    """Return how the records of a collection write dates, and what yields them, as :func:`read_records`.

    The first ones are looked through for that; all, until one tells, if a date may be of two months.

    Raises:
        NotFoundError: if there is no such collection; names those that there are.
    """
    dates, first, number = Dates(), list[Sequence[Mapping[str, Any]]](), 0
    parts = read_records(client, collection)
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
