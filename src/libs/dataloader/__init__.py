"""Loading files and web pages into :class:`Document` objects. Knows nothing of the graph."""

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

__all__ = [
    "ChunkMetadata",
    "Document",
    "DocumentChunk",
    "DocumentMetadata",
    "InvalidSourceError",
    "Known",
    "KnownDocument",
    "Link",
    "LoadError",
    "LoadFailure",
    "LoadResult",
    "Loader",
    "MissingReaderError",
    "NothingMatchedError",
    "SourceInfo",
    "SourceNotFoundError",
    "Unchanged",
]
