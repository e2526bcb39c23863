"""Dumps of databases in SQL: each table below its name, as it was created and with its rows, which are records."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from libs.dataloader.formats.base import Content, TextBuilder, fenced
from libs.dataloader.formats.rows import Records, column_names, is_wide, write_table
from libs.regexes import regex

_NAME = r'(?:[`"\[]?[\w$]{1,64}[`"\]]?\.)?[`"\[]?([\w$]+(?: [\w$]+){0,8})[`"\]]?'
#: Where rows begin: behind ``VALUES``, or, as PostgreSQL writes them, in the next line, one each, with tabs.
_ROWS = regex(
    rf"^[ \t]*(?:INSERT\s+(?:IGNORE\s+)?INTO|(COPY))\s+{_NAME}\s*(?:\(([^()]{{0,4000}})\)\s*)?"
    r"(?:VALUES\s*(?=\()|FROM\s+stdin\b[^;\n]{0,100};\n)",
    re.MULTILINE | re.IGNORECASE,
)
_CREATE = regex(rf"^[ \t]*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s*\(", re.MULTILINE | re.IGNORECASE)
_COLUMN = regex(r'(?:\A|,)\s*[`"\[]?([^\W\d]\w*)[`"\]]?\s+\w')
_NO_COLUMN = regex(r"CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|KEY|INDEX|CHECK|FULLTEXT", re.IGNORECASE)
_BARE = r"([^\s,()';]+(?:\([^()]{0,1000}\))?)|(\(|\)|,)"
#: A value or sign: in standard SQL, and where a backslash escapes.
_STANDARD = regex(rf"\s*(?:[NEXB]?'((?:[^']|'')*+)'(?:::[\w ]{{1,50}})?|{_BARE})", re.IGNORECASE)
_ESCAPING = regex(rf"\s*(?:[NEXB]?'((?:[^'\\]|''|\\.)*+)'|{_BARE})", re.IGNORECASE | re.DOTALL)
_ESCAPED = regex(r"\\(.)|''", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "", "0": "", "Z": ""}
_FEWEST = 10  # rows
_MOST_TABLES = 2_000
_LONGEST = 20_000  # characters, of a statement that creates a table
_MOSTLY = 0.5


@dataclass(slots=True)
class _Table:
    created: str = ""
    columns: Sequence[str] = ()
    rows: list[list[str]] = field(default_factory=list)


def read_dump(text: str) -> Content | None:
    """Convert a dump; ``None`` if most of the text is no rows, as in schemas and queries."""
    rows_of: dict[str, _Table] = {}
    rest: list[str] = []
    place = data = 0
    while found := _ROWS.search(text, place):
        copy, name, named = found.groups()
        if copy:
            end = text.find("\n\\.", found.end() - 1)
            rows = [[*map(_copied, line.split("\t"))] for line in text[found.end() : max(end, 0)].split("\n") if line]
            end += len("\n\\.")
        else:
            rows, end = _values(text, found.end(), _ESCAPING if "`" in found[0] else _STANDARD)
        if not rows:
            break
        rest.append(text[place : found.start()])
        table = rows_of.setdefault(name, _Table())
        if named:
            table.columns = [column.strip(' \t\n`"[]') for column in named.split(",")]
        table.rows += rows
        data += end - found.start()
        place = end
    if sum(len(table.rows) for table in rows_of.values()) < _FEWEST or data < _MOSTLY * len(text):
        return None
    tables: dict[str, _Table] = {}
    for match in islice(_CREATE.finditer(text), _MOST_TABLES):
        end = text.find(";", match.end(), match.end() + _LONGEST) + 1
        if end:
            body = text[match.end() : end]
            columns = [one[1] for one in _COLUMN.finditer(body) if not _NO_COLUMN.fullmatch(one[1])]
            filled = rows_of.pop(match[1], _Table())
            tables[match[1]] = _Table(text[match.start() : end].strip(), filled.columns or columns, filled.rows)
    return _content(tables | rows_of, "".join([*rest, text[place:]]))


def _content(tables: Mapping[str, _Table], rest: str) -> Content:
    for table in tables.values():
        rest = rest.replace(table.created, "")
    builder, starts, records = TextBuilder(), array("Q"), []
    if any(char.isalpha() for char in rest):
        builder.block(fenced("\n".join(line for line in rest.split("\n") if line.strip(" \t;")), "sql"))
    for name, table in tables.items():
        builder.separate()
        builder.mark("list", name)
        builder.block(f"## {name}")
        if table.created:
            builder.block(fenced(table.created, "sql"))
        if table.rows:
            columns = column_names(table.columns, max(map(len, table.rows)))
            builder.separate()
            write_table(builder, columns, enumerate(table.rows, 1), starts.append, as_records=is_wide(columns))
            records += [(columns, row) for row in table.rows if any(row)]
    return Content(
        builder.text(),
        "markdown",
        None,
        {"row_count": len(starts)},
        locations=builder.locations,
        records=Records(starts, partial(_record, records)),
    )


def _record(records: Sequence[tuple[Sequence[str], list[str]]], number: int) -> Mapping[str, Any]:
    columns, row = records[number]
    return {name: cell for name, cell in zip(columns, row, strict=False) if cell}


def _values(text: str, place: int, form: re.Pattern[str]) -> tuple[list[list[str]], int]:
    """Return the rows behind ``VALUES``, and where they end."""
    rows: list[list[str]] = []
    row: list[str] | None = None
    while found := form.match(text, place):
        said, bare, sign = found.groups()
        if sign == "(":
            row = []
        elif sign == ")" and row is not None:
            rows.append(row)
            row = None
        elif not sign and row is None:
            break
        elif not sign and row is not None:
            if said is None:
                row.append(bare if bare.upper() != "NULL" else "")
            else:
                row.append(_ESCAPED.sub(_unescaped, said) if form is _ESCAPING else said.replace("''", "'"))
        place = found.end()
    return rows, place


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1]) if match[1] else "'"


def _copied(cell: str) -> str:
    return "" if cell == r"\N" else _ESCAPED.sub(_unescaped, cell)
