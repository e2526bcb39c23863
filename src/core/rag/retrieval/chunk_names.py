"""Keeps what chunks are called by (titles, file names, headings) prepared for fuzzy search.

All documents are read once; afterwards only those that were added or changed, since the names of a large corpus take
half a second to read and prepare.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from core.rag.dbhandler.kept import Kept, microseconds
from core.rag.dbhandler.store import Row
from core.rag.headings import last_heading
from core.rag.retrieval.fuzzy import FuzzyIndex
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Whatever is written to chunks is noted at their document, as the time of its last change.
_DOCUMENTS = (
    "MATCH (d:Document) WHERE d.namespace = $namespace",
    {"id": "d.id", "updated_at": "d.updated_at", "title": "d.title", "path": "d.path"},
)

# Titles and file names belong to first chunks.
_NAMED = "(c.chunk_index = 0 OR c.heading <> '')"
_CHUNKS = f"MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace AND {_NAMED}"
_CHUNKS_OF = f"MATCH (d:Document {{id: i}})<-[:CHUNK_OF]-(c:DocumentChunk) WHERE {_NAMED}"
_NAMES = {"id": "c.id", "document": "d.id", "chunk_index": "c.chunk_index", "heading": "c.heading"}


async def fuzzy_index(client: MemGraphClient) -> FuzzyIndex:
    """Return an index of the titles and file names (of first chunks) and headings of the namespace, by chunk id."""
    return (await _kept.get(client, partial(_made, client), renew=partial(_renewed, client))).index


class _Chunks(NamedTuple):
    """The chunks of a document that have names.

    Attributes:
        updated_at: When the document had been changed.
        ids: Ids of these chunks.
    """

    updated_at: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a namespace.

    Attributes:
        index: The names.
        documents: The chunks they were read from, by the id of the document.
    """

    index: FuzzyIndex
    documents: dict[str, _Chunks]


#: Maximum age on a server, where other clients write, too: to ask reads all documents there (44,000: 0.2 s).
_PATIENCE = 1.0

_kept: Kept[_Names] = Kept(
    {Label.DOCUMENT},
    "MATCH (d:Document) WHERE d.namespace = $namespace RETURN count(d) AS n, max(d.updated_at) AS last, "
    f"{microseconds('d')} AS microseconds",
    patience=_PATIENCE,
)


async def _made(client: MemGraphClient) -> _Names:
    # Before their chunks: what is written meanwhile is then read again the next time.
    documents = await client.read_together(*_DOCUMENTS, None)
    names, read = _names(documents, await client.read_together(_CHUNKS, _NAMES, None))
    return _Names(await asyncio.to_thread(FuzzyIndex, names), read)


async def _renewed(client: MemGraphClient, before: _Names, *_: Any) -> _Names:
    documents = await client.read_together(*_DOCUMENTS, None)
    same = {
        row["id"]: chunks
        for row in documents
        if (chunks := before.documents.get(row["id"])) is not None and chunks.updated_at == row["updated_at"]
    }
    if 2 * len(same) < len(documents):
        return await _made(client)
    changed = [row for row in documents if row["id"] not in same]
    names, read = _names(changed, await client.read_together(_CHUNKS_OF, _NAMES, [row["id"] for row in changed]))
    gone = {chunk for key, chunks in before.documents.items() if key not in same for chunk in chunks.ids}
    index = await asyncio.to_thread(FuzzyIndex, names, previous=before.index, without=gone)
    return _Names(index, same | read)


def _names(documents: Collection[Row], chunks: Collection[Row]) -> tuple[list[tuple[str, str]], dict[str, _Chunks]]:
    """Return the names of chunks, and the documents they are from; without documents that were added in between."""
    known = {row["id"]: row for row in documents}
    ids: dict[str, list[str]] = {key: [] for key in known}
    names: list[tuple[str, str]] = []
    for chunk in chunks:
        if (document := known.get(chunk["document"])) is None:
            continue
        ids[document["id"]].append(chunk["id"])
        if chunk["chunk_index"] == 0:
            names += [(chunk["id"], document["title"]), (chunk["id"], document["path"].rsplit("/", 1)[-1])]
        if chunk["heading"]:
            names.append((chunk["id"], last_heading(chunk["heading"])))
    return names, {key: _Chunks(row["updated_at"], tuple(ids[key])) for key, row in known.items()}
