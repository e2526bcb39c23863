"""Headings of books and other long texts without markup: CHAPTER IV, "Act 2", "Kapitel 3: Im Moor"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from core.rag.analysis import number_of
from core.rag.analysis.language import DEFAULT_LANGUAGE
from core.rag.analysis.words import folded_stop_words
from core.rag.indexing.splitting.sections import Heading, shortened
from libs.regexes import regex

_FEWEST: Final = 2
_MOSTLY: Final = 0.5
_MOST_KINDS: Final = 8
_MOST_LINES: Final = 3
_CONTENTS: Final = 200  # characters: what has less of its own, and comes again, is in a list of contents
#: What is numbered, too, and divides nothing.
_SHOWN: Final = frozenset(
    """
page p pp line verse note footnote figure fig table tab plate equation listing seite zeile fußnote abbildung abb tabelle
tafel ligne tableau illustration planche página figura tabla tabela nota riga pagina tabella bladzijde tabel figuur
""".split()
)
#: A line of a word and a number, or of a Roman numeral; the rest may be a title.
_LINE: Final = regex(
    r"^[ \t]{0,60}(?:(?P<roman>[IVXLC]{1,8})(?=[.:]|[ \t]*$)"
    r"|(?P<word>[^\W\d_]{1,20})\.?[ \t]{1,3}(?P<number>\w{1,9}(?:-[a-z]{3,5})?))(?![\w'’])(?P<rest>[^\n]{0,100})$",
    re.MULTILINE | re.IGNORECASE,
)
_BEHIND: Final = regex(r"[ \t]*[.:\])\-–—]")  # what sets a title off
_SENTENCE: Final = regex(r"[.,;:!?…][\"'”’)\]]*\Z")
_ALONE_BELOW: Final = regex(r"(?:[ \t]*\n){1,4}[ \t]*(\S[^\n]{0,79})\n(?=[ \t]*(?:\n|\Z))")
_OPENS: Final = regex(r"[\[(\"'“‘«„—–*_=-]")


@dataclass(slots=True)
class _Line:
    """A line that may be a heading.

    Attributes:
        kind: The word that is numbered; of a Roman numeral alone empty, or a dot if a title follows.
        number: Its number.
        heading: The heading; without a level yet.
    """

    kind: str
    number: int
    heading: Heading


def divisions(text: str) -> list[Heading]:
    """Return the lines that number the parts of a text, each alone in its paragraph, whatever the parts are called.

    What is numbered twice or more, mostly one after the other, is a kind of part. One kind is within another that
    begins before it and comes again: CHAPTER in PART, SCENE in ACT. Lists of contents are none.
    """
    found = [line for match in _LINE.finditer(text) if (line := _line(text, match))]
    numbers: dict[str, list[int]] = {}
    for line in found:
        numbers.setdefault(line.kind, []).append(line.number)
    counted = sorted((kind for kind, own in numbers.items() if _counts(own)), key=lambda kind: -len(numbers[kind]))
    kinds = frozenset(counted[:_MOST_KINDS])
    return _with_levels(_without_contents(text, [line for line in found if line.kind in kinds]))


def _line(text: str, match: re.Match[str]) -> _Line | None:
    word, number, rest = (match["word"] or "").casefold(), match["number"] or match["roman"], match["rest"].strip()
    value = number_of(number)
    if not value or not _is_blank_above(text, match.start()):
        return None
    if word and (word in _SHOWN or word in folded_stop_words(DEFAULT_LANGUAGE) or not match["word"][0].isupper()):
        return None
    if not word and (number != number.upper() or (rest.strip(". ") and rest != rest.upper())):
        return None
    set_off = not rest or _BEHIND.match(match["rest"]) is not None or rest == rest.upper()
    if not set_off and _SENTENCE.search(rest):
        return None
    end, lines = match.end(), 1
    while (stop := _line_end(text, end)) > end + 1 and text[end:stop].strip() and lines <= _MOST_LINES:
        end, lines = stop, lines + 1
    if lines > _MOST_LINES:  # a paragraph below a line, without a blank one between
        end = match.end()
        if not set_off:
            return None
    kind = word or ("." if rest.strip(". ") else "")
    heading = Heading(match.start(), min(end + 1, len(text)), 1, shortened(text[match.start() : end]))
    return _Line(kind, value, _with_title(text, heading) if word and end == match.end() and len(rest) <= 1 else heading)


def _line_end(text: str, start: int) -> int:
    """Return where the line behind the line end at a place ends."""
    end = text.find("\n", start + 1)
    return len(text) if end < 0 else end


def _is_blank_above(text: str, start: int) -> bool:
    return start == 0 or not text[text.rfind("\n", 0, start - 1) + 1 : start - 1].strip()


def _with_title(text: str, heading: Heading) -> Heading:
    """Return a heading with the line that stands alone below it, if it is no sentence."""
    below = _ALONE_BELOW.match(text, heading.end)
    title = below[1].strip() if below else ""
    if below is None or _OPENS.match(title) or (_SENTENCE.search(title) and title != title.upper()):
        return heading
    if (line := _LINE.match(title)) and number_of(line["number"] or line["roman"]):
        return heading
    return Heading(heading.start, below.end(), 1, shortened(f"{heading.title.rstrip('.:')}: {title}"))


def _counts(numbers: Sequence[int]) -> bool:
    """Return whether most numbers follow the one before, or begin anew."""
    steps = sum(1 for before, number in pairwise(numbers) if number in (before + 1, 1))
    return len(set(numbers)) >= _FEWEST and steps >= _MOSTLY * (len(numbers) - 1)


def _without_contents(text: str, lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines without those of a list of contents: with next to nothing below, and again further on."""
    last = {(line.kind, line.number): index for index, line in enumerate(lines)}
    ends = [line.heading.start for line in lines[1:]] + [len(text)] * bool(lines)
    own = [len(text[line.heading.end : end].strip()) for line, end in zip(lines, ends, strict=True)]
    before = [0, *accumulate(own)]
    following: dict[str, int] = {}  # of each kind, the next line
    kept: list[_Line] = []
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        below = before[following.get(line.kind, len(lines))] - before[index]
        following[line.kind] = index
        if below >= _CONTENTS or last[line.kind, line.number] == index:
            kept.append(line)
    return kept[::-1]


def _with_levels(lines: Sequence[_Line]) -> list[Heading]:
    places: dict[str, list[int]] = {}
    for line in lines:
        places.setdefault(line.kind, []).append(line.heading.start)
    levels = {
        kind: 1 + sum(1 for other in places.values() if other[0] < own[0] < other[-1]) for kind, own in places.items()
    }
    headings = [Heading(x.heading.start, x.heading.end, levels[x.kind], x.heading.title) for x in lines]
    return headings if len(headings) >= _FEWEST else []
