"""Which collections there are, and what some records of each have, remembered until records change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.rag.answering.computing.seen import Seen
from core.rag.dbhandler.kept import Kept
from core.rag.dbhandler.knowledge.recording import COLLECTIONS
from core.rag.retrieval.tables.dates import written_as
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

#: Collections of which some records are read, and how many.
MOST_PEEKED: Final = 30
_PEEKED_RECORDS: Final = 50


async def counts(client: MemGraphClient) -> dict[str, int]:
    """Return the collections with the number of their records."""
    return await _counts.get(client, lambda: _collections(client))


async def samples(client: MemGraphClient) -> dict[str, Seen]:
    """Return what some records of some collections have: reading them takes 10 ms for each, which is too long for each
    question.

    On a server, records that another client has replaced since, with none more or less, are not noticed.
    """
    return await _samples.get(client, lambda: _sampled(client))


async def _collections(client: MemGraphClient) -> dict[str, int]:
    return await client.collections()


async def _sampled(client: MemGraphClient) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    for name in list(await counts(client))[:MOST_PEEKED]:
        records = await client.list_records(name, limit=_PEEKED_RECORDS)
        data = [record["data"] for record in records]
        found[name] = Seen(name, written=written_as(data))
        found[name].take(data, None)
    return found


def _state(rows: list[Row]) -> dict[str, int]:
    return {row["collection"]: row["records"] for row in rows}


_counts: Final[Kept[dict[str, int]]] = Kept({Label.RECORD}, COLLECTIONS, state=_state)
_samples: Final[Kept[dict[str, Seen]]] = Kept({Label.RECORD}, COLLECTIONS, state=_state)
