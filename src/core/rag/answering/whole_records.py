"""Records of files that were cut into several chunks, as one passage: a piece seldom says what is asked and of what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.rag.answering.extracts.record_rows import begins_record
from core.rag.errors import NotFoundError
from core.rag.retrieval.hits import Hit, joined

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How many chunks on either side of a piece may be of its record.
_REACH: Final = 8
#: A record with more characters stays in pieces: its texts are what is asked about.
_LONGEST: Final = 4_000


async def whole_records(client: MemGraphClient, hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the first hits, with records in place of their pieces, each once.

    Args:
        client: The graph.
        hits: Hits, best first.
        limit: Maximum number.

    Raises:
        StoreError: if the graph fails.
    """
    made: list[Hit] = []
    for hit in hits:
        if len(made) == limit:
            break
        if not any(_has(other, hit) for other in made):
            made.append(await _whole(client, hit))
    return made


def _has(one: Hit, other: Hit) -> bool:
    same = one.document_id == other.document_id
    return same and one.start_char <= other.start_char and other.end_char <= one.end_char


async def _whole(client: MemGraphClient, hit: Hit) -> Hit:
    """Return a hit with the record that it is a piece of; those of one record have its name as heading."""
    if "row" not in hit.metadata or not hit.heading or hit.table_header or not hit.document_id:
        return hit
    try:
        near = await client.neighbouring_chunks(hit.chunk_id, _REACH)
    except NotFoundError:  # its document has been removed or replaced since it was found
        return hit
    own = (hit.metadata["row"], hit.heading)
    parts = [part for part in near if (part["metadata"].get("row"), part["heading"]) == own]
    if len(parts) < 2 or parts[-1]["end_char"] - parts[0]["start_char"] > _LONGEST:
        return hit
    is_record = begins_record(parts[0]["content"]) and not any("table_header" in part["metadata"] for part in parts)
    if not is_record:
        return hit
    text, start, end = joined(parts)
    return replace(hit, content=text, start_char=start, end_char=end)
