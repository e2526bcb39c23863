"""The values in the cells of an OpenDocument spreadsheet, as people would write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from libs.dataloader.formats.number_formats import (
    Kind,
    NumberFormat,
    moment_text,
    money_text,
    number_text,
    parse_number,
    span_text,
)
from libs.regexes import regex

# A number that is shown without anything that its value does not say, whatever separates thousands and decimals.
_PLAIN = regex(r"[-+−(]?(?!0\d)\d[\d.,'’\s]*(?:E[-+−]?\d+)?\)?|[-+−]?[.,]\d+", re.IGNORECASE)
_AMOUNT = regex(r"[\d.,'’\s()+−-]+")
_SPAN = regex(r"(-)?PT(\d{1,9})H(\d{1,3})M(\d{1,3}(?:[.,]\d*)?)S")
_FORMULA_START = regex(r"[a-z]+:(?==)")
_REFERENCE = regex(r"\[([^\[\]]{1,200})\]")
_TYPES = frozenset(("float", "percentage", "currency", "date", "time", "boolean", "string"))


def value_text(given: Mapping[str, str], shown: str) -> str:
    """Return the value of a cell.

    Numbers, dates and amounts of money are as in other spreadsheets (12.5 %, where 13 % is shown; 2024-01-02, where
    02.01.24 is shown); what is shown where it says more (00042, 5 km).

    Args:
        given: The attributes of the cell, without their namespace.
        shown: What the program shows in it.
    """
    kind = given.get("value-type", "")
    try:
        if kind in ("float", "percentage", "currency") and "value" in given:
            return _number(kind, given, shown)
        if kind == "date" and "date-value" in given:
            return moment_text(datetime.fromisoformat(given["date-value"]))
        if kind == "time" and (span := _SPAN.fullmatch(given.get("time-value", ""))) is not None:
            return _time(span, shown)
        if kind == "boolean" and "boolean-value" in given:
            return given["boolean-value"].upper()
    except (ValueError, OverflowError):  # a value that is none
        return shown
    if not shown and kind == "string":
        return given.get("string-value", "")
    if not shown and kind not in _TYPES and (formula := given.get("formula")):
        return _REFERENCE.sub(
            lambda found: found[1].removeprefix(".").replace(":.", ":"), _FORMULA_START.sub("", formula)
        )
    return shown


def _number(kind: str, given: Mapping[str, str], shown: str) -> str:
    value = parse_number(given["value"])
    if kind == "percentage":
        return number_text(value, NumberFormat(Kind.PERCENT))
    text = number_text(value, NumberFormat())
    if kind == "float":
        return text if not shown or _PLAIN.fullmatch(shown) else shown
    sign = _AMOUNT.sub("", shown) or given.get("currency", "")
    first = re.search(r"\d", shown)
    if sign and first is not None and sign in shown and shown.index(sign) > first.start():
        return money_text(text, "", f" {sign}")
    return money_text(text, sign + (" " if sign.isalpha() else ""), "")


def _time(span: re.Match[str], shown: str) -> str:
    hours = int(span[2])
    seconds = float(span[4].replace(",", "."))
    if not span[1] and hours < 24:
        return (
            (datetime(1900, 1, 1) + timedelta(hours=hours, minutes=int(span[3]), seconds=round(seconds)))
            .time()
            .isoformat()
        )
    if shown and not shown.lstrip("-−").startswith(span[2].lstrip("0") or "0"):
        return shown  # the time of a day that is not shown
    length = timedelta(hours=hours, minutes=int(span[3]), seconds=seconds)
    return span_text(-length if span[1] else length)
