"""References between documents, and to resources that are not documents (yet)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import document_id, resource_id
from core.rag.schema import FROM_TEXT, Label

#: Makes references from documents (``document``) to others (``target``); those that are there stay as they are.
_REFER = (
    "UNWIND $rows AS row MATCH (a:Document {id: row.document}) MATCH (b:Document {id: row.target}) "
    "MERGE (a)-[r:REFERENCES]->(b) ON CREATE SET r.origin = $origin, r.text = row.text"
)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link in a document.

    Attributes:
        uri: Standardized URI of the target.
        type: Type of the Resource where the target is no document: ``web``, ``file`` …
        text: The words of the link.
    """

    uri: str
    type: str
    text: str = ""


async def write_links(
    tx: Transaction,
    documents: Sequence[tuple[str, Sequence[LinkRow]]],
    namespace: str,
    now: str,
    replaced: set[str],
) -> None:
    """Make the references that come from the text of these documents exactly those given.

    Args:
        tx: The transaction.
        documents: Ids, each with its links.
        namespace: Where they are.
        now: The time of this write.
        replaced: Ids of documents that may have references from before.
    """
    before = sorted(replaced)
    dropped = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:REFERENCES]->(t) WHERE r.origin = $origin RETURN t.id AS id",
        before,
        origin=FROM_TEXT,
    )
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:REFERENCES]->() WHERE r.origin = $origin DELETE r",
        before,
        origin=FROM_TEXT,
    )
    wanted: list[Row] = []
    for identifier, links in documents:
        seen: set[str] = set()
        for link in links:
            target = document_id(namespace, link.uri)
            if link.uri in seen or target == identifier:
                continue
            seen.add(link.uri)
            wanted.append(
                {
                    "document": identifier,
                    "target": target,
                    "resource": resource_id(namespace, link.uri),
                    "uri": link.uri,
                    "type": link.type,
                    "text": link.text,
                }
            )
    found = await run_for_rows(tx, f"{_REFER} RETURN a.id AS document, b.id AS target", wanted, origin=FROM_TEXT)
    resolved = {(row["document"], row["target"]) for row in found}
    await _refer_to_resources(
        tx, [row for row in wanted if (row["document"], row["target"]) not in resolved], namespace, now
    )
    await remove_unused_resources(tx, {row["id"] for row in dropped})


async def relink_incoming(tx: Transaction, documents: Sequence[tuple[str, str]], namespace: str) -> None:
    """Turn references to the resources that these new documents are into references to the documents.

    Args:
        tx: The transaction.
        documents: Ids and URIs.
        namespace: Where they are.
    """
    targets = {resource_id(namespace, uri): identifier for identifier, uri in documents}
    for lines in packed(list(targets)):
        found = await tx.run(
            f"{EACH_ID}MATCH (t:Resource {{id: i}})<-[r:REFERENCES]-(a:Document) "
            "WHERE r.origin = $origin RETURN a.id AS document, t.id AS resource, r.text AS text",
            {**lines, "origin": FROM_TEXT},
        )
        if not found:
            continue
        edges = [{**row, "target": targets[row["resource"]]} for row in found]
        await tx.run(_REFER, {"rows": edges, "origin": FROM_TEXT})
        await tx.run(
            "UNWIND $rows AS row MATCH (a:Document {id: row.document})-[r:REFERENCES]->(t:Resource {id: row.resource}) "
            "WHERE r.origin = $origin DELETE r",
            {"rows": edges, "origin": FROM_TEXT},
        )
        await remove_unused_resources(tx, {row["resource"] for row in found})


async def release_incoming(tx: Transaction, documents: Sequence[tuple[str, str]], namespace: str, now: str) -> set[str]:
    """Turn what other documents refer to into resources again, before these documents are removed.

    Returns:
        Ids of resources that may be unused once the documents are gone.
    """
    uris = dict(documents)
    ids = sorted(uris)
    maybe_unused = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})-[r:REFERENCES]->(t:Resource) WHERE r.origin = $origin "
        "RETURN DISTINCT t.id AS id",
        ids,
        origin=FROM_TEXT,
    )
    incoming = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[r:REFERENCES]-(a:Document) WHERE r.origin = $origin "
        "RETURN a.id AS document, d.id AS target, r.text AS text",
        ids,
        origin=FROM_TEXT,
    )
    await _refer_to_resources(
        tx,
        [
            {
                "document": row["document"],
                "resource": resource_id(namespace, uris[row["target"]]),
                "uri": uris[row["target"]],
                "type": resource_type(uris[row["target"]]),
                "text": row["text"],
            }
            for row in incoming
            if row["document"] not in uris
        ],
        namespace,
        now,
    )
    return {row["id"] for row in maybe_unused}


async def remove_unused_resources(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove those of the resources that came from texts and that nothing refers to any more."""
    unique = sorted(ids)
    await lock(tx, Label.RESOURCE, unique)
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (t:Resource {id: i}) WHERE t.origin = $origin AND NOT (t)--() DETACH DELETE t",
        unique,
        origin=FROM_TEXT,
    )


def resource_type(uri: str) -> str:
    """The type of a resource by its URI: ``web``, ``file``, or its scheme."""
    scheme, colon, _ = uri.partition(":")
    if not colon or scheme == "file":
        return "file"
    return "web" if scheme in {"http", "https"} else scheme.lower()


async def _refer_to_resources(tx: Transaction, rows: Sequence[Row], namespace: str, now: str) -> None:
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:Document {id: row.document}) MERGE (t:Resource {id: row.resource}) "
        "ON CREATE SET t.namespace = $namespace, t.uri = row.uri, t.type = row.type, t.origin = $origin, "
        "t.created_at = $now, t.updated_at = $now "
        "MERGE (a)-[r:REFERENCES]->(t) ON CREATE SET r.origin = $origin, r.text = row.text",
        rows,
        namespace=namespace,
        origin=FROM_TEXT,
        now=now,
    )
