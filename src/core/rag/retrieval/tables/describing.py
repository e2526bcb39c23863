"""Describes the fields of the records of a collection."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from core.rag.extraction.amounts import amount
from core.rag.retrieval.tables.reading import read_records
from core.rag.retrieval.tables.table import RecordField
from core.rag.retrieval.tables.values import fields_of, is_missing
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_EXAMPLES: Final = 3
_EXAMPLE_CHARS: Final = 80
_DATE: Final = regex(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.ASCII | re.DOTALL)


async def describe_fields(client: MemGraphClient, collection: str) -> list[RecordField]:
    """Return the fields of a collection; see :meth:`core.rag.KnowledgeBase.record_fields`."""
    fields: dict[str, _Seen] = {}
    async for part in read_records(client, collection):
        for record in part:
            found = {name for name, value in fields_of(record["data"]) if fields.setdefault(name, _Seen()).take(value)}
            for name in found:
                fields[name].records += 1
    return [RecordField(name, seen.kind, seen.records, seen.examples) for name, seen in fields.items()]


class _Seen:
    """What was seen of a field."""

    def __init__(self) -> None:
        self.records = 0
        self.examples: list[Any] = []
        self._kinds: Counter[str] = Counter()

    def take(self, value: Any) -> bool:
        """Take a value; return whether there is one."""
        values = [item for item in (value if isinstance(value, list) else [value]) if not is_missing(item)]
        for item in values:
            self._kinds[_kind(item)] += 1
            short = item[:_EXAMPLE_CHARS] if isinstance(item, str) else item
            if len(self.examples) < _EXAMPLES and short not in self.examples:
                self.examples.append(short)
        return bool(values)

    @property
    def kind(self) -> str:
        if not self._kinds:
            return "empty"
        return next(iter(self._kinds)) if len(self._kinds) == 1 else "mixed"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if amount(value) is not None:
        return "number"
    if isinstance(value, str):
        return "date" if _DATE.fullmatch(value) else "text"
    return "mixed"
