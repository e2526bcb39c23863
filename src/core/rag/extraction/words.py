"""Normalises the words of a text for comparing names: lower case, no punctuation.

``O'Brien's``, ``O’BRIEN`` and ``o'brien`` are the words ``o brien`` (and ``s``). An ``&`` by itself is the word
``and``: ``Procter & Gamble`` and ``Procter and Gamble`` are one name. Scripts that are written without spaces count
each character as a word, so that a name is found inside a longer run.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cache
from typing import Final

from core.rag.analysis.words import fold
from libs.regexes import regex

#: Longer names are texts, not entities. This also keeps names within the limits of the indexes of all engines.
MAX_NAME_CHARS: Final = 200

#: Characters of scripts that are written without spaces, as a part of a set in an expression.
UNSPACED: Final = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f"  # Thai, Lao, Burmese, Khmer
)
#: The first and the last letter of katakana.
KATAKANA: Final = ("\u30a1", "\u30ff")
_ASCII: Final = regex(r"[a-z0-9]+(?:\+\+|#(?![a-z0-9]))?")
_ASCII_ANY_CASE: Final = regex(_ASCII.pattern, re.IGNORECASE)
#: A sign that is read as a word; and any word of its length, to find where it is.
_AND: Final = " & "
_AND_WORD: Final = " and "
_AND_PLACE: Final = " n "


#: Where the marks of the scripts in use are; to look through all of Unicode takes longer than to read a hundred texts.
_MARKS: Final = ((0x300, 0x1E00), (0x20D0, 0x2100), (0x302A, 0x309B), (0xA66F, 0xAC00), (0xFE00, 0xFE30))


@cache
def _marks() -> str:
    # ``\w`` leaves out the marks that stand inside words: accents of their own, vowel signs.
    codes = (code for first, end in _MARKS for code in range(first, end))
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"})
    return marks + "\u200c\u200d"


@cache
def _spaced() -> re.Pattern[str]:
    return re.compile(rf"\w[\w{_marks()}]*(?:\+\+|#(?!\w))?")


@cache
def _mixed() -> re.Pattern[str]:
    letter = f"(?![{UNSPACED}])"
    return re.compile(rf"[{UNSPACED}][{_marks()}]*|{letter}\w(?:{letter}[\w{_marks()}])*(?:\+\+|#(?!\w))?")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


def _pattern(text: str) -> re.Pattern[str]:
    return _mixed() if _unspaced().search(text) else _spaced()


def _folded(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())


def _casefolded(text: str) -> str:
    """Return a casefolded text; the Turkish İ becomes i, without the combining dot that casefolding leaves."""
    return text.casefold().replace("i\u0307", "i")


def normalized_words(text: str) -> list[str]:
    """Return the words of a text in order, NFKC-normalised and casefolded.

    ``normalized_words(text)[i]`` is at ``word_spans(text)[i]``.
    """
    if "&" in text:
        text = text.replace(_AND, _AND_WORD)
    if text.isascii():
        return _ASCII.findall(text.lower())
    lowered = _casefolded(text).replace("_", " ")
    return [word if word.isascii() else _folded(word) for word in _pattern(lowered).findall(lowered)]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word of a text, in characters."""
    if "&" in text:
        text = text.replace(_AND, _AND_PLACE)
    if text.isascii():
        return [match.span() for match in _ASCII_ANY_CASE.finditer(text)]
    plain = text.replace("_", " ").replace("\u0345", "\u03b9")  # the mark that casefolding makes a letter
    return [match.span() for match in _pattern(plain).finditer(plain)]


def normalize_name(name: str) -> str:
    """Return the normalised form of a name, which is equal for equal names: its casefolded words, joined by spaces.

    Args:
        name: A name, title or phrase.

    Returns:
        The words; a name without any letter or digit (``!!!``) is kept. Empty for a blank name, and for
        one of more than ``MAX_NAME_CHARS`` characters, which is a text rather than a name.
    """
    if len(name) <= MAX_NAME_CHARS and name.isascii() and name.replace(" ", "").isalnum() and "  " not in name:
        return name.strip().lower()  # the usual case
    normalized = " ".join(normalized_words(name)) or " ".join(_folded(_casefolded(name)).split())
    return normalized if len(normalized) <= MAX_NAME_CHARS else ""


def folded(name: str) -> str:
    """Return a normalised name without accents, which many leave out when they ask: ``tide cafe``."""
    return name if name.isascii() else " ".join(map(fold, name.split()))


def is_katakana(word: str) -> bool:
    """Return whether a word is a letter of katakana, which spells words from other languages."""
    return KATAKANA[0] <= word[0] <= KATAKANA[1] and word[0] != "\u30fb"  # the dot between words


def is_unspaced(text: str) -> bool:
    """Return whether a text has characters of a script that is written without spaces."""
    return not text.isascii() and _unspaced().search(text) is not None


def longest_names(names: Collection[str]) -> set[str]:
    """Return normalised names without those that are parts of others: of "ada" and "ada lane" the second."""
    return {name for name in names if not any(name != other and f" {name} " in f" {other} " for other in names)}
