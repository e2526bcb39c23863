"""Passages that only list links or sources ("Related links", a table of contents, "References"), or imports of code.

They have the names that a question has, close together, and say nothing about them; what they lead to does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from core.rag.analysis import without_number
from core.rag.extraction.imports import asks_for_imports, has_only_imports
from core.rag.extraction.source_code import is_program
from core.rag.headings import headings_of
from libs.regexes import regex

#: What a list of links is worth of its score. It stays first if little else is found: of bookmarks, say.
WORTH: Final = 0.7
#: The least share of its words that are those of links, and the least number of these.
_SHARE: Final = 0.9
_LEAST: Final = 3

#: Links of Markdown (inline, or by reference), of notes, and bare addresses; in the first group what is read of one.
_LINK = regex(
    r"!?\[((?:[^\[\]]|!\[[^\[\]]*\]\([^()]*\))*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])"
    r"|\[\[([^\[\]]+)\]\]|<?https?://\S+"
)
_HEADING_OR_MARKER = regex(r"^\s*(?:#.*$|(?:[-*+]|\d+[.)])\s+)", re.MULTILINE)
_WORD = regex(r"\w+")

#: Headings of lists of what else there is to read, whose links a text may have lost, as that of a web page has.
_ELSEWHERE: Final = frozenset(
    """
see also|also see|related links|related topics|related articles|related documentation|related information
related resources|related pages|external links|further reading|siehe auch|weblinks|weiterführende links|voir aussi
liens externes|véase también|ver también|enlaces externos|vedi anche|collegamenti esterni|veja também|ver também
ligações externas|zie ook|externe links|zobacz też|zobacz także
""".strip()
    .replace("\n", "|")
    .split("|")
)
#: Headings of lists of sources, whose titles have the words of everything that the text is about.
_SOURCES: Final = regex(
    r"(?:(?:normative|informative|external|list of|cited) )?references(?: and notes)?|bibliography|works cited"
    r"|sources cited|literature(?: cited)?|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis|angaben)?"
    r"|einzelnachweise|bibliographie|références(?: bibliographiques)?|bibliografía|referencias(?: bibliográficas)?"
    r"|bibliografia|riferimenti(?: bibliografici)?|referências(?: bibliográficas)?|referenties"
)
_ITEM = regex(r"\s*(?:[-*+•]|\d+[.)]|!?\[)")
_LONGEST_ITEM = 15  # words, what it says of its link among them


def lists_sources(heading: str) -> bool:
    """Return whether a passage is in a list of sources, by the path of the headings above it."""
    return any(_SOURCES.fullmatch(without_number(part).strip(" :").casefold()) for part in headings_of(heading))


def is_link_list(text: str) -> bool:
    """Return whether a passage has nothing but links and headings, or is a list headed "See also"."""
    return _is_all_links(text) or _is_headed_as_list(text)


def _is_headed_as_list(text: str) -> bool:
    heading, _, rest = text.lstrip().partition("\n")
    if not heading.startswith("#") or heading.strip("# \t:").casefold() not in _ELSEWHERE:
        return False
    lines = [line for line in rest.split("\n") if line.strip()]
    return bool(lines) and all(
        _ITEM.match(line) and len(_WORD.findall(_LINK.sub(r"\1", line))) <= _LONGEST_ITEM for line in lines
    )


def _is_all_links(text: str) -> bool:
    if text.count("](") + text.count("][") + text.count("[[") + text.count("://") < _LEAST:  # nearly all
        return False
    body = _HEADING_OR_MARKER.sub("", text)
    links = [found[1] or found[2] or "link" for found in _LINK.finditer(body)]
    linked, others = len(_WORD.findall(" ".join(links))), len(_WORD.findall(_LINK.sub(" ", body)))
    return len(links) >= _LEAST and linked >= _SHARE * (linked + others)


def without_lists_in_front(
    scores: Mapping[str, float], texts: Mapping[str, tuple[str, str, str]], question: str
) -> dict[str, float]:
    """Return scores that are lowered for lists of links, of sources, and of imports if these are not asked for.

    Args:
        scores: Scores by passage.
        texts: The path, the headings and the text of each of those that are to be looked at.
        question: What is searched for.
    """
    of_imports = asks_for_imports(question)
    listed = {
        key
        for key, (path, heading, text) in texts.items()
        if is_link_list(text)
        or lists_sources(heading)
        or (not of_imports and is_program(path) and has_only_imports(text))
    }
    return {key: WORTH * score if key in listed else score for key, score in scores.items()}
