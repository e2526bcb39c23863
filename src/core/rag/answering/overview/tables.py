"""Which collections of records there are, as an overview tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.rag.answering.computing.known import counts, samples
from core.rag.answering.extracts.showing import shown
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from core.rag.extraction.records import in_order

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How many collections are told, the largest first, and fields of each.
_COLLECTIONS: Final = 10
_FIELDS: Final = 8


async def collections_told(client: MemGraphClient) -> str:
    """Return the names of collections with the number and fields of their records; empty if there are none. What the
    fields of documents say is no collection to people.

    Raises:
        StoreError: if the graph fails.
    """
    found = {name: count for name, count in (await counts(client)).items() if name != DOCUMENTS}
    if not found:
        return ""
    seen = await samples(client)
    said: list[str] = []
    for name in sorted(found, key=lambda one: (-found[one], one))[:_COLLECTIONS]:
        count = f"{found[name]:,} record{'' if found[name] == 1 else 's'}"
        fields = in_order({field.partition(".")[0]: field for field in seen[name].fields}) if name in seen else {}
        more = ", …" if len(fields) > _FIELDS else ""
        told = f" with {', '.join(map(shown, list(fields)[:_FIELDS]))}{more}" if fields else ""
        said.append(f"{shown(name)} ({count}{told})")
    more = f", and {len(found) - _COLLECTIONS:,} more" if len(found) > _COLLECTIONS else ""
    there = "There is one collection" if len(found) == 1 else f"There are {len(found):,} collections"
    return f"{there} of records: {', '.join(said)}{more}."
