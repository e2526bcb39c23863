"""Turns of conversations, interviews and plays: what somebody says that is longer than a chunk is called by their name.

Without that, only the first passage of it says who speaks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from core.rag.headings import heading_path
from core.rag.indexing.splitting.sections import RUNNING, Section, is_within, shortened
from libs.regexes import regex

_TIME: Final = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_NAME: Final = r"(?P<name>[^\W\d_][^:*\n|<>{}=;!?\"“”\[\]()]{0,50}?)(?:[ ][\[(][^\n\[\]()\d]{1,20}[\])])?"
#: "Ida Berg   0:03", "**Ida Berg** (00:03)", "[Ida Berg] 14:03:11", each above the words; "Ida (2025-03-12 18:04): …".
_TIMED: Final = regex(
    rf"^[ \t]{{0,8}}(?:\*\*|\[)?{_NAME}(?:\*\*|\])?[ \t]{{1,8}}"
    rf"(?:[\[(]?{_TIME}[\])]?[ \t]{{0,8}}\\?$|\([^()\n]{{0,14}}{_TIME}[^()\n]{{0,6}}\):(?=\s))",
    re.MULTILINE,
)
#: "Ida Berg: 00:03" above the words; so are fields written.
_TIMED_AS_FIELDS: Final = regex(
    rf"^[ \t]{{0,8}}(?:\*\*)?{_NAME}:(?:\*\*)?[ \t]{{1,8}}{_TIME}[ \t]{{0,8}}\\?$", re.MULTILINE
)
#: "Ida: words", "**Ida:** words"; "HAMLET." above the words. Most lines are done with at once: they have no colon.
_CALLED: Final = regex(
    rf"^(?:(?=[^:\n]{{1,99}}:)[ \t]{{0,16}}(?:\*\*|__|_)?{_NAME}(?:\*\*|__|_)?:(?:\*\*|__|_)?(?=\s)"
    r"|(?:\A|(?<=\n\n))[ \t]{0,40}(?P<capitals>(?![IVXLC]+\b)[^\W\d_a-z][^\Wa-z]{1,19}(?:[ ][^\Wa-z]{1,19}){0,3})"
    r"[.:]?(?:[ \t]{1,4}\[[^\n\]]{1,60}\])?[ \t]{0,4}\\?$(?!\n[ \t]*$))",
    re.MULTILINE,
)
_PATTERNS: Final = (_TIMED, _TIMED_AS_FIELDS, _CALLED)
_BLOCK: Final = regex(r"(?:\A|\n[ \t]*\n)(?=[ \t]*\S)")
_ABOVE: Final = regex(r"[ \t]*\n[ \t]*\n")
_LINE: Final = regex(r"^[ \t]*\S", re.MULTILINE)
_SENTENCE: Final = regex(r"[.!?…。！？][\"'”’»)\]*_]{0,4}\Z")
_MOST_WORDS: Final = 6
_PARTICLE: Final = 3  # letters of "von" and "de" in names
#: What stands before a colon, and is nobody: levels of logs, kinds of changes and of remarks.
_NOBODY: Final = frozenset(
    (
        "trace debug info information notice warn warning error fatal critical note notes hint tip important caution"
        " attention danger todo fixme added fixed changed removed deprecated security improved updated feature bugfix"
        " example examples input output result usage default returns raises hinweis achtung wichtig beispiel remarque"
        " exemple nota ejemplo"
    ).split()
)
_FEWEST: Final = 4
_MOSTLY: Final = 0.6
_OFTEN: Final = 0.4  # of the paragraphs, where what some say has several of these
_TAIL: Final = 8  # characters at the end of a turn
_QUESTION: Final = 4  # what goes with its answer is not longer than this part of a chunk


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody says.

    Attributes:
        start: Where it begins.
        words: Where their words begin.
        name: Their name.
    """

    start: int
    words: int
    name: str


def with_turns(
    text: str, sections: Sequence[Section], turns: Sequence[Turn], fits: Callable[[str, int], bool], size: int
) -> list[Section]:
    """Cut sections at the turns that are longer than a chunk; the heading of these ends with who speaks.

    Short ones before it (the question) go with it.

    Args:
        text: The whole text.
        sections: Its sections, in order.
        turns: Those of the text.
        fits: Returns whether a text has at most so many tokens.
        size: Tokens of a chunk.
    """
    starts = [turn.start for turn in turns]
    result: list[Section] = []
    for section in sections:
        first, last = bisect_left(starts, section.start), bisect_left(starts, section.end)
        own = turns[first:last]
        if section.kind not in RUNNING or not own or fits(text[section.start : section.end], size):
            result.append(section)
        else:
            result += _cut(text, section, own, fits, size)
    return result


def _cut(
    text: str, section: Section, turns: Sequence[Turn], fits: Callable[[str, int], bool], size: int
) -> Iterator[Section]:
    start = section.start
    ends = [*(turn.start for turn in turns[1:]), section.end]
    for index, (turn, end) in enumerate(zip(turns, ends, strict=True)):
        # Hardly any tokenizer has more tokens than characters.
        if end - turn.start <= size or fits(text[turn.start : end], size):
            continue
        at = index
        while at and turns[at - 1].start >= start and fits(text[turns[at - 1].start : turn.start], size // _QUESTION):
            at -= 1
        begin = turns[at].start
        if at == 0 and fits(text[start:begin], size // _QUESTION):
            begin = start  # a heading
        if begin > start:
            yield Section(start, begin, section.heading, section.kind)
        # A letter is no name: what "A:" answers says more.
        name = turn.name
        if len(name) == 1:
            name = shortened(text[turns[index - 1].words : turn.start].strip("*_ \n")) if at < index else ""
        yield Section(begin, end, heading_path((section.heading, name)), section.kind)
        start = end
    if start < section.end:
        yield Section(start, section.end, section.heading, section.kind)


def turns_of(text: str, fences: Sequence[tuple[int, int]] = ()) -> list[Turn]:
    """Return the turns of a text, in order; none where it is no conversation.

    Names come again. With times beside them that is enough. Without, fields look alike (Name, Purpose): most turns
    must be sentences, and most paragraphs or lines turns (fewer, if names are never written small: "Root Cause" is).

    Args:
        text: The whole text.
        fences: Where code begins and ends, in order; nobody speaks in there.
    """
    if text.count("\n") < _FEWEST - 1:
        return []
    for pattern in _PATTERNS:
        turns = filter(None, map(_turn, pattern.finditer(text)))
        found = [turn for turn in turns if not is_within(fences, turn.start)]
        often = Counter(turn.name for turn in found)
        again = [turn for turn in found if often[turn.name] > 1]
        if len(again) < _FEWEST or len(again) < _MOSTLY * len(found) or len({turn.name for turn in again}) < 2:
            continue
        if pattern is not _TIMED and not _are_sentences(text, again):
            continue
        if pattern is not _CALLED or _are_enough(text, again):
            return found
    return []


@lru_cache(maxsize=128)  # each sentence of a passage asks for those of the passage
def turns_within(text: str) -> tuple[Turn, ...]:
    """Return the turns that begin in a part of a conversation, in order."""
    for pattern in _PATTERNS:
        if found := tuple(filter(None, map(_turn, pattern.finditer(text)))):
            return found
    return ()


def first_speaker(metadata: Mapping[str, Any]) -> str:
    """Return who speaks first in a chunk with these metadata; empty if it is of no conversation."""
    speaker = metadata.get("speaker")
    return speaker.strip() if isinstance(speaker, str) else ""


class Speakers:
    """Who speaks where in a text."""

    def __init__(self, turns: Sequence[Turn], sections: Sequence[Section]) -> None:
        """Take the turns of the text, and its sections: nobody's words go on below the next heading."""
        self._turns = turns
        self._starts = [turn.start for turn in turns]
        self._sections = [section.start for section in sections]

    def first(self, start: int, end: int) -> str:
        """Return who speaks first in a part of the text; empty if nobody does, or they are called by a letter."""
        if not self._turns:
            return ""
        index = bisect_right(self._starts, start)
        section = self._sections[max(bisect_right(self._sections, start) - 1, 0)]
        if index and self._starts[index - 1] >= section:
            index -= 1
        elif index == len(self._turns) or self._starts[index] >= end:
            return ""
        name = self._turns[index].name
        return name if len(name) > 1 else ""


def _turn(match: re.Match[str]) -> Turn | None:
    words = (match.groupdict().get("capitals") or match["name"]).split()
    is_name = len(words) <= _MOST_WORDS and not words[0][0].islower()
    is_name = is_name and not any(word[0].islower() and len(word) > _PARTICLE for word in words)
    is_name = is_name and (len(words) > 1 or words[0].lower() not in _NOBODY)
    return Turn(match.start(), match.end(), " ".join(words)) if is_name else None


def _are_enough(text: str, turns: Sequence[Turn]) -> bool:
    """Return whether the paragraphs of a text, or nearly all of its lines, are turns."""
    blocks = {match.end() for match in _BLOCK.finditer(text)}
    alone = sum(1 for turn in turns if _ABOVE.match(text, turn.words))  # the words are the next paragraph
    share = sum(1 for turn in turns if turn.start in blocks) / max(len(blocks) - alone, 1)
    if share >= _MOSTLY or len(turns) >= _MOSTLY * sum(1 for _ in _LINE.finditer(text)):
        return True
    often = [name for name, count in Counter(turn.name for turn in turns).items() if count >= _FEWEST]
    return share >= _OFTEN and len(often) > 1 and not any(_is_written_small(text, name) for name in often)


def _is_written_small(text: str, name: str) -> bool:
    words = "|".join(re.escape(word.lower()) for word in name.split() if word[0].isupper())
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text) is not None


def _are_sentences(text: str, turns: Sequence[Turn]) -> bool:
    tails = (text[max(turn.start - 2 * _TAIL, 0) : turn.start].rstrip()[-_TAIL:] for turn in turns[1:])
    return sum(1 for tail in tails if _SENTENCE.search(tail)) >= _MOSTLY * (len(turns) - 1)
