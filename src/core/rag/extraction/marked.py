"""Finds what a text marks as terms: by code and quotation marks, and identifiers by their spelling.

These, and what has no names in it (data, formulas, addresses), are blanked out, so that nothing else is found there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from core.rag.extraction import patterns
from core.rag.extraction.code_blocks import block_before, is_data
from core.rag.extraction.phrases import MAX_WORDS
from core.rag.extraction.unnamed import is_usual_heading
from core.rag.extraction.words import is_unspaced, normalize_name
from libs.regexes import regex

#: What is written in place of each character that is blanked out.
MASK: Final = "\x00"

_MAX_CODE_CHARS: Final = 60
#: What is said, not called so, in a script in which a sentence has no spaces that could be counted.
_SPEECH: Final = regex("[。！？，；…]")
_MAX_UNSPACED_CHARS: Final = 30
_ENDS_SPEECH: Final = frozenset(".,;:?-–—…")
#: In reStructuredText, where a link leads, after what it says: `Jinja <https://…>`_, :doc:`here <page>`.
_TARGET: Final = regex(r"\s*<[^<>]*>$")

#: The part of a note that a link of a wiki leads to: [[Meetings#Ada]], not [[C#]].
_PART: Final = regex(r"(?<=.)#[^\s#/].*")


def without_marked(text: str, add: Callable[[str], None]) -> str:
    """Add the names that are marked as terms.

    Args:
        text: The text.
        add: Receives each term.

    Returns:
        The text with these blanked out, of the same length.
    """
    if is_data(text):
        return MASK * len(text)
    terms = _Terms(add)
    if "`" in text:
        if begun := block_before(text):
            text = MASK * begun + text[begun:]
        text = patterns.CODE.sub(terms.code, text)
    if "#" in text:
        text = patterns.HEADING.sub(_heading, text)
    if ":::" in text:
        text = patterns.CONTAINER.sub(_colons, text)
    if "</" in text or "/>" in text:
        text = patterns.COMPONENTS.sub(_blank, text)
    if text.count("$") > 1:
        text = patterns.FORMULA.sub(_blank, text)
    if "://" in text or "](" in text:
        text = patterns.ADDRESSES.sub(_blank, text)
    if "_" in text or "()" in text or patterns.HUMP.search(text):
        if max(map(len, text.split()), default=0) >= patterns.SHORTEST_ENCODED:  # a third of the time of looking for it
            text = patterns.ENCODED.sub(_blank, text)
        identifiers = patterns.identifier_unspaced() if is_unspaced(text) else patterns.IDENTIFIER
        text = identifiers.sub(terms.identifier, text)
    if "»" in text:
        text = patterns.with_marks_outward(text)
    if '"' in text or not text.isascii() or "[[" in text:
        text = patterns.QUOTED.sub(terms.quoted, text)
        if not text.isascii():
            text = patterns.QUOTED_IN_EAST_ASIA.sub(terms.quoted, patterns.READING.sub("", text))
    return text


def _blank(match: re.Match[str]) -> str:
    return MASK * len(match[0])


def _colons(match: re.Match[str]) -> str:
    return ":" * len(match[0])  # what follows is the title of a note, which begins like a sentence


def _heading(match: re.Match[str]) -> str:
    # See Also is no name, nor are Attributes and Elements, of which the words would be two.
    return _blank(match) if is_usual_heading(normalize_name(match[1])) else match[0]


class _Terms:
    """Adds what a pattern has found, and returns what is left of it in the text."""

    def __init__(self, add: Callable[[str], None]) -> None:
        self._add = add

    def code(self, match: re.Match[str]) -> str:
        inside = match[1] or match[2]
        if inside is not None:
            if inside[0].isspace() != inside[-1].isspace():
                return match[0]  # `so' and `on': these are quotation marks
            text, (start, end) = match.string, match.span()
            if match[2] and (text[start - 1 : start] == ":" or text[end : end + 1] == "_"):
                inside = _TARGET.sub("", inside).lstrip("~.!")
            words = inside.split()
            term = " ".join(words)
            if 1 < len(term) <= _MAX_CODE_CHARS and len(words) <= MAX_WORDS and any(map(str.isalpha, term)):
                self._add(term)
        return _blank(match)

    def identifier(self, match: re.Match[str]) -> str:
        self._add(match[0])
        return _blank(match)

    def quoted(self, match: re.Match[str]) -> str:
        term = (match[1] or match[2]).strip("*_ ")
        directed = match[1] is not None
        if match[0].startswith("[["):
            term = _PART.sub("", term)
        if MASK in term or len(term) < 2:
            return match[0]
        few = term.count(" ") < (4 if directed else 6)
        if is_unspaced(term) and (len(term) > _MAX_UNSPACED_CHARS or _SPEECH.search(term)):
            return match[0]
        # Between plain marks may stand what is between two quotations: a term among them begins with a capital.
        if not few or not (term[0].isupper() or directed) or term[-1] in _ENDS_SPEECH:
            return match[0]
        if term[-1] == "!" and any(word[0].islower() for word in term.split()):
            return match[0]  # “Very strange!”, but not “Mamma Mia!”
        self._add(term)
        return _blank(match)
