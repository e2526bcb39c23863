"""Finds phone numbers in texts: those that there can be, and what has the form of one.

The library phonenumbers (a port of libphonenumber) knows the numbers of all countries. What people write as examples,
or with a digit wrong, is none of these (555-0100), and still somebody's number to a reader; so is what stands behind a
word like "call".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from libs.regexes import regex

#: "+1 (555) 123-4567", "555.123.4567", "555-0100"; "+44 7911 123456"; "(030) 901820".
_FORM = regex(
    r"(?<![\w.+-])(?:(?:\+?1[ .-]?)?(?:\(\d{3}\)[ ]?\d{3}[ .-]|\d{3}[.-]\d{3}[.-])\d{4}|555-\d{4}"
    r"|\+\d{1,3}(?:[ ]?\(\d{1,4}\))?(?:[ ./-]?\d{1,5}){2,6}|\(0\d{1,5}\)[ ./-]?\d(?:[ ./-]?\d){4,9})"
    r"(?![\w-]|[.]\d)"
)
_BEHIND_A_WORD = regex(
    r"(?i:\b(?:phone|telephone|tel|mobile|cell|fax|whatsapp|call|dial|telefon(?:nummer)?|handy(?:nummer)?|mobil|tél"
    r"|téléphone|teléfono|telefono|móvil|cellulare|телефон|тел)\b[.]?"
    r"(?:\s+(?:me|us|him|her|them|number|no|nr|nummer)\b[.]?){0,2}"
    r"(?:\s*[:=#]|\s+(?:is|at|on|under|ist|unter|est|es|è|au|al)\b)?)\s*"
    r"(?P<number>\+?\(?\d(?:[ ()./-]{0,2}\d){6,14})(?![\w-])"
)
_DATE = regex(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_LONGEST = 15


def phone_numbers(text: str, regions: Iterable[str | None]) -> Iterator[tuple[int, int, str]]:
    """Yield where phone numbers stand, and each in the same form however it is written.

    Args:
        text: The text.
        regions: Countries whose numbers may have no country code; ``None``: only those with one.
    """
    import phonenumbers

    taken: list[tuple[int, int]] = []
    for region in regions:
        for found in phonenumbers.PhoneNumberMatcher(text, region):
            taken.append((found.start, found.end))
            yield found.start, found.end, phonenumbers.format_number(found.number, phonenumbers.PhoneNumberFormat.E164)
    for pattern in (_FORM, _BEHIND_A_WORD):
        for match in pattern.finditer(text):
            start, end = match.span("number" if pattern is _BEHIND_A_WORD else 0)
            number = text[start:end]
            if 7 <= _digits(number) <= _LONGEST and not _DATE.match(number) and not _overlaps(start, end, taken):
                taken.append((start, end))
                yield start, end, _plain(number)


def _overlaps(start: int, end: int, taken: Iterable[tuple[int, int]]) -> bool:
    return any(start < other and first < end for first, other in taken)


def _digits(number: str) -> int:
    return sum(char.isdigit() for char in number)


def _plain(number: str) -> str:
    """Return a number as E.164 has it, as far as can be told; what has the form of the United States is from there."""
    digits = re.sub(r"\D", "", number.replace("(0)", ""))
    if number.startswith("+"):
        return f"+{digits}"
    if re.fullmatch(r"1?\D*\d{3}\D+\d{3}\D\d{4}", number):
        return f"+1{digits[-10:]}"
    return digits
