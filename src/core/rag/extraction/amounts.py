"""Numbers as people write them into tables."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from libs.regexes import regex

#: Digits in this many characters at most are a number; more are an id or a text.
_MOST_CHARS: Final = 40

#: Beyond it, a float is infinite.
_MOST_EXPONENT: Final = 300

_CURRENCY: Final = "[$€£¥₹₽₩₺]|(?:USD|EUR|GBP|JPY|CHF|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK)(?![A-Za-z])"
_AMOUNT: Final = regex(
    rf"(?P<sign>[-+\u2212]?)\s*(?:(?:{_CURRENCY})\s*)?(?P<minus>[-\u2212]?)"
    r"(?P<digits>\d[\d.,' \u00a0\u2009\u202f\u2019]*|\.\d+)(?P<exponent>[eE][+-]?\d{1,3})?"
    rf"\s*(?:%|{_CURRENCY})?"
)
_PLAIN: Final = regex(r"\d+(?:\.\d+)?|\.\d+")
#: Groups of three, with the same sign between them, and what is behind the last.
_GROUPED: Final = regex(
    r"\d{1,3}(?:(?P<by>[,.' \u00a0\u2009\u202f\u2019])\d{3})(?:(?P=by)\d{3})*(?:(?P<point>[.,])\d+)?"
)
#: A zip code or a number of a thing, which is another one without its zeros.
_CODE: Final = regex(r"0\d")
_COMMA: Final = regex(r"\d+,\d+")


def amount(value: Any) -> Decimal | None:
    """Return the number that a value is or spells; ``None`` for anything else, such as dates and codes (``0815``).

    Signs of currencies, per cent and between groups of three digits are left out, and parentheses are a minus, as in
    accounts. Where a comma or a point may be either, as in ``1,234`` and ``1.234``, the comma is between thousands and
    the point before decimals.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
        return number if number.is_finite() else None
    if not isinstance(value, str) or len(value) > _MOST_CHARS:
        return None
    text = value.strip()
    accounted = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    match = _AMOUNT.fullmatch(text[1:-1].strip() if accounted else text)
    if match is None:
        return None
    digits = _digits(match["digits"].rstrip())
    if digits is None or _CODE.match(digits):
        return None
    number = Decimal(digits + (match["exponent"] or ""))
    if abs(number.adjusted()) > _MOST_EXPONENT:
        return None
    negative = [accounted, match["sign"] not in {"", "+"}, match["minus"] != ""]
    if sum(negative) > 1:
        return None
    return -number if any(negative) else number


def plain_number(number: Decimal) -> int | float:
    """Return a number as JSON has it: an integer where it is one."""
    return int(number) if number == number.to_integral_value() and abs(number) < 2**63 else float(number)


def _digits(text: str) -> str | None:
    """Return digits with a point before decimals and nothing else; ``None`` if they are no number."""
    if _PLAIN.fullmatch(text):
        return text
    grouped = _GROUPED.fullmatch(text)
    if grouped is not None and grouped["by"] != grouped["point"]:
        whole = text
        decimals = ""
        if grouped["point"]:
            whole, _, decimals = text.rpartition(grouped["point"])
        return re.sub(r"\D", "", whole) + (f".{decimals}" if decimals else "")
    if _COMMA.fullmatch(text):
        return text.replace(",", ".")
    return None
