"""What a question about records gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.rag.keyed import Plain


@dataclass(frozen=True, slots=True)
class RecordTable(Plain):
    """Rows of records, or of groups of records.

    Attributes:
        collection: The collection that was asked.
        columns: Names of the columns, in order.
        rows: Each a dict by column; ``None`` where a record says nothing. A column of a list has several values.
        ids: Ids of the records of the rows; empty where rows are groups.
        records: How many records match the filters.
        total: How many rows there are; ``rows`` has at most as many as the limit.
        left_out: By measure, how many values did not count: those that are no numbers.
    """

    collection: str
    columns: list[str]
    rows: list[dict[str, Any]]
    ids: list[str]
    records: int
    total: int
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordField(Plain):
    """A field of the records of a collection.

    Attributes:
        name: Its name; ``a.b`` of objects.
        kind: ``number``, ``text``, ``boolean`` or ``date``, if all its values are; else ``mixed``; ``empty``: none.
        records: How many records have a value in it.
        examples: Some of its values.
    """

    name: str
    kind: str
    records: int
    examples: list[Any]
