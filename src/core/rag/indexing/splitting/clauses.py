"""Numbered clauses of contracts and terms, whose headings run into their text: "2.1 Term. This Agreement shall …"."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from core.rag.indexing.splitting.divisions import divisions
from core.rag.indexing.splitting.sections import Heading, shortened
from libs.regexes import regex

_WORDS: Final = "section|sec|article|clause|paragraph|artikel|abschnitt|ziffer|art[íi]culo"
#: A line that begins with a number: "2.", "2.1", "2.1.3.", "Section 4.", "§ 4.1"; the text may begin below it.
_LINE: Final = regex(
    rf"^[ \t]{{0,16}}(?P<name>(?:(?P<word>§|(?:{_WORDS})\b\.?)[ \t]{{0,2}})?"
    r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}))(?P<dot>\.?)(?![\w.,%)])"
    r"(?:[ \t]{0,8}|(?<=\.)[ \t]{0,8}\n[ \t]{0,8}\n?[ \t]{0,8})(?=[^\W\d_]|[\"'“‘«(\[–—-])",
    re.MULTILINE | re.IGNORECASE,
)
#: A title that runs into the text: some words, a full stop, and the beginning of a sentence.
_RUN_IN: Final = regex(
    r"[\s–—-]{0,4}(?P<title>[\"“]?[^\W\d_a-z][^.:;!?\n]{1,70}?)(?:\.|:|[ ][–—-](?=[ ]))[ \t]+(?=[^\W\d_a-z]|[\"'“‘(])"
)
_MOST_WORDS: Final = 8
_LONGEST_TITLE: Final = 80  # characters of a line that is a title
_SENTENCE: Final = regex(r"[.,;:!?…][\"'”’)\]]*\Z")
_GOES_ON: Final = regex(r"[\w,–-]\Z")  # the end of a line within a paragraph …
_SHORT: Final = 40  # … or of a title: what is shorter may be one
_ABOVE: Final = 400  # characters of a line above that are looked at
_FEWEST: Final = 4
_MOST_STEP: Final = 3  # some may be missing …
_MOST_WITHOUT: Final = 10  # … or have no clauses of their own
_FIRST: Final = 2  # the first of those within may be missing, too
#: Characters that a clause has, in the middle. What is shorter is a list, a table, or one of contents.
_OWN: Final = 120
_OWN_IN_LISTS: Final = 480  # with numbers like 3 only


@dataclass(frozen=True, slots=True)
class _Clause:
    """A line that may begin a clause.

    Attributes:
        heading: The heading; without a level yet.
        number: Its number.
        is_set_off: Whether a word or a full stop sets the number off.
    """

    heading: Heading
    number: tuple[int, ...]
    is_set_off: bool


def numbered_headings(text: str) -> list[Heading]:
    """Return the numbered parts of a text without markup (ARTICLE IV), and the clauses within (4.1)."""
    parts, within = divisions(text), clauses(text)
    begun = {heading.start for heading in within}
    parts = [heading for heading in parts if heading.start not in begun]
    if parts and within:
        above = max(heading.level for heading in parts)
        within = [Heading(clause.start, clause.end, clause.level + above, clause.title) for clause in within]
    return sorted(parts + within, key=attrgetter("start"))


def with_clauses(text: str, headings: Sequence[Heading], fences: Sequence[tuple[int, int]]) -> Sequence[Heading]:
    """Return the headings of a Markdown text and, below each, its clauses that have no markup: "2.1 Term. …".

    Args:
        text: The text.
        headings: Those with markup, in order.
        fences: Where code begins and ends, in order; no clause is in there.
    """
    taken = sorted([(heading.start, heading.end) for heading in headings] + [*fences])
    starts = [start for start, _ in taken]
    found = clauses(text, deep_only=True)
    free = [x for x in found if not (at := bisect_right(starts, x.start)) or taken[at - 1][1] <= x.start]
    above = max((heading.level for heading in headings), default=0)
    below = [Heading(clause.start, clause.end, clause.level + above, clause.title) for clause in free]
    return sorted([*headings, *below], key=attrgetter("start")) if below else headings


def clauses(text: str, *, deep_only: bool = False) -> list[Heading]:
    """Return the beginnings of the clauses of a text, each with its number and, if it has one, its title.

    Numbers must count up as those of clauses do (1, 1.1, 1.2, 2, 2.1). There are none in a text where what is numbered
    is short: lists, tables, measurements. A heading ends where the text of its clause begins.

    Args:
        text: The text.
        deep_only: Whether to look at numbers with several parts only.
    """
    found = list(_found(text, 2 if deep_only else 1))
    deep = [clause for clause in found if len(clause.number) > 1]
    if kept := [clause for run in _runs(deep) if _are_clauses(text, run, _OWN) for clause in run]:
        return _with_levels(kept if deep_only else _with_tops(found, kept))
    single = [clause for clause in found if len(clause.number) == 1 and clause.is_set_off]
    ends = [*(clause.heading.start for clause in single[1:]), len(text)]
    single = [x for x, end in zip(single, ends, strict=False) if end - x.heading.end >= _LONGEST_TITLE]  # no contents
    return _with_levels([clause for run in _runs(single) if _are_clauses(text, run, _OWN_IN_LISTS) for clause in run])


def _are_clauses(text: str, run: Sequence[_Clause], least: int) -> bool:
    return len(run) >= _FEWEST and _own(text, run) >= least


def _own(text: str, run: Sequence[_Clause]) -> int:
    """Return how many characters a clause has: that in the middle, by length."""
    ends = [*(clause.heading.start for clause in run[1:]), len(text)]
    return sorted(end - clause.heading.start for clause, end in zip(run, ends, strict=True))[len(run) // 2]


def _found(text: str, parts: int) -> Iterator[_Clause]:
    for match in _LINE.finditer(text):
        number = tuple(map(int, match["number"].split(".")))
        if len(number) < parts or _is_within_paragraph(text, match.start()):
            continue
        if match["word"] and not match["dot"] and text[match.end()].islower():  # "Section 6 states the terms"
            continue
        end, title = _title(text, match.end())
        name = match["name"] + (match["dot"] if title else "")
        heading = Heading(match.start(), end, 1, shortened(f"{name} {title}"))
        yield _Clause(heading, number, bool(match["dot"] or match["word"]))


def _is_within_paragraph(text: str, start: int) -> bool:
    above = text[max(start - _ABOVE, 0) : max(start - 1, 0)].rpartition("\n")[2].strip()
    return len(above) > _SHORT and _GOES_ON.search(above) is not None


def _title(text: str, start: int) -> tuple[int, str]:
    """Return where the title at a place ends, and the title; it is empty if there is none."""
    run_in = _RUN_IN.match(text, start)
    if run_in and len(run_in["title"].split()) <= _MOST_WORDS:
        return run_in.end(), run_in["title"]
    stop = text.find("\n", start, start + _LONGEST_TITLE + 1)
    if stop < 0:
        return start, ""
    line = text[start:stop].strip()
    is_sentence = _SENTENCE.search(line) is not None
    below = text[stop + 1 : stop + 2 + _LONGEST_TITLE].split("\n", 1)[0].strip()
    if not below:
        is_title = not is_sentence or len(line.split()) <= _MOST_WORDS
    else:  # a title or the first line of a paragraph
        is_title = not is_sentence and len(line) <= _SHORT and below[:1].isupper() and line.isupper() >= below.isupper()
    return (stop + 1, line.rstrip(".:")) if is_title else (start, "")


def _runs(found: Sequence[_Clause]) -> list[list[_Clause]]:
    """Return the clauses whose numbers count up, in runs that begin anew with a 1 (or 0)."""
    runs = [list(found[:1])]
    for clause in found[1:]:
        if _follows(runs[-1][-1].number, clause.number):
            runs[-1].append(clause)
        elif len(runs[-1]) == 1:
            runs[-1] = [clause]
        elif all(part <= 1 for part in clause.number):
            runs.append([clause])
    return runs


def _follows(before: tuple[int, ...], number: tuple[int, ...]) -> bool:
    """Return whether a number may come after another one; some may be missing.

    Example:
        >>> _follows((1, 2), (1, 3)), _follows((1, 2), (2, 1)), _follows((1, 2), (1, 2, 1)), _follows((1, 2), (7, 5))
        (True, True, True, False)
    """
    shared = 0
    while shared < min(len(before), len(number)) and before[shared] == number[shared]:
        shared += 1
    if shared == len(number):
        return False
    step = number[shared] - (before[shared] if shared < len(before) else 0)
    most = _MOST_WITHOUT if shared == 0 and len(number) > 1 else _MOST_STEP
    return 1 <= step <= most and all(part <= _FIRST for part in number[shared + 1 :])


def _with_tops(found: Sequence[_Clause], deep: Sequence[_Clause]) -> list[_Clause]:
    """Return clauses with those that they are in, and those without any within: "2. TERM" before 2.1."""
    kept: list[_Clause] = []
    at, top = 0, 0
    for clause in found:
        first = clause.number[0]
        following = deep[at].number[0] if at < len(deep) else 0
        if at < len(deep) and clause is deep[at]:
            kept.append(clause)
            at, top = at + 1, first
        elif len(clause.number) > 1 or not top < first <= top + _MOST_STEP:
            continue
        elif first == following or (clause.is_set_off and (not following or first < following)):
            kept.append(clause)
            top = first
    return kept


def _with_levels(kept: Sequence[_Clause]) -> list[Heading]:
    """Return headings with levels: a clause is within the last one whose number its own begins with."""
    headings: list[Heading] = []
    above: list[tuple[int, ...]] = []
    for clause in kept:
        while above and above[-1] != clause.number[: len(above[-1])]:
            above.pop()
        if above and above[-1] == clause.number:
            above.pop()
        above.append(clause.number)
        headings.append(Heading(clause.heading.start, clause.heading.end, len(above), clause.heading.title))
    return headings
