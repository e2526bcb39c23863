"""Stretches of a document that belong together under one heading."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.rag.headings import heading_path

#: How a section that is too large is split.
Kind = Literal["prose", "markdown", "code", "table", "records"]

#: Those of running text, which is not made of rows, records or definitions.
RUNNING: Final[tuple[Kind, ...]] = ("prose", "markdown")

#: From this position on, the text is under this heading path.
Mark = tuple[int, str]

#: How deep definitions within definitions are searched.
MAX_NESTING = 16

_LONGEST_HEADING = 200  # characters; anything longer is a paragraph that looks like a heading


@dataclass(slots=True)
class Section:
    """A section of a document.

    Attributes:
        start: Where it begins.
        end: Where it ends; the next one begins there.
        heading: Heading path, outermost first; empty if there is none.
        kind: How to split it.
    """

    start: int
    end: int
    heading: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in the text.

    Attributes:
        start: Where its line begins.
        end: Where its last line ends.
        level: 1 for the outermost.
        title: Its words, without markup.
    """

    start: int
    end: int
    level: int
    title: str


def shortened(title: str) -> str:
    """Return a heading as one line of bounded length."""
    title = " ".join(title[: 4 * _LONGEST_HEADING].split())
    return title if len(title) <= _LONGEST_HEADING else title[: _LONGEST_HEADING - 1].rstrip() + "…"


def sections_of(
    text: str, headings: Sequence[Heading], title: str | None, kind: Kind, places: Sequence[int]
) -> list[Section]:
    """Cut a text before each heading.

    A heading without any text of its own goes with what follows, the last one with what stands before: alone it would
    be found in place of what it announces, and tell nothing. The title of the document is left out of the path where
    there is something else to name.

    Args:
        text: The whole text.
        headings: Those in it, in order.
        title: The title of the document.
        kind: How the sections are to be taken apart.
        places: Where a slide or sheet begins, ascending; headings go with nothing beyond.
    """
    if not text:
        return []
    name = shortened(title or "").casefold()
    sections: list[Section] = []
    path: list[Heading] = []
    start = 0
    carried = False  # whether the text from `start` on has only headings so far
    for index, heading in enumerate(headings):
        if not carried and heading.start > start:
            sections.append(Section(start, heading.start, _path_text(path, name), kind))
        if not carried:
            start = heading.start
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        following = headings[index + 1].start if index + 1 < len(headings) else len(text)
        carried = not text[heading.end : following].strip() and not _is_between(places, heading.start, following)
    if carried and sections and not _is_between(places, sections[-1].start, start):
        sections[-1].end = len(text)
    else:
        sections.append(Section(start, len(text), _path_text(path, name), kind))
    return merge_blank(text, sections)


def is_within(spans: Sequence[tuple[int, int]], place: int) -> bool:
    """Return whether a place is in one of some spans, which are in order and apart from each other."""
    at = bisect_right(spans, place, key=lambda span: span[0])
    return at > 0 and place < spans[at - 1][1]


def _is_between(places: Sequence[int], start: int, end: int) -> bool:
    """Return whether one of the places is after the start, and not after the end."""
    return bisect_right(places, end) > bisect_right(places, start)


def cut_sections(sections: Iterable[Section], places: Iterable[int]) -> list[Section]:
    """Cut sections at further places (where a slide or sheet begins)."""
    result: list[Section] = []
    waiting = iter(sorted(set(places)))
    place = next(waiting, None)
    for section in sections:
        start = section.start
        while place is not None and place < section.end:
            if place > start:
                result.append(Section(start, place, section.heading, section.kind))
                start = place
            place = next(waiting, None)
        result.append(Section(start, section.end, section.heading, section.kind))
    return result


def merge_blank(text: str, sections: Iterable[Section]) -> list[Section]:
    """Merge sections that are only whitespace with the previous section, or at the start with the next one."""
    result: list[Section] = []
    for section in sections:
        if result and text[section.start : section.end].isspace():
            result[-1].end = section.end
        elif len(result) == 1 and text[result[0].start : result[0].end].isspace():
            section.start = result[0].start
            result = [section]
        else:
            result.append(section)
    return result


def _path_text(path: Sequence[Heading], name: str) -> str:
    titles = [heading.title for heading in path]
    if len(titles) > 1 and name and titles[0].casefold() == name:
        titles = titles[1:]
    return heading_path(titles)
