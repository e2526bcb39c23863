"""The subject of a passage whose document has no telling title: its section's heading, or the name it begins with."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from core.rag.extraction.mentions import titles_of
from core.rag.extraction.words import normalized_words
from core.rag.headings import heading_path, last_heading

#: Number of characters of the beginning of a document that are considered.
OPENING_CHARS: Final = 120

_ARTICLES: Final = frozenset({"the", "a", "an"})


def section(document: str, heading: str) -> str:
    """Return a name for the section of a document; the document itself if there is no heading."""
    return f"{document}#{heading}" if heading else document


def place_name(title: str, heading: str) -> str:
    """Return the title of a document and one of its headings in a readable form."""
    same = heading.casefold() == title.casefold()
    return heading_path((title, "" if same else heading))


def subjects_among(names: Collection[str], heading: str, opening: str) -> list[str]:
    """Return those names in a passage that it is about.

    Args:
        names: Normalised names that it mentions.
        heading: Its heading path; the last part says what it is about.
        opening: The beginning of its document; empty if it is not the first passage.
    """
    if heading:
        return [name for name in _names_of(heading) if name in names]
    if not opening:
        return []
    begins = _first_words(opening)
    begun = [name for name in names if begins.startswith(f"{name} ")]
    return [max(begun, key=len)] if begun else []


@lru_cache(10_000)
def _names_of(heading: str) -> list[str]:
    return [title.name for title in titles_of(last_heading(heading), "")]


@lru_cache(10_000)
def _first_words(opening: str) -> str:
    words = normalized_words(opening)
    if words and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join([*words, ""])
