"""Converts records of callers and documents into the rows that are written."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from core.rag.analysis import index_terms
from core.rag.dbhandler.json_texts import containers, plain_value, to_json
from core.rag.dbhandler.knowledge.records import RecordRow
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError
from core.rag.extraction.records import FIELD_HINTS, entities_of, is_flat, record_text
from core.rag.identity import stable_id
from core.rag.schema import Label
from libs.regexes import regex

#: The collection of all documents, and of the records that their fields are.
DOCUMENTS = "documents"

#: Longest name of a collection.
MAX_COLLECTION_CHARS = 200

_IDENTIFIERS = ("_id", "id")
_EXTENSION = regex(r"\.[A-Za-z0-9]{1,6}$")
_DAY = regex(r"\d{4}-\d\d-\d\d")
_NOTION_ID = regex(r"(?<=\S) [0-9a-f]{32}(?:_all)?$")


def record_row(
    namespace: str,
    collection: str,
    record: Mapping[str, Any],
    hints: Mapping[str, str] = FIELD_HINTS,
    *,
    document: str | None = None,
    occurrence: int = 0,
) -> RecordRow:
    """Return the row of a record.

    Args:
        namespace: Where it goes.
        collection: What it belongs to.
        record: Its fields. ``_id`` or ``id`` identify it in its collection, else all of it together. A text or a
            number does, by how it is written, so 1 is "1"; ``true``, ``null``, lists and objects are no ids. Dates
            become ISO 8601 texts. Lone surrogates become U+FFFD, in the name of the collection, too.
        hints: See :func:`core.rag.extraction.records.entities_of`.
        document: Id of the document that it is a row of.
        occurrence: Which of the rows with equal identity it is, from 0.

    Raises:
        InvalidInputError: if it is not a JSON object, or nested too deeply.
    """
    collection = encodable(collection)
    what = _name(collection, record)
    _check(record, what)
    record, data = _as_json(record, what)
    clean = encodable(data)
    if clean is not data:
        record = json.loads(clean)
        data = to_json(record, what)  # keys are in another order now, or are one
    own = _own_id(record)
    identity = (collection, f"id {own}" if own is not None else data)
    place = (document or "", str(occurrence)) if document or occurrence else ()
    return RecordRow(
        id=stable_id(Label.RECORD, namespace, *identity, *place),
        collection=collection,
        data=data,
        terms=index_terms("", "", record_text(record)),
        entities=entities_of(record, hints, collection),
        document=document,
    )


def _own_id(record: Mapping[str, Any]) -> str | None:
    """Return what a record says it is, as text."""
    for key in _IDENTIFIERS:
        value = record.get(key)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            return repr(value) if isinstance(value, float) else str(value)
    return None


def _name(collection: str, record: Mapping[str, Any]) -> str:
    """Return what messages call a record."""
    try:
        own = _own_id(record)
    except ValueError:  # a number with thousands of digits, which is not JSON either
        own = None
    return f"A record of {collection!r}" if own is None else f"The record {encodable(own)[:100]!r} of {collection!r}"


def _as_json(record: Mapping[str, Any], what: str) -> tuple[Mapping[str, Any], str]:
    """Return a record with nothing in it but what JSON has, and its JSON.

    Raises:
        InvalidInputError: naming the field with anything else.
    """
    try:
        return record, to_json(dict(record), what)
    except InvalidInputError as error:
        for path, value in _values(record):
            try:
                json.dumps(value, default=plain_value, allow_nan=False)
            except (TypeError, ValueError):
                raise InvalidInputError(
                    f"{what} cannot be stored as JSON: {'.'.join(path)[:200]} is {repr(value)[:100]}, of type"
                    f" {type(value).__name__}. Leave it out, or write it as text, a number or None."
                ) from error
    plain = json.loads(json.dumps(dict(record), default=plain_value))  # its fields in the same order
    return plain, to_json(plain, what)


def _values(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what is in a record, with the path of its field; not lists and mappings themselves."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), record)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list | tuple):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, str(key)), inner) for key, inner in items]
        else:
            yield path, value


def _check(record: Mapping[str, Any], what: str) -> None:
    """Make sure that a record is an object as JSON has them, and can be read again.

    Raises:
        InvalidInputError: on a key that is not text, or if it is nested too deeply.
    """
    for inside in (record,) if is_flat(record) else containers(record, what):
        for key in inside if isinstance(inside, Mapping) else ():
            if not isinstance(key, str):
                raise InvalidInputError(
                    f"{what} has the key {key!r}, which is not text but {type(key).__name__}: keys of JSON objects "
                    f"are texts, write {str(key)!r} if that is meant."
                )


def collection_of(path: str) -> str:
    """Return the collection of the rows of a document: ``grants`` for ``data/grants.csv``, without Notion's ids.

    What is called by a day is one of many in its folder: ``talks/2025-06-09.json``, of a channel of Slack.
    """
    folder, name = posixpath.split(path.replace("\\", "/").rstrip("/"))
    if _DAY.fullmatch(_EXTENSION.sub("", name)) and posixpath.basename(folder):
        name = posixpath.basename(folder)
    return (_NOTION_ID.sub("", _EXTENSION.sub("", name)) or name or path)[:MAX_COLLECTION_CHARS]
