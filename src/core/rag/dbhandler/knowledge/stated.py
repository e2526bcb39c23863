"""Facts that callers state with supporting chunks: a fact is removed with the last of its chunks.

The property ``stated`` of a chunk (JSON: the ids of both ends and of the edge) lists the facts that cite it, so that
they can be found from it. A listed fact may be gone, or may no longer cite the chunk: the ``chunk_ids`` of the edge are
decisive.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.rag.dbhandler.batches import batches, run_for_rows
from core.rag.dbhandler.knowledge.edge_direction import RELATED, directed
from core.rag.dbhandler.knowledge.entities import remove_unused_entities
from core.rag.dbhandler.locking import lock_documents_of
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import InvalidInputError

_SHOWN = 5


async def note(tx: Transaction, cited: Mapping[str, Iterable[tuple[str, str, str]]], namespace: str) -> None:
    """Record in chunks which facts cite them.

    Args:
        tx: The transaction.
        cited: By id of the chunk, the ids of both ends and of the edge of each fact.
        namespace: The namespace of the chunks.

    Raises:
        InvalidInputError: naming the chunks that are not there.
    """
    where = (
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace "
        "RETURN c.id AS id, c.stated AS stated"
    )
    for part in batches(sorted(cited)):
        parameters = {"ids": part, "namespace": namespace}
        await lock_documents_of(tx, part)
        found = {row["id"]: row["stated"] for row in await tx.run(where, parameters)}
        check_there(part, found, namespace)
        rows = [{"id": chunk, "stated": united(stated, cited[chunk])} for chunk, stated in found.items()]
        await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.id}) SET c.stated = row.stated", {"rows": rows}
        )


def check_there(cited: Iterable[str], found: Collection[str], namespace: str) -> None:
    """Raise an error if cited chunks were not found.

    Raises:
        InvalidInputError: naming them.
    """
    missing = [chunk for chunk in cited if chunk not in found]
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise InvalidInputError(
            f"There is no chunk {', '.join(repr(chunk[:100]) for chunk in missing[:_SHOWN])}{more} in namespace "
            f"{namespace!r}: chunk_ids must be ids of chunks in this namespace; leave them out if no chunk supports"
            " a fact."
        )


async def withdraw(tx: Transaction, gone: Mapping[str, str], now: str) -> None:
    """Remove deleted chunks from the facts that cite them, and delete facts that no chunk supports any more.

    Entities that only such a fact supported are deleted with it, unless a person created them.

    Args:
        tx: The transaction.
        gone: The facts that each chunk listed, by its id.
        now: The time of the write, by which indexes of facts know what changed.
    """
    links = {link: {"a": a, "b": b, "link": link} for stated in gone.values() for a, b, link in json.loads(stated)}
    ends: set[str] = set()
    async for backward, rows in directed(tx, RELATED, [links[link] for link in sorted(links)]):
        ends |= await _withdraw(tx, rows, gone, now, backward=backward)
    await remove_unused_entities(tx, sorted(ends))


async def _withdraw(
    tx: Transaction, rows: Sequence[Row], gone: Mapping[str, str], now: str, *, backward: bool
) -> set[str]:
    """Take removed chunks out of the facts in ``rows``; returns the ids of the ends of the facts that were deleted."""
    pattern = f"UNWIND $rows AS row MATCH {RELATED.there(backward=backward)} "
    found = await tx.run(f"{pattern}RETURN r.id AS link, r.chunk_ids AS chunks", {"rows": rows})
    cited = {row["link"]: row["chunks"] or [] for row in found}
    left: list[Row] = []
    unsupported: list[Row] = []
    for row in rows:
        before = cited.get(row["link"], [])
        chunks = [chunk for chunk in before if chunk not in gone]
        if len(chunks) < len(before):
            (left if chunks else unsupported).append({**row, "chunks": chunks})
    await run_for_rows(tx, f"{pattern}SET r.chunk_ids = row.chunks, r.updated_at = $now", left, now=now)
    keys = [{name: row[name] for name in ("a", "b", "link")} for row in unsupported]
    await run_for_rows(tx, f"{pattern}DELETE r", keys)
    return {row[end] for row in unsupported for end in ("a", "b")}


def united(stated: str | None, facts: Iterable[tuple[str, str, str]]) -> str:
    """Return the facts that a chunk lists, with further ones added: the ids of both ends and of the edge of each."""
    known = {link: (a, b, link) for a, b, link in [*json.loads(stated or "[]"), *facts]}
    return json.dumps([known[link] for link in sorted(known)])
