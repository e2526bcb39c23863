"""Turns documents into chunks, vectors and a graph. Names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.indexing.indexer import Indexer
    from core.rag.indexing.report import IngestReport
    from core.rag.indexing.splitting.splitter import Span, TextSplitter

_WHERE = {
    "Indexer": "core.rag.indexing.indexer",
    "IngestReport": "core.rag.indexing.report",
    "Span": "core.rag.indexing.splitting.splitter",
    "TextSplitter": "core.rag.indexing.splitting.splitter",
}

__all__ = ["Indexer", "IngestReport", "Span", "TextSplitter"]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
