"""A digest of an embedded graph (counts and a checksum), to compare it with a copy."""

from __future__ import annotations

import hashlib
import json
from array import array
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.embedded.errors import map_error
from core.rag.dbhandler.embedded.header import check_header
from core.rag.dbhandler.versions import READ_VERSION, version_in
from core.rag.schema import Label

_PAGE = 1000
_BITS = 128


@dataclass(frozen=True, slots=True)
class Digest:
    """A summary of the contents of a graph.

    Attributes:
        nodes: Number of nodes by label, including second labels.
        edges: Number of edges by type.
        checksum: 32 hex digits, equal for equal nodes, edges and properties in any order.
        version: Version of its schema; 0 if it has none.
    """

    nodes: dict[str, int]
    edges: dict[str, int]
    checksum: str
    version: int


class StoppedError(Exception):
    """Nobody waits for a digest any more."""


def is_empty(db: Any) -> bool:
    """Return whether a graph stores nothing."""
    return not any(item["count"] for item in db.schema()["labels"] if item["name"] != Label.SCHEMA_VERSION)


def digest(db: Any, stop: Event | None) -> Digest:
    """Read a whole graph; 25,000 chunks take ten seconds.

    Args:
        db: A ``grafeo.GrafeoDB`` to which nothing is written meanwhile.
        stop: Set when nobody waits for the result any more.

    Raises:
        StoppedError: if that happens.
    """
    schema = db.schema()
    total = 0
    for label in Label:
        ids = [row["id"] for row in db.execute_cypher(f"MATCH (n:{label}) RETURN n.id AS id")]
        for page in batches(ids, max_rows=_PAGE):
            if stop is not None and stop.is_set():
                raise StoppedError
            for row in db.execute_cypher(
                f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) RETURN labels(n) AS labels, properties(n) AS props",
                {"ids": page},
            ):
                total += _number(sorted(row["labels"]), row["props"])
            for row in db.execute_cypher(
                f"UNWIND $ids AS i MATCH (a:{label} {{id: i}})-[r]->(b) "
                "RETURN type(r) AS type, a.id AS a, b.id AS b, properties(r) AS props",
                {"ids": page},
            ):
                total += _number([row["type"], label.value, row["a"], row["b"]], row["props"])
    return Digest(
        nodes={item["name"]: item["count"] for item in sorted(schema["labels"], key=_name) if item["count"]},
        edges={item["name"]: item["count"] for item in sorted(schema["edge_types"], key=_name) if item["count"]},
        checksum=f"{total % (1 << _BITS):032x}",
        version=version_in(list(db.execute_cypher(READ_VERSION))),
    )


def digest_of_file(file: Path, stop: Event | None = None) -> Digest:
    """Open a graph file for reading only, and read all of it; see :func:`digest`. The file is not changed.

    Raises:
        StoreError: if it is damaged or open elsewhere.
    """
    from grafeo import GrafeoDB

    what = f"Reading {file}"
    try:
        db = GrafeoDB.open_read_only(str(file))
        try:
            check_header(file)
            return digest(db, stop)
        finally:
            db.close()
            del db
    except RuntimeError as error:
        raise map_error(error, what) from error


def _number(head: list[str], props: dict[str, Any]) -> int:
    hashed = hashlib.blake2b(digest_size=_BITS // 8)
    embedding = props.pop("embedding", None)
    hashed.update(json.dumps([head, props], sort_keys=True, default=str).encode())
    if embedding is not None:
        hashed.update(array("f", embedding).tobytes())
    return int.from_bytes(hashed.digest())


def _name(item: dict[str, Any]) -> str:
    return str(item["name"])
