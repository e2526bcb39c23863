"""Which collections the rows of a document are records of: those of a file, or of its sheets or lists."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from itertools import count
from operator import itemgetter
from typing import Any, Final

from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS, MAX_COLLECTION_CHARS, collection_of
from libs.dataloader import Document

#: The name that a sheet has before anybody gives it one.
_UNNAMED: Final = re.compile(
    r"(?:sheet|tabelle|table|feuil(?:le)?|hoja|foglio|blad|planilha|лист)?\s*\d*", re.IGNORECASE
)


def collections_of(document: Document) -> Callable[[int], str]:
    """Return what gives the collection of the record that begins at a position.

    It is called like the file. Where sheets, or lists of a JSON file, have other columns than each other, their rows
    are of several collections: called like the sheet or list, or like the file those of most sheets with the same
    columns (one for each month).
    """
    own = collection_of(document.path)
    sheets = document.locations.get("sheet") or document.locations.get("list", ())
    if len(sheets) < 2:
        return lambda _: own
    starts = [start for start, _ in sheets]
    alike: dict[frozenset[str], list[int]] = {}
    for number, (begin, end) in enumerate(zip(starts, [*starts[1:], len(document.content)], strict=True)):
        first = bisect_left(document.records, begin, key=itemgetter(0))
        if first < len(document.records) and document.records[first][0] < end:
            alike.setdefault(_columns(document.records[first][1]), []).append(number)
    if len(alike) < 2:
        return lambda _: own
    called: dict[int, str] = {}
    for numbers in sorted(alike.values(), key=len, reverse=True):
        taken = set(called.values())
        name = own if len(numbers) > 1 and own not in taken else _called(str(sheets[numbers[0]][1]), own, taken)
        called.update(dict.fromkeys(numbers, name))
    return lambda start: called[bisect_right(starts, start) - 1]


def _columns(record: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name.strip().casefold() for name in record)


def _called(sheet: str, own: str, taken: set[str]) -> str:
    """Return the name of a sheet, with that of the file if it says nothing."""
    name = sheet.strip()[:MAX_COLLECTION_CHARS]
    if name and not _UNNAMED.fullmatch(name) and name not in taken | {DOCUMENTS}:
        return name
    others = (f"{own[: MAX_COLLECTION_CHARS - 10]} {number}" for number in count(2))
    return own if own not in taken else next(other for other in others if other not in taken)
