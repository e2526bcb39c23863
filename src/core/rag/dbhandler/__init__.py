"""The graph database: :class:`MemGraphClient`, on Memgraph, Neo4j or the embedded engine; imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.dbhandler.client import MemGraphClient

__all__ = ["MemGraphClient"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("core.rag.dbhandler.client"), name)
