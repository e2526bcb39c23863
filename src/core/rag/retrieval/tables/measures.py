"""Measures: what the records of a group come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any, Final, Protocol, Self

from core.rag.errors import InvalidInputError
from core.rag.extraction.amounts import amount, plain_number
from core.rag.retrieval.tables.dates import Dates
from core.rag.retrieval.tables.values import in_order, same

_HOW: Final = "A measure is count, or one of count, distinct, sum, avg, median, min and max with a field: avg:price."


class Taker(Protocol):
    """Takes the values of the records of a group."""

    @property
    def left_out(self) -> int:
        """How many values do not count, because they are no numbers (or, among texts, because they are)."""
        ...

    def take(self, values: Sequence[Any]) -> None:
        """Take what a record has in the field; once for each record of the group."""
        ...

    def result(self) -> Any:
        """Return what they come to; ``None`` where there is nothing to take."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure.

    Attributes:
        name: As it was asked for, which is also the name of its column.
        kind: ``count``, ``distinct``, ``sum``, ``avg``, ``median``, ``min`` or ``max``.
        field: The field; empty for the number of records.
    """

    name: str
    kind: str
    field: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``count`` or ``KIND:FIELD``.

        Raises:
            InvalidInputError: if it is neither.
        """
        kind, colon, field = text.partition(":")
        kind, field = kind.strip().lower(), field.strip()
        if kind not in _TAKERS or (colon and not field) or not (field or kind == "count"):
            raise InvalidInputError(f"{text[:100]!r} is no measure. {_HOW}")
        return cls(f"{kind}:{field}" if field else kind, kind, field)

    def taker(self, dates: Dates) -> Taker:
        """Return what takes the values of one group; without a field, it is given something for each record.

        Args:
            dates: How the records write dates.
        """
        return _TAKERS[self.kind](dates)


class _Count:
    left_out = 0

    def __init__(self) -> None:
        self._records = 0

    def take(self, values: Sequence[Any]) -> None:
        self._records += bool(values)

    def result(self) -> int:
        return self._records


class _Distinct:
    left_out = 0

    def __init__(self) -> None:
        self._seen: set[str | Decimal] = set()

    def take(self, values: Sequence[Any]) -> None:
        self._seen.update(map(same, values))

    def result(self) -> int:
        return len(self._seen)


class _Sum:
    def __init__(self) -> None:
        self._total = Decimal(0)
        self._numbers = 0
        self.left_out = 0

    def take(self, values: Sequence[Any]) -> None:
        for value in values:
            number = amount(value)
            if number is None:
                self.left_out += 1
            else:
                self._numbers += 1
                self._total += number

    def result(self) -> int | float | None:
        return plain_number(self._total) if self._numbers else None


class _Average(_Sum):
    def result(self) -> int | float | None:
        return plain_number(self._total / self._numbers) if self._numbers else None


class _Median(_Sum):
    def __init__(self) -> None:
        super().__init__()
        self._all: list[Decimal] = []

    def take(self, values: Sequence[Any]) -> None:
        numbers = [number for value in values if (number := amount(value)) is not None]
        self._all += numbers
        self.left_out += len(values) - len(numbers)

    def result(self) -> int | float | None:
        return plain_number(median(self._all)) if self._all else None


class _End:
    """The first or the last; of texts if most values are texts, such as dates."""

    def __init__(self, choose: Callable[..., Any], dates: Dates) -> None:
        self._choose = choose
        self._dates = dates
        self._number: Decimal | None = None
        self._text: Any = None
        self._numbers = 0
        self._texts = 0

    @property
    def left_out(self) -> int:
        return min(self._numbers, self._texts)

    def take(self, values: Sequence[Any]) -> None:
        for value in values:
            number = amount(value)
            if number is None:
                self._text = value if not self._texts else self._choose(self._text, value, key=self._in_order)
                self._texts += 1
            else:
                self._number = number if self._number is None else self._choose(self._number, number)
                self._numbers += 1

    def _in_order(self, value: Any) -> tuple[int, Decimal, str]:
        return in_order(value, self._dates.iso)

    def result(self) -> Any:
        if self._number is None or self._texts > self._numbers:
            return self._text
        return plain_number(self._number)


_TAKERS: Final[dict[str, Callable[[Dates], Taker]]] = {
    "count": lambda _: _Count(),
    "distinct": lambda _: _Distinct(),
    "sum": lambda _: _Sum(),
    "avg": lambda _: _Average(),
    "median": lambda _: _Median(),
    "min": lambda dates: _End(min, dates),
    "max": lambda dates: _End(max, dates),
}
