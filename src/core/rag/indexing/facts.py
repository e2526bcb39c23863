"""What is extracted from a whole document: names in its title, records from its rows, symbols from its code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.rag.dbhandler.knowledge.record_rows import collection_of, record_row
from core.rag.dbhandler.knowledge.records import RecordRow
from core.rag.extraction.mentions import Title, titles_of
from core.rag.extraction.records import FIELD_HINTS
from core.rag.extraction.symbols import CodeFacts
from core.rag.indexing.symbols import code_facts
from libs.dataloader import Document

_CODE = "code:"


@dataclass(slots=True)
class Facts:
    """Data extracted from a document as a whole.

    Attributes:
        titles: The names in its title.
        records: Its rows, as records.
        code: Its symbols and calls, if it is source code.
    """

    titles: list[Title] = field(default_factory=list)
    records: list[RecordRow] = field(default_factory=list)
    code: CodeFacts | None = None


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
    facts = Facts(titles_of(document.title, document.path))
    if document.format.startswith(_CODE):
        facts.code = code_facts(document.content, document.format.removeprefix(_CODE))
    seen: dict[str, int] = {}
    for _, record in document.records:
        made = record_row(namespace, collection_of(document.path), record, hints, document=identifier)
        occurrence = seen[made.id] = seen.get(made.id, -1) + 1
        if occurrence:
            made = record_row(
                namespace, collection_of(document.path), record, hints, document=identifier, occurrence=occurrence
            )
        facts.records.append(made)
    return facts
