"""DRIFT RAG: follows the edges of the graph from the nodes that match a question, and infers missing connections.

``entry_points`` finds where to begin, ``traversal`` walks, ``inference`` and ``gaps`` look at what was found,
``scoring`` ranks it, ``response`` answers; ``drift`` holds :class:`DRIFTRAG`, which does all of it.
"""

from core.rag.answering.drift.base import Infers
from core.rag.answering.drift.cache import PathCache
from core.rag.answering.drift.config import PRESETS, Direction, DRIFTRAGConfig, InferenceStrategy, preset
from core.rag.answering.drift.drift import DRIFTRAG
from core.rag.answering.drift.entry_points import ChunkSearch
from core.rag.answering.drift.inference import InferenceEngine, InferenceOptions, Inferences
from core.rag.answering.drift.paths import Edge, InferredConnection, KnowledgeGap, Node, Path, TraversalStats
from core.rag.answering.drift.response import DRIFTResponse
from core.rag.answering.drift.result import DRIFTResult, Exploration
from core.rag.answering.drift.scoring import path_score
from core.rag.answering.drift.traversal import NodeFilter
from core.rag.answering.drift.validation import problems_of

__all__ = [
    "DRIFTRAG",
    "PRESETS",
    "ChunkSearch",
    "DRIFTRAGConfig",
    "DRIFTResponse",
    "DRIFTResult",
    "Direction",
    "Edge",
    "Exploration",
    "InferenceEngine",
    "InferenceOptions",
    "InferenceStrategy",
    "Inferences",
    "InferredConnection",
    "Infers",
    "KnowledgeGap",
    "Node",
    "NodeFilter",
    "Path",
    "PathCache",
    "TraversalStats",
    "path_score",
    "preset",
    "problems_of",
]
