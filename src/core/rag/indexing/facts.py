"""What is extracted from a whole document: names in its title, records from its rows, symbols from its code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS, record_row
from core.rag.dbhandler.knowledge.records import RecordRow
from core.rag.extraction.document_fields import document_record
from core.rag.extraction.mentions import Title, titles_of
from core.rag.extraction.records import FIELD_HINTS, relations_of
from core.rag.extraction.symbols import CodeFacts
from core.rag.extraction.totals import total_rows
from core.rag.indexing.record_collections import tables_of
from core.rag.indexing.symbols import code_facts
from libs.dataloader import Document

#: Maximum number of nodes and edges that the rows of one document become; the first rows are kept. They are written in
#: one transaction, where each takes 3 kB of memory on the embedded engine: 60,000 rows with three names took 1.9 GB.
MAX_PIECES = 1_000_000

_CODE = "code:"


@dataclass(slots=True)
class Facts:
    """Data extracted from a document as a whole.

    Attributes:
        titles: The names in its title.
        records: Its rows, as records; or one of its fields, if they name something (author, tags, project …).
        code: Its symbols and calls, if it is source code.
        left_out: Number of its last rows that are no records, because there were too many.
    """

    titles: list[Title] = field(default_factory=list)
    records: list[RecordRow] = field(default_factory=list)
    code: CodeFacts | None = None
    left_out: int = 0


def facts_of(document: Document, identifier: str, namespace: str, hints: Mapping[str, str] = FIELD_HINTS) -> Facts:
    """Extract the titles, records and code of a document.

    Args:
        document: The document.
        identifier: Its id.
        namespace: Where it goes.
        hints: The fields of records that are entities; see :mod:`core.rag.extraction.records`.

    Raises:
        InvalidInputError: if one of its records is not JSON.
    """
    facts = Facts(titles_of(document.title, document.path, document.content, document.metadata))
    if document.format.startswith(_CODE):
        facts.code = code_facts(document.content, document.format.removeprefix(_CODE))
    if not document.records and (own := document_record(document.title, document.metadata, hints)):
        facts.records.append(record_row(namespace, DOCUMENTS, own, hints, document=identifier))
    seen: dict[str, int] = {}
    pieces = _Pieces()
    for table in tables_of(document):
        totals = total_rows(lambda number: document.records[number][1], table.rows)
        for number in table.rows:
            if number in totals:
                continue
            _, record = document.records[number]
            made = record_row(namespace, table.collection, record, hints, document=identifier)
            occurrence = seen[made.id] = seen.get(made.id, -1) + 1
            if occurrence:
                made = record_row(
                    namespace, table.collection, record, hints, document=identifier, occurrence=occurrence
                )
            if not pieces.take(made):
                facts.left_out = len(document.records) - number
                return facts
            facts.records.append(made)
    return facts


class _Pieces:
    """Counts the nodes and edges that records become; entities and links that several of them share count once."""

    def __init__(self) -> None:
        self._shared: set[int] = set()  # hashes, which take less memory
        self._own = 0

    def take(self, record: RecordRow) -> bool:
        """Count a record; return whether it is within the limit."""
        self._own += 2 + len(record.entities)  # with its edge to the document
        self._shared.update(hash(entity.name) for entity in record.entities)
        self._shared.update(map(hash, relations_of(record.entities)))
        return self._own + len(self._shared) <= MAX_PIECES
