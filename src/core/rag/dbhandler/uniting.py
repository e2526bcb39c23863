"""Unites what an import brings with what the graph has, where both support the same fact."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from core.rag.dbhandler.facts import FROM_MODEL
from core.rag.dbhandler.fewer import EdgeKind
from core.rag.dbhandler.stated import joined
from core.rag.dbhandler.store import Row, Transaction


async def unite_stated(tx: Transaction, chunks: Sequence[Row]) -> None:
    """Add to imported chunks (``id`` and ``props``) which facts of the graph cite them."""
    rows = await tx.run(
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) WHERE c.stated IS NOT NULL "
        "RETURN c.id AS id, c.stated AS stated",
        {"ids": [row["id"] for row in chunks]},
    )
    before = {row["id"]: row["stated"] for row in rows}
    for row in chunks:
        if (stated := before.get(row["id"])) and "stated" in row["props"]:
            row["props"]["stated"] = joined(stated, json.loads(row["props"]["stated"]))


async def unite_facts(
    tx: Transaction, edges: EdgeKind, rows: Sequence[Row], imported: Collection[str], *, backward: bool
) -> None:
    """Add to imported facts the support that they have in the graph.

    A caller's fact that one of the two sides has without any chunk stays without: it is the caller's own, and does not
    go with chunks. Of what a language model found, the chunks of the file say themselves what they support.

    Args:
        tx: The transaction; the nodes of the file are written.
        edges: The kind of RELATED edges, told apart by their ``key``.
        rows: ``a``, ``b`` and ``key`` of each, and its ``props``, which are changed.
        imported: Ids of the chunks of the file.
        backward: From which end to look for them.
    """
    stored = await tx.run(
        f"UNWIND $rows AS row MATCH {edges.there(backward=backward)} RETURN r.key AS key, r.origin AS origin, "
        "r.chunk_ids AS chunks, r.facts AS facts, r.fact AS fact",
        {"rows": [{name: row[name] for name in ("a", "b", "key")} for row in rows]},
    )
    before = {row["key"]: row for row in stored}
    for row in rows:
        there, props = before.get(row["key"]), row["props"]
        if there is None or there["origin"] != props.get("origin") or there["chunks"] is None:
            continue
        if there["origin"] == FROM_MODEL:
            _unite_found(there, props, imported)
        else:
            both = {*there["chunks"], *props.get("chunk_ids", [])}
            props["chunk_ids"] = sorted(both) if there["chunks"] and props.get("chunk_ids") else []
            props["fact"] = props.get("fact") or there["fact"]


def _unite_found(there: Row, props: dict[str, Any], imported: Collection[str]) -> None:
    """The sentence and the weight of an edge follow from its chunks; see :class:`.facts.FactChanges`."""
    kept = zip(there["chunks"], json.loads(there["facts"]), strict=True)
    support = {chunk: text for chunk, text in kept if chunk not in imported}
    support |= dict(zip(props["chunk_ids"], json.loads(props["facts"]), strict=True))
    texts = dict(sorted(support.items()))
    props["chunk_ids"] = list(texts)
    props["facts"] = json.dumps(list(texts.values()), ensure_ascii=False)
    props["fact"] = next(iter(texts.values()))
    props["weight"] = float(len(texts))
