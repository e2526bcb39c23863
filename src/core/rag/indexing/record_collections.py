"""The tables of a document, and the collections of their rows: of the file, or of its sheets or lists."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from itertools import count
from operator import itemgetter
from typing import Any, Final, NamedTuple

from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS, MAX_COLLECTION_CHARS, collection_of
from libs.dataloader import Document
from libs.dataloader.types import table_places
from libs.regexes import regex

#: The name that a sheet has before anybody gives it one.
_UNNAMED: Final = regex(r"(?:sheet|tabelle|table|feuil(?:le)?|hoja|foglio|blad|planilha|лист)?\s*\d*", re.IGNORECASE)


class Table(NamedTuple):
    """A table of a document: its collection, and the numbers of its records."""

    collection: str
    rows: range


def tables_of(document: Document) -> list[Table]:
    """Return the tables of a document: sheets, lists of a JSON file, or all of it.

    The collection is called like the file. Where sheets or lists have other columns than each other, their rows are of
    several collections: called like the sheet or list, or like the file those of most sheets with the same columns (one
    for each month).
    """
    own, records = collection_of(document.path), document.records
    sheets = table_places(document.locations)
    # What stands before the first sheet goes with it.
    begins = [0, *(bisect_left(records, start, key=itemgetter(0)) for start, _ in sheets[1:])]
    parts = [
        (str(name), range(begin, end))
        for (_, name), begin, end in zip(sheets, begins, [*begins[1:], len(records)], strict=False)
        if begin < end
    ]
    if not parts:
        return [Table(own, range(len(records)))]
    alike: dict[frozenset[str], list[int]] = {}
    for number, (_, rows) in enumerate(parts):
        alike.setdefault(_columns(records[rows[0]][1]), []).append(number)
    called: dict[int, str] = {}
    for numbers in sorted(alike.values(), key=len, reverse=True):
        taken = set(called.values())
        is_own = len(alike) == 1 or (len(numbers) > 1 and own not in taken)
        called.update(dict.fromkeys(numbers, own if is_own else _called(parts[numbers[0]][0], own, taken)))
    return [Table(called[number], rows) for number, (_, rows) in enumerate(parts)]


def _columns(record: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in record)


def _called(sheet: str, own: str, taken: set[str]) -> str:
    """Return the name of a sheet, with that of the file if it says nothing."""
    name = sheet.strip()[:MAX_COLLECTION_CHARS]
    if name and not _UNNAMED.fullmatch(name) and name not in taken | {DOCUMENTS}:
        return name
    others = (f"{own[: MAX_COLLECTION_CHARS - 10]} {number}" for number in count(2))
    return own if own not in taken else next(other for other in others if other not in taken)
