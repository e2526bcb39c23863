"""References of documents and messages to documents, and to resources that are not (yet) documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.knowledge.edge_direction import EdgeKind, directed
from core.rag.dbhandler.lines import EACH_ID, packed
from core.rag.dbhandler.resources import refer_messages_to_resources, remove_unused_resources, resource_type
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import document_id, resource_id
from core.rag.schema import FROM_TEXT, EdgeType, Label

_TO_DOCUMENT = EdgeKind(Label.DOCUMENT, EdgeType.REFERENCES, Label.DOCUMENT)
_TO_RESOURCE = EdgeKind(Label.DOCUMENT, EdgeType.REFERENCES, Label.RESOURCE)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link in a document.

    Attributes:
        uri: Standardized URI of the target.
        type: Type of the Resource if the target is not a document: ``web``, ``file`` …
        text: The text of the link.
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
    """Replace the references that come from the text of documents by the given ones.

    Args:
        tx: The transaction.
        documents: Ids, each with its links.
        namespace: The namespace.
        now: The time of this write.
        replaced: Ids of documents that may have earlier references.
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
    resolved = await _refer_to_documents(tx, wanted)
    await _refer_to_resources(
        tx, [row for row in wanted if (row["document"], row["target"]) not in resolved], namespace, now
    )
    await remove_unused_resources(tx, {row["id"] for row in dropped})


async def relink_incoming(tx: Transaction, documents: Sequence[tuple[str, str]], namespace: str) -> None:
    """Redirect references to resources to these new documents, if they have the same URI.

    Args:
        tx: The transaction.
        documents: Ids and URIs.
        namespace: The namespace.
    """
    targets = {resource_id(namespace, uri): identifier for identifier, uri in documents}
    for lines in packed(list(targets)):
        found = await tx.run(
            f"{EACH_ID}MATCH (t:Resource {{id: i}})<-[r:REFERENCES]-(a) WHERE r.origin = $origin "
            "OR r.position IS NOT NULL RETURN a.id AS id, t.id AS resource, r.text AS text, r.position AS position",
            {**lines, "origin": FROM_TEXT},
        )
        if not found:
            continue
        referring = [{**row, "target": targets[row["resource"]]} for row in found]
        await _turn_messages(tx, [row for row in referring if row["position"] is not None])
        texts = [{**row, "document": row["id"]} for row in referring if row["position"] is None]
        await _refer_to_documents(tx, texts)
        ends = [{"a": row["document"], "b": row["resource"]} for row in texts]
        async for backward, alike in directed(tx, _TO_RESOURCE, ends):
            await tx.run(
                f"UNWIND $rows AS row MATCH {_TO_RESOURCE.there(backward=backward)} WHERE r.origin = $origin DELETE r",
                {"rows": alike, "origin": FROM_TEXT},
            )
        await remove_unused_resources(tx, {row["resource"] for row in found})


async def release_incoming(tx: Transaction, documents: Sequence[tuple[str, str]], namespace: str, now: str) -> set[str]:
    """Redirect references to documents that will be removed to resources with the same URI.

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
    await _release_messages(tx, uris, namespace, now)
    return {row["id"] for row in maybe_unused}


async def _turn_messages(tx: Transaction, rows: Sequence[Row]) -> None:
    """Redirect references of messages from resources to documents."""
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) MATCH (d:Document {id: row.target}) "
        "MERGE (m)-[r:REFERENCES]->(d) ON CREATE SET r.position = row.position",
        rows,
    )
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.id})-[r:REFERENCES]->(t:Resource {id: row.resource}) "
        "DELETE r",
        rows,
    )


async def _release_messages(tx: Transaction, uris: Mapping[str, str], namespace: str, now: str) -> None:
    """Make messages that refer to documents (``uris``, by id) refer to resources with the same URI, too."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (d:Document {id: i})<-[r:REFERENCES]-(m:Interaction) "
        "RETURN m.id AS message, d.id AS document, r.position AS position",
        sorted(uris),
    )
    await refer_messages_to_resources(
        tx, [{**row, "uri": uris[row["document"]]} for row in rows], namespace=namespace, now=now
    )


async def _refer_to_documents(tx: Transaction, rows: Sequence[Row]) -> set[tuple[str, str]]:
    """Create references to those targets that are documents; return the ids of both ends of each."""
    found: list[Row] = []
    ends = [{"a": row["document"], "b": row["target"], "text": row["text"]} for row in rows]
    async for backward, alike in directed(tx, _TO_DOCUMENT, ends):
        found += await tx.run(
            "UNWIND $rows AS row MATCH (a:Document {id: row.a}) MATCH (b:Document {id: row.b}) "
            f"{_TO_DOCUMENT.merge(backward=backward)} ON CREATE SET r.origin = $origin, r.text = row.text "
            "RETURN a.id AS a, b.id AS b",
            {"rows": alike, "origin": FROM_TEXT},
        )
    return {(row["a"], row["b"]) for row in found}


async def _refer_to_resources(tx: Transaction, rows: Sequence[Row], namespace: str, now: str) -> None:
    ends = [{**row, "a": row["document"], "b": row["resource"]} for row in rows]
    async for backward, alike in directed(tx, _TO_RESOURCE, ends):
        await tx.run(
            "UNWIND $rows AS row MATCH (a:Document {id: row.a}) MERGE (b:Resource {id: row.b}) "
            "ON CREATE SET b.namespace = $namespace, b.uri = row.uri, b.type = row.type, b.origin = $origin, "
            "b.created_at = $now, b.updated_at = $now "
            f"{_TO_RESOURCE.merge(backward=backward)} ON CREATE SET r.origin = $origin, r.text = row.text",
            {"rows": alike, "namespace": namespace, "origin": FROM_TEXT, "now": now},
        )
