"""Timestamps as they are stored: UTC, ISO 8601 with microseconds, so that they sort as text."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the current time."""
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """Return a moment as ISO 8601 text; a naive one is taken as local time."""
    # strftime writes a year before 1000 with fewer digits, which would stand behind all others.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
