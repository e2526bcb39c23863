"""Makes documents acceptable to every engine and every tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.rag.dbhandler.json_texts import check_nesting
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError
from libs.dataloader import Document, DocumentMetadata, Link, LoadFailure, LoadResult
from libs.dataloader.formats.rows import Records

_TEXTS = ("path", "content", "format", "title", "uri", "mime_type")
_OR_NONE = ("title", "uri", "mime_type")
_TEXT_OR_NONE = frozenset({str, type(None)})
_MAPPINGS = ("metadata", "locations", "fingerprint")
_MAPPING_TYPES: frozenset[type] = frozenset((dict, DocumentMetadata))


def storable(document: Document) -> Document:
    """Return a document without lone surrogates (half an emoji, a byte that is not UTF-8), which cannot be encoded.

    In texts each becomes U+FFFD, so that all positions stay the same. In the path and URI it becomes an escape such as
    ``\\ud83d``, so that two documents that differ there stay two. Records are cleaned when their rows are made.

    Raises:
        InvalidInputError: if a field has the wrong type, for example a number or bytes from a database row; or if the
            metadata are nested too deeply.
    """
    if (name := no_text_in(document)) is not None:
        kind = _kind(getattr(document, name))
        raise InvalidInputError(f"The {name} of the document {document.path!r} must be text, but is {kind}.")
    metadata: Mapping[str, Any] | None = document.metadata
    if metadata is None:  # as with create_document
        document = replace(document, metadata={})
    is_bare = _is_bare(document)
    if not is_bare:
        if (wrong := _wrong_kind(document)) is not None:
            raise InvalidInputError(f"The {wrong[0]} of the document {document.path!r} must be {wrong[1]}.")
        check_nesting(document.metadata, f"The metadata of {document.path}")
    names = f"{document.path}{document.title}{document.uri}{document.mime_type}{document.format}"
    texts_are_whole = encodable(document.content) is document.content and encodable(names) is names
    rest = (document.metadata, document.links, document.locations)
    if texts_are_whole and (is_bare or not any(map(_is_broken, rest))):
        return document
    return replace(
        document,
        path=_name(document.path),
        uri=None if document.uri is None else _name(document.uri),
        content=_mended(document.content),
        title=_mended(document.title),
        mime_type=_mended(document.mime_type),
        format=_mended(document.format),
        metadata=_mended(document.metadata),
        links=tuple(Link(_name(link.target), _mended(link.text)) for link in document.links),
        locations=_mended(document.locations),
    )


def storable_result(result: LoadResult) -> LoadResult:
    """Return the result with its document made storable; one that cannot be stored becomes a :class:`LoadFailure`.

    So does one without text, as a file: no search could find it.
    """
    if not isinstance(result, Document):
        return result
    try:
        document = storable(result)
    except InvalidInputError as error:
        return LoadFailure(str(result.path), str(error))
    return document if document.content.strip() else LoadFailure(document.path, "it has no text")


def no_text_in(document: Document) -> str | None:
    """Return the field of a document that must be text and is not; ``None`` if all are."""
    # There may be very many documents, and in nearly all of them nothing is wrong: this takes a fifth of the loop.
    if (
        type(document.content) is str
        and type(document.path) is str
        and type(document.format) is str
        and type(document.title) in _TEXT_OR_NONE
        and type(document.uri) in _TEXT_OR_NONE
        and type(document.mime_type) in _TEXT_OR_NONE
    ):
        return None
    for name in _TEXTS:
        value = getattr(document, name)
        if not isinstance(value, str) and (value is not None or name not in _OR_NONE):
            return name
    return None


def _is_bare(document: Document) -> bool:
    """Return whether a document has nothing but its texts, as most have, so that no other field needs a look."""
    return (
        type(document.metadata) in _MAPPING_TYPES
        and type(document.locations) is dict
        and type(document.fingerprint) is dict
        and type(document.links) is tuple
        and type(document.records) is tuple
        and not (document.metadata or document.locations or document.fingerprint or document.links or document.records)
    )


def _wrong_kind(document: Document) -> tuple[str, str] | None:
    """Return a field that does not hold what it should, and what that is; ``None`` if there is none."""
    for name in _MAPPINGS:
        if not isinstance(value := getattr(document, name), Mapping):
            return name, f"a mapping, but is {_kind(value)}"
    if not isinstance(document.links, list | tuple) or not all(isinstance(link, Link) for link in document.links):
        return "links", "a sequence of Link"
    if not all(isinstance(places, Sequence) for places in document.locations.values()):
        return "locations", "sequences of pairs, for each kind of place"
    if type(document.records) is Records:  # made by a reader, one by one, each time that it is asked for
        return None
    if not isinstance(document.records, Sequence) or not all(map(_is_record, document.records)):
        return "records", "a sequence of pairs of a position and a mapping"
    return None


def _is_record(row: Any) -> bool:
    return isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[1], Mapping)


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _is_broken(value: Any) -> bool:
    """Return whether there is a lone surrogate anywhere in plain values."""
    if isinstance(value, str):
        return encodable(value) is not value
    if isinstance(value, Mapping):
        return any(map(_is_broken, value)) or any(map(_is_broken, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_broken, value))
    return isinstance(value, Link) and (_is_broken(value.target) or _is_broken(value.text))


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_mended, value))
    return value


def _name(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
