"""The period in which a fact holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from core.rag.errors import InvalidInputError
from core.rag.times import day_after, first_day, moment

#: A time that a caller gives: ISO 8601; UTC unless it says otherwise, a date its midnight. What a year or a month means
#: is said where they are read.
Time = datetime | date | str

_MIDNIGHT = "T00:00:00.000000Z"
_FULL_MINUTE, _FULL_SECOND = ":00.000000Z", ".000000Z"


@dataclass(frozen=True, slots=True)
class Period:
    """A period; always, if it has neither end.

    Attributes:
        valid_from: Its beginning, as times are stored; empty: it has none, or none that is known.
        valid_to: Its end, which is not part of it; empty: it has none.
    """

    valid_from: str = ""
    valid_to: str = ""

    def __bool__(self) -> bool:
        """Return whether it has a beginning or an end."""
        return bool(self.valid_from or self.valid_to)

    def holds(self, first: str, last: str) -> bool:
        """Return whether any of it is between two times, which may be the same; both belong to what is between."""
        return self.valid_from <= last and (not self.valid_to or self.valid_to > first)

    def has_ended(self, now: str) -> bool:
        """Return whether it lies before a time."""
        return bool(self.valid_to) and self.valid_to <= now

    def overlaps(self, other: Period) -> bool:
        """Return whether two periods have a time in common."""
        return (not self.valid_to or other.valid_from < self.valid_to) and (
            not other.valid_to or self.valid_from < other.valid_to
        )

    @property
    def stored(self) -> dict[str, str]:
        """The properties of an edge that say it."""
        given = {"valid_from": self.valid_from, "valid_to": self.valid_to}
        return {name: time for name, time in given.items() if time}

    def __str__(self) -> str:
        """Return it in words, such as ``since 2024-05-01``; empty if it is always."""
        if self.valid_from and self.valid_to:
            return f"from {_shown(self.valid_from)} until {_shown(self.valid_to)}"
        if self.valid_from:
            return f"since {_shown(self.valid_from)}"
        return f"until {_shown(self.valid_to)}" if self.valid_to else ""


#: That of a fact without times.
ALWAYS = Period()


def period_of(valid_from: Time | None, valid_to: Time | None, of: str = "") -> Period:
    """Return a period that a caller gives.

    Args:
        valid_from: Its beginning; ``None``: it has none. A year or a month is the first day of it.
        valid_to: Its end, which is not part of it; ``None``: it has none.
        of: What it is a period of, for the errors, such as `` of triple 3``.

    Raises:
        InvalidInputError: if one is no time in ISO 8601, or the end is not after the beginning.
    """
    period = Period(
        "" if valid_from is None else time_of(first_day(valid_from), f"valid_from{of}"),
        "" if valid_to is None else end_of(valid_to, f"valid_to{of}"),
    )
    if period.valid_from and period.valid_to and period.valid_from >= period.valid_to:
        raise InvalidInputError(
            f"valid_from{of} ({_shown(period.valid_from)}) has to be before valid_to ({_shown(period.valid_to)}), which"
            " is the first moment at which it does not hold any more."
        )
    return period


def end_of(given: Time, what: str) -> str:
    """Return the end of a period as it is stored.

    Args:
        given: The first moment that is not part of it.
        what: What to call it in the error.

    Raises:
        InvalidInputError: if it is no time in ISO 8601, or a whole year or month.
    """
    time_of(first_day(given), what)  # 2019-13 has no end to ask for
    if after := day_after(given):
        raise InvalidInputError(
            f"{what}: {given!r} does not say when in that time it ended. Give the first day on which it does not hold:"
            f" {first_day(given)} if it did not hold in {given} any more, {after} if it held until the end of {given}."
        )
    return time_of(given, what)


def window_of(given: Time, what: str) -> tuple[str, str]:
    """Return the first and the last moment of a time that facts are wanted of, as times are stored.

    Args:
        given: A moment, which is its own first and last, a year or a month.
        what: What to call it in the error.

    Raises:
        InvalidInputError: if it is no time in ISO 8601.
    """
    first = time_of(first_day(given), what)
    after = day_after(given)
    return first, f"{date.fromisoformat(after) - timedelta(days=1)}T23:59:59.999999Z" if after else first


def time_of(given: Time, what: str) -> str:
    """Return a time as it is stored.

    Args:
        given: The time.
        what: What to call it in the error.

    Raises:
        InvalidInputError: if it is no time in ISO 8601.
    """
    try:
        return moment(given, utc=True)
    except InvalidInputError as error:
        raise InvalidInputError(f"{what}: {error} A date is enough: 2026-01-31.") from error


def _shown(time: str) -> str:
    """Return a time for people: a date, unless it is not midnight."""
    if time.endswith(_MIDNIGHT):
        return time.removesuffix(_MIDNIGHT)
    return time.removesuffix(_FULL_MINUTE).removesuffix(_FULL_SECOND).removesuffix("Z").replace("T", " ") + " UTC"
