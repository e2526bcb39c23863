"""The cells of the tables of HTML pages that hold data; others only arrange the page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from libs.dataloader.form_tables import field_lines, guessed_table
from libs.dataloader.html_text import HEADINGS, inline_text
from libs.dataloader.table_heads import data_table
from libs.dataloader.tables import join_symbols, joined_header, rectangular

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MAX_CELL_CHARS = 1000
_MAX_SPAN = 100
_MOST_HEADERS = 3
_NEARLY = 0.8
_NAMING_COLUMNS = 2  # lists of functions may say first what each is


def written_table(table: HtmlElement) -> str | None:
    """Return a table that holds data as Markdown; ``None`` if it only arranges the page.

    Rows of a name and a value, such as those of the boxes of Wikipedia, become lines.
    """
    own = _own_rows(table)
    labelled = any(child.tag == "th" for row in own for child in row)
    rows = _data_rows(table, own, labelled=labelled)
    if rows is None:
        return None
    if labelled:
        return field_lines(fields) if (fields := _named_rows(own)) else data_table(rows)
    return guessed_table(rows, labelled=_is_set_off(own))


def _named_rows(table_rows: list[HtmlElement]) -> list[tuple[str, str]]:
    """Return the names and values of rows of two cells, the first a header; none if the table has other rows.

    What stands over both columns, as a title or a picture does, is a name without a value.
    """
    fields: list[tuple[str, str]] = []
    pairs = 0
    for row in table_rows:
        cells = [(cell.tag, inline_text(cell)) for cell in row.iterchildren("td", "th")]
        if [tag for tag, _ in cells] == ["th", "td"]:
            name, value = cells[0][1].rstrip(": "), cells[1][1]
            fields.append((name, value) if name else (value, ""))
            pairs += 1
        elif len(cells) == 1:
            fields.append((cells[0][1], ""))
        elif cells:
            return []
    return [field for field in fields if any(field)] if pairs > 1 else []


def _is_set_off(table_rows: list[HtmlElement]) -> bool:
    """Return whether the first cell of each row is in bold letters, and no other one is."""
    for row in table_rows:
        first, *others = list(row.iterchildren("td"))[:2] or [row]
        if not _is_bold(first) or any(map(_is_bold, others)):
            return False
    return True


def _is_bold(cell: HtmlElement) -> bool:
    text = inline_text(cell)
    return text != "" and any(inline_text(node).strip(" :") == text.strip(" :") for node in cell.iter("b", "strong"))


def _data_rows(table: HtmlElement, own: list[HtmlElement], *, labelled: bool) -> list[list[str]] | None:
    """Return the cells of a table that holds data; ``None`` if the table only arranges the page."""
    if table.get("role") in ("presentation", "none"):
        return None
    if not labelled and any(node is not table for node in table.iter("table", "pre", *HEADINGS)):
        return None
    rows = join_symbols(_with_one_header(own, _grid(own)))
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    if any(len(cell) > _MAX_CELL_CHARS for row in rows for cell in row) and not (
        labelled and all(node is table for node in table.iter("table"))
    ):
        return None
    return [[""] * len(rows[0]), *rows] if not labelled and _begins_with_data(own) else rows


def _begins_with_data(table_rows: list[HtmlElement]) -> bool:
    """Return whether the first row of a table without header cells is one like the others, as in lists of functions.

    One of its first cells is a link or code, as those below nearly all are: no name of a column is, if the rest is.
    Where all cells of the first row alone are links, these sort the others.
    """
    linked = [all(next(cell.iter("a"), None) is not None for cell in row.iterchildren("td")) for row in table_rows]
    if linked[0] and not any(linked[1:]):
        return False
    for column in range(_NAMING_COLUMNS):
        cells = [next(islice(row.iterchildren("td"), column, None), None) for row in table_rows]
        marked = [cell is not None and next(cell.iter("a", "code"), None) is not None for cell in cells]
        if marked[0] and sum(marked) > _NEARLY * len(marked):
            return True
    return False


def _own_rows(table: HtmlElement) -> list[HtmlElement]:
    """Return the rows of a table without those of tables in its cells."""
    rows: list[HtmlElement] = []
    for part in table:
        if part.tag == "tr":
            rows.append(part)
        elif part.tag in ("thead", "tbody", "tfoot"):
            rows += part.findall("tr")
    return rows


def _grid(table_rows: list[HtmlElement]) -> list[list[str]]:
    """Return cells by row and column; a cell that spans rows is repeated in each, one that spans columns is not."""
    rows: list[list[str]] = []
    waiting: dict[int, tuple[int, str]] = {}  # column: rows left, text
    for tr in table_rows:
        row: list[str] = []

        def fill(row: list[str] = row) -> None:
            while (spanned := waiting.get(len(row))) is not None:
                left, text = spanned
                if left == 1:
                    del waiting[len(row)]
                else:
                    waiting[len(row)] = (left - 1, text)
                row.append(text)

        for cell in tr.iterchildren("td", "th"):
            fill()
            text = inline_text(cell)
            down = _span(cell, "rowspan")
            for offset in range(_span(cell, "colspan")):
                if down > 1:
                    waiting[len(row)] = (down - 1, text if offset == 0 else "")
                row.append(text if offset == 0 else "")
        fill()
        rows.append(row)
    return rectangular(rows)


def _with_one_header(table_rows: list[HtmlElement], rows: list[list[str]]) -> list[list[str]]:
    """Return rows with those of the header joined where the first ones name groups of columns."""
    count = next((n for n, tr in enumerate(table_rows) if any(cell.tag == "td" for cell in tr)), len(table_rows))
    if not 2 <= count <= _MOST_HEADERS or len(rows) <= count:
        return rows
    header = [list(row) for row in rows[:count]]
    for tr, row in zip(table_rows[:count], header, strict=True):
        place = 0
        for cell in tr.iterchildren("td", "th"):
            text, width = inline_text(cell), _span(cell, "colspan")
            if 1 < len(row) <= width:
                return rows  # a title of the table, or of the rows below
            while place < len(row) and row[place] != text:
                place += 1  # what a cell above takes
            row[place : place + width] = [text] * len(row[place : place + width])
            place += width
    return [joined_header(header), *rows[count:]]


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdecimal() and len(value) < 6 else 1
