"""Acronyms and what they may stand for, where no text says so: WHO and World Health Organization."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from libs.regexes import regex

#: A word in capitals that may stand for a name of several words.
ACRONYM: Final = regex(r"(?<![\w.-])[^\W\d_a-z]{2,8}(?![\w-])")
_LONGEST: Final = 8
_WORD: Final = regex(r"\w[\w’-]*")
_BETWEEN: Final = regex(r"[\s&]+")
#: Words of a name whose initials are not counted.
_SMALL: Final = frozenset("of for and the on in de des du del la les der die für und et y".split())


def with_initials(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the initials of names of several words, and where these are: of any words with capitals in a row.

    Example:
        >>> text = "the United Nations Organization"
        >>> [(initials, text[start:end]) for initials, start, end in with_initials(text)][:2]
        [('UN', 'United Nations'), ('UNO', 'United Nations Organization')]
    """
    row: list[re.Match[str]] = []
    rows = [row]
    end = 0
    for word in _WORD.finditer(text):
        if row and not _BETWEEN.fullmatch(text, end, word.start()):
            rows.append(row := [])
        end = word.end()
        if word[0][0].isupper():
            row.append(word)
        elif word[0] not in _SMALL:
            rows.append(row := [])
    for row in rows:
        for first in range(len(row) - 1):
            initials = row[first][0][0]
            for last in row[first + 1 : first + _LONGEST]:
                initials += last[0][0]
                yield initials, row[first].start(), last.end()
