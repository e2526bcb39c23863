"""The times that a question names, and the facts that held then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from core.rag.answering.types import FoundFact
from core.rag.retrieval.filter_tree import period
from core.rag.times import iso, utc_now

#: A year of four digits, also with month and day in ISO 8601, that is no part of a larger number or name.
_TIME: Final = re.compile(r"(?<![\w.,:/-])[12]\d{3}(?:-\d{2}(?:-\d{2})?)?(?![\w/-]|[.,:]\d)")


def times_asked(question: str) -> dict[str, tuple[str, str]]:
    """Return the years, months and days in a question; by how it names them, their first and last moment.

    >>> times_asked("Who owned the mill in 2019?")
    {'2019': ('2019-01-01T00:00:00.000000Z', '2019-12-31T23:59:59.999999Z')}
    """
    found = {text: period(text) for text in _TIME.findall(question)}
    return {
        text: (iso(span[0]), iso(span[1] - timedelta(microseconds=1)))
        for text, span in found.items()
        if span is not None
    }


def of_times_asked(facts: Sequence[FoundFact], question: str) -> list[FoundFact]:
    """Leave out facts with times that did not hold when a question asks about, if others did that do not hold now.

    A number may also be a name. So facts that hold now stay, unless some are found that held only then.
    """
    asked, now = times_asked(question).values(), utc_now()

    def held(fact: FoundFact) -> bool:
        return any(fact.period.holds(*span) for span in asked)

    if not any(held(fact) and not fact.period.holds(now, now) for fact in facts):
        return list(facts)
    return [fact for fact in facts if not fact.period or held(fact)]
