"""Times as they are stored: UTC, ISO 8601 with microseconds, so that they sort as text."""

from __future__ import annotations

from datetime import UTC, date, datetime

from core.rag.errors import InvalidInputError


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
    if isinstance(timestamp, str):
        text = timestamp
        try:
            timestamp = datetime.fromisoformat(text)
        except ValueError as error:
            raise InvalidInputError(
                f"{text[:50]!r} is not a time in ISO 8601, such as 2026-01-31T12:00:00Z."
            ) from error
    elif isinstance(timestamp, date) and not isinstance(timestamp, datetime):
        timestamp = datetime(timestamp.year, timestamp.month, timestamp.day)
    if not isinstance(timestamp, datetime):
        raise InvalidInputError(f"A time must be a datetime, a date or ISO 8601 text, not {type(timestamp).__name__}.")
    if utc and timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=UTC)
    try:
        return iso(timestamp)
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidInputError(f"{timestamp!r} cannot be stored as a time in UTC.") from error
