"""Markdown: kept as it is, except for front matter, comments, the bars of tables, and tables in HTML."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from libs.dataloader.formats import code_chunks
from libs.dataloader.formats.bare_tables import with_outer_bars
from libs.dataloader.formats.base import Content, FileData, fences
from libs.dataloader.formats.field_sections import field_sections, field_sentences
from libs.dataloader.formats.front_matter import fields_metadata
from libs.dataloader.formats.html_in_markdown import (
    comments,
    has_comments,
    with_plain_headings,
    with_plain_tables,
    without_comments,
)
from libs.dataloader.formats.markdown_fields import fields_at_top
from libs.dataloader.formats.registry import Format
from libs.dataloader.links import LinkCollector, reference_name
from libs.dataloader.notes import (
    BLOCK_NAME,
    find_note_links,
    note_comments,
    properties_shown,
    with_tags,
    without_brackets,
)
from libs.regexes import regex

#: What Pandoc, Quarto, MkDocs, kramdown and others note behind a heading: ``{#sec-usage .unnumbered}``, ``{-}``.
HEADING_ATTRIBUTES = regex(r"[ \t]*\{[ \t]*(?:-|(?:[#.:]|[\w:-]+=[\"'])[^{}]*)\}[ \t]*$")
_BLOCK_PROPERTY = regex(r"^[ \t]+(?:id|collapsed)::[ \t][^\n]*(?:\n|\Z)", re.MULTILINE)
_IMPORT = regex(
    r"^import[ \t]+(?:[\w$*, \t]{0,200}(?:\{[\w$,\s]{0,2000}\}[ \t]*)?\bfrom[ \t]+)?"
    r"(?:\"[^\"\n]{1,500}\"|'[^'\n]{1,500}')[ \t]*;?[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_MYST_LABEL = regex(r"^\([\w.:-]{1,200}\)=[ \t]*(?:\n|\Z)", re.MULTILINE)
_TICKS = regex(r"`+")
_ATX = regex(r"^ {0,3}(#{1,6})[ \t]+([^\n]*)$", re.MULTILINE)
_SETEXT = regex(r"^ {0,3}(\S[^\n]*)\n {0,3}(=+|-+)[ \t]*$", re.MULTILINE)
_HTML_HEADING = regex(r"<h1[^>]{0,500}>(.{0,1000}?)</h1>", re.DOTALL | re.IGNORECASE)
# Of what stands in angle brackets, the tags: elements of text in small letters, what has attributes or is closed.
# Others are types and placeholders: List<String>, Vec<T>, <file>.
_TAG = regex(
    r"<!--.*?-->"
    r"|</?(?:a|abbr|b|big|br|center|cite|code|del|div|em|font|h[1-6]|hr|i|img|ins|kbd|mark|p|picture|q|s|small|source"
    r"|span|strike|strong|sub|sup|svg|tt|u|var|wbr|BR|IMG)(?=[\s/>])[^<>]*>"
    r"|<[A-Za-z][\w.-]{0,100}(?:\s[^<>=]{0,100}=[^<>]*|\s{0,10}/)>"
    r"|<([A-Za-z][\w.-]{0,100})>(?=[^<]*</\1>)|</[A-Za-z][^<>]*>",
    re.DOTALL,
)
_IMAGE = regex(r"!\[([^\[\]]{0,500})\](?:\([^()]{0,1000}\)|\[[^\[\]]{0,200}\])")
#: Logos and badges, which stand before a title.
NO_WORDS = regex(rf"\[?{_IMAGE.pattern}(?:\](?:\([^()]{{0,1000}}\)|\[[^\[\]]{{0,200}}\]))?|<[^<>]+>")
_TOKEN = regex(
    r"\\.|!?\[|\]|\n[ \t]*\n|<https?://[^\s<>]+>|(?<![\w\"'=])https?://[^\s<>\"'`|\[\]]+"
    r"|<a\s[^<>]{0,500}?href\s{0,5}=\s{0,5}[\"']([^\"'<>]{0,2000})[\"'][^<>]{0,500}>",
    re.IGNORECASE | re.DOTALL,
)
_INLINE = regex(
    r"\(\s{0,100}(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\([^\s()]{0,500}\)){0,2000}))"
    r"(?:\s{1,100}(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\)))?\s{0,100}\)"
)
_LABEL = regex(r"\[([^\[\]]{0,500})\]")
# Not of a footnote: ``[^1]: Words``.
_DEFINITION = regex(
    r"^ {0,3}\[(?!\^)([^\[\]\n]{1,500})\]:[ \t]*+(?:\n[ \t]*+)?(?:<([^<>\n]{0,2000})>|(\S{1,2000}))", re.MULTILINE
)
_EMPHASIS = regex(r"(\*\*|__|\*|~~)(?=\S)(.+?)(?<=\S)\1")
_MARKUP = regex(r"[*_`~\[<\\]")
_ESCAPE = regex(r"\\([!-/:-@\[-`{-~])")
_CODE_SPAN = regex(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
#: What is literal waits in the private use area.
_AWAY = {code: chr(0xE000 + code) for code in range(0x21, 0x7F) if not chr(code).isalnum()}
LITERAL = {ord(away): chr(code) for code, away in _AWAY.items()}
_NOT_NEWLINE = regex(r"[^\n]+")
_AFTER_URL = ".,;:!?*_~'\""
_DEEPEST = 100
_LONGEST_TITLE = 300
_NO_NAMES = ("readme", "index")  # in folders of code and sites, which may be a vault of Obsidian, too
_DAY = regex(r"\d{4}[-_.]\d\d[-_.]\d\d")
_LONGEST_WORDS = 1000
#: A description of fewer words says nothing that the title does not; one within so many characters is in the text.
_SHORTEST_LEAD = 3
_BEGINNING = 3000


def read(file: FileData, _kind: Format) -> Content:
    """Return Markdown as it is; the title is that of the fields at the top, else the first heading."""
    text = file.text()
    fields, properties, text = fields_at_top(text)
    metadata = fields_metadata(fields)
    for lead in (*reversed([*field_sentences(fields)]), metadata.get("description")):
        text = _with_lead(text, lead)
    if sections := field_sections(fields):
        text = f"{text.rstrip()}\n\n{sections}".lstrip("\n")
    if has_comments(text):
        text = without_comments(text, comments(_without_spans(_without_fences(text))))
    if file.in_vault:
        text = without_comments(text, note_comments(_without_spans(_without_fences(text))))
        text = properties_shown(metadata) + _without(BLOCK_NAME, text)
    if "::" in text:
        text = _without(_BLOCK_PROPERTY, text)
    if file.extension in code_chunks.ENDINGS:
        text = code_chunks.without_options(text)
    if file.path.lower().endswith(".mdx"):
        text = _without(_IMPORT, text).lstrip("\n")
    if ")=" in text:
        text = _without(_MYST_LABEL, text)
    collector = LinkCollector(file.uri, file.root_uri)
    text = _without_myst(text, collector, file.extension)
    prose = without_blocks(text)
    markup = prose.lower() if "<" in prose else ""
    if "</h" in markup and (headed := with_plain_headings(text, prose)) != text:
        text, prose = headed, without_blocks(headed)
    if (barred := with_outer_bars(text, prose)) != text:
        text, prose = barred, without_blocks(barred)
    title = next((fields[name] for name in fields if name.lower() == "title"), None) or fields.get("question")
    visible = _without_spans(prose)
    for href, words in find_links(text, visible):
        collector.add(href, words)
    if file.notes is not None and file.uri is not None:
        for name, words in chain(find_note_links(properties), find_note_links(visible)):
            if target := file.notes.find(name, file.uri):
                collector.add_target(target, plain_words(words))
    if file.in_vault and (tags := with_tags(metadata.get("tags"), visible)):
        metadata["tags"] = tags
    if not isinstance(title, str) or not title:
        stem = file.name.rpartition(".")[0]
        title = stem if file.in_vault and stem.lower() not in _NO_NAMES else title_of(text, prose, file.name)
    if "<table" in markup:
        text = with_plain_tables(text, prose)
    return Content(
        text,
        "markdown",
        title,
        metadata,
        collector.links(),
    )


def without_code(text: str) -> str:
    """Return the text with code and comments replaced by blanks, so that all positions stay the same."""
    return _without_spans(without_blocks(text))


def _without_fences(text: str) -> str:
    if "```" in text or "~~~" in text:
        return _blanked(text, ((start, end) for start, end, _ in fences(text)))
    return text


def without_blocks(text: str) -> str:
    """Return the text with blocks of code, and comments, replaced by blanks; all positions stay the same."""
    text = _without_fences(text)
    return _blanked(text, comments(text)) if has_comments(text) else text


def _without_spans(text: str) -> str:
    return _blanked(text, _code_spans(text)) if "`" in text else text


def _without(pattern: re.Pattern[str], text: str) -> str:
    """Return Markdown without what readers do not see, such as imports of MDX; code stays as it is."""
    parts: list[str] = []
    position = 0
    for match in pattern.finditer(without_blocks(text)):
        parts.append(text[position : match.start()])
        position = match.end()
    return "".join([*parts, text[position:]])


def _without_myst(text: str, collector: LinkCollector, ending: str) -> str:
    """Return Markdown with what MyST adds to it as its readers see it."""
    if "{" not in text:
        return text
    from libs.dataloader.formats import myst  # it reads reStructuredText, whose reader needs headings from here

    if myst.has_directives(text):
        text = myst.without_directives(text, collector, ending)
    if "}`" in text:
        text = myst.without_roles(text, without_code(text), collector, ending)
    return text


def first_heading(text: str, prose: str | None = None) -> str | None:
    """Return the first heading of the highest level, as plain words, including inline code.

    Args:
        text: Markdown.
        prose: The same with blocks of code and comments blanked out; ``None``: computed here.
    """
    found = _headings(without_blocks(text) if prose is None else prose)
    return next((words for _, _, start, end in found if (words := _heading_words(text, start, end))), None)


def heading_above(text: str) -> str | None:
    """Return the heading above a whole text, as plain words; ``None`` if there are only those of its parts."""
    prose = without_blocks(text)
    return None if _are_of_parts(_headings(prose)) else first_heading(text, prose)


def title_of(text: str, prose: str, name: str) -> str | None:
    """Return what a text is called: by its first heading of the highest level, unless that is one of its parts.

    Notes, and pages of wikis, have no other headings: they are called what their files are. If that is no name, the
    first heading is the title unless text stands before it.
    """
    found = _headings(prose)
    if _are_of_parts(found):
        stem = name.rpartition(".")[0]
        word = stem.partition(".")[0]  # README.de
        if " " in stem or not stem.isascii() or _DAY.match(stem) or word not in (word.lower(), word.upper()):
            return stem
        if NO_WORDS.sub("", prose[: found[0][1]]).strip():
            return None
    return first_heading(text, prose)


def _are_of_parts(found: Sequence[tuple[int, int, int, int]]) -> bool:
    """Return whether headings are of the second level or below, and several."""
    return len(found) > 1 and 1 < found[0][0] == found[1][0]


def _headings(visible: str) -> list[tuple[int, int, int, int]]:
    """Return level, place, and the span of the words of headings; the highest level first, to its first heading."""
    found: list[tuple[int, int, int, int]] = []
    for match in _ATX.finditer(visible):
        found.append((len(match[1]), match.start(), *match.span(2)))
        if len(match[1]) == 1:
            break
    for match in _SETEXT.finditer(visible):
        if not match[1].startswith(("#", "|", ">", "- ", "* ")):
            found.append((1 if match[2][0] == "=" else 2, match.start(), *match.span(1)))
            if match[2][0] == "=":
                break
    # A tag in inline code is an example.
    if _HTML_HEADING.search(visible) and (html := _HTML_HEADING.search(_without_spans(visible))):
        found.append((1, html.start(), *html.span(1)))
    return sorted(found)


def _heading_words(text: str, start: int, end: int) -> str:
    heading = text[start : min(end, start + _LONGEST_WORDS)].strip()
    if heading.endswith("#"):
        heading = heading.rstrip("#").rstrip() if heading.rstrip("#").endswith((" ", "\t")) else heading
    return plain_words(HEADING_ATTRIBUTES.sub("", heading))[:_LONGEST_TITLE]


def plain_words(text: str) -> str:
    """Return Markdown as one line without its markup."""
    text = text[:_LONGEST_WORDS]
    if _MARKUP.search(text) is None:
        return " ".join(text.split())
    text = without_brackets(_IMAGE.sub(lambda match: match[1], kept_literal(text)))
    parts: list[str] = []
    position = 0
    for words, _, start, end in _scan(text, {}):
        parts += [text[position:start], text[words[0] : words[1]]]
        position = end
    text = "".join([*parts, text[position:]])
    for _ in range(3):
        text = _EMPHASIS.sub(lambda match: match[2], text)
    return " ".join(without_tags(text).translate(LITERAL).split())


def without_tags(text: str) -> str:
    """Return a title or the like without tags of HTML; what they enclose stays, and a line end becomes a blank."""
    return _TAG.sub(lambda tag: " " if tag[0][:3].lower() == "<br" else "", text) if "<" in text else text


def kept_literal(text: str) -> str:
    """Protect code and escaped characters from being read as markup, until ``LITERAL`` translates them back.

    Code loses its backticks: in `` `Vec<T>` `` there is no tag.
    """
    if "`" in text:
        text = _CODE_SPAN.sub(lambda match: (match[2].strip(" ") or match[2]).translate(_AWAY), text)
    return _ESCAPE.sub(lambda match: match[1].translate(_AWAY), text) if "\\" in text else text


def find_links(text: str, visible: str | None = None) -> Iterator[tuple[str, str]]:
    """Yield links as ``(href, words)``, in order, without images.

    Args:
        text: Markdown.
        visible: The same with code blanked out; ``None``: computed here.
    """
    visible = without_code(text) if visible is None else visible
    definitions = {reference_name(match[1]): match[2] or match[3] or "" for match in _DEFINITION.finditer(visible)}
    for words, href, _, _ in _scan(visible, definitions):
        yield href, plain_words(text[words[0] : min(words[1], words[0] + _LONGEST_WORDS)])


def _scan(text: str, definitions: Mapping[str, str]) -> Iterator[tuple[tuple[int, int], str, int, int]]:
    """Yield links as ``(span of the words, href, start, end)``, in linear time for any text."""
    opened: deque[tuple[int, int, bool]] = deque(maxlen=_DEEPEST)  # start, start of the words, is it an image?
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        mark, position = match[0], match.end()
        if mark[0] == "\n":
            opened.clear()  # no link goes on in the next paragraph
            position -= 1
        elif mark in ("[", "!["):
            opened.append((match.start(), match.end(), mark == "!["))
        elif mark[0] == "<" and match[1] is not None:
            end = text.find("</", position, position + _LONGEST_WORDS)
            yield (position, end if end >= 0 else position), match[1], match.start(), max(end, position)
        elif mark[0] == "<":
            yield (position, position), mark[1:-1], match.start(), position
        elif mark[:1] in "hH":
            yield (position, position), trim_url(mark), match.start(), position
        elif mark == "]" and opened:
            start, words, image = opened.pop()
            href, end = _destination(text, words, match.start(), definitions)
            if href is not None:
                position = end
                if not image:
                    opened.clear()  # links do not nest
                    yield (words, match.start()), href, start, end


def _destination(text: str, words: int, close: int, definitions: Mapping[str, str]) -> tuple[str | None, int]:
    """Return the target of the link whose words end at ``close``, and where the link itself ends."""
    after = text[close + 1 : close + 2]
    if after == "(" and (inline := _INLINE.match(text, close + 1)):
        return _ESCAPE.sub(r"\1", inline[1] or inline[2] or ""), inline.end()
    if not definitions or after == ":":
        return None, close + 1
    if after == "[" and (label := _LABEL.match(text, close + 1)):
        name = label[1] or text[words : min(close, words + _LONGEST_WORDS)]
        return definitions.get(reference_name(name)), label.end()
    return definitions.get(reference_name(text[words : min(close, words + _LONGEST_WORDS)])), close + 1


def trim_url(url: str) -> str:
    """Return a URL from running text without the punctuation after it."""
    end = len(url.rstrip(_AFTER_URL))
    unopened = url.count(")", 0, end) - url.count("(", 0, end)
    while url[end - 1 : end] == ")" and unopened > 0:
        end, unopened = end - 1, unopened - 1
        while url[end - 1 : end] in _AFTER_URL and end > 0:
            end -= 1
    return url[:end]


def _with_lead(text: str, description: Any) -> str:
    """Return a text with its description as the first paragraph, as sites show it, if it does not say so itself."""
    if not isinstance(description, str) or len(description.split()) < _SHORTEST_LEAD:
        return text
    beginning = " ".join(text[: len(description) + _BEGINNING].split()).casefold()
    if description.rstrip(".").casefold() in beginning:
        return text
    heading = _ATX.match(text)
    at = heading.end() if heading is not None and len(heading[1]) == 1 else 0
    rest = text[at:].lstrip("\n")
    lead = f"{text[:at]}\n\n{description}\n" if at else f"{description}\n"
    return f"{lead}\n{rest}" if rest else lead


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of inline code: from a run of backticks to the next of the same length (CommonMark 6.1)."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    following: dict[int, int] = {}  # length: the next run of this length
    closing = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = following.get(length, -1)
        following[length] = index
    index = 0
    while index < len(runs):
        other = closing[index]
        if other >= 0 and text.find("\n\n", runs[index][1], runs[other][0]) < 0:
            yield runs[index][0], runs[other][1]
            index = other + 1
        else:
            index += 1


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += [text[position:start], _NOT_NEWLINE.sub(lambda match: " " * len(match[0]), text[start:end])]
        position = end
    return "".join([*parts, text[position:]])
