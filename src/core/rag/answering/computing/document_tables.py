"""The tables in the text of a document, as records: readers write all of them in Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.rag.answering.extracts.showing import shown
from core.rag.extraction.totals import is_called_total, total_rows
from core.rag.indexing.splitting.markdown import outline
from core.rag.indexing.splitting.sections import Heading, is_within
from core.rag.retrieval.hits import Hit
from libs.dataloader.formats.rows import column_names
from libs.dataloader.tables import row_cells
from libs.regexes import regex

_TABLE: Final = regex(
    r"^[ \t]*(?P<head>\|[^\n]*)\n[ \t]*\|[ \t]*:?-[-:| \t]*\n(?P<rows>(?:[ \t]*\|[^\n]*(?:\n|\Z))+)", re.MULTILINE
)
_HEAD: Final = regex(r"^[ \t]*(\|[^\n]*)\n[ \t]*\|[ \t]*:?-[-:| \t]*$", re.MULTILINE)
#: The line above a table that names it: short, and no sentence.
_CAPTION: Final = regex(r"(?:\A|\n)[ \t]*(?![|#>]|[-*+][ \t]|\d+[.)][ \t])([^\n]{1,100}?)[ \t]*\n[ \t]*\n?\Z")
_NUMBERED: Final = regex(r"(?:table|tab\.|tabelle|tableau|tabla)[ \t]*[\w.]{0,5}[.:\u2013-][ \t]*", re.IGNORECASE)
_MARKUP: Final = regex(r"[\[\]<>&*_`\\~]")
_ABOVE: Final = 200


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table.

    Attributes:
        head: The names of its columns.
        rows: Its rows as they are written.
        headings: Those above it, outermost first.
        caption: The line above it, if that names it; may be empty.
        start: Where it begins in the text.
        end: Where it ends.
    """

    head: list[str]
    rows: list[str]
    headings: tuple[str, ...]
    caption: str
    start: int
    end: int

    @property
    def nearest(self) -> tuple[str, ...]:
        """What names it, and nothing else: its caption, and the last heading above it."""
        return tuple(filter(None, (self.caption, *self.headings[-1:])))


def heads(hit: Hit) -> Iterator[list[str]]:
    """Yield the names of the columns of each table that a passage shows rows of."""
    if hit.table_header:
        yield _cells(hit.table_header)
    for match in _HEAD.finditer(hit.content):
        yield _cells(match[1])


def tables_in(text: str) -> Iterator[DocumentTable]:
    """Yield the tables in the text of a document, in order.

    What code printed, as notebooks have it, is left out: of most data it is the first rows, or sums of them.
    """
    structure = outline(text)
    headings: list[Heading] = []
    waiting = structure.headings[::-1]
    for match in _TABLE.finditer(text):
        while waiting and waiting[-1].start < match.start():
            heading = waiting.pop()
            headings = [*(one for one in headings if one.level < heading.level), heading]
        if is_within(structure.fences, match.start()) or _is_right_behind(structure.fences, text, match.start()):
            continue
        caption = _CAPTION.search(text, max(0, match.start() - _ABOVE), match.start())
        named = _NUMBERED.sub("", _plain(caption[1])).strip(": ") if caption else ""
        is_name = not (named.endswith((".", "!", "?")) or ". " in named)
        head = _cells(match["head"])
        yield DocumentTable(
            head,
            match["rows"].splitlines(),
            tuple(heading.title for heading in headings if heading.title),
            named if is_name else "",
            match.start(),
            match.end(),
        )


def records_of(table: DocumentTable) -> list[dict[str, str]]:
    """Return the rows of a table, each by column, without empty cells, rows of totals, and those that name a group.

    There are none if a row is called a total, and it is not clear what it adds up.
    """
    columns = column_names(table.head, len(table.head))
    rows = [dict(zip(columns, _cells(line), strict=False)) for line in table.rows]
    full = [{name: cell for name, cell in row.items() if cell} for row in rows]
    # A row with one cell names those below it.
    records = [row for row in full if len(row) > 1 or len(row) == len(columns)]
    totals = total_rows(records.__getitem__, range(len(records)))
    others = [row for number, row in enumerate(records) if number not in totals]
    return others if not any(map(is_called_total, others)) else []


def _is_right_behind(spans: Sequence[tuple[int, int]], text: str, place: int) -> bool:
    """Return whether nothing stands between one of some spans, which are in order, and a place."""
    before = bisect_right(spans, place, key=lambda span: span[1])
    return before > 0 and not text[spans[before - 1][1] : place].strip()


def _cells(line: str) -> list[str]:
    return [_plain(cell) for cell in row_cells(line)]


def _plain(text: str) -> str:
    return shown(text).replace("\\|", "|").replace("`", "").strip("*_ ") if _MARKUP.search(text) else text
