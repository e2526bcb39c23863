"""From records, as callers and documents have them, to the rows that are written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from core.rag.analysis import index_terms
from core.rag.dbhandler.records import RecordRow
from core.rag.dbhandler.rows import to_json
from core.rag.extraction.records import FIELD_HINTS, entities_of, record_text
from core.rag.identity import stable_id
from core.rag.schema import Label

#: Longest name of a collection.
MAX_COLLECTION_CHARS = 200

_IDENTIFIERS = ("_id", "id")
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,6}$")


def record_row(
    namespace: str,
    collection: str,
    record: Mapping[str, Any],
    hints: Mapping[str, str] = FIELD_HINTS,
    *,
    document: str | None = None,
    occurrence: int = 0,
) -> RecordRow:
    """The row of a record.

    Args:
        namespace: Where it goes.
        collection: What it belongs to.
        record: Its fields. ``_id`` or ``id`` identify it in its collection, else all of it together.
        hints: See :func:`core.rag.extraction.records.entities_of`.
        document: Id of the document that it is a row of.
        occurrence: Which of the rows with equal identity it is, from 0.

    Raises:
        InvalidInputError: when it is no JSON.
    """
    data = to_json(dict(record), f"A record of {collection!r}")
    given = (record.get(key) for key in _IDENTIFIERS)
    own = next((value for value in given if isinstance(value, str | int) and value != ""), None)
    identity = (collection, f"id {own}" if own is not None else data)
    place = (document or "", str(occurrence)) if document or occurrence else ()
    return RecordRow(
        id=stable_id(Label.RECORD, namespace, *identity, *place),
        collection=collection,
        data=data,
        terms=index_terms("", "", record_text(record)),
        entities=entities_of(record, hints),
        document=document,
    )


def collection_of(path: str) -> str:
    """The collection of the rows of a document: ``grants`` for ``data/grants.csv``."""
    name = posixpath.basename(path.replace("\\", "/").rstrip("/"))
    return (_EXTENSION.sub("", name) or name or path)[:MAX_COLLECTION_CHARS]
