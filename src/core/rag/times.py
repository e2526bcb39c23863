"""Times as they are stored: UTC, ISO 8601 with microseconds, so that they sort as text; and what spans dates are."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

from core.rag.errors import InvalidInputError
from libs.regexes import regex

_SPAN = regex(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:?\d\d)?)?)?)?", re.ASCII
)
_YEAR_OR_MONTH = regex(r"(?P<year>\d{4})(?:-(?P<month>\d{2}))?")


def utc_now() -> str:
    """Return the current time."""
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """Return a moment as ISO 8601 text; a naive one is taken as local time."""
    # strftime writes a year before 1000 with fewer digits, which would stand behind all others.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def moment(timestamp: datetime | date | str | None, *, utc: bool = False) -> str:
    """Return a time as it is stored; ``None``: now. A time without a time zone is local time, a date its midnight.

    Args:
        timestamp: The time.
        utc: Whether a time without a time zone is UTC instead.

    Raises:
        InvalidInputError: if it is not an ISO 8601 time.
    """
    if timestamp is None:
        return utc_now()
    time = _time(timestamp)
    if utc and time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    try:
        return iso(time)
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidInputError(f"{time.isoformat()} cannot be stored as a time in UTC.") from error


def day_there(timestamp: datetime | date | str | None) -> str:
    """Return the day of a time (``2026-01-31``) in its own time zone; ``None``: today where this program runs.

    Raises:
        InvalidInputError: if it is not an ISO 8601 time.
    """
    return (here_and_now() if timestamp is None else _time(timestamp)).date().isoformat()


def here_and_now() -> datetime:
    """Return the current time in the time zone of this program (``TZ``, or that of the machine)."""
    return datetime.now(UTC).astimezone()


def _time(timestamp: datetime | date | str) -> datetime:
    if isinstance(timestamp, str):
        try:
            return datetime.fromisoformat(timestamp)
        except ValueError as error:
            raise InvalidInputError(
                f"{timestamp[:50]!r} is not a time in ISO 8601, such as 2026-01-31T12:00:00Z."
            ) from error
    if isinstance(timestamp, datetime):
        return timestamp
    if isinstance(timestamp, date):
        return datetime(timestamp.year, timestamp.month, timestamp.day)
    raise InvalidInputError(f"A time must be a datetime, a date or ISO 8601 text, not {type(timestamp).__name__}.")


def first_day[T](time: T) -> T | str:
    """Return the first day of a year or month (``2026``, ``2026-01``) as ISO 8601 text; any other time as it is."""
    match = _YEAR_OR_MONTH.fullmatch(time) if isinstance(time, str) else None
    return time if match is None else f"{match['year']}-{match['month'] or '01'}-01"


def day_after(time: object) -> str:
    """Return the first day after a year or month as ISO 8601 text; empty if it is neither, or the last of all."""
    match = _YEAR_OR_MONTH.fullmatch(time) if isinstance(time, str) else None
    if match is None:
        return ""
    months = 12 * int(match["year"]) + (int(match["month"]) if match["month"] else 12)
    year, month = divmod(months, 12)
    return f"{year:04}-{month + 1:02}-01" if year <= date.max.year else ""


def span_of(value: str) -> tuple[datetime, datetime] | None:
    """Return the start (inclusive) and end (exclusive) of the period that a date denotes; None if it is not a date.

    A date is a year, month, day, minute, second or microsecond in ISO 8601; UTC unless it has a time zone.
    """
    match = _SPAN.fullmatch(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        start = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")),
            datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone else UTC,
        )
        end = _end(start, year=not month, month=not day, day=not hour, minute=not second, second=not fraction)
        return start.astimezone(UTC), end.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _end(start: datetime, *, year: bool, month: bool, day: bool, minute: bool, second: bool) -> datetime:
    """Return the end of the longest of these periods that begins then; of none, of a microsecond."""
    try:
        if year:
            return start.replace(year=start.year + 1)
        if month:
            return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        if day:
            return start + timedelta(days=1)
        if minute:
            return start + timedelta(minutes=1)
        return start + (timedelta(seconds=1) if second else timedelta(microseconds=1))
    except (ValueError, OverflowError):  # 9999 says that there is no end
        return datetime.max.replace(tzinfo=start.tzinfo)
