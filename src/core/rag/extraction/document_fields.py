"""Fields of a document that name something: who wrote it, what it is filed under, which project it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from email.utils import parseaddr
from typing import Any, Final

from core.rag.extraction.records import FIELD_HINTS, type_of_field

#: Types of fields that name the document itself, which its title does, and those that name no subject of it.
_ITSELF: Final = frozenset({"name", "title", "email"})
#: Metadata that loaders find in files and pages, and that nobody wrote down to say what a document is about.
_OF_THE_FILE: Final = frozenset(
    {"size", "modified", "language", "page_count", "pages_without_text", "message_id", "id", "_id"}
)
#: What programs write where nobody said who the author is.
_NOBODY: Final = frozenset(
    {
        "admin",
        "administrator",
        "anonymous",
        "author",
        "microsoft office user",
        "n/a",
        "none",
        "owner",
        "root",
        "unknown",
        "user",
    }
)
_LISTED: Final = frozenset({"tag", "category", "topic", "skill"})
_SEPARATOR: Final = re.compile(r"\s*[,;]\s*|\s+(?:and|&)\s+")
#: Maximum number of values of a field, and of characters of a value.
_MOST: Final = 20
_LONGEST: Final = 200


def naming_fields(metadata: Mapping[str, Any], hints: Mapping[str, str] = FIELD_HINTS) -> dict[str, list[str]]:
    """Return the fields of a document that name something, with the names.

    Args:
        metadata: That of the document; its texts and lists of texts are used.
        hints: As of :func:`core.rag.extraction.records.entities_of`: authors, owners, projects, tags …
    """
    found = {}
    for field, value in metadata.items():
        if field in _OF_THE_FILE or not value:
            continue
        kind = type_of_field(field, hints)
        if kind and kind not in _ITSELF and (names := _names(value, kind)):
            found[field] = names
    return found


def fields_line(fields: Mapping[str, Sequence[str]]) -> str:
    """Return fields as one line: ``author: Ada Lane; tags: tides, Fowey``."""
    return "; ".join(f"{field}: {', '.join(names)}" for field, names in fields.items())


def document_record(
    title: str | None, metadata: Mapping[str, Any], hints: Mapping[str, str] = FIELD_HINTS
) -> dict[str, Any]:
    """Return what the fields of a document say of it as a record; empty if they name nothing.

    Args:
        title: Its own title, if it has one.
        metadata: As of :func:`naming_fields`; texts, numbers and such that name nothing are told, too.
        hints: As there.
    """
    naming = naming_fields(metadata, hints)
    if not naming:
        return {}
    record: dict[str, Any] = {"title": title} if title else {}
    for field, value in metadata.items():
        if field in naming:
            record[field] = naming[field]
        elif field not in _OF_THE_FILE and not type_of_field(field, hints) and _is_plain(value):
            record.setdefault(field, value)
    return record


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= _LONGEST)


def _names(value: Any, kind: str) -> list[str]:
    texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    names: dict[str, None] = {}
    for text in texts:
        if not isinstance(text, str) or len(text) > _LONGEST * _MOST:
            continue
        for part in _parts(" ".join(text.split()), kind):
            name = parseaddr(part)[0] or part if "@" in part else part
            if len(name) <= _LONGEST and any(map(str.isalnum, name)) and name.lower() not in _NOBODY:
                names[name] = None
    return list(names)[:_MOST]


def _parts(text: str, kind: str) -> list[str]:
    """Return the names in a text: ``a, b`` are two tags, ``Ada Lane, Ben Hale`` two people, ``Lane, Ada`` is one."""
    parts = [part for part in _SEPARATOR.split(text) if part]
    if kind in _LISTED:
        return [part for part in re.split(r"\s*[,;]\s*", text) if part]
    return parts if all(" " in part for part in parts) else [text]
