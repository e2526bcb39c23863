"""Citation markers (``[n]``): finding them in a text, and holding back invalid ones while a text is streamed.

In code they are none: ``sys.argv[1]`` between backticks, or in a block of code, takes the second of a list. Models
forget the backticks; what the sources use with an index is code without them, too, and so is ``ports[0]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from core.rag.extraction.code_blocks import block_before
from core.rag.extraction.source_code import is_program
from libs.regexes import regex

#: Where a link may lead: no spaces, and parentheses in pairs only (``wiki/Mill_(tool)``).
_LONGEST_TARGET = 300
_TARGET = rf"(?:[^()\s]|\([^()\s]*\)){{1,{_LONGEST_TARGET}}}"
#: ``[1]``, ``[1, 2]``, ``[1-3]``, and what models write instead: ``[ 1 ]``, ``[1 and 2]``, ``【1】``, ``【1†L3-L5】``,
#: ``[^1]``, ``[Source 1]``, ``[1](path)``. But ``x[1](y)`` is code, ``[2024](path)`` the link of a year, and no passage
#: is 0: ``[0, 1]`` is an interval, ``[0-9]`` a digit.
_NUMBER = r"(?!0+(?!\d))\d{1,4}"
MARKER = regex(
    r"(?=[\[【])(?!(?:(?<=\w)[^\]】\n]{0,60}|\[\d{4})[\]】]\()"  # the bracket first: it is at few places
    r"[\[【][ \t\xa0]*\^?(?:(?:sources?|passages?|citations?|refs?)\s*)?"
    rf"(0|{_NUMBER}(?:\s*(?:[,;&–-]|,?\s(?:and|und)\s)\s*\^?{_NUMBER})*)[ \t\xa0]*(?:†[^\]】\n]{{0,40}})?[\]】]"
    rf"(?:\({_TARGET}\))?",
    re.IGNORECASE,
)
#: A block of code, up to its end or that of the text.
BLOCK = regex(r"`{3,}.*?(?:`{3,}|\Z)", re.DOTALL)
_FENCE = regex(r"`{3,}")
_TICKS = regex(r"`+")
#: Maximum length of inline code; the text of a longer one would be held back for too long.
_LONGEST_SPAN = 200
_SPAN = regex(rf"(?P<ticks>(?<!`)`{{1,2}}(?!`))[^`\n]{{1,{_LONGEST_SPAN}}}(?P=ticks)(?!`)")
#: Code, as a block or in a line.
CODE = regex(rf"(?s:{BLOCK.pattern})|{_SPAN.pattern}")
_MARKER_OR_CODE = regex(rf"{MARKER.pattern}|{CODE.pattern}", re.IGNORECASE)
_BEGUN = regex(rf"[\[【][^\]】\n]{{0,60}}(?:[\]】](?:\(\S{{0,{2 * _LONGEST_TARGET}}})?)?$")
_RANGE = regex(r"(\d+)\s*[–-]\s*(\d+)")
_LONGEST_RANGE = 50
#: A name with an index, in code; anywhere with the index 0, which cites nothing. ``list[int]`` is none.
_INDEX = regex(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\[(?:\d+|[a-z])\]")
_FIRST_INDEX = regex(r"((?:[^\W\d]\w*\.)*[^\W\d]\w*)\[0\]")
#: The name before a bracket.
_LONGEST_NAME = 100
_NAME = regex(rf"(?<![\w.])[^\W\d][\w.]{{0,{_LONGEST_NAME}}}\Z")

#: What has been passed on of a name, or might be.
_WORD_END = regex(r"[\w.]+\Z")


def numbers_in(marker: str) -> list[int]:
    """Return the numbers inside a marker; ranges are expanded.

    Example:
        >>> numbers_in("1, 3-5")
        [1, 3, 4, 5]
    """
    found: list[int] = []
    for part in re.split(r"[,;&]|and|und", marker.lower()):
        if span := _RANGE.search(part):
            low, high = int(span[1]), int(span[2])
            found += range(low, min(high, low + _LONGEST_RANGE) + 1) if low <= high else (low, high)
        elif digits := re.search(r"\d+", part):
            found.append(int(digits[0]))
    return list(dict.fromkeys(found))


def markers_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the markers of a text, in order; group 1 of each is its inside."""
    return (match for match in _MARKER_OR_CODE.finditer(text) if match[1])


def replace_markers(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    """Replace every marker of a text."""
    return _MARKER_OR_CODE.sub(lambda match: replacement(match) if match[1] else match[0], text)


def without_markers(text: str) -> str:
    """Return a text without its markers and the spaces before them.

    Example:
        >>> without_markers("It rains [1], says Ada [2][3].")
        'It rains, says Ada.'
    """
    parts, place = [], 0
    for match in markers_in(text):
        parts.append(text[place : match.start()].rstrip(" "))
        place = match.end()
    return "".join([*parts, text[place:]])


def indexed_names(passages: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the names that passages, each the path of its document and its text, use with an index, in code.

    Example:
        >>> sorted(indexed_names([("a.md", "Take `ports[i]`, or a.hosts[0]; not Paris[1] nor `list[int]`.")]))
        ['a.hosts', 'ports']
    """
    found: set[str] = set()
    for path, text in passages:
        parts = [text] if is_program(path) else [code[0] for code in CODE.finditer(text)]
        found.update(name[1] for part in parts for name in _INDEX.finditer(part))
        found.update(name[1] for name in _FIRST_INDEX.finditer(text))
    return frozenset(found)


def in_backticks(text: str, indexed: Collection[str]) -> str:
    """A text with backticks around the names that stand before an index, and their indexes."""
    parts = []
    place = 0
    for match in markers_in(text):
        if name := _name_before(match, indexed):
            parts.append(f"{text[place : match.start() - len(name)]}`{name}{match[0]}`")
            place = match.end()
    return "".join([*parts, text[place:]])


def _name_before(marker: re.Match[str], indexed: Collection[str]) -> str:
    """Return the name that a number in brackets is an index of: one of these, or any before ``[0]``; else nothing."""
    first = marker[0] == "[0]"  # no passage has this number
    if not (first or indexed):
        return ""
    end = marker.start()
    name = _NAME.search(marker.string, max(0, end - _LONGEST_NAME), end)
    return name[0] if name is not None and (first or name[0] in indexed) else ""


def is_in_block(text: str, place: int) -> bool:
    """Return whether a place is in a block of code, which may have begun before the text."""
    return len(_FENCE.findall(text, 0, place)) % 2 != (block_before(text) > 0)


class MarkerFilter:
    """Filters a text as it arrives: markers become plain, and those that cite nothing are removed."""

    def __init__(self, known: Collection[int], indexed: Collection[str] = ()) -> None:
        """Prepare.

        Args:
            known: The numbers that there are.
            indexed: Names behind which a number in brackets is an index, and stays.
        """
        self._known = frozenset(known)
        self._indexed = frozenset(indexed)
        self._word = ""
        self._held = ""
        self._in_block = False
        self.dropped: list[int] = []

    def feed(self, text: str) -> str:
        """Take the next part of the text.

        Returns:
            The text that can be passed on; only a bracket, a link or inline code that may go on is held back, with the
            space before it.
        """
        text = self._held + text
        passed = []
        # A fence at the very end may not be complete.
        while (fence := _FENCE.search(text)) is not None and fence.end() < len(text):
            before = text[: fence.start()]
            passed += [before if self._in_block else self._cleaned(before), fence[0]]
            self._word = ""
            self._in_block, text = not self._in_block, text[fence.end() :]
        keep = len(text.rstrip("`")) if self._in_block else _finished(text)
        self._held = text[keep:]
        return "".join([*passed, text[:keep] if self._in_block else self._cleaned(text[:keep])])

    def end(self) -> str:
        """Return the text that was still held back."""
        rest, self._held = self._held, ""
        return rest if self._in_block else self._cleaned(rest)

    def _cleaned(self, text: str) -> str:
        cleaned = []
        text = self._word + text
        place = len(self._word)
        for match in markers_in(text):
            if match.start() < place or _name_before(match, self._indexed):
                continue
            numbers = numbers_in(match[1])
            kept = "".join(f"[{number}]" for number in numbers if number in self._known)
            self.dropped += [number for number in numbers if number not in self._known]
            before = text[place : match.start()]
            cleaned.append((before if kept else before.rstrip(" ")) + kept)
            place = match.end()
        rest = text[place:]
        done = "".join([*cleaned, rest])
        end = _WORD_END.search((self._word + done)[-2 * _LONGEST_NAME :])
        self._word = end[0] if end else ""
        return done


def _finished(text: str) -> int:
    """Return the position up to which later text cannot make a marker or code, or remove the space before a marker."""
    start = text.rfind("\n") + 1
    for span in _SPAN.finditer(text, start):
        if span.end() < len(text):
            start = span.end()
    begun = _BEGUN.search(text, start)
    keep = begun.start() if begun else len(text)
    open_ = (tick.start() for tick in _TICKS.finditer(text, start) if len(text) - tick.end() <= _LONGEST_SPAN)
    keep = min(keep, next(open_, keep))
    return len(text[:keep].rstrip(" "))
