"""The numbers in a text, in whatever way they are written: 120,000 and 120.000 and 120 000, 5.40 and 5,4, 09 and 9."""

from __future__ import annotations

import re
from collections.abc import Collection

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
#: Thousands apart by blanks, which may also be several numbers.
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,]*\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
#: Group 1 with or without marks of thousands, and what stands behind the decimal point.
_DECIMAL = re.compile(r"(\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{3})+)[.,](\d+)")


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers in a text, each in all ways in which it may be meant.

    Example:
        >>> sorted(numbers_of("It gave 120,000 for 5.40 metres."))
        ['120,000', '120000', '5.4', '5.40']
    """
    found = {reading for number in _NUMBER.findall(text) for reading in _readings(number)}
    return frozenset(found | {_joined(spaced[0]) for spaced in _SPACED.finditer(text)})


def has_numbers(numbers: Collection[str], text: str) -> bool:
    """Return whether numbers (:func:`numbers_of`) have all that are in a text."""
    rest = _SPACED.sub(lambda spaced: " " if _joined(spaced[0]) in numbers else spaced[0], text)
    return all(not _readings(number).isdisjoint(numbers) for number in _NUMBER.findall(rest))


def _readings(number: str) -> set[str]:
    if number.isdigit():
        return {_plain(number)}
    if _THOUSANDS.fullmatch(number):  # not the decimal 5.400, too: 120,000 is not 120
        return {number, _joined(number)}
    if decimal := _DECIMAL.fullmatch(number):
        fraction = decimal[2].rstrip("0")
        return {number, f"{_joined(decimal[1])}.{fraction}" if fraction else _joined(decimal[1])}
    return {number}


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _joined(number: str) -> str:
    """Return a number without what stands between its thousands."""
    return _plain("".join(character for character in number if character.isdigit()))
