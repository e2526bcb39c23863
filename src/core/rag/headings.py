"""Titles, and heading paths: the headings above a passage in one line, outermost first."""

from __future__ import annotations

from collections.abc import Iterable

from libs.regexes import regex

HEADING_SEPARATOR = " > "
#: The title of a page of a manual: its name, and what it is for.
_OF_MANUAL = regex(r"(\S+\([1-9]\w{0,4}\)) - .*")
#: What a title has to tell it from others: "Ebb (1931 film)".
_DISTINGUISHES = regex(r" \([^()]*\)\Z")


def heading_path(parts: Iterable[str]) -> str:
    """Headings as one line; empty ones are left out."""
    return HEADING_SEPARATOR.join(part for part in parts if part)


def headings_of(path: str) -> list[str]:
    """Return the headings of a path, outermost first; one that is empty for an empty path."""
    return path.split(HEADING_SEPARATOR)


def last_heading(path: str) -> str:
    """Return the innermost heading of a path; empty for an empty one."""
    return path.rpartition(HEADING_SEPARATOR)[2]


def without_distinction(title: str) -> str:
    """Return a title without what tells it from others: ``Ebb`` for ``Ebb (1931 film)``."""
    return _DISTINGUISHES.sub("", without_purpose(title))


def without_purpose(title: str) -> str:
    """Return the title of a page of a manual without what it is for; other titles as they are.

    Example:
        >>> without_purpose("mkdir(2) - create a directory"), without_purpose("Mills - a history")
        ('mkdir(2)', 'Mills - a history')
    """
    found = _OF_MANUAL.fullmatch(title)
    return title if found is None else found[1]
