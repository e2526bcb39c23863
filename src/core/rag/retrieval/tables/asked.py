"""A question about records, parsed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from core.rag.arguments import check_limit, check_texts
from core.rag.errors import InvalidInputError
from core.rag.retrieval.filter_tree import METADATA
from core.rag.retrieval.filters import Filter, parse_filter
from core.rag.retrieval.tables.dates import UNITS
from core.rag.retrieval.tables.measures import Measure

#: Maximum number of names in an argument, and of characters in each.
MAX_NAMES: Final = 50
MAX_NAME_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class Order:
    """What rows are sorted by: a column, and whether the largest come first."""

    column: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Group:
    """What rows are grouped by.

    Attributes:
        name: As it was asked for, which is also the name of its column.
        field: The field.
        unit: What its dates are grouped by, one of :data:`core.rag.retrieval.tables.dates.UNITS`; empty: its values.
    """

    name: str
    field: str
    unit: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``FIELD`` or ``FIELD:UNIT``."""
        field, _, unit = (part.strip() for part in text.rpartition(":"))
        return cls(text, field, unit.lower()) if field and unit.lower() in UNITS else cls(text, text)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the records of a collection; see :meth:`core.rag.KnowledgeBase.tabulate`."""

    fields: tuple[str, ...]
    filters: Filter
    group_by: tuple[Group, ...]
    measures: tuple[Measure, ...]
    order_by: tuple[Order, ...]
    limit: int

    @classmethod
    def parse(
        cls,
        *,
        fields: str | Iterable[str] | None,
        filters: str | Mapping[str, Any] | None,
        group_by: str | Iterable[str] | None,
        measures: str | Iterable[str] | None,
        order_by: str | Iterable[str] | None,
        limit: int,
    ) -> Self:
        """Check the arguments.

        Raises:
            InvalidInputError: naming what is wrong, and what there is.
            FilterError: if the filter does not parse.
        """
        groups = _names("group_by", group_by)
        taken = tuple(dict.fromkeys(map(Measure.parse, _names("measures", measures))))
        chosen = _names("fields", fields)
        if groups and not taken:
            taken = (Measure.parse("count"),)
        orders = tuple(map(_order, _names("order_by", order_by)))
        if taken and chosen:
            raise InvalidInputError("fields are those of single records; leave them out with group_by and measures.")
        columns = [*groups, *(measure.name for measure in taken)]
        for order in orders:
            if taken and order.column not in columns:
                raise InvalidInputError(
                    f"Rows cannot be sorted by {order.column[:100]!r}, only by one of {', '.join(columns)}"
                    " (with - before it, the largest come first)."
                )
        found = parse_filter(filters, of_records=True)
        asked = cls(chosen, found, tuple(map(Group.parse, groups)), taken, orders, check_limit(limit, 1))
        if any(len(name) > MAX_NAME_CHARS for name in asked.named()):
            raise InvalidInputError(f"The name of a field has more than {MAX_NAME_CHARS} characters.")
        return asked

    @property
    def in_groups(self) -> bool:
        """Whether rows are groups of records; without ``group_by`` there is one group."""
        return bool(self.measures)

    def filtered(self) -> tuple[str, ...]:
        """Return the fields that the filter tests."""
        return tuple(sorted(name.removeprefix(METADATA) for name in self.filters.fields()))

    def named(self) -> tuple[str, ...]:
        """Return all fields that are named."""
        measured = [measure.field for measure in self.measures if measure.field]
        ordered = [] if self.in_groups else [order.column for order in self.order_by]
        grouped = [group.name for group in self.group_by]
        return tuple(dict.fromkeys([*self.fields, *self.filtered(), *grouped, *measured, *ordered]))


def _names(argument: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    names: Sequence[str] = [given] if isinstance(given, str) else check_texts(argument, () if given is None else given)
    if len(names) > MAX_NAMES:
        raise InvalidInputError(f"{argument} has {len(names):,} names, but at most {MAX_NAMES} are allowed.")
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def _order(text: str) -> Order:
    return Order(text.removeprefix("-").strip(), text.startswith("-"))
