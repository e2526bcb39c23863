"""The parts of a document that a question names as a whole: "Summarize minutes.docx"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from core.rag.answering.admission import Admission
from core.rag.answering.extracts.showing import shown
from core.rag.answering.overview.recognising import called
from core.rag.answering.overview.survey import Survey
from core.rag.indexing.splitting.tokens import even_tokens
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Of several documents of a name, so many are told.
_MOST_DOCUMENTS = 4
#: Tokens that a passage takes beside its text, and the chunks that tell how many that has.
_AROUND, _SAMPLE = 60, 50


async def parts_of(
    client: MemGraphClient,
    names: Sequence[str],
    most: int,
    filters: str | Mapping[str, Any] | None,
    tokens: int,
) -> Survey | None:
    """Choose parts of the documents of a name, spread over these.

    Args:
        client: The graph.
        names: What the name may be: that of a file, also without its extension, or a title, as :func:`called` has it.
        most: How many parts to choose,
        filters: Only documents that pass.
        tokens: or as many as have so many tokens, if these are more.

    Returns:
        ``None`` if there is no such document.
    """
    rows = await client.read_together(
        "MATCH (d:Document) WHERE d.namespace = $namespace", {"id": "d.id", "path": "d.path", "title": "d.title"}, None
    )
    found = [row for row in rows if not _called(row).isdisjoint(names)]
    if filters is not None and found:
        passing = await Admission(client, filters)({Label.DOCUMENT: [row["id"] for row in found]})
        found = [row for row in found if row["id"] in passing]
    if not found:
        return None
    found = sorted(found, key=lambda row: (row["path"], row["id"]))[:_MOST_DOCUMENTS]
    chosen: list[str] = []
    said: list[str] = []
    for row in found:
        chunks = await client.get_document_chunks(row["id"])
        chosen += _spread(chunks, max(max(most, _fitting(chunks, tokens)) // len(found), 1))
        name = f"{row['title']} ({row['path']})" if row["title"] and row["title"] != row["path"] else row["path"]
        said.append(f"{shown(name)} has {len(chunks):,} passage{'' if len(chunks) == 1 else 's'}.")
    return Survey(tuple(chosen), " ".join(said), of_parts=True)


def _fitting(chunks: Sequence[Mapping[str, Any]], tokens: int) -> int:
    """Return how many of the chunks have so many tokens."""
    sample = [chunks[place]["content"] for place in _evenly(range(len(chunks)), _SAMPLE)]
    used = sum(even_tokens.count(text) + _AROUND for text in sample)
    return tokens * len(sample) // used if used else 0


def _called(row: Mapping[str, Any]) -> set[str]:
    """Return what a document may be called, as :func:`called` has it."""
    path = PurePosixPath(row["path"] or "")
    names = (row["path"] or "", path.name, path.stem, row["title"] or "")
    return {called(name) for name in names} - {""}


def _spread(chunks: Sequence[Mapping[str, Any]], most: int) -> list[str]:
    """Return the ids of chunks: the first of each section; if there are more sections, or fewer, spread evenly."""
    begins = [
        place for place, chunk in enumerate(chunks) if place == 0 or chunk["heading"] != chunks[place - 1]["heading"]
    ]
    others = sorted(set(range(len(chunks))).difference(begins))
    places = _evenly(begins, most)
    places += _evenly(others, most - len(places))
    return [chunks[place]["chunk_id"] for place in sorted(places)]


def _evenly(places: Sequence[int], most: int) -> list[int]:
    if len(places) <= most:
        return list(places)
    return [places[number * len(places) // most] for number in range(most)] if most > 0 else []
