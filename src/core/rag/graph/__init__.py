"""The knowledge graph: nodes of callers, entities found by ingest, and ways to traverse, search and draw them.

Names are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.graph.building import Edge, HasClient
    from core.rag.graph.parts import Path

_WHERE = {
    "Edge": "core.rag.graph.building",
    "HasClient": "core.rag.graph.building",
    "Path": "core.rag.graph.parts",
}

__all__ = ["Edge", "HasClient", "Path"]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
