"""HTML within Markdown: tables, as GitBook and GitHub have them, and headings become those of Markdown.

Comments are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from libs.regexes import regex

_OPENS = regex(r"^ {0,3}<table\b", re.MULTILINE | re.IGNORECASE)
_HEADING = regex(
    r"^ {0,3}<h(?P<level>[1-6])(?P<attributes>(?:\s[^<>]{0,500})?)>\s*"
    r"(?P<words>(?:(?!</?h[1-6]).){1,500}?)\s*</h(?P=level)\s*>[ \t]*$",
    re.MULTILINE | re.IGNORECASE | re.DOTALL,
)
_CODE = regex(r"<(?:code|tt)>([^<>`\n]+)</(?:code|tt)>", re.IGNORECASE)
_LINK = regex(r"<a\s[^<>]*?\bhref=([\"'])([^\"'<>\s]*)\1[^<>]*>([^<>\[\]]*)</a\s*>", re.IGNORECASE)
_ANY_TAG = regex(r"</?[A-Za-z][^<>]*>|!\[[^\[\]]*\]\([^()\s]*\)")
#: What names something has no more words.
_FEW_WORDS = 4
#: What the target of a link is put in angle brackets for.
_ODD = regex(r"[\s()]")
# With the empty line below: there is one above.
_LINE_END = regex(r"[ \t]*(?:\n(?:[ \t]*\n)?|\Z)")
#: How comments begin and end. In MDX, one behind a heading is its anchor: ``## Usage {/*usage*/}``.
_COMMENTS = {"<!--": "-->", "{/*": "*/}"}
_COMMENT = regex("|".join(map(re.escape, _COMMENTS)))
_CLOSES = regex(r"</table\s*>[ \t]*$", re.MULTILINE | re.IGNORECASE)


def with_plain_tables(text: str, prose: str) -> str:
    """Return Markdown with tables that hold data without tags, of which a passage would be full.

    Args:
        text: Markdown.
        prose: The same with blocks of code and comments blanked out.
    """
    parts: list[str] = []
    position = 0
    while (opens := _OPENS.search(prose, position)) is not None:
        closes = _CLOSES.search(prose, opens.end())
        if closes is None:
            break
        made = _plain(text[opens.start() : closes.end()])
        parts += [text[position : opens.start()], f"\n{made}\n" if made else text[opens.start() : closes.end()]]
        position = closes.end()
    return "".join([*parts, text[position:]])


def with_plain_headings(text: str, prose: str) -> str:
    """Return Markdown whose headings in HTML are its own: ``<h3 id="spin"><code>spin()</code></h3>`` is "### `spin()`".

    A centred line of more than a few words is no heading, but what a project says of itself below its logo.

    Args:
        text: Markdown.
        prose: The same with blocks of code and comments blanked out.
    """
    parts: list[str] = []
    position = 0
    for found in _HEADING.finditer(prose):
        words = _LINK.sub(_as_link, _CODE.sub(r"`\1`", text[slice(*found.span("words"))]))
        words = " ".join(_ANY_TAG.sub("", words).split())
        centred = "align" in found["attributes"].lower()
        if not words.strip("`# ") or (centred and len(words.split()) > _FEW_WORDS):
            continue
        parts += [text[position : found.start()], f"\n{'#' * int(found['level'])} {unescape(words)}\n"]
        position = found.end()
    return "".join([*parts, text[position:]])


def _as_link(link: re.Match[str]) -> str:
    """Return a link as Markdown has it; only its words if it leads to a place on the page, as those of headings do."""
    target, words = link[2], link[3].strip()
    leads_on = target and not target.startswith("#") and _ODD.search(target) is None
    return f"[{words}]({target})" if words and leads_on else words


def has_comments(text: str) -> bool:
    """Return whether a text may have comments."""
    return any(opens in text for opens in _COMMENTS)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of comments, of HTML and of MDX; one that does not end is none."""
    open_ended: set[str] = set()
    position = 0
    while (opens := _COMMENT.search(text, position)) is not None:
        position = opens.end()
        closes = _COMMENTS[opens[0]]
        if opens[0] in open_ended:
            continue
        if (end := text.find(closes, position)) < 0:
            open_ended.add(opens[0])
            continue
        position = end + len(closes)
        yield opens.start(), position


def without_comments(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return Markdown without comments, which its readers do not see: licences, settings of linters, notes to editors.

    Args:
        text: Markdown.
        spans: Where they are, apart from code.
    """
    parts: list[str] = []
    position = 0
    for start, end in spans:
        begin = text.rfind("\n", position, start) + 1 or position  # a long line may have many
        before = text[begin:start]
        is_first = not before.strip() and (begin == 0 or text[begin - 1] == "\n")
        if is_first and before.expandtabs().startswith("    "):
            continue  # it may be code
        if is_first and (below := _LINE_END.match(text, end)) is not None:
            start, end = start - len(before), below.end()
        parts.append(text[position:start])
        position = end
    return "".join([*parts, text[position:]])


def _plain(table: str) -> str:
    """Return the rows of a table in HTML in Markdown; empty if it only arranges the page, or holds others or code."""
    if "```" in table or "~~~" in table:
        return ""
    from lxml.html import fragment_fromstring  # takes longer to import than most texts to read

    from libs.dataloader.html_tables import written_table

    element = fragment_fromstring(table.strip(), create_parent="div")
    if len(element) != 1 or element[0].tag != "table" or len(list(element.iter("table"))) != 1:
        return ""
    for link in element.iter("a"):
        href = link.get("href", "").strip()
        if href and link.text_content().strip():
            link.text = f"[{link.text or ''}"
            link.tail = f"]({f'<{href}>' if _ODD.search(href) else href}){link.tail or ''}"
    return written_table(element[0]) or ""
