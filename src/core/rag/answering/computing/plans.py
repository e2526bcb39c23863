"""What is to be worked out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.rag.answering.computing.conditions import Condition

Kind = Literal[
    "count",
    "share",
    "distinct",
    "sum",
    "avg",
    "median",
    "list",
    "top",
    "highest",
    "lowest",
    "most",
    "fewest",
    "latest",
    "earliest",
]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be worked out.

    Attributes:
        kind: ``count``, alone or as a ``share`` of all; ``distinct`` values, ``sum``, ``avg``, ``median``,
            ``highest`` or ``lowest`` of ``field``; with ``group_by``, for each of its values; ``most`` or ``fewest``:
            the value of ``group_by`` with most records; the ``latest`` or ``earliest`` records by ``field``.
        field: The field that is measured; empty for a count.
        group_by: The field to group by, or the one with dates and what these are grouped by; may be empty.
        conditions: Only records that fulfil all of them.
        limit: How many records ``top`` wants, or ``latest`` and ``earliest``; 0: one, and those that tie with it.
        unique: A field of which each record has to have a value of its own, else the question has two readings: "Which
            team has the most cups?" may ask for a sum or for one record, and "Which teams have no cups?" for teams or
            for records. The ``highest`` and ``lowest`` are told also if both readings have the same answer.
        first: For ``sum`` and ``avg`` by ``group_by``, only the group with the ``highest`` or ``lowest`` result.
    """

    kind: Kind
    field: str = ""
    group_by: str = ""
    conditions: tuple[Condition, ...] = ()
    first: Kind | None = None
    limit: int = 0
    unique: str = ""
