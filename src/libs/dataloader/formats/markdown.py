"""Markdown: kept as it is, apart from front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector

_FRONT_MATTER = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\n(?P<body>.*?)^(?P=fence)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD = re.compile(r"^([A-Za-z][\w -]{0,60}?)\s*[:=]\s*(.*)$")
_ITEM = re.compile(r"^\s+-\s+(.+)$|^-\s+(.+)$")
_KEPT_FIELDS = {
    "author": "author",
    "authors": "author",
    "date": "created",
    "created": "created",
    "lastmod": "modified",
    "updated": "modified",
    "modified": "modified",
    "description": "description",
    "summary": "description",
    "tags": "tags",
    "keywords": "keywords",
    "categories": "categories",
    "lang": "language",
    "language": "language",
}
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CODE_SPAN = re.compile(r"(`+)(?!`)(?:.|\n(?!\n))*?(?<!`)\1(?!`)")
_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_SETEXT = re.compile(r"^ {0,3}(\S[^\n]*)\n {0,3}(=+|-+)[ \t]*$", re.MULTILINE)
_HTML_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_LINKED_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()]*\)|!\[([^\[\]]*)\]\[[^\[\]]*\]")
_DESTINATION = r"(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))+))"
_INLINE = re.compile(
    rf"(?<!!)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*{_DESTINATION}(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_REFERENCE = re.compile(r"(?<![!\]])\[((?:[^\[\]\\]|\\.)+)\](?:\[((?:[^\[\]\\]|\\.)*)\])?(?![(:\[])")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]\n]+)\]:[ \t]*(?:\n[ \t]*)?(?:<([^<>\n]*)>|(\S+))", re.MULTILINE)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_BARE = re.compile(r"(?<![\w(<\"'=\]])https?://[^\s<>\"'`|\[\]]+", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s[^>]*?href\s*=\s*[\"']([^\"']*)[\"'][^>]*>(.*?)</a>", re.DOTALL | re.IGNORECASE)
_EMPHASIS = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)(.+?)(?<=\S)\1")
_MARKUP = re.compile(r"[*_`~\[<\\]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST_TITLE = 300


def read(file: FileData, _kind: Format) -> Content:
    """Markdown as it is; the title is that of the front matter, else the first heading."""
    text = file.text()
    fields: dict[str, Any] = {}
    if (match := _FRONT_MATTER.match(text)) and (parsed := _front_matter(match["body"])):
        fields, text = parsed, text[match.end() :].lstrip("\n")
    visible = without_code(text)
    title = fields.get("title")
    metadata = {_KEPT_FIELDS[name]: value for name, value in fields.items() if name in _KEPT_FIELDS and value}
    collector = LinkCollector(file.uri, file.root_uri)
    for _, href, words in sorted(find_links(visible)):
        collector.add(href, words)
    return Content(
        text,
        "markdown",
        title if isinstance(title, str) and title else first_heading(visible),
        metadata,
        collector.links(),
    )


def without_code(text: str) -> str:
    """The text with code and comments blanked out, every character at its place."""
    for pattern in (_FENCE, _COMMENT, _CODE_SPAN):
        text = pattern.sub(_blank, text)
    return text


def first_heading(text: str) -> str | None:
    """The first heading of the highest level, as plain words."""
    found: list[tuple[int, int, str]] = []
    for match in _ATX.finditer(text):
        found.append((len(match[1]), match.start(), match[2]))
        if len(match[1]) == 1:
            break
    for match in _SETEXT.finditer(text):
        if not match[1].startswith(("#", "|", ">", "- ", "* ")):
            found.append((1 if match[2][0] == "=" else 2, match.start(), match[1]))
            break
    if html := _HTML_HEADING.search(text):
        found.append((1, html.start(), _TAG.sub(" ", html[1])))
    words = (plain_words(heading) for _, _, heading in sorted(found))
    return next((heading[:_LONGEST_TITLE] for heading in words if heading), None)


def plain_words(text: str) -> str:
    """Markdown on one line without its markup."""
    if _MARKUP.search(text) is None:
        return " ".join(text.split())
    text = _LINKED_IMAGE.sub(lambda match: match[1] or match[2] or "", text)
    text = _INLINE.sub(lambda match: match[1], text)
    text = _REFERENCE.sub(lambda match: match[1], text)
    for _ in range(3):
        text = _EMPHASIS.sub(lambda match: match[2], text)
    return " ".join(_ESCAPE.sub(r"\1", _TAG.sub("", text)).split())


def find_links(text: str) -> Iterator[tuple[int, str, str]]:
    """Links as ``(position, href, words)``; images are none."""
    text = _LINKED_IMAGE.sub(lambda match: _pad(match[1] or match[2] or "", len(match[0])), text)
    definitions = {_label(match[1]): match[2] or match[3] or "" for match in _DEFINITION.finditer(text)}
    for match in _INLINE.finditer(text):
        yield match.start(), _ESCAPE.sub(r"\1", match[2] or match[3] or ""), plain_words(match[1])
    if definitions:
        for match in _REFERENCE.finditer(text):
            if (href := definitions.get(_label(match[2] or match[1]))) is not None:
                yield match.start(), href, plain_words(match[1])
    for match in _AUTOLINK.finditer(text):
        yield match.start(), match[1], ""
    for match in _BARE.finditer(text):
        yield match.start(), trim_url(match[0]), ""
    for match in _ANCHOR.finditer(text):
        yield match.start(), match[1], plain_words(match[2])


def trim_url(url: str) -> str:
    """A URL from running text, without the punctuation that follows it."""
    url = url.rstrip(".,;:!?*_~'\"")
    while url.endswith(")") and url.count("(") < url.count(")"):
        url = url[:-1].rstrip(".,;:!?*_~'\"")
    return url


def _front_matter(body: str) -> dict[str, Any]:
    """Flat ``key: value`` fields and lists of them; nested structures are left out."""
    fields: dict[str, Any] = {}
    current: str | None = None
    for line in body.split("\n"):
        if (item := _ITEM.match(line)) and current is not None:
            values = fields[current] if isinstance(fields[current], list) else []
            fields[current] = [*values, _scalar(item[1] or item[2])]
        elif match := _FIELD.match(line):
            current, value = match[1].strip().lower(), match[2].strip()
            if value.startswith("[") and value.endswith("]"):
                fields[current] = [_scalar(part) for part in value[1:-1].split(",") if part.strip()]
            else:
                fields[current] = "" if value in ("|", ">", "|-", ">-") else _scalar(value)
        elif line.strip() and not line.startswith((" ", "\t", "#", "[")):
            return {}  # not front matter after all
    return fields


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _pad(text: str, length: int) -> str:
    return text.ljust(length)[:length]


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
