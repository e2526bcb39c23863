"""Documents about a tide mill, to ingest."""

from __future__ import annotations

from libs.dataloader import Document

PARAGRAPHS = [
    "The tide mill stands at the end of the bay and turns with the ebb.",
    "Margaret Harrow borrowed four hundred pounds from a shipwright.",
    "Two pairs of burr stones came by ship from France in 1841.",
    "The northern sea gate leaks, and the ground behind it is hollow.",
]


def text(*numbers: int) -> str:
    return "\n\n".join(f"# Part {number}\n\n{PARAGRAPHS[number] * 12}" for number in numbers)


def document(path: str, content: str, **more: object) -> Document:
    return Document(path=path, content=content, format="markdown", **more)  # type: ignore[arg-type]
