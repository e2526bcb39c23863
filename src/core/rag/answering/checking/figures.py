"""The numbers in a text, in whatever way they are written: 120,000 and 120 000, 5.40 and 5,4, 16GB, 1.2 million."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from libs.regexes import regex

_NUMBER = regex(r"\d+(?:[.,]\d+)*")
#: Thousands apart by blanks, which may also be several numbers.
_SPACED = regex(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,]*\d)")
_THOUSANDS = regex(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
#: Group 1 with or without marks of thousands, and what stands behind the decimal point.
_DECIMAL = regex(r"(\d+|\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{3})+)[.,](\d+)")

#: By the power of ten that they stand for: words and abbreviations behind a number.
_MAGNITUDES = {
    3: r"thousand|[kK]|Tausend|Tsd\.?|mille|mil",
    6: r"millions?|Millionen|M(?:io)?\.?|mn|millón|millones",
    9: r"billions?|bn|B|Milliarden?|Mrd\.?|milliards?|mil millones",
    12: r"trillions?|tn|Billionen|billones|billón",
}
_FIGURE = regex(
    r"(?<![\w.,])(?P<money>[$€£¥]\s?)?(?P<number>\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![.,]?\d)|\d+(?:[.,]\d+)*)"
    r"(?:[\s-]?(?:"
    + "|".join(f"(?P<ten{power}>{words})" for power, words in reversed(_MAGNITUDES.items()))
    + r"|(?P<m>m))(?!\w))?",
)
_OTHER_DIGIT = regex(r"[^\D0-9]")
_SWISS = regex(r"(?<![\w.,])\d{1,3}(?:['’\u2009]\d{3})+(?!\d)")
_SWISS_MARK = regex(r"['’\u2009]")
#: A number and its unit without a space between: 16GB, 5km. But 2nd, the 1990s and 90er are one word.
_WITH_UNIT = regex(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(?!(?:st|nd|rd|th|s|er|e)\b)(?=[A-Za-zµμΩ]{1,4}(?!\w))")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a text.

    Attributes:
        place: Where it begins.
        written: How it is written, with the word for its magnitude.
        values: What it may be: 1.234 million is 1,234,000 or 1,234,000,000.
        digits: What its digits may be without that word; the same without one.
    """

    place: int
    written: str
    values: frozenset[Decimal]
    digits: frozenset[Decimal]

    @property
    def is_scaled(self) -> bool:
        """Whether a word says its magnitude."""
        return self.values != self.digits


def with_plain_numbers(text: str) -> str:
    """Return a text with its digits as 0 to 9, Swiss thousands without their marks, and units apart from numbers.

    Example:
        >>> with_plain_numbers("16GB in the 1990s, 2.5km, 1’200, ２０１９")
        '16 GB in the 1990s, 2.5 km, 1200, 2019'
    """
    if not text.isascii():
        text = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    text = _SWISS.sub(lambda number: _SWISS_MARK.sub("", number[0]), text)
    return _WITH_UNIT.sub(r"\1 ", text)


def figures_in(text: str) -> Iterator[Figure]:
    """Yield the numbers in a text with what they come to; none like 2.3.1.

    Example:
        >>> [str(value) for figure in figures_in("$1.2 million, 1,200,000, $5m, 5 m") for value in figure.values]
        ['1.2E+6', '1.2E+6', '5E+6', '5']
    """
    for match in _FIGURE.finditer(text):
        power = next(
            (power for power in _MAGNITUDES if match[f"ten{power}"]), 6 if match["m"] and match["money"] else 0
        )
        start, end = match.start("number"), match.end() if power else match.end("number")
        digits = {Decimal(digits).normalize() for digits in _meant(match["number"], scaled=power > 0)}
        if digits:
            values = frozenset(value.scaleb(power) for value in digits)
            yield Figure(start, text[start:end], values, frozenset(digits))


def _meant(number: str, *, scaled: bool) -> Iterator[str]:
    """Yield a number as digits with a point, in all ways in which it may be meant."""
    if number.isdigit() or _SPACED.fullmatch(number):
        yield _joined(number)
        return
    thousands = _THOUSANDS.fullmatch(number)
    if thousands:
        yield _joined(number)
    if (decimal := _DECIMAL.fullmatch(number)) and (scaled or not thousands):
        yield f"{_joined(decimal[1])}.{decimal[2]}"


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
