"""Which rows of tables a question names, by whole cells of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from core.rag.analysis import analyze
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.record_rows import record_cells
from core.rag.answering.extracts.table_rows import cell_name, named_cells, row_at

if TYPE_CHECKING:
    from core.rag.answering.extracts.sentence import Sentence
    from core.rag.retrieval.hits import Hit


class Row(NamedTuple):
    """What a question names of a table.

    Attributes:
        named: The words of the cells of this row that it names.
        first: Whether its first cell is one of them: then the row is about that, and does not only mention it.
        record: ``named``, if the row is a record of a file: any of its cells may be what that is called.
        beside: What each row of the table that it names has of the question.
    """

    named: frozenset[str]
    first: bool
    record: frozenset[str]
    beside: Sequence[frozenset[str]]


def named_rows(question: str, sources: Sequence[Source], sentences: Sequence[Sentence], wanted: set[str]) -> list[Row]:
    """Return what the question names of each sentence that is a row, and of its table; of others, nothing."""
    hits = [sources[one.passage].passage.hit for one in sentences]
    rows = [_row(hit, one) for hit, one in zip(hits, sentences, strict=True)]
    names = named_cells(question, [cells for _, cells, _ in rows])
    made: list[Row] = []
    beside: dict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    for one, hit, (head, cells, is_record), named in zip(sentences, hits, rows, names, strict=True):
        table = beside[hit.document_id, head] if cells else []
        words = wanted.intersection(analyze(" ".join(named), sources[one.passage].language)) if named else set()
        if words:
            table.append(one.words & wanted)
        first = bool(named) and cell_name(cells[0]) == named[0]
        made.append(Row(frozenset(words), first, frozenset(words if is_record else ()), table))
    return made


def _row(hit: Hit, sentence: Sentence) -> tuple[str, list[str], bool]:
    """Return the head of a table and the cells of a row; of a record of a file its values, whose head is the file, and
    that it is one.
    """
    if cells := record_cells(hit, sentence.place):
        return "", [cell.partition(": ")[2] for cell in cells], True
    return *row_at(hit.content, sentence.place.start, hit.table_header), False
