"""Sections that a question names: "Who was present at the meeting of 15 May?", in the minutes the heading "Present".

All passages of a document share the words of its title, so among those of the document that is asked about, the rest of
the question decides: little of a BM25 score, less than what the vectors of a list of names and of a paragraph differ.
Who reads looks for the document, and then for its heading. Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import (
    date_words,
    document_numbers,
    document_words,
    heading_numbers,
    naming_terms,
    without_number,
)
from core.rag.analysis.purposes import Purpose
from core.rag.headings import headings_of
from core.rag.retrieval.ordering.fusion import raised

#: What a passage gains whose title and headings have all words of the question, as a share of the best fused score.
SECTION: Final = 0.25
#: What part of that it gains if only a heading further up is asked for, or if it is not the beginning of the section.
WITHIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Passage:
    """What is looked at of a passage.

    Attributes:
        terms: Its analysed words, joined by spaces.
        content: Its text.
        heading: Its heading path.
        title: Title of its document.
        path: Path of that.
        of: Number of passages of that; 0 if it is not known.
    """

    terms: str
    content: str
    heading: str
    title: str
    path: str = ""
    of: int = 0


def asked_sections(
    passages: Mapping[str, Passage], shares: Mapping[str, float], purpose: Purpose | None = None
) -> dict[str, float]:
    """Return how much of the question the names of each passage are, if it asks for the section.

    It does if it has all words of the innermost heading (without its number), which are not only those of the title, or
    its number or date ("§ 433 BGB", "version 2.3"). If it has those of a heading further up, or its number, or that of
    the document ("RFC 9110"), it asks for all that is within.

    Args:
        passages: The best passages by id.
        shares: The share of the question that each of its words is; see
            :func:`core.rag.retrieval.ordering.term_proximity.shares`.
        purpose: What the section is for that the question asks for, if it says that instead of its name.

    Returns:
        By id, the share of the question that title and headings have, from 0 to 1; passages with none are left out.
    """
    found: dict[str, float] = {}
    if not shares:
        return found
    above = {key: headings_of(passage.heading) for key, passage in passages.items()}
    outermost: dict[str, set[str]] = {}
    for key, passage in passages.items():
        outermost.setdefault(passage.title, set()).add(above[key][0])
    for key, passage in passages.items():
        number = shares.keys() & set(document_numbers(passage.title, passage.path))
        if not passage.heading and not number:
            continue
        parts = above[key]
        title, headings = naming_terms(passage.title, [*map(without_number, parts)], passage.content)
        numbers = [shares.keys() & {*heading_numbers(part)} for part in parts]
        dates = [document_words(passage.title, passage.path), *map(date_words, parts)]
        called = [_is_called(words, title, shares) for words in headings]
        own = called[-1] or bool(numbers[-1]) or not shares.keys().isdisjoint(dates[-1])
        over = None if purpose is None else purpose.above(parts)
        if over is not None:  # "Conclusion" is about what stands above it
            own = own or not title.union(*headings[: len(over)], *dates[: len(over) + 1]).isdisjoint(shares)
        # One that is above all passages is the name of the document, whose title may be that of its file.
        within = called[1:] if len(outermost[passage.title]) == 1 else called
        if own or any(within) or any(numbers) or number:
            named = title.union(*headings, *numbers, *dates) & shares.keys()
            found[key] = math.fsum(shares[word] for word in named) * (1.0 if own else WITHIN)
    begun = {(passages[key].path, passages[key].heading) for key in found if _begins(passages[key])}
    for key in found:
        if (passages[key].path, passages[key].heading) in begun and not _begins(passages[key]):
            found[key] *= WITHIN
    return found


def asked_first(scores: Mapping[str, float], asked: Mapping[str, float], vector_weight: float) -> dict[str, float]:
    """Return fused scores that are raised for sections that are asked for; the best one is no greater.

    Args:
        scores: The fused scores.
        asked: How much of the question the names of a passage are.
        vector_weight: The share of meaning in the scores.
    """
    return raised(scores, asked, SECTION, vector_weight)


def section_beside(passage: Passage, others: Mapping[str, Passage], purpose: Purpose) -> str:
    """Return the id of the section that is for what is asked, beside a passage or around it; empty if there is none.

    The best passage for "The gate is stuck. What can I do?" is in the section "Symptoms"; "Solution" comes after it.

    Args:
        passage: The passage.
        others: Those of its document that are near, in order.
        purpose: What is asked.
    """
    own = headings_of(passage.heading)
    if purpose.above(own) is not None:
        return ""
    over = {key: purpose.above(headings_of(other.heading)) for key, other in others.items()}
    beside = {key: len(above) for key, above in over.items() if above is not None and above == own[: len(above)]}
    return max(beside, key=lambda key: beside[key], default="")  # of several the innermost one, and its beginning


def _begins(passage: Passage) -> bool:
    """Return whether a passage is the beginning of its section: it has the heading."""
    return passage.content.lstrip().startswith("#")


def _is_called(heading: frozenset[str], title: frozenset[str], question: Collection[str]) -> bool:
    """Return whether a question has all words of a heading, which are not only those of the title."""
    return bool(heading) and heading.issubset(question) and not heading <= title
