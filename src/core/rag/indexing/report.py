"""The report of an ingest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from libs.dataloader import Document

_MOST_RANGES = 20  # of pages, in one message


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that could not be ingested, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class DocumentCounts:
    """Counts of documents by what happened to them."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: list[FailedDocument] = field(default_factory=list)


@dataclass(slots=True)
class VectorCounts:
    """How many chunks were embedded, and how many had a vector already."""

    embedded: int = 0
    reused: int = 0


@dataclass(slots=True)
class IngestReport:
    """What an ingest did.

    Attributes:
        documents: How many were added, updated, unchanged and deleted; which failed and why.
        chunks: Number of chunks of the added and updated documents.
        vectors: Numbers of vectors made and reused for these chunks.
        seconds: Wall time so far.
        interrupted: Whether it was stopped early.
        facts: Result of the fact extraction, if it ran; see
            :class:`core.rag.indexing.factfinding.FactReport`.
        warnings: Messages for the user, e.g. that nothing was pruned because a crawl was cut short.
    """

    documents: DocumentCounts = field(default_factory=DocumentCounts)
    chunks: int = 0
    vectors: VectorCounts = field(default_factory=VectorCounts)
    seconds: float = 0.0
    interrupted: bool = False
    facts: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)

    def fail(self, path: str, reason: str) -> None:
        """Record a document that could not be ingested."""
        self.documents.failed.append(FailedDocument(path, reason))

    def note_gaps(self, document: Document) -> None:
        """Warn if some pages of a document are images, of which nothing can be found, or its file was cut short."""
        if (line := document.metadata.get("cut_short_in_line")) is not None:
            self._warn(f"{document.path}: it ends in line {line}, in the middle of its data; what is there was read.")
        pages = document.metadata.get("pages_without_text")
        if isinstance(pages, list) and pages:
            called = "pages" if len(pages) > 1 else "page"
            warning = (
                f"{document.path}: its {called} {_ranges(pages)} of {document.metadata.get('page_count')} hold"
                f"{'' if len(pages) > 1 else 's'} no text (scanned pages need OCR)."
            )
            self._warn(warning)

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:  # the file may be in several sources
            self.warnings.append(warning)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        found = asdict(self) | {"seconds": round(self.seconds, 3)}
        facts = found.pop("facts")
        return found if facts is None else found | {"facts": facts}


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers for people: ``1, 3-5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [f"{first}-{last}" if last > first else str(first) for first, last in runs[:_MOST_RANGES]]
    return ", ".join([*shown, *(["…"] if len(runs) > _MOST_RANGES else [])])
