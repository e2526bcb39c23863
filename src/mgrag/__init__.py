"""The public names, for ``import mgrag``; each is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag import (
        DRIFTRAG,
        Answer,
        BasicRAG,
        EdgeType,
        EmbeddingService,
        Hit,
        Indexer,
        IngestReport,
        KnowledgeBase,
        KnowledgeGraph,
        KnowledgeRAGFlow,
        Label,
        MemGraphClient,
        Settings,
        TextSplitter,
        UndirectedNode,
        open_embedder,
        standardize_resource_uri,
    )
    from libs.dataloader import Document, DocumentLoader, Loader, WebLoader

_LOADING = frozenset({"Document", "DocumentLoader", "Loader", "WebLoader"})

__version__ = "0.1.0"

__all__ = [
    "DRIFTRAG",
    "Answer",
    "BasicRAG",
    "Document",
    "DocumentLoader",
    "EdgeType",
    "EmbeddingService",
    "Hit",
    "Indexer",
    "IngestReport",
    "KnowledgeBase",
    "KnowledgeGraph",
    "KnowledgeRAGFlow",
    "Label",
    "Loader",
    "MemGraphClient",
    "Settings",
    "TextSplitter",
    "UndirectedNode",
    "WebLoader",
    "open_embedder",
    "standardize_resource_uri",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _LOADING:
        import libs.dataloader as home
    else:
        import core.rag as home  # type: ignore[no-redef]
    return getattr(home, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
