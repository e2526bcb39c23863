"""Converts AsciiDoc and Org to Markdown: headings, code, links and tables; everything else is kept as written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from libs.dataloader.formats.base import Content, FileData, fenced, join_lines
from libs.dataloader.formats.markdown import first_heading, trim_url
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.dataloader.tables import markdown_table

_ADOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ADOC_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:[ \t]+(.*))?$")
_ADOC_REFERENCE = re.compile(r"\{([\w-]{1,100})\}")
_ADOC_UNDERLINE = re.compile(r"([=\-~^+])\1{3,}[ \t]*$")
_ADOC_BLOCK = re.compile(r"(-{4,}|\.{4,}|`{3,}|/{4,})(\w*)[ \t]*$")
_ADOC_STYLE = re.compile(r"\[(?:\[.*\]|(?:source|listing|,)?(?:,[ \t]*(?P<language>[\w+-]+))?[^\]\n]*)\][ \t]*$")
_ADOC_LINK = re.compile(
    r"(?P<xref><<(?P<place>[^<>,\n]{1,500})(?:,[ \t]*(?P<name>[^<>\n]{0,500}))?>>)"
    r"|(?:(?P<macro>link|xref|image):{1,2}(?P<path>[^\s\[\]]{1,2000})|(?P<url>https?://[^\s\[\]<>]{1,2000}))"
    r"(?:\[(?P<words>[^\[\]\n]{0,500})\])?"
)
_ADOC_COLUMNS = re.compile(r"""\bcols=(?:"([^"\]]{1,500})"|([^"\],]{1,50}))""")
# What is between cells: how many cells or columns the next one takes, how it is aligned, and what it holds.
_ADOC_CELL = re.compile(
    r"(?:(?:^|(?<=\s))(?:(?P<count>\d{0,3})(?P<rows>\.\d{1,3})?(?P<kind>[+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)?(?<!\\)\|"
)
_ADOC_SILENT = re.compile(r"//(?!/)|(?:ifn?def|ifeval|endif)::[^\[]*\[[^\]]*\][ \t]*$|toc::\[")
# What a block other than code begins and ends with, what joins one to an item of a list, and rules.
_ADOC_MARK = re.compile(r"(?:_{4,}|={4,}|\*{4,}|\+{4,}|'{3,}|<{3,}|--|\+)[ \t]*$")
_ADOC_TITLE = re.compile(r"\.(?=[^.\s])")  # of a block
_ADOC_AUTHOR = re.compile(r"([\w.'-]{1,60}(?:[ \t]+[\w.'-]{1,60}){0,2})(?:[ \t]+<[^<>\s]{1,200}>)?[ \t]*(?:;|$)")
_ADOC_REVISION = re.compile(r"(?:v?\d[\w.-]{0,40},[ \t]*)?(\d{4}-\d\d-\d\d)\b")
_ADOC_INCLUDE = re.compile(r"include::([^\s\[\]{}]{1,2000})\[")
_ORG_HEADING = re.compile(r"(\*+)[ \t]+(\S.*)")
_ORG_TAGS = re.compile(r":[\w@#%:]+:")
_ORG_KEYWORD = re.compile(r"#\+([\w-]+):[ \t]*(.*)$")
_ORG_BEGIN = re.compile(r"[ \t]*#\+begin_(src|example|export|comment)\b[ \t]*([\w+-]*)", re.IGNORECASE)
_ORG_LINK = re.compile(r"\[\[(?:file:)?([^\[\]\n]{1,2000})\](?:\[([^\[\]\n]{1,500})\])?\]")
_ORG_PLACE = re.compile(r"[a-z]+://|\.{0,2}/|[^*#:\s][^:\n]*\.\w{1,8}(?:::|$)", re.IGNORECASE)
_ORG_SPECIAL = re.compile(r"[ \t]*#\+(?:begin|end)_(?!(?:src|example|export|comment)\b)\w+", re.IGNORECASE)
_ORG_RULE = re.compile(r"[ \t]*\|-[-+]*\|[ \t]*$")
_ORG_DRAWER = re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK):[ \t]*$", re.IGNORECASE)
_LONGEST_VALUE = 1000
_MOST_CELLS = 1_000_000
_MOST_EXPANDED = 1_000_000  # characters that references to values may add to a text
_FIELDS = {
    "author": "author",
    "date": "created",
    "revdate": "created",
    "description": "description",
    "keywords": "keywords",  # ":language:" of AsciiDoc is that of code
    "filetags": "tags",
    "lang": "language",
}


def read(file: FileData, kind: Format) -> Content:
    """Convert headings, code, links and tables to Markdown; the rest is kept as written."""
    collector = LinkCollector(file.uri, file.root_uri)
    fields: dict[str, str] = {}
    convert = _org if kind.mime_type == "text/x-org" else _asciidoc
    text = join_lines(convert(_Lines(file.text()), fields, collector)).strip("\n") + "\n"
    if not text.strip():
        return Content(file.text())  # nothing but settings, say
    metadata = {_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS and value}
    return Content(text, "markdown", fields.get("title") or first_heading(text), metadata, collector.links())


class _Lines:
    """Iterates over the lines of a text; the code in the loop may look at, or skip, following lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._place = 0
        self._unclosed: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        while self._place < len(self._lines):
            self._place += 1
            yield self._lines[self._place - 1]

    def following(self) -> str:
        """Return the next line without consuming it; empty at the end."""
        return self._lines[self._place] if self._place < len(self._lines) else ""

    def skip(self) -> None:
        """Skip the next line."""
        self._place += 1

    def until(self, closing: str) -> list[str] | None:
        """Consume the lines up to and including the closing one; return those before it, ``None`` if it is missing."""
        if closing in self._unclosed:
            return None
        for index in range(self._place, len(self._lines)):
            if self._lines[index].strip().lower() == closing:
                inside, self._place = self._lines[self._place : index], index + 1
                return inside
        self._unclosed.add(closing)  # no need to look again, as often as it is opened
        return None


def _asciidoc(lines: _Lines, fields: dict[str, str], collector: LinkCollector) -> Iterator[str]:
    def link(match: re.Match[str]) -> str:
        if match["xref"]:
            return match["name"] or match["place"]
        words = (match["words"] or "").partition(",")[0].strip('"^ ')
        if match["macro"] == "image":
            return words
        href = match["path"] or match["url"]
        if match["url"] and match["words"] is None:
            collector.add(trim_url(href))
            return href
        collector.add(href, words)
        return words or href

    room = _MOST_EXPANDED

    def value(match: re.Match[str]) -> str:
        nonlocal room
        found = fields.get(match[1].lower())
        if found is None or len(found) > room:
            return match[0]
        room -= len(found)
        return found

    language = ""
    columns = 0
    header = 0  # how many lines below the title may tell who wrote the text, and when
    is_first = True
    for raw in lines:
        line = _ADOC_REFERENCE.sub(value, raw) if "{" in raw else raw
        following = lines.following()
        if header and not _ADOC_SILENT.match(raw):
            header = header - 1 if _adoc_header(line, fields) else 0
        if (block := _ADOC_BLOCK.match(raw)) and (inside := lines.until(block[1])) is not None:
            if raw[0] != "/":  # a comment
                yield fenced("\n".join(inside), block[2] or language)
            language = ""
        elif raw.rstrip() == "|===" and (inside := lines.until("|===")) is not None:
            inside = [_ADOC_REFERENCE.sub(value, row) for row in inside if not _ADOC_SILENT.match(row)]
            if rows := _adoc_rows(inside, columns):
                yield markdown_table([[_ADOC_LINK.sub(link, cell) for cell in row] for row in rows])
            else:
                yield from ("|===", *(_ADOC_LINK.sub(link, row) for row in inside), "|===")
            columns = 0
        elif _ADOC_SILENT.match(raw):
            continue
        elif heading := _ADOC_HEADING.match(line):
            words = _without_last(heading[2], heading[1].__eq__)
            header = 2 if is_first and len(heading[1]) == 1 else 0
            yield f"{'#' * len(heading[1])} {_ADOC_LINK.sub(link, words)}"
        elif _ADOC_UNDERLINE.match(following) and line[:1].isalnum() and abs(len(following.rstrip()) - len(raw)) < 2:
            lines.skip()
            yield f"{'#' * ('=-~^+'.index(following[0]) + 1)} {_ADOC_LINK.sub(link, line)}"
        elif attribute := _ADOC_ATTRIBUTE.match(line):
            fields.setdefault(attribute[1].lower(), (attribute[2] or "")[:_LONGEST_VALUE])
        elif style := _ADOC_STYLE.match(line):
            language = style["language"] or ""
            if told := _ADOC_COLUMNS.search(line):
                columns = _adoc_columns(told[1] or told[2])
        elif include := _ADOC_INCLUDE.match(line):
            collector.add(include[1])
        elif _ADOC_MARK.match(line):
            yield ""
        else:
            line = _ADOC_TITLE.sub("", line, count=1) if line.startswith(".") else line
            yield _ADOC_LINK.sub(link, line) if ":" in line or "<<" in line else line
        is_first = is_first and (not raw.strip() or raw.startswith((":", "//")))


def _adoc_header(line: str, fields: dict[str, str]) -> bool:
    """Read a line below the title that tells the authors or the date of the text; return whether it does."""
    if "author" not in fields and (found := _adoc_authors(line)):
        fields["author"] = found
        return True
    if told := _ADOC_REVISION.match(line):
        fields.setdefault("revdate", told[1])
    return False


def _adoc_authors(line: str) -> str:
    """Return the names in a line such as ``Ann Author <ann@example.org>; Bo Ferris``; empty if it has others."""
    names: list[str] = []
    position = 0
    while position < len(line):
        name = _ADOC_AUTHOR.match(line, position)
        if name is None or not name[1][0].isalpha():
            return ""
        names.append(name[1].replace("_", " "))
        position = name.end() + len(line[name.end() :]) - len(line[name.end() :].lstrip())
    return "; ".join(names)


def _adoc_columns(told: str) -> int:
    """Return the number of columns that the ``cols`` of a table states: ``1,2a`` or ``3*``."""
    counts = (part.strip().partition("*") for part in re.split("[,;]", told))
    return sum(int(count) if star and count.isdecimal() else 1 for count, star, _ in counts)


def _adoc_rows(lines: list[str], columns: int) -> list[list[str]]:
    """Return the rows of a table; none if its cells do not fill them, as when a cell spans two rows."""
    columns = columns or len(_adoc_cells(next((line for line in lines if line.strip()), "")) or ())
    cells = _adoc_cells("\n".join(lines)) or []
    if not columns or not cells or len(cells) % columns:
        return []
    return [cells[start : start + columns] for start in range(0, len(cells), columns)]


def _adoc_cells(text: str) -> list[str] | None:
    """Return the cells in order, with empty ones beside a cell that spans columns; ``None`` if any spans rows."""
    found = list(_ADOC_CELL.finditer(text))
    if not found or text[: found[0].start()].strip():
        return None
    cells: list[str] = []
    for match, end in zip(found, [*(following.start() for following in found[1:]), len(text)], strict=True):
        if match["rows"] or len(cells) > _MOST_CELLS:
            return None
        cell = " ".join(text[match.end() : end].replace("\\|", "|").split())
        count = int(match["count"] or 1)
        cells += [cell] * count if match["kind"] == "*" else [cell, *[""] * (count - 1)]
    return cells


def _org(lines: _Lines, fields: dict[str, str], collector: LinkCollector) -> Iterator[str]:
    def link(match: re.Match[str]) -> str:
        if _ORG_PLACE.match(match[1]):
            collector.add(match[1].partition("::")[0] if "://" not in match[1] else match[1], match[2] or "")
        return match[2] or match[1].lstrip("*#")

    for line in lines:
        if (begin := _ORG_BEGIN.match(line)) and (inside := lines.until(f"#+end_{begin[1].lower()}")) is not None:
            if begin[1].lower() != "comment":
                code = (row[1:] if row.startswith((",*", ",#")) else row for row in inside)
                yield fenced("\n".join(code), begin[2] if begin[1].lower() == "src" else "")
        elif _ORG_DRAWER.match(line) and lines.until(":end:") is not None:
            continue
        elif heading := _ORG_HEADING.match(line):
            words = _without_last(heading[2], _ORG_TAGS.fullmatch)
            yield f"{'#' * min(len(heading[1]), 6)} {_ORG_LINK.sub(link, words)}"
        elif keyword := _ORG_KEYWORD.match(line):
            name = keyword[1].lower()
            if name == "caption":
                yield from ("", _ORG_LINK.sub(link, keyword[2]), "")  # apart from the rows of a table
            fields.setdefault("lang" if name == "language" else name, keyword[2].strip())
        elif _ORG_RULE.match(line):
            yield line.replace("+", "|")
        elif not line.startswith("# ") and not _ORG_SPECIAL.match(line):  # a comment, or the edge of a block of prose
            yield _ORG_LINK.sub(link, line) if "[[" in line else line


def _without_last(heading: str, is_mark: Callable[[str], object]) -> str:
    """Return a heading without its last word if that is a mark."""
    words = heading.rsplit(maxsplit=1)
    return words[0] if len(words) == 2 and is_mark(words[1]) else heading.rstrip()
