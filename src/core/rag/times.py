"""Times as they are stored: UTC, ISO 8601 with microseconds, so that they sort as text."""

from __future__ import annotations

from datetime import UTC, date, datetime

from core.rag.errors import InvalidInputError
from libs.regexes import regex

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
