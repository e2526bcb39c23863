"""Values that engines return, as JSON has them: nodes, edges, paths and times look alike whatever the engine is."""

from __future__ import annotations

import base64
import math
import sys
from typing import Any

from core.rag.dbhandler.store import Row

#: What Grafeo adds to the properties of nodes and edges.
_INTERNAL = frozenset({"_id", "_labels", "_type", "_source", "_target"})


def plain_rows(rows: list[Row]) -> list[Row]:
    """Return rows with nothing in them but texts, numbers, truth values, ``None``, lists and dicts with texts as keys.

    A node becomes ``{"labels": […], "properties": {…}}``, an edge ``{"type": …, "properties": {…}}``, and a path
    ``{"nodes": […], "edges": […]}``. Times become texts in ISO 8601; numbers that JSON does not have (NaN, infinity),
    and whatever else an engine may return, their text; bytes base64.
    """
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return _of_grafeo(value)
    return _of_engine(value)


def _of_grafeo(value: dict[str, Any]) -> dict[str, Any]:
    """Return a map; Grafeo's nodes and edges are maps, too, with names that begin with an underscore."""
    properties = {name: _plain(item) for name, item in value.items() if name not in _INTERNAL}
    if {"_id", "_labels"} <= value.keys():
        return _node(value["_labels"], properties)
    if {"_id", "_type", "_source"} <= value.keys():
        return _edge(value["_type"], properties)
    return {str(name): _plain(item) for name, item in value.items()}


def _of_engine(value: Any) -> Any:
    """Return a time, or a value of the Bolt driver, which is not imported where no server is used."""
    for name in ("isoformat", "iso_format"):  # of Python's times, and of the driver's
        if callable(written := getattr(value, name, None)):
            return str(written())
    if "neo4j.graph" not in sys.modules:
        return str(value)
    from neo4j.graph import Node, Path, Relationship

    if isinstance(value, Node):
        return _node(value.labels, {name: _plain(item) for name, item in value.items()})
    if isinstance(value, Relationship):
        return _edge(value.type, {name: _plain(item) for name, item in value.items()})
    if isinstance(value, Path):
        return {
            "nodes": [_plain(node) for node in value.nodes],
            "edges": [_plain(edge) for edge in value.relationships],
        }
    return str(value)


def _node(labels: Any, properties: dict[str, Any]) -> dict[str, Any]:
    return {"labels": sorted(labels), "properties": properties}


def _edge(kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "properties": properties}
