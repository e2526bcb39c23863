"""A RAG backend on a graph database. The public names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from core.rag.ports import CONVERSATION_SEARCH

if TYPE_CHECKING:
    from core.rag.answering.basic import BasicRAG
    from core.rag.answering.drift import DRIFTRAG
    from core.rag.answering.drift.config import DRIFTRAGConfig
    from core.rag.answering.events import Event
    from core.rag.answering.flow import KnowledgeRAGFlow
    from core.rag.answering.types import Answer, Citation
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.knowledge.facts import Triple
    from core.rag.dbhandler.knowledge.recording import Inserted
    from core.rag.dbhandler.transfer.file import TransferReport
    from core.rag.embedder import EmbeddingService, open_embedder
    from core.rag.errors import MGRagError
    from core.rag.graph.context import GraphContext
    from core.rag.graph.knowledge_graph import KnowledgeGraph
    from core.rag.graph.nodes import UndirectedNode
    from core.rag.graph.parts import EdgePage, GraphEdge, GraphNode, GraphStats, NeighbourPage, Piece
    from core.rag.graph.searching import KnowledgeHit
    from core.rag.identity import standardize_resource_uri
    from core.rag.indexing import Indexer, IngestReport, TextSplitter
    from core.rag.indexing.factfinding import FactReport
    from core.rag.indexing.resolving import ResolutionReport
    from core.rag.knowledge_base import KnowledgeBase
    from core.rag.llm import LanguageModel, Message, open_language_model
    from core.rag.llm.custom import CustomLanguageModel
    from core.rag.maintenance.backup import BackupReport
    from core.rag.maintenance.findings import DoctorReport
    from core.rag.maintenance.reembed import ReembedReport
    from core.rag.memory.records import Forgotten, Memory, RecallReason
    from core.rag.reranker import Reranker, open_reranker
    from core.rag.retrieval.hits import Hit
    from core.rag.retrieval.tables.table import RecordField, RecordTable
    from core.rag.schema import EdgeType, Label
    from core.rag.settings import Settings

_WHERE = {
    "DRIFTRAG": "core.rag.answering.drift",
    "Answer": "core.rag.answering.types",
    "BackupReport": "core.rag.maintenance.backup",
    "BasicRAG": "core.rag.answering.basic",
    "Citation": "core.rag.answering.types",
    "CustomLanguageModel": "core.rag.llm.custom",
    "DRIFTRAGConfig": "core.rag.answering.drift.config",
    "DoctorReport": "core.rag.maintenance.findings",
    "EdgePage": "core.rag.graph.parts",
    "EdgeType": "core.rag.schema",
    "EmbeddingService": "core.rag.embedder",
    "Event": "core.rag.answering.events",
    "FactReport": "core.rag.indexing.factfinding",
    "Forgotten": "core.rag.memory.records",
    "GraphContext": "core.rag.graph.context",
    "GraphEdge": "core.rag.graph.parts",
    "GraphNode": "core.rag.graph.parts",
    "GraphStats": "core.rag.graph.parts",
    "Hit": "core.rag.retrieval.hits",
    "Indexer": "core.rag.indexing",
    "IngestReport": "core.rag.indexing",
    "Inserted": "core.rag.dbhandler.knowledge.recording",
    "KnowledgeBase": "core.rag.knowledge_base",
    "KnowledgeGraph": "core.rag.graph.knowledge_graph",
    "KnowledgeHit": "core.rag.graph.searching",
    "KnowledgeRAGFlow": "core.rag.answering.flow",
    "Label": "core.rag.schema",
    "LanguageModel": "core.rag.llm",
    "MGRagError": "core.rag.errors",
    "MemGraphClient": "core.rag.dbhandler",
    "Memory": "core.rag.memory.records",
    "Message": "core.rag.llm",
    "NeighbourPage": "core.rag.graph.parts",
    "Piece": "core.rag.graph.parts",
    "RecallReason": "core.rag.memory.records",
    "RecordField": "core.rag.retrieval.tables.table",
    "RecordTable": "core.rag.retrieval.tables.table",
    "ReembedReport": "core.rag.maintenance.reembed",
    "Reranker": "core.rag.reranker",
    "ResolutionReport": "core.rag.indexing.resolving",
    "Settings": "core.rag.settings",
    "TextSplitter": "core.rag.indexing",
    "TransferReport": "core.rag.dbhandler.transfer.file",
    "Triple": "core.rag.dbhandler.knowledge.facts",
    "UndirectedNode": "core.rag.graph.nodes",
    "open_embedder": "core.rag.embedder",
    "open_language_model": "core.rag.llm",
    "open_reranker": "core.rag.reranker",
    "standardize_resource_uri": "core.rag.identity",
}

__all__ = [
    "DRIFTRAG",
    "Answer",
    "BackupReport",
    "BasicRAG",
    "Citation",
    "CustomLanguageModel",
    "DRIFTRAGConfig",
    "DoctorReport",
    "EdgePage",
    "EdgeType",
    "EmbeddingService",
    "Event",
    "FactReport",
    "Forgotten",
    "GraphContext",
    "GraphEdge",
    "GraphNode",
    "GraphStats",
    "Hit",
    "Indexer",
    "IngestReport",
    "Inserted",
    "KnowledgeBase",
    "KnowledgeGraph",
    "KnowledgeHit",
    "KnowledgeRAGFlow",
    "Label",
    "LanguageModel",
    "MGRagError",
    "MemGraphClient",
    "Memory",
    "Message",
    "NeighbourPage",
    "Piece",
    "RecallReason",
    "RecordField",
    "RecordTable",
    "ReembedReport",
    "Reranker",
    "ResolutionReport",
    "Settings",
    "TextSplitter",
    "TransferReport",
    "Triple",
    "UndirectedNode",
    "open_embedder",
    "open_language_model",
    "open_reranker",
    "standardize_resource_uri",
]

CONVERSATION_SEARCH.provide(lambda: import_module("core.rag.retrieval.conversation").search_chunks_in_conversation)


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
