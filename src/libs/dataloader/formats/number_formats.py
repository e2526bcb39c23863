"""Numbers as spreadsheets display them, by the codes of their formats."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from enum import Enum
from typing import NamedTuple

from libs.regexes import regex

_PERCENT_IDS = frozenset((9, 10))
_DATE_IDS = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))
_SPAN_IDS = frozenset((46,))
_LITERAL = regex(r'"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_DATE = regex(r"[dmhys]", re.IGNORECASE)
_SPAN = regex(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
# A currency in a number format: [$€-407], "CHF", $; [$-409] is only a language.
_CURRENCY = regex(r'\[\$([^\]\-]{1,5})(?:-[^\]]*)?\]|"\s*([€£¥$₹₽₩₺]|[A-Z]{3})\s*"|(?<!\[)([€£¥$₹₽₩₺])')
_LONGEST_CODE = 1000  # Excel allows 255 characters
EPOCH, MAC_EPOCH = datetime(1899, 12, 30), datetime(1904, 1, 1)


class Kind(Enum):
    """What a number in a cell means."""

    NUMBER = 0
    PERCENT = 1
    DATE = 2
    SPAN = 3


class NumberFormat(NamedTuple):
    """How a number is displayed.

    Attributes:
        kind: What it means.
        before: What stands before amounts of money.
        after: What stands behind them.
    """

    kind: Kind = Kind.NUMBER
    before: str = ""
    after: str = ""


def by_code(code: str) -> NumberFormat:
    """Return what a format code (``0.0%``) says."""
    code = code[:_LONGEST_CODE]
    return NumberFormat(_kind(code), *_currency(code))


def by_number(number: int) -> NumberFormat:
    """Return what one of the formats says that Excel knows by their numbers."""
    if number in _PERCENT_IDS:
        return NumberFormat(Kind.PERCENT)
    return NumberFormat(Kind.DATE if number in _DATE_IDS else Kind.SPAN if number in _SPAN_IDS else Kind.NUMBER)


def number_text(value: float, form: NumberFormat, epoch: datetime = EPOCH) -> str:
    """Return a number as people would write it.

    Args:
        value: The number.
        form: How it is displayed.
        epoch: The day from which dates are counted.
    """
    if form.kind in (Kind.DATE, Kind.SPAN):
        try:
            return _moment(value, epoch) if form.kind is Kind.DATE else span_text(timedelta(days=value))
        except (OverflowError, ValueError):
            return "#VALUE!"  # a number that is no date; Excel shows #### then
    if form.kind is Kind.PERCENT:
        return f"{value * 100:.10g}%"
    return money_text(str(value) if isinstance(value, int) else f"{value:.15g}", form.before, form.after)


def money_text(shown: str, before: str, after: str) -> str:
    """Return a number with what stands before and behind it."""
    return f"-{before}{shown[1:]}{after}" if before and shown.startswith("-") else f"{before}{shown}{after}"


def parse_number(text: str) -> float:
    """Return the number that a file has as text, as an integer if it is one.

    Raises:
        ValueError: if it is none.
    """
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else float(text)


def moment_text(moment: datetime) -> str:
    """Return a date, with the time unless that is midnight."""
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat(" ", "seconds")


def span_text(span: timedelta) -> str:
    """Return a span of time as hours, minutes and seconds."""
    seconds = round(abs(span).total_seconds())
    return f"{'-' if span < timedelta() else ''}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _kind(code: str) -> Kind:
    positive = _LITERAL.sub("", code.split(";")[0])
    if _SPAN.search(positive):
        return Kind.SPAN
    if _DATE.search(positive):
        return Kind.DATE
    return Kind.PERCENT if "%" in code else Kind.NUMBER


def _currency(code: str) -> tuple[str, str]:
    code = code.split(";")[0]
    found = _CURRENCY.search(code)
    sign = (found[1] or found[2] or found[3]).strip() if found else ""
    if not found or not sign:
        return "", ""
    is_before = not any(placeholder in code[: found.start()] for placeholder in "0#?")
    return (sign + (" " if sign.isalpha() else ""), "") if is_before else ("", f" {sign}")


def _moment(value: float, epoch: datetime) -> str:
    """Return a number of days since an epoch as a date, a time, or both.

    Raises:
        OverflowError, ValueError: if there is no such day.
    """
    day, rest = divmod(value, 1)
    clock = timedelta(milliseconds=round(rest * 86_400_000))
    if 0 <= value < 1 and not clock.days:
        return (epoch + clock).time().isoformat()
    if 0 < value < 60 and epoch is EPOCH:
        day += 1  # Excel's 1900 has a 29th of February
    return moment_text(epoch + timedelta(days=day) + clock)
