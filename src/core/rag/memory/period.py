"""The period of time that a recall is restricted to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from core.rag.errors import InvalidInputError
from core.rag.times import first_day, moment


@dataclass(frozen=True, slots=True)
class Within:
    """A period of time.

    Attributes:
        since: Its beginning, as times are stored; empty: it has none.
        before: Its end, which is not part of it; empty: it has none.
    """

    since: str = ""
    before: str = ""

    def last_said(self, first: str, last: str) -> str:
        """Return when a memory was last said in this period; empty if it was not.

        Args:
            first: When it was said for the first time.
            last: When it was said for the last time.
        """
        if not self.since and not self.before:
            return last
        said = [time for time in (first, last) if time >= self.since and (not self.before or time < self.before)]
        return max(said, default="")


#: All times.
ALWAYS = Within()


def within(since: datetime | date | str | None, before: datetime | date | str | None) -> Within:
    """Return the period between two times.

    Args:
        since: Its beginning; ``None``: it has none. A time without a time zone is local time, a date its midnight, a
            year or a month the beginning of its first day.
        before: Its end, likewise.

    Raises:
        InvalidInputError: if one is not an ISO 8601 time, or nothing can be between them.
    """
    period = Within(*("" if time is None else moment(first_day(time)) for time in (since, before)))
    if since is not None and before is not None and period.since >= period.before:
        raise InvalidInputError(f"Nothing is between {period.since} and {period.before}: since has to be earlier.")
    return period
