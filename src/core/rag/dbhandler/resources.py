"""Resources: what texts and messages refer to that is no document, or none yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import resource_id
from core.rag.schema import FROM_TEXT, Label


def resource_type(uri: str) -> str:
    """Return the type of a resource by its URI: ``web``, ``file``, or its scheme."""
    scheme, colon, _ = uri.partition(":")
    if not colon or scheme == "file":
        return "file"
    return "web" if scheme in {"http", "https"} else scheme.lower()


async def remove_unused_resources(tx: Transaction, ids: Iterable[str]) -> None:
    """Remove those of the resources that were created from texts and that nothing refers to any more."""
    unique = sorted(ids)
    await lock(tx, Label.RESOURCE, unique)
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (t:Resource {id: i}) WHERE t.origin = $origin AND NOT (t)--() DETACH DELETE t",
        unique,
        origin=FROM_TEXT,
    )


async def refer_messages_to_resources(tx: Transaction, rows: Sequence[Row], *, namespace: str, now: str) -> None:
    """Write references of messages (``message``) to resources (``uri``), with their ``position``."""
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.message}) MERGE (t:Resource {id: row.target}) "
        "ON CREATE SET t.namespace = $namespace, t.uri = row.uri, t.type = row.type, t.origin = $origin, "
        "t.created_at = $now, t.updated_at = $now MERGE (m)-[r:REFERENCES]->(t) SET r.position = row.position",
        [{**row, "target": resource_id(namespace, row["uri"]), "type": resource_type(row["uri"])} for row in rows],
        namespace=namespace,
        origin=FROM_TEXT,
        now=now,
    )
