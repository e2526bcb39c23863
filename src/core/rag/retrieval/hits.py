"""The results of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from core.rag.extraction.source_code import is_code
from core.rag.keyed import Keyed
from libs.dataloader.tables import BAR
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

SearchMode = Literal["auto", "graph", "hybrid", "vector", "keyword", "fuzzy"]

MODES: tuple[SearchMode, ...] = get_args(SearchMode)

#: ``named``: its title is in the question; ``bridge``: a sentence of another passage names what it is about;
#: ``mention``: it mentions what such a sentence names, and adds to the answer; ``related``: it mentions what the
#: question names; ``words``: only its own words and meaning match.
Reason = Literal["named", "bridge", "mention", "related", "words"]

#: What stands between the bars of a table.
_CELL = regex(r"(?:\\\||[^|])+")


@dataclass(frozen=True, slots=True)
class Because:
    """Why a passage was found.

    Attributes:
        reason: The kind of reason.
        path: Titles of the documents that led to it, in order, its own last; with the heading if there is one.
        sentence: The sentence of the previous passage that names it; empty if there is none.
        name: The name in the sentence or the question.
    """

    reason: Reason
    path: tuple[str, ...]
    sentence: str = ""
    name: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return asdict(self) | {"path": list(self.path)}


@dataclass(slots=True)
class Hit(Keyed):
    """A chunk that was found.

    Attributes:
        chunk_id: Id of the chunk.
        document_id: Id of its document.
        path: Path, URL or name of the document.
        title: Title of the document.
        heading: Heading path of the chunk.
        content: Its text; with ``expand`` also the text of its neighbours.
        chunk_index: Its position in the document, from 0.
        start_char: Where ``content`` begins in the document.
        end_char: Where it ends (exclusive).
        score: The score that hits are ordered by; only comparable within one search.
        scores: The score of each leg that found it: ``vector`` (cosine), ``keyword`` (BM25), ``fuzzy`` (0 to 1); where
            the graph was used also ``graph`` (0 to 1); in a conversation ``earlier`` (up to 1: an earlier answer
            referred to it) and ``rewritten`` (0 to 1); and ``rerank``, what a reranker said of it.
        metadata: Its place in the document: ``page``, ``slide``, ``sheet``, ``row`` …; in a conversation also
            ``speaker``, who speaks first in it.
        document_metadata: The metadata of its document: what was given with it, or what its file says (``author`` …).
        because: Why the graph led here: the path of titles, and the sentence; ``None`` if the graph did not.
        also_in: Paths of other documents with the same text under the same headings, of those that were looked at.
            These copies are hits themselves only if there are too few others.
    """

    chunk_id: str
    document_id: str
    path: str
    title: str
    heading: str
    content: str
    chunk_index: int
    start_char: int
    end_char: int
    score: float
    scores: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    document_metadata: dict[str, Any] = field(default_factory=dict)
    because: Because | None = None
    also_in: list[str] = field(default_factory=list)

    @property
    def table_header(self) -> str:
        """The line with the names of the columns of the table that its text begins within; empty if there is none."""
        header = str(self.metadata.get("table_header", ""))
        return header if header and BAR.search(self.content.lstrip().partition("\n")[0]) else ""

    @property
    def is_code(self) -> bool:
        """Whether its text is source code."""
        return is_code(self.path, self.metadata)

    @property
    def fields(self) -> str:
        """Fields of its document that name something, ``author: Ada Lane``, if it is at the beginning of it."""
        return str(self.metadata.get("fields", ""))

    @property
    def readable(self) -> str:
        """The text, with the names of the columns above it if it begins within a table."""
        header = self.table_header
        if not header:
            return self.content
        rows = self.content.lstrip()
        return f"{header}\n{_CELL.sub('---', header)}\n{'' if rows.startswith('|') else '| '}{rows}"

    @classmethod
    def of_chunk(cls, chunk: Mapping[str, Any], score: float, scores: dict[str, float]) -> Hit:
        """Make a hit from a chunk row of :class:`core.rag.dbhandler.MemGraphClient`."""
        return cls(
            chunk_id=chunk["chunk_id"],
            document_id=chunk["document_id"],
            path=chunk["path"],
            title=chunk["title"],
            heading=chunk["heading"],
            content=chunk["content"],
            chunk_index=chunk["chunk_index"],
            start_char=chunk["start_char"],
            end_char=chunk["end_char"],
            score=score,
            scores=scores,
            metadata=dict(chunk["metadata"]),
            document_metadata=dict(chunk["document_metadata"]),
        )


async def hits_of(client: MemGraphClient, chunk_ids: Iterable[str]) -> list[Hit]:
    """Return chunks that something else than a search led to, in order; those that are gone are left out."""
    wanted = list(chunk_ids)
    chunks = await client.chunks_by_id(wanted)
    return [Hit.of_chunk(chunks[key], 0.0, {}) for key in wanted if key in chunks]


def joined(parts: Sequence[Mapping[str, Any]]) -> tuple[str, int, int]:
    """Return the text of chunks that follow each other, which may overlap, and where it begins and ends."""
    text, start = "", int(parts[0]["start_char"])
    end = start
    for part in parts:
        text += part["content"][max(end - part["start_char"], 0) :]
        end = max(end, part["end_char"])
    return text, start, end
