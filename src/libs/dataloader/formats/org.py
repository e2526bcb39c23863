"""Converts Org to Markdown: headings, code, links and tables; everything else is kept as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from libs.dataloader.formats.base import Content, FileData, fenced
from libs.dataloader.formats.outline_lines import Lines, converted, without_last
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

_HEADING = regex(r"(\*+)[ \t]+(\S.*)")
_TAGS = regex(r":[\w@#%:]+:")
_KEYWORD = regex(r"#\+([\w-]+):[ \t]*(.*)$")
_BEGIN = regex(r"[ \t]*#\+begin_(src|example|export|comment)\b[ \t]*([\w+-]*)", re.IGNORECASE)
_LINK = regex(r"\[\[(?:file:)?([^\[\]\n]{1,2000})\](?:\[([^\[\]\n]{1,500})\])?\]")
_PLACE = regex(r"[a-z]+://|\.{0,2}/|[^*#:\s][^:\n]*\.\w{1,8}(?:::|$)", re.IGNORECASE)
_SPECIAL = regex(r"[ \t]*#\+(?:begin|end)_(?!(?:src|example|export|comment)\b)\w+", re.IGNORECASE)
_RULE = regex(r"[ \t]*\|-[-+]*\|[ \t]*$")
_DRAWER = regex(r"[ \t]*:(?:PROPERTIES|LOGBOOK):[ \t]*$", re.IGNORECASE)
_FIELDS = {
    "author": "author",
    "date": "created",
    "description": "description",
    "keywords": "keywords",
    "filetags": "tags",
    "lang": "language",
}


def read(file: FileData, _kind: Format) -> Content:
    """Convert headings, code, links and tables to Markdown; the rest is kept as written."""
    collector = LinkCollector(file.uri, file.root_uri)
    text = file.text()
    fields: dict[str, str] = {}
    return converted(text, _markdown(Lines(text), fields, collector), fields, _FIELDS, collector)


def _markdown(lines: Lines, fields: dict[str, str], collector: LinkCollector) -> Iterator[str]:
    def link(match: re.Match[str]) -> str:
        if _PLACE.match(match[1]):
            collector.add(match[1].partition("::")[0] if "://" not in match[1] else match[1], match[2] or "")
        return match[2] or match[1].lstrip("*#")

    for line in lines:
        if (begin := _BEGIN.match(line)) and (inside := lines.until(f"#+end_{begin[1].lower()}")) is not None:
            if begin[1].lower() != "comment":
                code = (row[1:] if row.startswith((",*", ",#")) else row for row in inside)
                yield fenced("\n".join(code), begin[2] if begin[1].lower() == "src" else "")
        elif _DRAWER.match(line) and lines.until(":end:") is not None:
            continue
        elif heading := _HEADING.match(line):
            words = without_last(heading[2], _TAGS.fullmatch)
            yield f"{'#' * min(len(heading[1]), 6)} {_LINK.sub(link, words)}"
        elif keyword := _KEYWORD.match(line):
            name = keyword[1].lower()
            if name == "caption":
                yield from ("", _LINK.sub(link, keyword[2]), "")  # apart from the rows of a table
            value = keyword[2].strip()
            if name == "filetags":
                value = ", ".join(filter(None, value.split(":")))  # :kelp:sea:
            fields.setdefault("lang" if name == "language" else name, value)
        elif _RULE.match(line):
            yield line.replace("+", "|")
        elif not line.startswith("# ") and not _SPECIAL.match(line):  # a comment, or the edge of a block of prose
            yield _LINK.sub(link, line) if "[[" in line else line
