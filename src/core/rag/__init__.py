"""A RAG backend on a graph database. The public names are imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from core.rag.ports import CONVERSATION_SEARCH

if TYPE_CHECKING:
    from core.rag.answering.answers import StrategyName
    from core.rag.answering.basic import BasicRAG
    from core.rag.answering.drift import DRIFTRAG
    from core.rag.answering.drift.config import DRIFTRAGConfig
    from core.rag.answering.events import Event
    from core.rag.answering.flow import KnowledgeRAGFlow
    from core.rag.answering.metrics import AnalysisMetrics, Metrics, ResponseMetrics, SearchMetrics
    from core.rag.answering.types import Answer, Citation, FoundEntity, FoundFact, UnsupportedSentence
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.knowledge.facts import Triple, TripleLike
    from core.rag.dbhandler.knowledge.periods import Period, Time
    from core.rag.dbhandler.knowledge.recording import Inserted
    from core.rag.dbhandler.transfer.file import TransferReport
    from core.rag.embedder import EmbeddingService, open_embedder
    from core.rag.errors import MGRagError
    from core.rag.extraction.wanted import RelationLike
    from core.rag.graph.context import ContextChunk, GraphContext
    from core.rag.graph.finding import Order
    from core.rag.graph.knowledge_graph import KnowledgeGraph
    from core.rag.graph.nodes import Nodes, UndirectedNode
    from core.rag.graph.parts import EdgePage, GraphEdge, GraphNode, GraphStats, NeighbourPage, Piece
    from core.rag.graph.searching import KnowledgeHit, KnowledgeMode
    from core.rag.graph.traversing import Direction
    from core.rag.identity import standardize_resource_uri
    from core.rag.indexing import Indexer, IngestReport, TextSplitter
    from core.rag.indexing.factfinding import FactReport
    from core.rag.indexing.report import DocumentCounts, FailedDocument, VectorCounts
    from core.rag.indexing.resolving import ResolutionReport, Same
    from core.rag.indexing.sources import Source
    from core.rag.knowledge_base import KnowledgeBase
    from core.rag.llm import LanguageModel, Message, open_language_model
    from core.rag.llm.custom import CustomLanguageModel
    from core.rag.maintenance.backup import BackupReport
    from core.rag.maintenance.findings import Check, DoctorReport
    from core.rag.maintenance.reembed import ReembedReport
    from core.rag.memory.compaction import Summarizer
    from core.rag.memory.records import Forgotten, Memory, RecallReason
    from core.rag.reranker import Reranker, open_reranker
    from core.rag.retrieval.hits import Because, Hit, SearchMode
    from core.rag.retrieval.tables.table import RecordField, RecordTable
    from core.rag.schema import EdgeType, Label
    from core.rag.settings import Settings

_MODULES = {
    "answering.answers": "StrategyName",
    "answering.basic": "BasicRAG",
    "answering.drift": "DRIFTRAG",
    "answering.drift.config": "DRIFTRAGConfig",
    "answering.events": "Event",
    "answering.flow": "KnowledgeRAGFlow",
    "answering.metrics": "AnalysisMetrics Metrics ResponseMetrics SearchMetrics",
    "answering.types": "Answer Citation FoundEntity FoundFact UnsupportedSentence",
    "dbhandler": "MemGraphClient",
    "dbhandler.knowledge.facts": "Triple TripleLike",
    "dbhandler.knowledge.periods": "Period Time",
    "dbhandler.knowledge.recording": "Inserted",
    "dbhandler.transfer.file": "TransferReport",
    "embedder": "EmbeddingService open_embedder",
    "errors": "MGRagError",
    "extraction.wanted": "RelationLike",
    "graph.context": "ContextChunk GraphContext",
    "graph.finding": "Order",
    "graph.knowledge_graph": "KnowledgeGraph",
    "graph.nodes": "Nodes UndirectedNode",
    "graph.parts": "EdgePage GraphEdge GraphNode GraphStats NeighbourPage Piece",
    "graph.searching": "KnowledgeHit KnowledgeMode",
    "graph.traversing": "Direction",
    "identity": "standardize_resource_uri",
    "indexing": "Indexer IngestReport TextSplitter",
    "indexing.factfinding": "FactReport",
    "indexing.report": "DocumentCounts FailedDocument VectorCounts",
    "indexing.resolving": "ResolutionReport Same",
    "indexing.sources": "Source",
    "knowledge_base": "KnowledgeBase",
    "llm": "LanguageModel Message open_language_model",
    "llm.custom": "CustomLanguageModel",
    "maintenance.backup": "BackupReport",
    "maintenance.findings": "Check DoctorReport",
    "maintenance.reembed": "ReembedReport",
    "memory.compaction": "Summarizer",
    "memory.records": "Forgotten Memory RecallReason",
    "reranker": "Reranker open_reranker",
    "retrieval.hits": "Because Hit SearchMode",
    "retrieval.tables.table": "RecordField RecordTable",
    "schema": "EdgeType Label",
    "settings": "Settings",
}
_WHERE = {name: f"core.rag.{module}" for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "DRIFTRAG",
    "AnalysisMetrics",
    "Answer",
    "BackupReport",
    "BasicRAG",
    "Because",
    "Check",
    "Citation",
    "ContextChunk",
    "CustomLanguageModel",
    "DRIFTRAGConfig",
    "Direction",
    "DoctorReport",
    "DocumentCounts",
    "EdgePage",
    "EdgeType",
    "EmbeddingService",
    "Event",
    "FactReport",
    "FailedDocument",
    "Forgotten",
    "FoundEntity",
    "FoundFact",
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
    "KnowledgeMode",
    "KnowledgeRAGFlow",
    "Label",
    "LanguageModel",
    "MGRagError",
    "MemGraphClient",
    "Memory",
    "Message",
    "Metrics",
    "NeighbourPage",
    "Nodes",
    "Order",
    "Period",
    "Piece",
    "RecallReason",
    "RecordField",
    "RecordTable",
    "ReembedReport",
    "RelationLike",
    "Reranker",
    "ResolutionReport",
    "ResponseMetrics",
    "Same",
    "SearchMetrics",
    "SearchMode",
    "Settings",
    "Source",
    "StrategyName",
    "Summarizer",
    "TextSplitter",
    "Time",
    "TransferReport",
    "Triple",
    "TripleLike",
    "UndirectedNode",
    "UnsupportedSentence",
    "VectorCounts",
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
