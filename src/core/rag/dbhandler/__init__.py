"""The graph database: :class:`MemGraphClient`, on Memgraph, Neo4j or the embedded engine; imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.dbhandler.client import MemGraphClient
    from core.rag.dbhandler.store import GraphStore, Match, Row
    from core.rag.dbhandler.vectors import VectorStoreInfo

_WHERE = {
    "GraphStore": "core.rag.dbhandler.store",
    "Match": "core.rag.dbhandler.store",
    "MemGraphClient": "core.rag.dbhandler.client",
    "Row": "core.rag.dbhandler.store",
    "VectorStoreInfo": "core.rag.dbhandler.vectors",
}

__all__ = ["GraphStore", "Match", "MemGraphClient", "Row", "VectorStoreInfo"]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
