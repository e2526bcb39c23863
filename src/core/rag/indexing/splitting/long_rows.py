"""Rows and records longer than a chunk: each is cut by itself, and its name is the heading of all its parts.

Without that, only the first part says what it is about: all others of an article in a table (title, author, text) are
text without a title.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

from core.rag.indexing.splitting.breaks import Breaks
from core.rag.indexing.splitting.markdown import plain_title
from core.rag.indexing.splitting.packing import Table
from libs.dataloader.tables import BAR, row_cells, table_row
from libs.regexes import regex

#: What fields are called that say what a record is about.
_NAMING = """
name fullname title label subject headline question summary
titel bezeichnung betreff frage titre nom intitulé sujet título nombre asunto nome titolo oggetto naam onderwerp tytuł
nazwa название заголовок имя 名前 件名 タイトル 标题 名称 姓名 제목 이름
"""
_NAMES = frozenset(_NAMING.split())
#: What people refer to a record of a tracker by, and the last words of what such a field is called.
_CODE = regex(r"[A-Z][A-Z\d]{1,9}-\d{1,6}")
_CODES = frozenset(("key", "id", "number"))
_LONGEST_NAME = 100  # characters
_BLANK = regex(r"\s*")
_OPENING = regex(r"\s*\|")
_FIELD = regex(r"(?P<key>[^\n:]{1,100}): +(?P<value>[^\n]*)")
_INDEX = regex(r"\[\d+\]")
_WORD = regex(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")


def stretches(
    text: str, breaks: Breaks, tables: Sequence[Table], *, records: bool, fits: Callable[[str], bool]
) -> Iterator[tuple[Breaks, str]]:
    """Take apart a section at its rows or records that do not fit into a chunk.

    Args:
        text: The whole text.
        breaks: The places to cut in the section; a row or record is one atom.
        tables: The tables in it.
        records: Whether all atoms are records.
        fits: Returns whether a text fits into a chunk.

    Returns:
        Consecutive stretches, each with the name of the row or record that it is; empty for what is between those.
    """
    starts = [breaks.start, *breaks.ends[:-1]]
    spans = ((None, 0, len(starts)),) if records else (
        (table, bisect_left(starts, table.body), bisect_left(starts, table.end)) for table in tables
    )  # fmt: skip
    done = 0
    for table, first, last in spans:
        for atom in range(first, last):
            start, end = starts[atom], breaks.ends[atom]
            if fits(text[start:end]):
                continue
            begin = atom
            if table is not None and start == table.body:
                begin = max(bisect_left(starts, table.start), done)  # the header goes with its first row
            if _is_heading(text[starts[done] : starts[begin]]):
                begin = done
            if begin > done:
                yield _part(breaks, starts, done, begin), ""
            row = text[start:end]
            name = record_name(row) if table is None else _name_of(_cells(table.header, row))
            yield _part(breaks, starts, begin, atom + 1), name
            done = atom + 1
    if done < len(starts):
        yield _part(breaks, starts, done, len(starts)), ""


class Columns:
    """Finds the column at places in rows; of places in ascending order, each bar is counted once."""

    def __init__(self, text: str) -> None:
        """Prepare for a text with tables."""
        self._text = text
        self._row = self._place = self._bars = 0

    def header_from(self, header: str, start: int) -> str:
        """Return the header of a table for a chunk of its rows: if it begins within a row, only the columns from there.

        Args:
            header: The header line; may be empty.
            start: Where the chunk begins.

        Returns:
            A header line; empty if the row has no column with a name from there on.
        """
        if start < self._place or self._text.rfind("\n", self._place, start) >= 0:
            self._row = self._place = self._text.rfind("\n", 0, start) + 1
            self._bars = 0
        self._bars += sum(1 for _ in BAR.finditer(self._text, self._place, start))
        self._place = start
        if _BLANK.fullmatch(self._text, self._row, start):
            return header
        opens, begins_cell = (_OPENING.match(self._text, place) is not None for place in (self._row, start))
        names = row_cells(header)[self._bars - opens + begins_cell :]
        return table_row(name.replace("\\|", "|") for name in names) if names else ""


def record_name(text: str) -> str:
    """Return what a record is called that is written as lines, ``key: value``; empty if that is a text."""
    return _name_of(_fields(text))


def _part(breaks: Breaks, starts: Sequence[int], first: int, last: int) -> Breaks:
    return Breaks(starts[first], breaks.ends[first:last], breaks.levels[first:last], breaks.blocks)


def _is_heading(text: str) -> bool:
    return all(line.startswith("#") for line in text.split("\n") if line.strip())


def _fields(record: str) -> list[tuple[str, str]]:
    """Return the fields of a record that is written as lines, ``key: value``; the first line may be without a key."""
    lines = record.split("\n")
    found = ((match["key"], match["value"]) for match in map(_FIELD.match, lines) if match is not None)
    return [*([] if _FIELD.match(lines[0]) else [("", lines[0])]), *found]


def _cells(header: str, row: str) -> list[tuple[str, str]]:
    return list(zip(row_cells(header), row_cells(row), strict=False))


def _name_of(fields: Iterable[tuple[str, str]]) -> str:
    """Return what a record is called: by a field that names it, else its first field; empty if that is a text."""
    read = [(_INDEX.sub("", key).strip(), plain_title(value, atx=False)) for key, value in fields]
    for names in (_is_name, _begins_with_name, _has_name, _ends_with_name):
        for key, value in read:
            if names(key) and _is_short(value):
                return f"{number}: {value}" if (number := _number_of(read)) else value
    key, value = read[0] if read else ("", "")
    if not _is_short(value):
        return ""
    return value if not key or any(map(str.isalpha, value)) else f"{key}: {value}"


def _number_of(read: Iterable[tuple[str, str]]) -> str:
    """Return what people refer to a record by: ``Issue key: WEB-12``, ``number: 7``; empty if it has no such field."""
    for key, value in read:
        if key == "number" and value.isdecimal():
            return value
        if _CODE.fullmatch(value) and (words := _WORD.findall(key)) and words[-1].casefold() in _CODES:
            return value
    return ""


def _is_name(key: str) -> bool:
    return key.casefold() in _NAMES


def _begins_with_name(key: str) -> bool:
    return key.partition(".")[0].casefold() in _NAMES  # name.common


def _has_name(key: str) -> bool:
    return key.count(".") == 1 and key.rpartition(".")[2].casefold() in _NAMES  # fields.summary


def _ends_with_name(key: str) -> bool:
    words = _WORD.findall(key)
    return "." not in key and bool(words) and words[-1].casefold() in _NAMES  # product_name, companyName


def _is_short(value: str) -> bool:
    return len(value) <= _LONGEST_NAME and any(map(str.isalnum, value))
