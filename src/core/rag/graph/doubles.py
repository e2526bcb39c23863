"""Leaves one result where a document and a record made of it say the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS, collection_of
from core.rag.extraction.records import record_text
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_WORD: Final = regex(r"\w+")
#: How many rows of a document, the best ones, are looked for in its passage.
_MOST_ROWS: Final = 50


@dataclass(slots=True)
class Candidate:
    """A record or document that may be a result.

    Attributes:
        kind: ``record`` or ``document``.
        keyword: Its BM25 score.
        graph: Its nearness to what the query names.
        chunk: The best passage of a document.
    """

    kind: str
    keyword: float = 0.0
    graph: float = 0.0
    chunk: str = ""


async def leave_out_doubles(client: MemGraphClient, found: dict[str, Candidate]) -> None:
    """Remove what would be a result twice.

    The fields of a document (author, tags) are a record, too: what finds that finds the document. And a document is
    left out if its passage holds a row that is a result as a record, which says the same, without the other rows.
    """
    records = [key for key, candidate in found.items() if candidate.kind == "record"]
    rows: dict[str, list[str]] = {}
    for row in await client.documents_of_records(records):
        document = row["document"]
        if row["collection"] == DOCUMENTS != collection_of(row["path"]):
            _give(found, row["id"], document)
        elif document in found:
            rows.setdefault(document, []).append(row["id"])
    passages = await client.chunks_by_id([found[key].chunk for key in rows if found[key].chunk])
    for document, its in rows.items():
        whole = found[document]
        if whole.chunk in passages:
            best = nlargest(_MOST_ROWS, its, key=lambda key: (found[key].keyword, found[key].graph))
            data = [row["data"] for row in (await client.records_by_id(best)).values()]
            passage = passages[whole.chunk]
            if _holds_one(f"{passage['metadata'].get('table_header', '')} {passage['content']}", data):
                del found[document]
        elif max(found[key].graph for key in its) >= whole.graph:
            del found[document]


def _give(found: dict[str, Candidate], record: str, document: str) -> None:
    its = found.pop(record)
    whole = found.setdefault(document, Candidate("document"))
    whole.keyword = max(whole.keyword, its.keyword)
    whole.graph = max(whole.graph, its.graph)


def _holds_one(passage: str, records: Iterable[Mapping[str, Any]]) -> bool:
    words = set(_WORD.findall(passage.casefold()))
    return any(words.issuperset(_WORD.findall(record_text(record).casefold())) for record in records)
