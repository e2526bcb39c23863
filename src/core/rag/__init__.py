"""A graph-database-backed RAG backend; the public names are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from core.rag.ports import CONVERSATION_SEARCH

if TYPE_CHECKING:
    from core.rag.answering.basic import BasicRAG
    from core.rag.answering.drift import DRIFTRAG
    from core.rag.answering.flow import KnowledgeRAGFlow
    from core.rag.answering.types import Answer
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService, open_embedder
    from core.rag.errors import MGRagError
    from core.rag.graph.knowledge_graph import KnowledgeGraph
    from core.rag.graph.nodes import UndirectedNode
    from core.rag.identity import standardize_resource_uri
    from core.rag.indexing import Indexer, IngestReport, TextSplitter
    from core.rag.knowledge_base import KnowledgeBase
    from core.rag.retrieval.hits import Hit
    from core.rag.schema import EdgeType, Label
    from core.rag.settings import Settings

_WHERE = {
    "DRIFTRAG": "core.rag.answering.drift",
    "Answer": "core.rag.answering.types",
    "BasicRAG": "core.rag.answering.basic",
    "EdgeType": "core.rag.schema",
    "EmbeddingService": "core.rag.embedder",
    "Hit": "core.rag.retrieval.hits",
    "Indexer": "core.rag.indexing",
    "IngestReport": "core.rag.indexing",
    "KnowledgeBase": "core.rag.knowledge_base",
    "KnowledgeRAGFlow": "core.rag.answering.flow",
    "KnowledgeGraph": "core.rag.graph.knowledge_graph",
    "Label": "core.rag.schema",
    "MGRagError": "core.rag.errors",
    "MemGraphClient": "core.rag.dbhandler",
    "Settings": "core.rag.settings",
    "TextSplitter": "core.rag.indexing",
    "UndirectedNode": "core.rag.graph.nodes",
    "open_embedder": "core.rag.embedder",
    "standardize_resource_uri": "core.rag.identity",
}

__all__ = [
    "DRIFTRAG",
    "Answer",
    "BasicRAG",
    "EdgeType",
    "EmbeddingService",
    "Hit",
    "Indexer",
    "IngestReport",
    "KnowledgeBase",
    "KnowledgeGraph",
    "KnowledgeRAGFlow",
    "Label",
    "MGRagError",
    "MemGraphClient",
    "Settings",
    "TextSplitter",
    "UndirectedNode",
    "open_embedder",
    "standardize_resource_uri",
]

CONVERSATION_SEARCH.provide(lambda: import_module("core.rag.retrieval.conversation").search_chunks_in_conversation)


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
