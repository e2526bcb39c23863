"""Finds what acronyms stand for where a text says so: ``Food and Drug Administration (FDA)``.

These names have small words and, outside of English, words in lower case: ``Agence nationale de la sécurité des
systèmes d'information (ANSSI)``. The acronym tells where such a name begins, and that all of its words belong to it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from core.rag.analysis.stopwords import stop_words
from core.rag.analysis.words import fold
from libs.regexes import regex

_ACRONYM: Final = regex(r"\s\(([A-Z]{2,8})(s?)\)")
#: The last word before it, with what it follows: a name has more words.
_LAST: Final = regex(r"[\s'’-]([^\W\d_])[^\W\d_]*\Z")
#: A plural that lacks its letter in the singular.
_PLURAL: Final = regex(r"(?:[^esiu]|[^aiouhsxz]e)s\Z")
#: A word, and whether it is the rest of one with a hyphen.
_WORD: Final = regex(r"(-?)([^\W\d_]+)")
#: What no name goes on behind.
_BREAK: Final = regex(r"[^\w \n'’&-]|[\d_]|\n\s*\n|\n\s*[-*]")
_OF: Final = regex(r"(?<![^\W_])[^\W\d_a-z]\w+ (?:of|for)(?: the)? \Z")
_ELIDED: Final = frozenset({"d", "l"})
_REACH: Final = 120
_LONGEST_WORD: Final = 32
_MOST_WORDS: Final = 12
#: Letters that a word has in its acronym: DINUM is the Direction interministérielle du numérique.
_MOST_LETTERS: Final = 4
#: Of two letters, a phrase in lower case is more often something else.
_SHORTEST_OF_TERM: Final = 3


def long_forms(text: str, language: str) -> dict[str, str]:
    """Return the long forms of acronyms in parentheses behind them, each with its acronym.

    Args:
        text: Any text.
        language: Snowball's name of its language.
    """
    found: dict[str, str] = {}
    for match in _ACRONYM.finditer(text):
        start = match.start()
        last = _LAST.search(text, max(0, start - _LONGEST_WORD), start)
        if last is None or fold(last[1].lower()) not in match[1].lower():
            continue
        begin = max(0, start - _REACH)
        for broken in _BREAK.finditer(text, begin, start):
            begin = broken.end()
        form = _long_form(text[begin:start].rstrip(), match[1], language)
        if match[2] and _PLURAL.search(form):
            form = form[:-1]
        if form:
            found[form] = match[1]
    return found


def without_form(text: str, form: str, mask: str) -> str:
    """Return a text with a long form blanked out, in the same length.

    Args:
        text: The text.
        form: As from :func:`long_forms`.
        mask: What stands there instead of each character. What it is of goes with it, as that is no name for itself:
            Office of Personnel Management (PM).
    """
    parts = text.split(form)
    blank = mask * len(form)
    for number, part in enumerate(parts[:-1]):
        if left := _OF.search(part, max(0, len(part) - _REACH)):
            part = part[: left.start()] + mask * (len(part) - left.start())
        parts[number] = part + blank
    return "".join(parts)


def _long_form(before: str, acronym: str, language: str) -> str:
    """Return the shortest end of a text whose words have the letters of an acronym, in order; empty if none has."""
    words = list(_WORD.finditer(before))[-_MOST_WORDS:]
    small = _small_words(language)
    letters = fold(acronym.lower())

    @cache
    def begins_at(place: int, left: int) -> int:
        """Return the number of the word at which the letters up to ``left`` are used up, going back; -1 for none."""
        if place < 0:
            return -1
        word = fold(words[place][2].lower())
        for taken in range(min(_MOST_LETTERS, left, len(word)), 0, -1):
            if word.startswith(letters[left - taken : left]):
                if taken == left:
                    return place
                if (found := begins_at(place - 1, left - taken)) >= 0:
                    return found
        optional = words[place][1] or words[place][2].lower() in small
        return begins_at(place - 1, left) if optional and left < len(letters) else -1

    first = begins_at(len(words) - 1, len(letters))
    if first < 0:
        return ""
    telling = [word for word in words[first:] if word[2].lower() not in small and not word[1]]
    form = before[words[first].start(2) :]
    is_term = form[0].islower()
    if len(telling) < (1 if "-" in form else 2) or (is_term and len(acronym) < _SHORTEST_OF_TERM):
        return ""
    return "" if is_term and words[first][2].lower() in small else form


@cache
def _small_words(language: str) -> frozenset[str]:
    return stop_words(language) | stop_words("english") | _ELIDED
