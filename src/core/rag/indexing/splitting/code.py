"""Cuts source code before its definitions.

Languages with a tree-sitter grammar are parsed; for others the definitions are guessed. Those of YAML are its
keys, those of INI and TOML their sections.
"""

from __future__ import annotations

import re

from core.rag.headings import HEADING_SEPARATOR
from core.rag.indexing.splitting.definitions import DefinitionFinder
from core.rag.indexing.splitting.guessing import guessed_marks
from core.rag.indexing.splitting.keys import section_marks, yaml_marks
from core.rag.indexing.splitting.sections import Mark, Section, merge_blank
from core.rag.indexing.splitting.syntax import parse
from core.rag.indexing.splitting.tokens import TokenCounter
from libs.regexes import regex

_LONGEST_LINE = 400
_WITH_WORDS = regex(r"^.*\w", re.MULTILINE)
_TRIFLE = regex(r"(?:\W|_|\bend\b)*")


def code_sections(text: str, language: str, counter: TokenCounter, size: int) -> list[Section]:
    """Cut source code before each definition.

    A definition that fits into a chunk is one section; a larger one that contains definitions is cut into these.
    Comments and decorators directly above are included. What is between definitions is a section of its own.

    Args:
        text: The code, as something that can be encoded.
        language: Its language; without a grammar for it, definitions are guessed by line.
        counter: Counts tokens.
        size: Maximum number of tokens per chunk.
    """
    if not text:
        return []
    if language == "yaml":
        return _between_marks(text, list(yaml_marks(text, counter, size)))
    if language in ("ini", "toml"):
        return _between_marks(text, list(section_marks(text, counter, size)))
    parsed = parse(text, language)
    if parsed is None:
        marks = list(guessed_marks(text, language, counter, size, 0, len(text)))
    else:
        source, grammar, tree = parsed
        marks = list(DefinitionFinder(text, source, grammar, counter, size).marks(tree))
    return _between_marks(text, marks)


def _between_marks(text: str, marks: list[Mark]) -> list[Section]:
    """Cut a text at marks; closing brackets stay with what they close, the line of a namespace with what it opens."""
    sections: list[Section] = []
    start, heading = 0, ""
    for place, following in [*marks, (len(text), "")]:
        if place > start:
            if heading and following.startswith(heading + HEADING_SEPARATOR) and _is_one_line(text, start, place):
                pass  # `namespace x {` belongs to what it opens
            elif sections and _TRIFLE.fullmatch(text, start, place) is not None:
                sections[-1].end = start = place  # closing brackets belong to what they close
            elif sections and sections[-1].heading == heading == "":
                sections[-1].end = start = place
            else:
                sections.append(Section(start, place, heading, "code"))
                start = place
        heading = following
    return merge_blank(text, sections)


def _is_one_line(text: str, start: int, end: int) -> bool:
    return end - start < _LONGEST_LINE and len(_WITH_WORDS.findall(text[start:end])) <= 1
