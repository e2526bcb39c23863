"""What a document says of things, beside its text: the records that are its rows, and the symbols of its code."""

from __future__ import annotations

from collections.abc import Mapping

from core.rag.dbhandler.record_rows import collection_of, record_row
from core.rag.dbhandler.writing import DocumentRow
from core.rag.extraction.mentions import titles_of
from core.rag.extraction.records import FIELD_HINTS
from core.rag.indexing.symbols import code_facts
from libs.dataloader import Document

_CODE = "code:"


def add_facts(row: DocumentRow, document: Document, namespace: str, hints: Mapping[str, str] = FIELD_HINTS) -> None:
    """Fill in the titles, records and code of the row of a document.

    Raises:
        InvalidInputError: when one of its records is no JSON.
    """
    row.titles = titles_of(document.title, document.path)
    if document.format.startswith(_CODE):
        row.code = code_facts(document.content, document.format.removeprefix(_CODE))
    seen: dict[str, int] = {}
    for _, record in document.records:
        made = record_row(namespace, collection_of(document.path), record, hints, document=row.id)
        occurrence = seen[made.id] = seen.get(made.id, -1) + 1
        if occurrence:
            made = record_row(
                namespace, collection_of(document.path), record, hints, document=row.id, occurrence=occurrence
            )
        row.records.append(made)
