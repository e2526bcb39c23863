"""Turns rows of Markdown tables into sentences, since a row is meaningless without the table's header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from core.rag.answering.extracts.showing import shown
from core.rag.answering.markers import is_in_block
from core.rag.extraction.words import longest_names, normalize_name, normalized_words
from libs.dataloader.tables import BAR, row_cells
from libs.regexes import regex

#: What the rule below a head is made of.
_RULE = frozenset("|-: \t")
#: Links, tags and characters by name; other markup is no part of the words.
_MARKUP = regex(r"[\[<&]")
#: What readers call a column without a name.
_NO_NAME = regex(r"column_\d+(?:_\d+)?")
_COLUMNS = regex(
    r"\b(?:what|which)(?: \w+){0,3} (?:columns?|fields?|variables?|features?|attributes?)\b"
    r"|\bwelche(?: \w+){0,2} (?:Spalten|Felder|Variablen|Merkmale)\b"
    r"|\b(?:quelles|qué|quali|quais)(?: \w+){0,2} (?:colonnes|columnas|colonne|colunas|variables)\b",
    re.IGNORECASE,
)
#: A question that names a row in order to ask for others: "Which plans cost more than Basic?"
_OTHERS = regex(r"\b(?:than|als)\b|\b(?:plus|moins|más|menos|mayor|menor)\b.{0,200}\bqu(?:e\b|['’])", re.IGNORECASE)


def asks_for_columns(question: str) -> bool:
    """Return whether a question asks what the columns of a table are: then its head is an answer."""
    return _COLUMNS.search(question) is not None


def is_head(text: str, start: int) -> bool:
    """Return whether the line around a place is the head of a table: names of columns above a rule."""
    end = text.find("\n", start)
    if end < 0 or not _line(text, start).startswith("|"):
        return False
    return _is_rule(_line(text, end + 1))


def is_row(text: str, start: int, head: str = "") -> bool:
    """Return whether the line at a place is a row of a table; the head is one, the rule below it is not.

    Args:
        text: The passage.
        start: The place.
        head: The head of the table that the passage begins within; its first line may begin within a cell.
    """
    line = _line(text, start)
    cut = bool(head) and not text[: text.rfind("\n", 0, start) + 1].strip()
    return (line.startswith("|") or cut) and BAR.search(line, 1) is not None and not _is_rule(line)


def with_head(text: str, start: int, end: int, head: str = "") -> str:
    """Return the text of a span; in a row of a table each cell has the name of its column: ``Team: Blues | Won: 1``.

    Of a row whose head is not known, the cells alone: ``Blues | 1``.

    Args:
        text: The passage.
        start: Where the row, or any sentence, begins.
        end: Where it ends.
        head: The head of the table that the passage begins within; empty if there is none.
    """
    if is_head(text, start) and not is_in_block(text, start):
        return " | ".join(filter(None, row_cells(_line(text, start))))
    above, cells = row_at(text, start, head)
    named = zip_longest(row_cells(above), cells, fillvalue="") if cells else ()
    said = (f"{name.rstrip(':')}: {cell}" if _is_name(name) else cell for name, cell in named if cell)
    return " | ".join(said) or text[start:end]


def _is_name(name: str) -> bool:
    """Return whether a cell of a head is a name that the table has itself for a column."""
    return name != "" and _NO_NAME.fullmatch(name) is None


def row_at(text: str, start: int, head: str = "") -> tuple[str, list[str]]:
    """Return the head of a table and the cells of its row at a place; none if there is no row, or it is the head."""
    if not is_row(text, start, head) or is_head(text, start) or is_in_block(text, start):
        return "", []
    return _head_above(text, start, head), row_cells(_line(text, start))


def named_cells(question: str, rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the cells of each row that a question names in full, as the row of Flow that "What is Flow?" asks for.

    Of nested names it is the longest: who asks for "Async Counter" does not name the row "Counter".

    Args:
        question: The question.
        rows: The cells of each row.

    Returns:
        The cells of each row, normalised; none if the question compares, and so asks for other rows than it names.
    """
    if _OTHERS.search(question) is not None:
        return [[] for _ in rows]
    asked = f" {' '.join(normalized_words(question))} "
    names = [list(map(cell_name, row)) for row in rows]
    named = longest_names({name for row in names for name in row if name and f" {name} " in asked})
    return [[name for name in row if name in named] for row in names]


def cell_name(cell: str) -> str:
    """Return the text of a cell, normalised."""
    return normalize_name(shown(cell) if _MARKUP.search(cell) else cell)


def _head_above(text: str, start: int, first: str) -> str:
    """Return the head of the table that a line belongs to, ``first`` if that is the text's first; empty if none."""
    lines = text[: text.rfind("\n", 0, start) + 1].splitlines()
    for place in range(len(lines) - 1, 0, -1):
        line = lines[place].strip()
        if not line.startswith("|"):
            return ""
        if _is_rule(line):
            head = lines[place - 1].strip()
            return head if head.startswith("|") else ""
    return first


def _is_rule(line: str) -> bool:
    return line.startswith("|") and "-" in line and _RULE.issuperset(line)


def _line(text: str, place: int) -> str:
    begin = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return text[begin : end if end >= 0 else len(text)].strip()
