"""Finds what a sentence announces: the list or the table below "The steps are:"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.rag.answering.extracts.table_rows import is_head, is_row
from core.rag.answering.markers import is_in_block
from core.rag.indexing.splitting.sentences import sentence_spans
from libs.regexes import regex

#: The end of a sentence that announces something, with what closes its emphasis.
_ANNOUNCES = regex(r"(?:(?<!:)[:：]|…|\.\.\.)[*_]{0,3}\Z")
#: What a sentence has that is about the code or the list right behind it, also without a colon.
FOLLOWING = regex(
    r"\b(?:following|below|folgende[nrms]?|suivant(?:es?|s)?|siguientes?|seguent[ei]|seguintes?|следующ\w+)\b"
    r"|次の|以下|如下|下面",
    re.IGNORECASE,
)
_SO_NEAR = 80
_STOPS = ".!?;,。！？"
_ITEM = regex(r"([ \t]*)(?:[-*+•·‣▪]|(\d{1,3}[.)]))[ \t]+(?=\S)")
#: What may come between: nothing, or a tag alone, as Markdown has around a list that is shown in columns.
_BETWEEN = regex(r"\s*(?:<[^<>\n]*>\s*)?")
#: A paragraph below a line (group 1): no item, row, heading, block of code, quotation, rule, image or tag.
_PARAGRAPH = regex(
    r"[ \t]*\n\s*(?![-*+•·‣▪][ \t]|\d{1,3}[.)][ \t]|[|<>]|#{1,6}[ \t]|`{3}|[-*_=]{3}|!\[)"
    r"(\S.*?)[ \t]*(?=\n[ \t]*\n|\Z)",
    re.DOTALL,
)
#: A line of code.
_CODE = regex(r"(`+)[^`\n]+\1[ \t]*$", re.MULTILINE)
#: Of a list as far as it is looked at for one of them.
_MOST_ITEMS = 100


class Item(NamedTuple):
    """An item of a list, or a row of a table.

    Attributes:
        number: As a numbered list has it ("2."); else empty.
        start: Where its text begins.
        end: Where its first paragraph, or the row, ends.
    """

    number: str
    start: int
    end: int


def announces(text: str, end: int) -> bool:
    """Return whether the sentence that ends at a place announces what comes next; code announces nothing."""
    return _ANNOUNCES.search(text, max(0, end - 6), end) is not None and not is_in_block(text, end)


def items_behind(text: str, end: int, most: int, *, headed: bool = False) -> list[Item]:
    """Return the items of the list or the rows of the table that a sentence announces; none if it announces neither.

    Items of lists within a list are not among them, nor is the head of a table.

    Args:
        text: The passage.
        end: Where the sentence ends.
        most: Where to stop.
        headed: Whether it is the end of the line above the list of a heading, which announces it, too.
    """
    is_announced = headed or announces(text, end) or _announces_following(text, end) or _is_topic(text, end)
    lines = _lines_below(text, end) if is_announced else iter(())
    first = next((line for line in lines if not _BETWEEN.fullmatch(text, *line)), None)
    if first is None:
        return []
    if text[slice(*first)].lstrip().startswith("|"):
        return list(_rows(text, first, lines, most))
    return _items(text, first, lines, most)


def items_within(text: str, start: int, end: int, most: int) -> list[Item]:
    """Return the items of the list of an item of a list ("Windows:", "Volunteers"); of a row of a table, none."""
    items = items_behind(text, end, most) if announces(text, end) or _is_topic(text, end) else []
    return items if items and _column(text, items[0].start) > _column(text, start) else []


def _column(text: str, place: int) -> int:
    return place - text.rfind("\n", 0, place)


def lead_in(text: str, start: int) -> tuple[int, int] | None:
    """Return the place of the sentence that announces the list of the item at a place; ``None`` for other places."""
    line = text.rfind("\n", 0, start) + 1
    item = _ITEM.match(text, line)
    if item is None or item.end() != start:
        return None
    announcing = [span for span in sentence_spans(text[:line], titles=True) if announces(text, span[1])]
    if announcing and any(item.start == start for item in items_behind(text, announcing[-1][1], _MOST_ITEMS)):
        return announcing[-1]
    return None


def sentence_below(text: str, end: int) -> tuple[int, int] | None:
    """Return the place of the sentence that begins the paragraph below one that ends at a place and announces it.

    ``None`` if that announces nothing, or something else: a list, a table, a block of code, a quotation, a heading.
    """
    below = _PARAGRAPH.match(text, end) if announces(text, end) else None
    if below is None:
        return None
    spans = sentence_spans(below[1], titles=True)
    code = _CODE.match(text, below.start(1), below.end(1))  # whatever marks it has
    if code is not None or not spans:  # a line of signs has no words
        return code.span() if code is not None else None
    return below.start(1) + spans[0][0], below.start(1) + spans[0][1]


def sentence_above(text: str, start: int) -> tuple[int, int] | None:
    """Return the place of the sentence that announces the one that begins at a place; ``None`` if none does."""
    above = text[:start].rstrip()
    below = sentence_below(text, len(above))
    if below is None or below[0] != start:
        return None
    first = above.rfind("\n\n") + 1
    spans = sentence_spans(above[first:], titles=True)
    return (first + spans[-1][0], first + spans[-1][1]) if spans else None


def _announces_following(text: str, end: int) -> bool:
    """Return whether the line that ends at a place speaks of what follows, which may be a list: "Do the following."."""
    begin = max(text.rfind("\n", 0, end) + 1, end - _SO_NEAR)
    return FOLLOWING.search(text, begin, end) is not None and not is_in_block(text, end)


def _is_topic(text: str, end: int) -> bool:
    """Return whether what ends at a place is an item that is no sentence, above its own list, as in minutes."""
    stop = text.find("\n", end)
    if stop < 0 or text[end - 1] in _STOPS or is_in_block(text, end):
        return False
    item, inner = _ITEM.match(text, text.rfind("\n", 0, end) + 1), _ITEM.match(text, stop + 1)
    return item is not None and inner is not None and len(inner[1].expandtabs()) > len(item[1].expandtabs()) + 1


def _lines_below(text: str, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines below the line of a place; none if the line goes on after the place."""
    stop = text.find("\n", end)
    if stop < 0 or text[end:stop].strip():
        return
    while stop + 1 < len(text):
        start = stop + 1
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        yield start, stop


def _rows(text: str, first: tuple[int, int], lines: Iterator[tuple[int, int]], most: int) -> Iterator[Item]:
    line: tuple[int, int] | None = first
    while line is not None and text[slice(*line)].lstrip().startswith("|") and most:
        if is_row(text, line[0]) and not is_head(text, line[0]):
            yield Item("", *line)
            most -= 1
        line = next(lines, None)


def _items(text: str, first: tuple[int, int], lines: Iterator[tuple[int, int]], most: int) -> list[Item]:
    begin = _ITEM.match(text, *first)
    if begin is None:
        return []
    indent = len(begin[1].expandtabs())
    items = [Item(begin[2] or "", begin.end(), first[1])]
    goes_on = True
    blank = False
    for start, stop in lines:
        item = _ITEM.match(text, start, stop)
        line = text[start:stop].expandtabs()
        own = len(line) - len(line.lstrip())
        deeper = own > indent + 1
        if not line.strip():
            blank, goes_on = True, False
            continue
        if own < indent - 1:  # of the list around it
            break
        if item is not None and not deeper:
            if len(items) == most:
                break
            items.append(Item(item[2] or "", item.end(), stop))
            goes_on = True
        elif blank and not deeper:
            break
        elif item is not None or line.lstrip().startswith("```"):
            goes_on = False
        elif goes_on:
            items[-1] = items[-1]._replace(end=stop)
        blank = False
    return items
