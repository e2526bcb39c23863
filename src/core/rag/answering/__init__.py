"""Answers questions with citations: the Knowledge RAG flow, BasicRAG, and DRIFT RAG (``drift``).

``types`` holds what the stages hand on; ``flow`` the stages in order; ``events`` what is streamed. Names are imported
on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.answering.flow import OnNewChunk
    from core.rag.answering.response import Response
    from core.rag.answering.services import AnsweringBase
    from core.rag.answering.types import Analysis, Context, Knowledge

_WHERE = {
    "Analysis": "core.rag.answering.types",
    "AnsweringBase": "core.rag.answering.services",
    "Context": "core.rag.answering.types",
    "Knowledge": "core.rag.answering.types",
    "OnNewChunk": "core.rag.answering.flow",
    "Response": "core.rag.answering.response",
}

__all__ = ["Analysis", "AnsweringBase", "Context", "Knowledge", "OnNewChunk", "Response"]


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
