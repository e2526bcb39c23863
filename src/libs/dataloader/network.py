"""Shared by everything that talks to servers: when to retry, and what caused an error."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate_to_datetime


def retry_after(value: str, now: float) -> float | None:
    """Return the seconds that a server asks to wait.

    Args:
        value: Value of the header Retry-After: seconds or a date (RFC 9110, section 10.2.3).
        now: Seconds since 1970.

    Returns:
        0 or more; ``None`` if the value is invalid.
    """
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = max(0.0, parsedate_to_datetime(value).timestamp() - now)
        except (ValueError, OverflowError):
            return None
    return seconds if 0 <= seconds < float("inf") else None


def span(seconds: float) -> str:
    """Return a duration as text, in the largest unit of which it has at least two."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and all that led to it."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__context__, cause.__cause__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
