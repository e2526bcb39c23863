"""Settings in configurations: which of them a question names, by their names and by those of what they are in."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from core.rag.analysis import analyze
from core.rag.answering.extracts.called import Source
from core.rag.answering.extracts.code_spans import Span, documented
from core.rag.extraction.source_code import configuration_language, documenting
from core.rag.headings import heading_path, headings_of, last_heading
from core.rag.indexing.splitting.keys import NAMES
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

#: A line with a setting: ``image: web``, ``- name: web``, ``port = 80``, ``EXPOSE 80``, ``variable "size" {``.
_LINE = regex(
    r"^(?P<margin>[ \t]*)(?P<item>-[ \t]+)?(?:export[ \t]+)?"
    r"(?P<name>[\"']?\w[^\s:={]*(?:[^\n={]*(?=[{][ \t]*$))?|\[[^\n]*\][ \t]*$)(?P<rest>[^\n]*)",
    re.MULTILINE,
)
#: What instructions of Dockerfiles are asked for by.
_MEANINGS = {"FROM": "base image", "CMD": "command", "ENTRYPOINT": "command", "WORKDIR": "working directory"}
_LONGEST = 120


class _Named(NamedTuple):
    """The words of the question that name a setting, and those of what it is in, and the others that are told of it."""

    path: frozenset[str]
    told: frozenset[str]


def named_settings(
    places: Sequence[tuple[Source, Span]], words: Sequence[Set[str]], wanted: Set[str]
) -> list[frozenset[str]]:
    """Return what a question has of each setting that it names, and of comments on these.

    That are the words of its name, of what it is in (names above it, the file), and of what is told of it: "Which
    image does db use in shop?" has all of ``image: postgres`` below ``db:``, in ``shop/compose.yaml``. Nothing for
    those whose own name has other words, too, and where another one has more of the question in its names, or the
    heading above a text.

    Args:
        places: The sentences, each with its passage.
        words: Those of each sentence, analysed.
        wanted: The words of the question, analysed.
    """
    found = [_named(source, place, own, wanted) for (source, place), own in zip(places, words, strict=True)]
    paths = {one.path for one in found if one is not None}
    if paths:
        paths |= {heading for source, place in places if (heading := _heading(source, place)) <= wanted}
    return [
        one.path | one.told if one is not None and not any(one.path < other for other in paths) else frozenset()
        for one in found
    ]


def names_above(text: str, place: int) -> list[str]:
    """Return the names above a line that it belongs to, outermost first: by how they are indented, or its section."""
    begin = text.rfind("\n", 0, place) + 1
    line = _LINE.match(text, begin)
    if line is None:
        return []
    found: list[str] = []
    margin, item = len(line["margin"]), line["item"] is not None
    for other in reversed(list(_LINE.finditer(text, 0, begin))):
        deeper = margin - len(other["margin"])
        is_section = other["name"].startswith("[") and not any(name.startswith("[") for name in found)
        if deeper > 0 or (deeper == 0 and item and other["item"] is None) or (is_section and deeper >= 0):
            found.append((_called(other) or other["name"]).replace('"', "").strip("' \t:"))
            margin, item = len(other["margin"]), other["item"] is not None
    return found[::-1]


def where_in(hit: Hit, place: int) -> str:
    """Return what a line of a passage belongs to, outermost first: headings, and names above it; empty if nothing."""
    headings, names = [one for one in headings_of(hit.heading) if one], names_above(hit.content, place)
    same = next((size for size in range(len(names), 0, -1) if headings[-size:] == names[:size]), 0)
    path = heading_path((*headings, *names[same:]))
    return path if len(path) <= _LONGEST else last_heading(path)


def _heading(source: Source, place: Span) -> frozenset[str]:
    """Return the words of the heading above a sentence, analysed; none for source code."""
    over = "" if source.passage.hit.is_code else source.headings.over(place.start)
    return frozenset(analyze(over, source.language))


def _named(source: Source, place: Span, words: Set[str], wanted: Set[str]) -> _Named | None:
    """Return what the question has of a setting, or of that which a comment is on; ``None`` if it does not name it."""
    hit, text = source.passage.hit, source.text
    if not hit.is_code or not configuration_language(hit.path):
        return None
    begin = documented(text, place.start, documenting(hit.path)) if place.said else place.start
    if begin is None:
        return None
    first = text.rfind("\n", 0, begin) + 1
    lines = [_LINE.match(text, first)] if place.said else _LINE.finditer(text, first, place.end)
    found = [line for line in lines if line is not None]
    names = [name for line in found for name in (line["name"], _called(line), _MEANINGS.get(line["name"], "")) if name]
    own = [words for words in (_words(name, source.language) for name in names) if words and words <= wanted]
    if not own:
        return None
    above = [_words(name, source.language) for name in (*headings_of(hit.heading), *names_above(text, begin))]
    path = frozenset().union(*own, *(words for words in above if words <= wanted))
    return _Named(path, (source.names | words | frozenset(analyze(" ".join(names), source.language))) & wanted)


def _called(line: re.Match[str]) -> str:
    """Return what an item of a list is called: ``- name: web``; empty if that is not in its first line."""
    return line["rest"].lstrip(" \t:") if line["item"] and line["name"].lower() in NAMES else ""


def _words(name: str, language: str) -> frozenset[str]:
    """Return the words that a name consists of, analysed; without all of them in one, unless it is one."""
    parts = frozenset(analyze(name, language))
    whole = "".join(filter(str.isalnum, name)).lower()
    return parts - {whole} or parts
