"""Pages of MediaWiki: files with its markup, and what a wiki exports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urljoin

from libs.dataloader.formats.archive import child, children, local, told
from libs.dataloader.formats.base import Content, FileData, UnreadableError, join_lines, lowered
from libs.dataloader.formats.front_matter import fields_metadata
from libs.dataloader.formats.preamble import fields_line, listed_preamble, preamble_in_code, preamble_title
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.wikitext import Page
from libs.dataloader.html import HtmlPage, html_to_document
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_FENCED_FIELDS = regex(r"^<pre>\n((?:[ \t]*\S[^\n]*\n)+?)[ \t]*</pre>[ \t]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
#: Within so many characters are the fields of a page.
_TOP: Final = 5_000
_REDIRECT = regex(
    r"\s*#(?:redirect|redirection|weiterleitung|redirección|redirecionamento|rinvia|doorverwijzing|patrz|przekieruj|"
    r"omdirigering|ohjaus|перенаправление|重定向|転送|넘겨주기)[ \t]*:?[ \t]*\[\[([^\[\]|]+)",
    re.IGNORECASE,
)
_TITLE = regex(r"^# (\S[^\n]*)$", re.MULTILINE)
_DASHES = regex(r"[-_]+")
#: Interface texts, templates, programs, files and styles; everything else has been written to be read.
_NOT_PAGES: Final = frozenset(("-2", "-1", "6", "8", "10", "828", "2600"))
_MODELS: Final = frozenset(("", "wikitext"))


def read(file: FileData, _kind: Format) -> Content:
    """Convert a page to Markdown; what its templates would make of their values is guessed from their names."""
    text = file.text()
    if (redirect := _REDIRECT.match(text)) is not None:
        raise UnreadableError(f"it only leads to another page ({redirect[1].strip()})", gone=True)
    fields: dict[str, str] = {}
    if (fenced := _FENCED_FIELDS.search(text, 0, _TOP)) is not None and (fields := preamble_in_code(fenced[1])):
        text = f"{text[: fenced.start()]}\n{text[fenced.end() :]}"
    collector = LinkCollector(file.uri, file.root_uri)
    page = Page(lambda name: _note_of(file, name), collector)
    made = _markdown(page, text, file.uri)
    listed = listed_preamble(fields)
    if not made.markdown.strip() and not listed:
        return Content(text)  # nothing but what only programs read
    title = page.shown_title or preamble_title(fields) or _title(made.markdown, file.name)
    metadata = fields_metadata(fields)
    if page.categories:
        metadata["tags"] = page.categories
    return Content(f"{listed}\n{made.markdown}".lstrip(), "markdown", title, metadata, collector.links())


def read_export(root: _Element) -> Content | None:
    """Convert the pages that a wiki exports (``Special:Export``, dumps) in their last versions, each below its title.

    Returns:
        The pages; ``None`` if it is something else.

    Raises:
        UnreadableError: if it has none.
    """
    if local(root) != "mediawiki":
        return None
    info = child(root, "siteinfo")
    base = told(info, "base")
    collector = LinkCollector(base or None)
    pages = list(_pages(root, base, collector))
    if not pages:
        raise UnreadableError("it has no pages to read (only others that lead to them, templates or files)")
    site = {"site_name": name} if (name := told(info, "sitename")) else {}
    if len(pages) == 1:
        title, metadata, text = pages[0]
        return Content(text, "markdown", title, metadata | site, collector.links())
    lines: list[str] = []
    for title, metadata, text in pages:
        lines += [f"# {title}", "", *fields_line(metadata, ("modified", "author", "tags")), lowered(text), ""]
    return Content(
        join_lines(lines), "markdown", site.get("site_name"), {"page_count": len(pages), **site}, collector.links()
    )


def _pages(root: _Element, base: str, collector: LinkCollector) -> Iterator[tuple[str, dict[str, Any], str]]:
    for node in children(root, "page"):
        title = told(node, "title")
        revision = max(children(node, "revision"), key=lambda one: told(one, "timestamp"), default=None)
        source = child(revision, "text")
        if source is None or child(node, "redirect") is not None or told(node, "ns") in _NOT_PAGES:
            continue
        written = clean_text(source.text or "")
        if told(revision, "model") not in _MODELS or _REDIRECT.match(written):
            continue
        page = Page(lambda name: _address_of(base, name), collector)
        text = _markdown(page, written, base or None).markdown.strip()
        if not text:
            continue
        known = {
            "author": told(child(revision, "contributor"), "username"),
            "modified": told(revision, "timestamp"),
            "url": _address_of(base, title),
            "tags": page.categories,
        }
        yield page.shown_title or title, {name: value for name, value in known.items() if value}, text


def _title(text: str, name: str) -> str:
    """Return the only heading of the first level; pages of wikis have none, and are called what their files are."""
    found = _TITLE.findall(text)
    return str(found[0]) if len(found) == 1 else " ".join(_DASHES.sub(" ", name.rpartition(".")[0] or name).split())


def _markdown(page: Page, source: str, uri: str | None) -> HtmlPage:
    made = html_to_document(f"<html><body>{page.html(source)}</body></html>", uri, whole_page=True)
    page.collector.extend((link.target, link.text) for link in made.links)
    return made


def _note_of(file: FileData, name: str) -> str | None:
    """Return the file that a page of this name is in."""
    return file.notes.find(name, file.uri) if file.notes is not None and file.uri is not None else None


def _address_of(base: str, name: str) -> str | None:
    """Return the address of a page beside the one that the wiki calls its base."""
    return urljoin(base, quote(name[:1].upper() + name[1:].replace(" ", "_"), safe="/:(),")) if base and name else None
