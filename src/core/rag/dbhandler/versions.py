"""The schema version of a graph, so that older code refuses a graph that it does not understand."""

from __future__ import annotations

from collections.abc import Sequence

from core.rag.dbhandler.store import GraphStore, Row, Transaction
from core.rag.errors import StoreUnavailableError
from core.rag.schema import SCHEMA_VERSION, Label

#: Of the graph, not of a namespace: it is in none.
_ID = "schema"

#: Its version, or no row. It is read before there is an index on ids, and of this label there are two nodes at most.
READ_VERSION = (
    f"MATCH (v:{Label.SCHEMA_VERSION}) WHERE v.id = '{_ID}' AND v.version IS NOT NULL RETURN v.version AS version"
)


async def stored_version(store: GraphStore) -> int:
    """Return the version of a graph; 0 if it does not say, because it is empty or older than this mark.

    Raises:
        StoreUnavailableError: if it is newer than what this code knows.
    """
    version = version_in(await store.run(READ_VERSION))
    check_version(version, store.capabilities.location)
    return version


def version_in(rows: Sequence[Row]) -> int:
    """Return the version in what :data:`READ_VERSION` returned."""
    return max((row["version"] for row in rows), default=0)


def check_version(version: int, location: str) -> None:
    """Refuse a graph that is newer than this code.

    Raises:
        StoreUnavailableError: if it is.
    """
    if version > SCHEMA_VERSION:
        raise StoreUnavailableError(
            f"{location} was written by a newer version of memgraph-rag (schema {version}; this one knows"
            f" {SCHEMA_VERSION}), and is left as it is. Update this one (pip install --upgrade memgraph-rag), or name"
            " another graph (--db)."
        )


async def mark_version(tx: Transaction) -> None:
    """Note in the graph that it has the schema of this code. What an older one has to become first goes here."""
    await tx.run(
        f"MERGE (v:{Label.SCHEMA_VERSION} {{id: $id}}) SET v.version = $version", {"id": _ID, "version": SCHEMA_VERSION}
    )
