"""Prepares documents for being replaced by another version from an import."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.batches import run_for_ids
from core.rag.dbhandler.documents.indexed import indexed_texts
from core.rag.dbhandler.documents.linking import write_links
from core.rag.dbhandler.documents.removing import detach_vectors, existing_chunks, remove_chunks, remove_unused_vectors
from core.rag.dbhandler.documents.writing import ChunkRow, DocumentRow, chain_chunks
from core.rag.dbhandler.knowledge.supporting import Support
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.mentions import Title
from core.rag.schema import EdgeType, Label
from core.rag.times import utc_now

#: What :func:`_hashes` needs of a document.
_HASHES = "d.id AS id, d.content_hash AS content_hash, d.state_hash AS state_hash"

_DOCUMENTS = ("node", Label.DOCUMENT.value)
_CHUNKS = ("node", Label.CHUNK.value)
_STORES = ("node", Label.VECTOR_STORE.value)
_VECTORS = ("edge", EdgeType.EMBEDDING_OF.value, Label.VECTOR.value, Label.CHUNK.value)
_TITLES = ("edge", EdgeType.TITLED.value, Label.DOCUMENT.value, Label.ENTITY.value)


@dataclass(slots=True)
class Version:
    """The version of a document in an export.

    Attributes:
        hashes: Hashes of its text, and of everything that is stored of it.
        chunks: Ids of its chunks, each with its heading.
        vectors: Ids of the vectors of each of these chunks.
        titles: Ids of the entities that its title names, each with its spelling.
        stores: Ids of the vector stores of the export.
    """

    hashes: tuple[str, str]
    stores: Collection[str]
    chunks: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, set[str]] = field(default_factory=dict)
    titles: set[tuple[str, str]] = field(default_factory=set)


def versions_of(
    entries: Iterable[tuple[tuple[str, ...], dict[str, Any]]], documents: Collection[str]
) -> tuple[dict[str, Version], int]:
    """Read a whole section; return the versions of some documents by id, and the number of others."""
    others = 0
    found: dict[str, Version] = {}
    of_chunk: dict[str, Version] = {}
    stores: set[str] = set()
    for kind, entry in entries:
        if kind[:2] == _DOCUMENTS:
            if entry["id"] in documents:
                found[entry["id"]] = Version(_hashes(entry["props"]), stores)
            else:
                others += 1
        elif kind[:2] == _CHUNKS:
            if version := found.get(entry["props"].get("parent_id", "")):
                version.chunks[entry["id"]] = entry["props"].get("heading") or ""
                of_chunk[entry["id"]] = version
        elif kind[:2] == _STORES:
            stores.add(entry["id"])
        elif kind[:4] == _VECTORS:
            if version := of_chunk.get(entry["to"][1]):
                version.vectors.setdefault(entry["to"][1], set()).add(entry["from"][1])
        elif kind[:4] == _TITLES and (version := found.get(entry["from"][1])):
            version.titles.add((entry["to"][1], entry["props"].get("text", "")))
    return found, others


async def make_way(tx: Transaction, versions: Mapping[str, Version], namespace: str) -> int:
    """Remove from documents what another version of them does not have, before that is written.

    Chunks are removed with their vectors and everything that they support in the knowledge graph. Of the chunks that
    stay, vectors made with another title or heading are removed, and the mentions if the heading differs. What the file
    has for a document as a whole (its records, symbols and links) is removed, too. A document that is the same in the
    file is left as it is.

    If the process is killed before the version is written, the import or an ingest has to be repeated; neither takes
    such a document for unchanged.

    Returns:
        The number of documents that exist in another version.
    """
    there = await existing_chunks(tx, sorted(versions))
    rows = await run_for_ids(
        tx,
        f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN {_HASHES}",
        sorted(there),
    )
    changed = {row["id"] for row in rows if _hashes(row) != versions[row["id"]].hashes}
    existing = {
        document: chunks
        for document, chunks in there.items()
        if document in changed or chunks.keys() != versions[document].chunks.keys()
    }
    if not existing:
        return 0
    now = utc_now()
    gone: dict[str, dict[str, Row]] = {}
    moved: dict[str, dict[str, Row]] = {}  # under another heading
    for document, chunks in existing.items():
        headings = versions[document].chunks
        gone[document] = {key: row for key, row in chunks.items() if key not in headings}
        moved[document] = {
            key: row
            for key, row in chunks.items()
            if key in headings and headings[key] != (row["props"].get("heading") or "")
        }
    support = Support(namespace, now)
    await support.read(tx, {document: gone[document] | moved[document] for document in existing})
    ids = sorted(existing)
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (d:Document {id: i}) SET d.pipeline = '', d.state_hash = ''", ids)
    maybe_unused = await remove_chunks(tx, [chunk for chunks in gone.values() for chunk in chunks])
    stale = [edge for document, chunks in existing.items() for edge in _stale_vectors(chunks, versions[document])]
    await detach_vectors(tx, stale)
    maybe_unused |= {edge["id"] for edge in stale}
    await chain_chunks(tx, ids, [])
    await remove_unused_vectors(tx, maybe_unused)
    await write_links(tx, [], namespace, now, set(ids))
    titles = await _kept_titles(tx, ids, versions)
    left = [
        DocumentRow(i, {}, None, [ChunkRow(chunk, {}) for chunk in moved[i]], titles=titles.get(i, [])) for i in ids
    ]
    await support.write(tx, left)
    return len(existing)


async def count_of_gone(
    read: Callable[[str, Iterable[str]], Awaitable[list[Row]]], versions: Mapping[str, Version], label: Label
) -> int:
    """Count the texts that :func:`make_way` will remove from a keyword index.

    Args:
        read: Runs a statement that reads for ids, ``$ids``.
        versions: By id of the document.
        label: That of the index: chunks or records.
    """
    rows = await read(f"UNWIND $ids AS i MATCH (d:Document {{id: i}}) RETURN {_HASHES}", versions)
    changed = [row["id"] for row in rows if _hashes(row) != versions[row["id"]].hashes]
    there = await read(indexed_texts(label, "d.id AS document, n.id AS id"), changed)
    return sum(row["id"] not in versions[row["document"]].chunks for row in there)


def _stale_vectors(chunks: Mapping[str, Row], version: Version) -> list[Row]:
    """Return the vectors (``id``) of remaining chunks (``chunk_id``) for which the file has other vectors."""
    return [
        {"id": edge["vector"], "chunk_id": chunk}
        for chunk, vectors in version.vectors.items()
        if chunk in chunks
        for edge in chunks[chunk]["edges"]
        if edge["vector"] not in vectors and edge["store"] in version.stores
    ]


async def _kept_titles(
    tx: Transaction, documents: Sequence[str], versions: Mapping[str, Version]
) -> dict[str, list[Title]]:
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})-[t:TITLED]->(e:Entity) "
        "RETURN d.id AS document, e.id AS id, e.normalized_name AS name, t.text AS text",
        documents,
    )
    kept: dict[str, list[Title]] = {}
    for row in rows:
        if (row["id"], row["text"]) in versions[row["document"]].titles:
            kept.setdefault(row["document"], []).append(Title(row["name"], row["text"]))
    return kept


def _hashes(properties: Mapping[str, Any]) -> tuple[str, str]:
    return properties.get("content_hash") or "", properties.get("state_hash") or ""
