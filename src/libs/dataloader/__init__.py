"""Loads files and web pages into :class:`Document` objects. Knows nothing of the graph."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from libs.dataloader.errors import (
    InvalidSourceError,
    LoadError,
    MissingReaderError,
    NothingMatchedError,
    SourceNotFoundError,
)
from libs.dataloader.types import (
    ChunkMetadata,
    Document,
    DocumentChunk,
    DocumentMetadata,
    Known,
    KnownDocument,
    Link,
    Loader,
    LoadFailure,
    LoadResult,
    SourceInfo,
    Unchanged,
)

if TYPE_CHECKING:
    from libs.dataloader.crawl.cache import AnswerCache
    from libs.dataloader.document import DocumentLoader
    from libs.dataloader.llama import LlamaIndexLoader
    from libs.dataloader.web import WebLoader

# Loaders are imported when they are used: they bring much that a command like --help does not need.
_LOADERS = {
    "AnswerCache": "libs.dataloader.crawl.cache",
    "DocumentLoader": "libs.dataloader.document",
    "LlamaIndexLoader": "libs.dataloader.llama",
    "WebLoader": "libs.dataloader.web",
}

__all__ = [
    "AnswerCache",
    "ChunkMetadata",
    "Document",
    "DocumentChunk",
    "DocumentLoader",
    "DocumentMetadata",
    "InvalidSourceError",
    "Known",
    "KnownDocument",
    "Link",
    "LlamaIndexLoader",
    "LoadError",
    "LoadFailure",
    "LoadResult",
    "Loader",
    "MissingReaderError",
    "NothingMatchedError",
    "SourceInfo",
    "SourceNotFoundError",
    "Unchanged",
    "WebLoader",
]


def __getattr__(name: str) -> Any:
    if name not in _LOADERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LOADERS[name]), name)
