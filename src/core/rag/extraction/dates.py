"""Months and days of the week: mostly parts of dates, sometimes of names (June Carter, Theresa May, Good Friday)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from libs.regexes import regex

_MONTH_NAMES: Final = """
january february march april may june july august september october november december
"""
_DAY_NAMES: Final = "monday tuesday wednesday thursday friday saturday sunday"
_SHORT_NAMES: Final = "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"
#: Other languages that write them with a capital are German, where single nouns are no names anyway, and Greek.
_GREEK_NAMES: Final = """
ιανουάριος ιανουάριο ιανουαρίου φεβρουάριος φεβρουάριο φεβρουαρίου μάρτιος μάρτιο μαρτίου απρίλιος απρίλιο απριλίου
μάιος μάιο μαΐου ιούνιος ιούνιο ιουνίου ιούλιος ιούλιο ιουλίου αύγουστος αύγουστο αυγούστου σεπτέμβριος σεπτέμβριο
σεπτεμβρίου οκτώβριος οκτώβριο οκτωβρίου νοέμβριος νοέμβριο νοεμβρίου δεκέμβριος δεκέμβριο δεκεμβρίου
δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή
"""
#: What stands before a day that has a name. Elsewhere a word there is what the sentence is about: Apple Friday said.
_NAMED_DAYS_OF: Final = "good black easter ash palm holy maundy shrove bloody super cyber whit fat ruby freaky"
_BEFORE_DATES: Final = """
in since until till during early late mid last next this each every through around before after between starting
beginning ending effective
"""

_DAYS: Final = frozenset(_DAY_NAMES.split())
#: Months and days, as names for once and as parts of dates mostly.
CALENDAR: Final = _DAYS.union(_MONTH_NAMES.split(), _GREEK_NAMES.split())
#: The short names of months and days.
SHORT: Final = frozenset(_SHORT_NAMES.split())
_PARTS_OF_DAY: Final = frozenset({"morning", "afternoon", "evening", "night"})
#: Months that are family names, too.
_FAMILIES: Final = frozenset({"march", "april", "may", "june", "august"})
_NAMED_DAYS: Final = frozenset(_NAMED_DAYS_OF.split())
_BEFORE: Final = frozenset(_BEFORE_DATES.split())
_BEFORE_DAY: Final = _BEFORE | {"on", "by"}
_LAST_WORD: Final = regex(r"(\w+)(?:'s)?[\s,]*\Z")
_DAY_OF_MONTH: Final = regex(r"[0-9]+(?:st|nd|rd|th)?")
_NUMBER: Final = regex(r"\s(?:the\s)?[0-9]|,\s[12][0-9]{3}\b")
_REACH: Final = 16


def is_date(words: Sequence[str]) -> bool:
    """Return whether a phrase is nothing but a date or a time: ``Sun Apr 02``, ``Oct 1``, ``Friday Night``."""
    lowered = [word.lower().rstrip(".") for word in words]
    if lowered[0] in _DAYS and len(words) == 2 and lowered[1] in _PARTS_OF_DAY:
        return True
    return all(word in SHORT or word in CALENDAR or word.isdecimal() for word in lowered) and (
        lowered[-1].isdecimal() or lowered[0] in CALENDAR
    )


def named_by_date(words: Sequence[str], stop: frozenset[str]) -> str:
    """Return the name in a phrase with a month or day at one end that may be a part of the name; empty otherwise.

    Args:
        words: Of the phrase.
        stop: Function words, with those of the calendar among them.
    """
    if CALENDAR.isdisjoint(word.lower() for word in words):
        return ""
    kept = list(words)
    while kept and kept[0].lower() in stop and kept[0].lower() not in CALENDAR:
        if kept.pop(0).lower() in _BEFORE_DAY:
            return ""
    if len(kept) < 2 or (kept[-1].lower() in stop and kept[-1].lower() not in CALENDAR):
        return ""
    first, second, before, last = (kept[place].lower() for place in (0, 1, -2, -1))
    if first in CALENDAR and (second in stop or second.isdecimal()):
        return ""
    if last in CALENDAR and not (
        before in _NAMED_DAYS if last in _DAYS else last in _FAMILIES and before not in _BEFORE
    ):
        return ""
    return " ".join(kept) if first in CALENDAR or last in CALENDAR else ""


def is_written_date(word: str) -> bool:
    """Return whether a word is a month with a year or day behind its hyphen: ``Aug-2007``."""
    month, hyphen, number = word.partition("-")
    return bool(hyphen) and number.isdecimal() and (month.lower() in SHORT or month.lower() in CALENDAR)


def is_before_number(text: str, end: int) -> bool:
    """Return whether a number follows that makes a month a date: ``Nov 3-5``, ``Mar 2019``."""
    return _NUMBER.match(text, end) is not None


def is_in_date(text: str, start: int, end: int) -> bool:
    """Return whether what stands around a phrase makes its month or day one of a date: ``in June Carter``, ``May 5``.

    Args:
        text: The text.
        start: Where the phrase begins.
        end: Where it ends.
    """
    phrase = text[start:end].lower()
    first, last = phrase.split(None, 1)[0], phrase.rsplit(None, 1)[-1]
    if last in CALENDAR and _NUMBER.match(text, end):
        return True
    if first not in CALENDAR:
        return False
    before = _LAST_WORD.search(text, max(0, start - _REACH), start)
    if before is None:
        return first == "may"  # May God bless
    word = before[1].lower()
    return word in (_BEFORE_DAY if first in _DAYS else _BEFORE) or _DAY_OF_MONTH.fullmatch(word) is not None
