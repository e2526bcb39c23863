"""Records that no document has, as passages: those that a question asks about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from core.rag.analysis import index_terms, query_terms
from core.rag.answering.relevance.compared import Asked, Passage
from core.rag.answering.types import RECORD, Analysis
from core.rag.extraction.records import NAMING_FIELDS, in_order, told_of
from core.rag.retrieval.hits import Hit
from core.rag.schema import Label
from libs.dataloader.tables import table_row

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: How many records are looked at: rows of files, which are in passages already, may be among the best.
_CANDIDATES: Final = 200
#: What share of the best one's share of the question another record or passage needs.
_AS_GOOD: Final = 0.8
_FEWEST: Final = 2
#: A longer text is no cell of a row.
_LONGEST_CELL: Final = 300
#: So much of a text is read.
_LONGEST_TEXT: Final = 4_000


async def record_passages(client: MemGraphClient, analysis: Analysis, before: str, limit: int) -> list[Hit]:
    """Return the records with most of the words of a question, best first; the scores are the shares of it.

    The name of its collection is among the words of a record: that of California in ``governors`` is a governor. Of
    records with the same share, those come first whose names have most of its words.

    Args:
        client: The graph.
        analysis: The question.
        before: What was said before that it goes on with.
        limit: Maximum number.

    Raises:
        StoreError: if the graph fails.
    """
    terms = dict.fromkeys(query_terms(f"{before}\n{analysis.query}"), 1.0)
    found = [match.id for match in await client.match_terms(terms, _CANDIDATES, Label.RECORD)]
    of_documents = {row["id"] for row in await client.documents_of_records(found)}
    own = [one for one in found if one not in of_documents]
    records = await client.records_by_id(own)
    asked = await Asked.in_graph(client, analysis, before)
    scored = []
    for place, one in enumerate(own):
        if one in records and (hit := _hit(records[one])) is not None:
            hit.score = asked.share(Passage.of(hit))
            scored.append((-hit.score, -_named(records[one]["data"], terms), place, hit))
    scored.sort(key=itemgetter(0, 1, 2))
    return [hit for *_, hit in scored if hit.score >= _AS_GOOD * scored[0][-1].score][:limit]


async def merged(
    client: MemGraphClient, analysis: Analysis, before: str, hits: list[Hit], records: Sequence[Hit]
) -> list[Hit]:
    """Return passages in their order, with records before those that have less of the question.

    Records are left out that have much less of it than the best passage.

    Args:
        client: The graph.
        analysis: The question.
        before: What was said before that it goes on with.
        hits: Passages of documents.
        records: Records, as :func:`record_passages` returns them.

    Raises:
        StoreError: if the graph fails.
    """
    if not records:
        return hits
    asked = await Asked.in_graph(client, analysis, before)
    shares = {hit.chunk_id: asked.share(Passage.of(hit)) for hit in hits}
    best = max(shares.values(), default=0.0)
    waiting = [record for record in records if record.score >= _AS_GOOD * best]
    made: list[Hit] = []
    for hit in hits:
        while waiting and waiting[0].score > shares[hit.chunk_id]:
            made.append(waiting.pop(0))
        made.append(hit)
    return [*made, *waiting]


def _named(record: Mapping[str, Any], terms: Collection[str]) -> int:
    """Return how many words of a question are of what a record is called by."""
    names = " ".join(str(record[field]) for field in record if field.lower() in NAMING_FIELDS)
    return len(set(index_terms("", "", names).split()).intersection(terms))


def _hit(record: Mapping[str, Any]) -> Hit | None:
    """Return a record as a row of a table of its collection; long texts follow below. One field alone says nothing."""
    cells: list[tuple[str, str]] = []
    texts: list[tuple[str, str]] = []
    for name, value in _fields(record["data"]):
        (texts if len(value) > _LONGEST_CELL else cells).append((name, value))
    if len(cells) + len(texts) < _FEWEST:
        return None
    parts = [table_row(value for _, value in cells)] if cells else []
    parts += [f"{name}: {value[:_LONGEST_TEXT]}" for name, value in texts]
    content = "\n\n".join(parts)
    return Hit(
        chunk_id=record["id"],
        document_id="",
        path=record["collection"],
        title=record["collection"],
        heading="",
        content=content,
        chunk_index=0,
        start_char=0,
        end_char=len(content),
        score=0.0,
        metadata={RECORD: record["id"], "table_header": table_row(name for name, _ in cells) if cells else ""},
    )


def _fields(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record with their values; those of a list together."""
    for path, values in groupby(told_of(in_order(record)), key=itemgetter(0)):
        yield ".".join(path), ", ".join(value.strip() for _, value in values)
