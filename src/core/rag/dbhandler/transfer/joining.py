"""Joins what a graph and an import say of one node or edge, where the later word is not the only one that counts.

The file's word holds otherwise. What follows from the rest of the graph (counts, what supports a fact that was found in
texts) is not joined here but worked out anew behind the import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from core.rag.dbhandler.batches import run_for_ids
from core.rag.dbhandler.documents.contents import without_former
from core.rag.dbhandler.json_texts import from_json, to_json
from core.rag.dbhandler.knowledge.edge_direction import EdgeKind, directed
from core.rag.dbhandler.knowledge.entities import FROM_CALLER
from core.rag.dbhandler.knowledge.stated import united
from core.rag.dbhandler.messages.rows import MAX_TAGS, last_said, message_terms
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import ACTIVE, STANDBY
from core.rag.schema import EdgeType, Label
from core.rag.times import utc_now

#: Takes the stored and the imported properties of a node or edge; returns the properties to write.
type _Join = Callable[[Row, Row], Row]

#: Properties that a person decides, if a person created or named the node or edge.
_STATED: Final = ("origin", "name", "type", "description", "text", "method", "score")


def _person_first(there: Row, came: Row) -> Row:
    """Keep what a person created or stated over what was found in texts or by a rule."""
    if there.get("origin") == FROM_CALLER and came.get("origin") != FROM_CALLER:
        return {**came, **{name: there[name] for name in _STATED if name in there}}
    return came


def _message(there: Row, came: Row) -> Row:
    tags = list(dict.fromkeys([*(came.get("tags") or ()), *(there.get("tags") or ())]))[:MAX_TAGS]
    joined = {
        **came,
        **_greatest(there, came, "count", "last_accessed_at"),
        **_least(there, came, "sequence", "timestamp"),
        "tags": tags,
        "metadata": to_json({**from_json(there.get("metadata")), **from_json(came.get("metadata"))}, "Metadata"),
        "revised_at": came.get("revised_at"),
        "words_id": came.get("words_id"),
    }
    if (said := max(last_said(there), last_said(came))) > joined["timestamp"]:
        joined["last_said_at"] = said
    if last_said(there) != last_said(came):  # it stands where it was last said
        joined["sequence"] = max(there, came, key=last_said)["sequence"]
    if there.get("compacted_into") and not came.get("compacted_into"):
        joined["compacted_into"] = there["compacted_into"]
    if joined.get("compacted_into"):
        joined["terms"] = ""
    elif tags != came.get("tags"):
        joined["terms"] = message_terms(came["content"], tags)
    return joined


def _conversation(there: Row, came: Row) -> Row:
    """Keep the owner of a conversation, who also decides on its title; see :func:`with_guests`."""
    owner = there.get("user_id") or came.get("user_id") or ""
    titles = (came, there) if came.get("user_id") == owner else (there, came)
    title = next((side["title"] for side in titles if side.get("title")), "")
    return {**came, "user_id": owner, "title": title}


def _chunk(there: Row, came: Row) -> Row:
    if not (there.get("stated") and came.get("stated")):
        return came
    return {**came, "stated": united(there["stated"], json.loads(came["stated"]))}


def _document(there: Row, came: Row) -> Row:
    """Keep vectors of other models that an unchanged document got since the export."""
    if any(there.get(name) != came.get(name) for name in ("content_hash", "state_hash")):
        return without_former(came, there.get("content_parts"))
    stores = [*(there.get("embedded_in") or ()), *(came.get("embedded_in") or ())]
    return {**came, "embedded_in": list(dict.fromkeys(stores))} if stores else came


def _vector_store(there: Row, came: Row) -> Row:
    return {**came, **{name: there[name] for name in ("status", "concepts_marked") if name in there}}


def _fact(there: Row, came: Row) -> Row:
    """Join the chunks that support a fact; if it needs no chunk on one side, it needs none at all."""
    before, after = there.get("chunk_ids"), came.get("chunk_ids")
    if came.get("origin") != FROM_CALLER or before is None or after is None:
        return came
    return {**came, "chunk_ids": sorted({*before, *after}) if before and after else []}


def _viewed(there: Row, came: Row) -> Row:
    return {**came, **_greatest(there, came, "count", "last_at"), **_least(there, came, "first_at")}


def _rated(there: Row, came: Row) -> Row:
    return there if (there.get("rated_at") or "") > (came.get("rated_at") or "") else came


def _greatest(there: Row, came: Row, *names: str) -> Row:
    return {name: max(values) for name, values in _both(there, came, names).items()}


def _least(there: Row, came: Row, *names: str) -> Row:
    return {name: min(values) for name, values in _both(there, came, names).items()}


def _both(there: Row, came: Row, names: Sequence[str]) -> dict[str, list[Any]]:
    found = {name: [side[name] for side in (there, came) if side.get(name) is not None] for name in names}
    return {name: values for name, values in found.items() if values}


_NODES: Final[Mapping[Label, _Join]] = {
    Label.ENTITY: _person_first,
    Label.RESOURCE: _person_first,
    Label.SYMBOL: _person_first,
    Label.CONVERSATION: _conversation,
    Label.INTERACTION: _message,
    Label.DOCUMENT: _document,
    Label.CHUNK: _chunk,
    Label.VECTOR_STORE: _vector_store,
}

_EDGES: Final[Mapping[str, _Join]] = {
    EdgeType.REFERENCES: _person_first,
    EdgeType.SAME_AS: _person_first,
    EdgeType.RELATED: _fact,
    EdgeType.VIEWED: _viewed,
    EdgeType.RATED: _rated,
}

#: Conditions on the stored nodes of a label that need joining.
_WHERE: Final[Mapping[Label, str]] = {
    Label.CHUNK: "WHERE n.stated IS NOT NULL OR n.facts IS NOT NULL ",
}

#: Edge types of which two nodes have at most one, in either direction.
_UNDIRECTED: Final = (EdgeType.RELATED_TO, EdgeType.SAME_AS)

#: Properties that are removed from an entity if the file does not have them.
_ABSENT: Final = {"titled": None, "recorded": None, "forms": None}


async def join_nodes(tx: Transaction, label: Label, rows: Sequence[Row], namespace: str) -> list[Row]:
    """Return the rows (``id``, ``props``) of nodes to write, joined with the stored nodes."""
    if label is Label.DISTINCTION:
        await _part(tx, rows, namespace)
    if label is Label.RECORD:
        await _release_entities(tx, rows)
    if label not in _NODES:
        return list(rows)
    found = await tx.run(
        f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) {_WHERE.get(label, '')}"
        "RETURN n.id AS id, properties(n) AS props",
        {"ids": [row["id"] for row in rows]},
    )
    there = {row["id"]: row["props"] for row in found}
    join = _NODES[label]
    joined = [{**row, "props": join(there[row["id"]], row["props"])} if row["id"] in there else row for row in rows]
    if label is Label.CHUNK:
        await _mark_other_facts(tx, joined, there)
    if label is Label.ENTITY:
        return [{**row, "props": {**_ABSENT, **row["props"]}} for row in joined]
    return await _stand_by(tx, joined, namespace) if label is Label.VECTOR_STORE else joined


async def _release_entities(tx: Transaction, records: Sequence[Row]) -> None:
    """Take their entities from records that say something else in the file, which has the edges to those of its own."""
    found = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (n:Record {id: i}) RETURN n.id AS id, n.data AS data",
        [row["id"] for row in records],
    )
    came = {row["id"]: row["props"].get("data") for row in records}
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (n:Record {id: i})-[h:HAS_ENTITY]->(e:Entity) DELETE h",
        [row["id"] for row in found if row["data"] != came[row["id"]]],
    )


async def _mark_other_facts(tx: Transaction, chunks: Sequence[Row], there: Mapping[str, Row]) -> None:
    """Mark the sources of chunks whose mentions change because the file has other facts for them."""
    other = [
        row["id"]
        for row in chunks
        if row["props"].get("facts") and there.get(row["id"], {}).get("facts") not in {None, row["props"]["facts"]}
    ]
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) "
        "MATCH (d)-[:SOURCED_FROM]->(s:Source) SET s.unlinked = true, s.unlinked_last = $now",
        other,
        now=utc_now(),
    )


async def _stand_by(tx: Transaction, stores: list[Row], namespace: str) -> list[Row]:
    """Keep the active vector store of the graph; those of the file do not become active beside it."""
    found = await tx.run(
        "MATCH (s:VectorStore) WHERE s.namespace = $namespace AND s.status = $active RETURN s.id AS id",
        {"namespace": namespace, "active": ACTIVE},
    )
    active = {row["id"] for row in found}
    return [
        {**row, "props": {**row["props"], "status": STANDBY}}
        if active and row["props"].get("status") == ACTIVE and row["id"] not in active
        else row
        for row in stores
    ]


async def _part(tx: Transaction, distinctions: Sequence[Row], namespace: str) -> None:
    """Undo merges of entities of the namespace that the file declares to be different."""
    pairs = [{"a": row["props"]["entity"], "b": row["props"]["other"]} for row in distinctions]
    await tx.run(
        "UNWIND $rows AS row MATCH (a:Entity {id: row.a})-[s:SAME_AS]-(b:Entity {id: row.b}) "
        "WHERE a.namespace = $namespace DELETE s",
        {"rows": pairs, "namespace": namespace},
    )


def with_guests(
    entries: Iterable[tuple[tuple[str, ...], Row]], owners: Mapping[str, str]
) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield the entries of an import, with the owner of a conversation as a guest if the graph says it is another's.

    What names no speaker in the file was said by the file's owner; in the graph it would become what that owner said.

    Args:
        entries: The kind and content of each entry: conversations, then messages, then edges.
        owners: The owners of the conversations in the graph, by id of the node; empty for those without.
    """
    guests: dict[str, str] = {}  # by id of the node, and by session
    for kind, entry in entries:
        match kind[:2]:
            case ("node", Label.CONVERSATION):
                props = entry["props"]
                guest, owner = props.get("user_id"), owners.get(entry["id"])
                if guest and owner and guest != owner:
                    guests |= {entry["id"]: guest, props["session_id"]: guest}
            case ("node", Label.INTERACTION):
                props = entry["props"]
                if not props.get("user_id") and (guest := guests.get(props.get("session_id", ""))):
                    entry = {**entry, "props": {**props, "user_id": guest}}
            case ("edge", EdgeType.STARTED):
                if entry["to"][1] in guests:
                    kind = (kind[0], EdgeType.SPOKE_IN.value, *kind[2:])
        yield kind, entry


async def turned(tx: Transaction, edges: EdgeKind, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of edges to write; an undirected edge that the graph has in reverse is turned around.

    Entities that a person separated in the graph are not connected by a rule of the file, only by a person's decision.
    """
    if edges.type == EdgeType.SAME_AS:
        rows = await _not_distinct(tx, rows)
    if edges.type not in _UNDIRECTED:
        return list(rows)
    reverse: set[tuple[str, str]] = set()
    async for backward, alike in directed(tx, edges, [{"a": row["b"], "b": row["a"]} for row in rows]):
        reverse |= {
            (row["b"], row["a"])
            for row in await tx.run(
                f"UNWIND $rows AS row MATCH {edges.there(backward=backward)} RETURN row.a AS a, row.b AS b",
                {"rows": alike},
            )
        }
    return [{**row, "a": row["b"], "b": row["a"]} if (row["a"], row["b"]) in reverse else row for row in rows]


async def _not_distinct(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    found = await tx.run("MATCH (d:Distinction) RETURN d.id AS id, d.entity AS a, d.other AS b")
    distinct = {(row["a"], row["b"]): row["id"] for row in found}

    def of(row: Row) -> str | None:
        a, b = sorted((row["a"], row["b"]))
        return distinct.get((a, b))

    said = [row for row in rows if row["props"].get("origin") == FROM_CALLER]
    withdrawn = sorted({identifier for row in said if (identifier := of(row))})
    await run_for_ids(tx, "UNWIND $ids AS i MATCH (d:Distinction {id: i}) DETACH DELETE d", withdrawn)
    return [row for row in rows if row["props"].get("origin") == FROM_CALLER or of(row) is None]


async def join_edges(tx: Transaction, edges: EdgeKind, rows: Sequence[Row], *, backward: bool) -> list[Row]:
    """Return the rows (``a``, ``b``, ``key``, ``props``) of edges to write, joined with the stored edges."""
    join = _EDGES.get(edges.type)
    if join is None:
        return list(rows)
    keys = [{name: row[name] for name in ("a", "b", "key")} for row in rows]
    found = await tx.run(
        f"UNWIND $rows AS row MATCH {edges.there(backward=backward)} "
        "RETURN row.a AS a, row.b AS b, row.key AS key, properties(r) AS props",
        {"rows": keys},
    )
    there = {(row["a"], row["b"], row["key"]): row["props"] for row in found}

    def joined(row: Row) -> Row:
        before = there.get((row["a"], row["b"], row["key"]))
        return row if before is None else {**row, "props": join(before, row["props"])}

    return [joined(row) for row in rows]
