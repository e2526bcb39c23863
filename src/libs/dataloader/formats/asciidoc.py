"""Converts AsciiDoc to Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from libs.dataloader.formats.asciidoc_header import read_header_line
from libs.dataloader.formats.asciidoc_inline import Inline, anchors_of
from libs.dataloader.formats.asciidoc_tables import begins_with_header, columns_of, has_header, rows_of
from libs.dataloader.formats.base import Content, FileData, fenced
from libs.dataloader.formats.outline_lines import Lines, converted, without_last
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.table_heads import data_table
from libs.regexes import regex

_HEADING = regex(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_UNDERLINE = regex(r"([=\-~^+])\1{3,}[ \t]*$")
_ATTRIBUTE = regex(r":(!?)([\w-]+)(!?):(?:[ \t]+(.*))?$")
#: Code, and comments.
_BLOCK = regex(r"(-{4,}|\.{4,}|`{3,}|/{4,})(\w*)[ \t]*$")
#: The lines around examples, sidebars, quotations, passages and open blocks,
_AROUND = regex(r"(?:={4,}|\*{4,}|_{4,}|\+{4,}|--)[ \t]*$")
#: and those that join a block to an item, or are rules.
_MARK = regex(r"(?:\+|'{3,}|<{3,})[ \t]*$")
_STYLE = regex(r"\[(?:\[.*\]|(?:source|listing|,)?(?:,[ \t]*(?P<language>[\w+-]++))?[^\]\n]*)\][ \t]*$")
#: The line around a table.
_TABLE = regex(r"\|={3,}[ \t]*$")
_LABEL = regex(r"\[(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b[^\]\n]*\][ \t]*$")
_TITLE = regex(r"\.([^\s.].*)$")
_ITEM = regex(r"[ \t]*(\*{1,6}|\.{1,6})[ \t]+(\S.*)$")
#: What is said of a line of the code above: ``<1> Opens the sluice``.
_CALLOUT = regex(r"<(?:\d{1,3}|\.)>[ \t]+(\S.*)$")
_TERM = regex(r"[ \t]*(\S.{0,300}?)(?::{2,4}|;;)(?:[ \t]+(\S.*))?$")
_SILENT = regex(r"//(?!/)|(?:ifn?def|ifeval|endif)::[^\[]*\[[^\]]*\][ \t]*$|toc::\[")
#: One that holds up to its end, not of a single line.
_CONDITION = regex(r"ifn?def::[^\[]*\[\][ \t]*$|ifeval::")
_INCLUDE = regex(r"include::([^\s\[\]{}]{1,2000})\[")
_LONGEST_VALUE = 1000
_FIELDS = {
    "author": "author",
    "revdate": "created",
    "description": "description",
    "keywords": "keywords",  # ":language:" is that of code
    "lang": "language",
}


def read(file: FileData, _kind: Format) -> Content:
    """Convert headings, lists, code, tables, links and notes; of other markup the words are kept."""
    collector = LinkCollector(file.uri, file.root_uri)
    text = file.text()
    fields: dict[str, str] = {}
    inline = Inline(fields, anchors_of(text), collector)
    content = converted(text, _markdown(Lines(text), fields, inline, collector), fields, _FIELDS, collector)
    # What refers to a value that is defined elsewhere says nothing.
    told = {name: value for name, value in content.metadata.items() if "{" not in value}
    return replace(content, metadata=told)


def _markdown(lines: Lines, fields: dict[str, str], inline: Inline, collector: LinkCollector) -> Iterator[str]:
    language = label = ""
    columns = 0
    named: bool | None = None  # whether the first row of the next table names the columns
    around: list[str] = []  # the opening lines of the blocks around this place
    conditions = 0  # how many of them hold where this place counts
    header = 0  # how many lines below the title may tell who wrote the text, and when
    is_first = True
    in_text = False  # whether the line before is one of a paragraph, in which a dot at the margin is one
    defining = False  # whether the next line of text says what the term before it is
    for raw in lines:
        following = lines.following()
        goes_on, in_text = in_text, False
        if header and not _SILENT.match(raw):
            header = header - 1 if read_header_line(inline.expanded(raw), fields) else 0
        if (block := _BLOCK.match(raw)) and (inside := lines.until(block[1])) is not None:
            if raw[0] != "/":  # a comment
                yield fenced("\n".join(inside), block[2] or language)
            language = ""
        elif _TABLE.match(raw) and (inside := lines.until(raw.rstrip())) is not None:
            yield from _table([row for row in inside if not _SILENT.match(row)], columns, named, inline)
            columns, named = 0, None
        elif _SILENT.match(raw):
            if _CONDITION.match(raw):
                conditions += 1
            elif raw.startswith("endif::"):
                conditions = max(conditions - 1, 0)
            continue
        elif heading := _HEADING.match(raw):
            words = without_last(inline.expanded(heading[2]), heading[1].__eq__)
            header = 2 if is_first and len(heading[1]) == 1 else 0
            yield f"{'#' * len(heading[1])} {inline.plain(words)}"
        elif _is_underlined(raw, following) and following.rstrip() not in around:
            lines.skip()
            yield f"{'#' * ('=-~^+'.index(following[0]) + 1)} {inline.read(raw)}"
        elif _AROUND.match(raw):
            if around[-1:] == [raw.rstrip()]:
                around.pop()
            else:
                around.append(raw.rstrip())
            yield ""
        elif _MARK.match(raw):
            yield ""
        elif attribute := _ATTRIBUTE.match(raw):
            name, value = attribute[2].lower(), inline.expanded(_continued(attribute[4] or "", lines))
            if conditions:  # what is set where it is not set yet, say
                fields.setdefault(name, value[:_LONGEST_VALUE])
            elif attribute[1] or attribute[3]:
                fields.pop(name, None)
            else:
                fields[name] = value[:_LONGEST_VALUE]
        elif style := _STYLE.match(raw):
            language = style["language"] or ""
            columns = columns_of(raw) or columns
            named = told if (told := has_header(raw)) is not None else named
            if admonition := _LABEL.match(raw):
                label = f"{admonition[1]}: "
        elif include := _INCLUDE.match(inline.expanded(raw)):
            collector.add(include[1])
        elif not goes_on and (title := _TITLE.match(raw)):
            words = inline.read(title[1])
            if inline.read(following) != words:  # an image is shown as its description
                yield f"**{words}**\n"
        elif not raw.strip():
            yield raw
        elif term := _term(raw):
            yield f"\n{inline.read(term[1]).rstrip()}"
            defining = not term[2]
            if term[2]:
                yield f": {inline.read(term[2])}"
        elif said := _line(raw, inline).rstrip():  # not only an anchor, say
            yield f"{': ' if defining else ''}{label}{said}"
            label, defining, in_text = "", False, True
        is_first = is_first and (not raw.strip() or raw.startswith((":", "//")))


def _continued(value: str, lines: Lines) -> str:
    """Return a value with the lines that it goes on in."""
    parts = [value]
    while parts[-1].endswith(" \\"):
        parts[-1] = parts[-1][:-1]
        parts.append(lines.following().strip())
        lines.skip()
    return "".join(parts)


def _is_underlined(line: str, following: str) -> bool:
    """Return whether a line is a heading, by the line below it."""
    return bool(_UNDERLINE.match(following)) and line[:1].isalnum() and abs(len(following.rstrip()) - len(line)) < 2


def _term(raw: str) -> re.Match[str] | None:
    """Return the parts of a line with a term (group 1) and perhaps what is said of it (2); not "``a:: b``", as code."""
    term = _TERM.match(raw)
    return None if term is None or term[1].count("`") % 2 else term


def _line(raw: str, inline: Inline) -> str:
    """Convert an item of a list, or a line of a paragraph."""
    if item := _ITEM.match(raw):
        level = len(item[1]) - 1
        return (
            f"{'   ' * level}1. {inline.read(item[2])}"
            if item[1][0] == "."
            else f"{'  ' * level}* {inline.read(item[2])}"
        )
    callout = _CALLOUT.match(raw)
    return f"1. {inline.read(callout[1])}" if callout is not None else inline.read(raw)


def _table(inside: list[str], columns: int, named: bool | None, inline: Inline) -> Iterator[str]:
    inside = [inline.expanded(row) for row in inside]
    if rows := rows_of(inside, columns):
        if not (begins_with_header(inside, len(rows[0])) if named is None else named):
            rows = [[""] * len(rows[0]), *rows]  # Markdown has no tables without a row of names
        yield data_table([[inline.plain(cell) for cell in row] for row in rows])
    else:
        yield from ("|===", *map(inline.plain, inside), "|===")
