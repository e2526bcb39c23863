"""The times that questions name, on a day that is always the same."""

from __future__ import annotations

from datetime import UTC, datetime

from core.rag.answering.understanding.asked_times import times_asked

#: A Friday.
NOW = datetime(2026, 3, 13, 15, 30, tzinfo=UTC)


def days(question: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """The first and last day of each time in a question."""
    return sorted((first[:10], last[:10]) for first, last in times_asked(question, now).values())
