"""Passages that only quote another one, as mails quote what they answer: the one that is quoted comes first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from core.rag.retrieval.hits import Hit
from libs.regexes import regex

#: A line of a quotation, and its marks.
_QUOTED: Final = regex(r"^[ \t]*>[^\n]*", re.MULTILINE)
_MARKS: Final = regex(r"^[ \t]*>[> \t]*", re.MULTILINE)
#: What a passage says that only quotes is a line above the quotation, "Ada wrote:", and at most so many words.
_ABOVE: Final = regex(r"^[^\n]*:[ \t]*$", re.MULTILINE)
_OWN_WORDS: Final = 3
#: It quotes another one that has this share of its runs of so many words.
_SHARE: Final = 0.8
_RUN: Final = 6


def quoting(hits: Sequence[Hit]) -> dict[str, Hit]:
    """Return for the ids of passages that only quote another one of them, that one; the first of several."""
    depths = {hit.chunk_id: len(_marks(hit)) for hit in hits if ">" in hit.content}
    if not any(depths.values()):
        return {}
    runs = [_runs(hit) for hit in hits]
    found: dict[str, Hit] = {}
    for place, hit in enumerate(hits):
        depth = depths.get(hit.chunk_id, 0)
        if not depth or not runs[place] or not _only_quotes(hit.content):
            continue
        for other_place, other in enumerate(hits):
            is_earlier = other_place < place and other.chunk_id not in found
            if other_place == place or not (is_earlier or depths.get(other.chunk_id, 0) < depth):
                continue
            if len(runs[place] & runs[other_place]) >= _SHARE * len(runs[place]):
                found[hit.chunk_id] = found.get(other.chunk_id, other)
                break
    return found


def quoted_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, of which those that others only quote come before these, with their score."""
    sources = quoting(hits)
    if not sources:
        return list(hits)
    made: dict[str, Hit] = {}
    for hit in hits:
        source = sources.get(hit.chunk_id)
        if source is not None:
            made.setdefault(source.chunk_id, replace(source, score=max(hit.score, source.score)))
        made.setdefault(hit.chunk_id, hit)
    return list(made.values())


def _marks(hit: Hit) -> str:
    return "".join(mark for found in _MARKS.findall(hit.content) for mark in found if mark == ">")


def _only_quotes(text: str) -> bool:
    return len(_ABOVE.sub("", _QUOTED.sub("", text)).split()) <= _OWN_WORDS


def _runs(hit: Hit) -> set[tuple[str, ...]]:
    words = _MARKS.sub("", hit.content).split()
    return {tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)}
