"""Turns of conversations, interviews and plays: what somebody says that is longer than a chunk is called by their name.

Without that, only the first passage of it says who speaks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

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
#: "Ida: words", "**Ida:** words"; "HAMLET." above the words. Most lines are done with at once: they have no colon.
_CALLED: Final = regex(
    rf"^(?:(?=[^:\n]{{1,99}}:)[ \t]{{0,16}}(?:\*\*|__|_)?{_NAME}(?:\*\*|__|_)?:(?:\*\*|__|_)?(?=\s)"
    r"|(?:\A|(?<=\n\n))[ \t]{0,40}(?P<capitals>(?![IVXLC]+\b)[^\W\d_a-z][^\Wa-z]{1,19}(?:[ ][^\Wa-z]{1,19}){0,3})"
    r"[.:]?(?:[ \t]{1,4}\[[^\n\]]{1,60}\])?[ \t]{0,4}\\?$(?!\n[ \t]*$))",
    re.MULTILINE,
)
_BLOCK: Final = regex(r"(?:\A|\n[ \t]*\n)(?=[ \t]*\S)")
_LINE: Final = regex(r"^[ \t]*\S", re.MULTILINE)
_SENTENCE: Final = regex(r"[.!?…。！？][\"'”’»)\]*_]{0,4}\Z")
_MOST_WORDS: Final = 6
_PARTICLE: Final = 3  # letters of "von" and "de" in names
_FEWEST: Final = 4
_MOSTLY: Final = 0.6
_TAIL: Final = 8  # characters at the end of a turn
_QUESTION: Final = 4  # what goes with its answer is not longer than this part of a chunk


@dataclass(frozen=True, slots=True)
class _Turn:
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
    text: str,
    sections: Sequence[Section],
    fences: Sequence[tuple[int, int]],
    fits: Callable[[str, int], bool],
    size: int,
) -> list[Section]:
    """Cut sections at the turns that are longer than a chunk; the heading of these ends with who speaks.

    Short ones before it (the question) go with it.

    Args:
        text: The whole text.
        sections: Its sections, in order.
        fences: Where code begins and ends, in order; nobody speaks in there.
        fits: Returns whether a text has at most so many tokens.
        size: Tokens of a chunk.

    Returns:
        The sections, as they are where the text does not mostly consist of turns.
    """
    if len(text) <= size or not any(section.kind in RUNNING for section in sections):
        return list(sections)
    turns = _turns(text, fences)
    if not turns:
        return list(sections)
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
    text: str, section: Section, turns: Sequence[_Turn], fits: Callable[[str, int], bool], size: int
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


def _turns(text: str, fences: Sequence[tuple[int, int]]) -> list[_Turn]:
    """Return the turns of a text, in order; none where it is no conversation.

    Names come again. With times beside them that is enough. Without, fields look alike (Name, Purpose): nearly each
    paragraph, or line, must be a turn, and most turns sentences.
    """
    for pattern in (_TIMED, _CALLED):
        turns = filter(None, map(_turn, pattern.finditer(text)))
        found = [turn for turn in turns if not is_within(fences, turn.start)]
        often = Counter(turn.name for turn in found)
        again = [turn for turn in found if often[turn.name] > 1]
        if len(again) < _FEWEST or len(again) < _MOSTLY * len(found) or len({turn.name for turn in again}) < 2:
            continue
        if pattern is _TIMED or (_are_most(text, again) and _are_sentences(text, again)):
            return found
    return []


def _turn(match: re.Match[str]) -> _Turn | None:
    words = (match.groupdict().get("capitals") or match["name"]).split()
    is_name = len(words) <= _MOST_WORDS and not words[0][0].islower()
    is_name = is_name and not any(word[0].islower() and len(word) > _PARTICLE for word in words)
    return _Turn(match.start(), match.end(), " ".join(words)) if is_name else None


def _are_most(text: str, turns: Sequence[_Turn]) -> bool:
    """Return whether most paragraphs of a text are turns, or nearly all of its lines."""
    blocks = {match.end() for match in _BLOCK.finditer(text)}
    if sum(1 for turn in turns if turn.start in blocks) >= _MOSTLY * len(blocks):
        return True
    return len(turns) >= _MOSTLY * sum(1 for _ in _LINE.finditer(text))


def _are_sentences(text: str, turns: Sequence[_Turn]) -> bool:
    tails = (text[max(turn.start - 2 * _TAIL, 0) : turn.start].rstrip()[-_TAIL:] for turn in turns[1:])
    return sum(1 for tail in tails if _SENTENCE.search(tail)) >= _MOSTLY * (len(turns) - 1)
