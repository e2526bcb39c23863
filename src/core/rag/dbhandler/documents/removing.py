"""Removes documents and chunks, and whatever nothing else refers to: units of work within an open transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.documents.linking import release_incoming
from core.rag.dbhandler.knowledge.supporting import Support
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.resources import remove_unused_resources
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import Label
from core.rag.times import utc_now


async def remove_documents(tx: Transaction, ids: Sequence[str], *, namespace: str) -> int:
    """Remove documents of a namespace with their chunks, and whatever nothing else refers to afterwards.

    Removed with them: vectors that no other chunk shares, symbols defined in them, resources, sources and entities that
    were made while ingesting and that nothing refers to any more. What other documents and messages said about them
    stays: their references turn into references to a Resource.

    Returns:
        How many documents there were.
    """
    unique = sorted(set(ids))
    await lock(tx, Label.DOCUMENT, unique)
    # OPTIONAL MATCH would do both in one, but looks at every edge of the graph on the embedded engine.
    found = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i}) WHERE d.namespace = $namespace RETURN d.id AS id, d.uri AS uri",
        unique,
        namespace=namespace,
    )
    present = [row["id"] for row in found]
    if not present:
        return 0
    sources = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})-[:SOURCED_FROM]->(s:Source) RETURN DISTINCT s.id AS id",
        present,
    )
    now = utc_now()
    chunks = await existing_chunks(tx, present)
    support = Support(namespace, now)
    await support.read(tx, chunks)
    maybe_unused = await remove_chunks(tx, [chunk for before in chunks.values() for chunk in before])
    await remove_unused_vectors(tx, maybe_unused)
    resources = await release_incoming(tx, [(row["id"], row["uri"]) for row in found], namespace, now)
    await run_for_ids(
        tx, "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:DEFINED_IN]-(s:Symbol) DETACH DELETE s", present
    )
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (d:Document {id: i}) DETACH DELETE d", present)
    await remove_unused_resources(tx, resources)
    await remove_unused_sources(tx, {row["id"] for row in sources})
    await support.write(tx, [])
    return len(present)


async def remove_unused_sources(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove those of the sources that no document comes from, and that none refers to."""
    unique = sorted(ids)
    await lock(tx, Label.SOURCE, unique)
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (s:Source {id: i}) WHERE NOT (s)--() DETACH DELETE s", unique)


async def existing_chunks(tx: Transaction, documents: Sequence[str]) -> dict[str, dict[str, Row]]:
    """For each of the documents that exists: its chunks by id, with their properties and vectors; for changing them."""
    await lock(tx, Label.DOCUMENT, documents)
    found: dict[str, dict[str, Row]] = {}
    for lines in packed(documents):
        rows = await tx.run(f"{EACH_ID}MATCH (d:Document {{id: i}}) RETURN d.id AS id", lines)
        found |= {row["id"]: {} for row in rows}
    for present in batches(list(found)):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) "
            "RETURN d.id AS document, c.id AS id, properties(c) AS props",
            {"ids": present},
        )
        for row in rows:
            found[row["document"]][row["id"]] = {"props": row["props"], "edges": []}
        owner = {row["id"]: row["document"] for row in rows}
        edges = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})<-[:EMBEDDING_OF]-(v:Vector) "
            "RETURN c.id AS id, v.id AS vector, v.vector_store_id AS store",
            sorted(owner),
        )
        for row in edges:
            found[owner[row["id"]]][row["id"]]["edges"].append({"vector": row["vector"], "store": row["store"]})
    return found


async def remove_chunks(tx: Transaction, ids: Sequence[str]) -> set[str]:
    """Remove chunks; returns the vectors that may be unused now."""
    vectors = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})<-[:EMBEDDING_OF]-(v:Vector) RETURN DISTINCT v.id AS id",
        ids,
    )
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) DETACH DELETE c", ids)
    return {row["id"] for row in vectors}


async def remove_strays(tx: Transaction, ids: Sequence[str]) -> int:
    """Remove those of the chunks that belong to no document, which an interrupted import leaves; return how many."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) WHERE NOT (c)-[:CHUNK_OF]->(:Document) RETURN c.id AS id",
        ids,
    )
    strays = sorted({row["id"] for row in rows})
    await remove_unused_vectors(tx, await remove_chunks(tx, strays))
    return len(strays)


async def release_vectors(tx: Transaction, kept: Mapping[str, str | None], store: str) -> None:
    """Take from chunks all vectors of a vector store but one, and remove those that embed nothing any more.

    Args:
        tx: An open transaction.
        kept: For ids of chunks: the id of the vector that each keeps.
        store: Id of the vector store.
    """
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})<-[:EMBEDDING_OF]-(v:Vector) "
        "WHERE v.vector_store_id = $store RETURN c.id AS chunk_id, v.id AS id",
        sorted(kept),
        store=store,
    )
    released = [row for row in rows if row["id"] != kept[row["chunk_id"]]]
    await detach_vectors(tx, released)
    await remove_unused_vectors(tx, {row["id"] for row in released})


async def detach_vectors(tx: Transaction, edges: Sequence[Row]) -> None:
    """Take vectors (``id``) from chunks (``chunk_id``); both stay."""
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.chunk_id})<-[r:EMBEDDING_OF]-(v:Vector {id: row.id}) "
        "DELETE r",
        edges,
    )


async def remove_unused_vectors(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove those of the vectors that embed nothing any more; the others name a chunk that is there."""
    unique = sorted(ids)
    await lock(tx, Label.VECTOR, unique)
    await run_for_ids(
        tx, "UNWIND $ids AS i MATCH (v:Vector {id: i}) WHERE NOT (v)-[:EMBEDDING_OF]->() DETACH DELETE v", unique
    )
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(c:DocumentChunk) "
        "RETURN v.id AS id, v.chunk_id AS named, collect(c.id) AS chunks",
        unique,
    )
    moved = [{"id": row["id"], "chunk_id": min(row["chunks"])} for row in rows if row["named"] not in row["chunks"]]
    await run_for_rows(tx, "UNWIND $rows AS row MATCH (v:Vector {id: row.id}) SET v.chunk_id = row.chunk_id", moved)
