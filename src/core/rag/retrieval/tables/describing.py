"""Describes the fields of the records of a collection."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from core.rag.extraction.amounts import amount
from core.rag.retrieval.tables.dates import Dates
from core.rag.retrieval.tables.reading import AllRecords
from core.rag.retrieval.tables.table import RecordField
from core.rag.retrieval.tables.values import fields_of, is_missing
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_EXAMPLES: Final = 3
_EXAMPLE_CHARS: Final = 80
_DAY: Final = regex(r"\d{4}-\d\d-\d\d", re.ASCII)


async def describe_fields(client: MemGraphClient, collection: str) -> list[RecordField]:
    """Return the fields of a collection; see :meth:`core.rag.KnowledgeBase.record_fields`."""
    fields: dict[str, _Seen] = {}
    dates, parts = await AllRecords(client, collection).dated()
    async for part in parts:
        for record in part:
            there = fields_of(record["data"])
            found = {name for name, value in there if fields.setdefault(name, _Seen(dates)).take(value)}
            for name in found:
                fields[name].records += 1
    return [RecordField(name, seen.kind, seen.records, seen.examples) for name, seen in fields.items()]


class _Seen:
    """What was seen of a field."""

    def __init__(self, dates: Dates) -> None:
        self._dates = dates
        self.records = 0
        self.examples: list[Any] = []
        self._kinds: Counter[str] = Counter()

    def take(self, value: Any) -> bool:
        """Take a value; return whether there is one."""
        values = [item for item in (value if isinstance(value, list) else [value]) if not is_missing(item)]
        for item in values:
            self._kinds[_kind(item, self._dates)] += 1
            short = item[:_EXAMPLE_CHARS] if isinstance(item, str) else item
            if len(self.examples) < _EXAMPLES and short not in self.examples:
                self.examples.append(short)
        return bool(values)

    @property
    def kind(self) -> str:
        if not self._kinds:
            return "empty"
        return next(iter(self._kinds)) if len(self._kinds) == 1 else "mixed"


def _kind(value: Any, dates: Dates) -> str:
    if isinstance(value, bool):
        return "boolean"
    if amount(value) is not None:
        return "number"
    if isinstance(value, str):
        iso = dates.iso(value)
        # "2024-03" may as well be a number of something, but "March 2024" not.
        return "date" if iso and (iso != value or _DAY.match(iso)) else "text"
    return "mixed"
