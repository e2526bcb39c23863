"""Fields of a document that name something: who wrote it, what it is filed under, which project it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.rag.extraction.records import DEEPEST, FIELD_HINTS, texts_of, type_of_field, type_of_path
from libs.dataloader.addresses import first_address
from libs.regexes import regex

#: Types of fields that name the document itself, which its title does, and those that name no subject of it.
_ITSELF: Final = frozenset({"name", "title", "email"})
#: Metadata that loaders find in files and pages, and that nobody wrote down to say what a document is about.
_OF_THE_FILE: Final = frozenset(
    (
        "size modified language page_count slide_count row_count cell_count card_count message_count "
        "pages_without_text cut_short_in_line message_id id _id"
    ).split()
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
_NAMES: Final = frozenset({"name", "names", "fullname"})
_LISTED: Final = frozenset({"tag", "category", "topic", "skill"})
_SEPARATOR: Final = regex(r"\s*[,;]\s*|\s+(?:and|&)\s+")
_ADDRESS: Final = regex(r"\s*<[^<>]*>$")  # <guido at python.org>
_HANDLE: Final = regex(r"(?<=\S)\s*\(@[^()@]*\)$")
#: Maximum number of values of a field, and of characters of a value.
_MOST: Final = 20
_LONGEST: Final = 200


def naming_fields(metadata: Mapping[str, Any], hints: Mapping[str, str] = FIELD_HINTS) -> dict[str, list[str]]:
    """Return the fields of a document that name something, with the names.

    Args:
        metadata: That of the document; its texts are used, also those in lists and maps: the field of ``{"authors":
            [{"name": "Ada"}]}`` is ``authors``, and that of ``{"params": {"author": "Ada"}}`` is ``author``.
        hints: As of :func:`core.rag.extraction.records.entities_of`: authors, owners, projects, tags …
    """
    found: dict[str, dict[str, None]] = {}
    for path, value in texts_of(metadata, deepest=DEEPEST):
        kind = type_of_path(path, hints)
        if path[0] in _OF_THE_FILE or not kind or kind in _ITSELF:
            continue
        *above, field = path
        if above and type_of_path((field,), hints) in _ITSELF:
            if field.lower() not in _NAMES:  # the title of an author is Dr.
                continue
            field = above[-1]
        names = found.setdefault(field, {})
        names |= dict.fromkeys(_names(value, kind))
    return {field: list(names)[:_MOST] for field, names in found.items() if names}


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
    return record | {field: names for field, names in naming.items() if field not in metadata}


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= _LONGEST)


def _names(text: str, kind: str) -> list[str]:
    if len(text) > _LONGEST * _MOST:
        return []
    parts = [_HANDLE.sub("", part) for part in _parts(" ".join(text.split()), kind)]
    names = [first_address(part)[0] or part if "@" in part else _ADDRESS.sub("", part) for part in parts]
    return [
        name for name in names if len(name) <= _LONGEST and any(map(str.isalnum, name)) and name.lower() not in _NOBODY
    ]


def _parts(text: str, kind: str) -> list[str]:
    """Return the names in a text: ``a, b`` are two tags, ``Ada Lane, Ben Hale`` two people, ``Lane, Ada`` is one."""
    parts = [part for part in _SEPARATOR.split(text) if part]
    if kind in _LISTED:
        return [part for part in re.split(r"\s*[,;]\s*", text) if part]
    return parts if all(" " in part for part in parts) else [text]
