"""Converts a response body into a document and the links to follow."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from libs.dataloader.crawl.media import Kind
from libs.dataloader.crawl.traps import Trace
from libs.dataloader.crawl.urls import extension_of, join_url, origin, path_key, path_of
from libs.dataloader.formats.registry import FORMATS
from libs.dataloader.manual_titles import title_with_purpose
from libs.dataloader.reading import READERS_VERSION
from libs.dataloader.types import Document, KnownDocument, Link
from libs.regexes import regex

if TYPE_CHECKING:
    from libs.dataloader.html import HtmlPage

_CHARSET = regex(r"""charset\s*=\s*(?:["']\s*)?([A-Za-z0-9_.:+\-]+)""", re.IGNORECASE)
_EXTENSIONS = {Kind.PDF: "pdf", Kind.MARKDOWN: "md", Kind.JSON: "json", Kind.TEXT: "txt"}
_MARKUP = ("rst", "asciidoc", "org", "latex")
# Extensions that say more than the media type with which servers send such files.
_TELLING = {
    Kind.JSON: frozenset(("jsonl", "ndjson")),
    Kind.TEXT: frozenset(name[1:] for name, kind in FORMATS.items() if kind.reader in _MARKUP),
}
_LINK_HEADER = regex(r"<([^<>]*)>([^<]*)")
_CANONICAL_RELATION = regex(r"""\brel\s*=\s*["']?(?:[^"';,]{0,200}\s)?canonical(?=["';,\s]|$)""", re.IGNORECASE)
_SENDABLE = regex(r"[\x20-\x7e]*")  # servers send more than they may, and than may be sent back
_DIGITS = regex(r"[0-9]+")
# Titles of Apache, nginx, lighttpd and Python; of Tomcat, Jetty and IIS, which names its host.
_LISTING = regex(r"(?:Index of|Directory listing for) /|Directory Listing For \[/|Directory: /|[\w.:-]+ - /.*/$")
_PLACEHOLDER = 16  # ... if it does so only without scripts: more than "Please wait …"


@dataclass(frozen=True, slots=True)
class Page:
    """The document, links and instructions of a page.

    Attributes:
        document: The document to store; ``None`` if the body could not be read.
        follow: Normalised URLs to follow, in order.
        canonical: The canonical URL that the page or its header names, normalised.
        refresh: The URL that the page only redirects its readers to, if it does.
        orders: Instructions of the page or its header to robots, such as ``noindex``, in lower case.
        trace: Hashes by which its text is recognised.
        problem: Why the document is not worth storing.
        frames: The normalised URLs of its frames, if it has no text of its own.
        is_listing: Whether it is a server's listing of a folder: names of files.
        repeats_others: Whether it holds what other pages of its site hold, such as all of them for printing.
    """

    document: Document | None = None
    follow: tuple[str, ...] = ()
    canonical: str | None = None
    refresh: str | None = None
    orders: frozenset[str] = frozenset()
    trace: Trace | None = None
    problem: str | None = None
    frames: tuple[str, ...] = ()
    is_listing: bool = False
    repeats_others: bool = False

    @property
    def indexed(self) -> bool:
        """Whether the page may be stored."""
        return not self.orders & {"noindex", "none"}


def read_page(url: str, kind: Kind, headers: httpx.Headers, body: bytes, *, robot: str, max_bytes: int) -> Page:
    """Convert a response body. This may take long, so call it in a thread.

    Args:
        url: Normalised URL it came from, for relative links.
        kind: What it is.
        headers: Of the response.
        body: Decompressed.
        robot: Name of this crawler in X-Robots-Tag headers.
        max_bytes: Size limit of a document; compressed parts of it may expand to a few times as much.

    Returns:
        The page. Its document has ``url`` as path and URI.
    """
    page = _html(url, headers, body) if kind is Kind.HTML else _file(url, kind, headers, body, max_bytes)
    orders = _robots_header(headers, robot) | page.orders
    follow = () if orders & {"nofollow", "none"} else page.follow
    page = replace(page, orders=orders, follow=follow, canonical=page.canonical or _canonical_header(url, headers))
    if page.document is None:
        return page
    # Not the same as the links of the document: navigation is included, nofollow links are not.
    root = origin(url)
    fingerprint = {
        "sha256": hashlib.sha256(body).hexdigest(),
        "reader": READERS_VERSION,
        "kind": kind.value,
        "follow": json.dumps([link.removeprefix(root) for link in follow]),
        "text": str(page.trace),
    }
    for key, header in (("etag", "etag"), ("last_modified", "last-modified")):
        if value := headers.get(header, "").strip():
            fingerprint[key] = value
    return replace(page, document=replace(page.document, fingerprint=fingerprint))


def links_to_follow(url: str, known: KnownDocument) -> tuple[str, ...]:
    """Return the links of a stored page that were followed when it was stored."""
    links = _followed(known.fingerprint)
    urls = (join_url(url, link) for link in (known.links if links is None else links))
    return tuple(dict.fromkeys(target for target in urls if target is not None))


def is_read_as_now(known: KnownDocument) -> bool:
    """Return whether the same bytes would still be read as the same document."""
    return known.fingerprint.get("reader") == READERS_VERSION


def conditions(known: KnownDocument | None, url: str) -> dict[str, str]:
    """Return the headers that request a page only if it changed."""
    if known is None or known.fingerprint.get("url", url) != url or not is_read_as_now(known):
        return {}
    found: dict[str, str] = {}
    for header, key in (("If-None-Match", "etag"), ("If-Modified-Since", "last_modified")):
        value = known.fingerprint.get(key, "")
        if value and _SENDABLE.fullmatch(value) is not None:
            found[header] = value
    return found


def _html(url: str, headers: httpx.Headers, body: bytes) -> Page:
    from libs.dataloader.html import NO_TEXT, html_to_document, refresh_target

    page = html_to_document(body, url, encoding=_charset(headers))
    links = _normalized(page.page_links, url)
    is_listing = _LISTING.match(page.title or "") is not None and _is_inside(links, url)
    if is_listing:  # without itself in another order
        links = {link: text for link, text in links.items() if path_of(link) != path_of(url)}
    return Page(
        Document(
            path=url,
            uri=url,
            content=page.markdown,
            title=title_with_purpose(page.title, page.markdown),
            metadata={"url": url, **page.metadata},
            mime_type=Kind.HTML.value,
            format="markdown",
            links=tuple(Link(target, text) for target, text in _normalized(page.links, url).items()),
        ),
        follow=tuple(links),
        canonical=join_url(url, page.canonical) if page.canonical else None,
        refresh=_refresh(page, url, refresh_target(headers.get("refresh", ""))),
        orders=page.robots,
        trace=_trace([page.title or "", page.markdown], page.page_links, url),
        problem=None if page.markdown else NO_TEXT,
        frames=() if page.markdown else tuple(_normalized(map(Link, page.frames), url)),
        is_listing=is_listing,
        repeats_others=page.repeats_others,
    )


def _is_inside(links: Iterable[str], url: str) -> bool:
    """Return whether all links lead to what is in the folder of a page, or to the folder above."""
    folder = join_url(url, ".")
    above = join_url(url, "..")
    return folder is not None and all(link == above or link.startswith(folder) for link in links)


def _refresh(page: HtmlPage, url: str, header: str | None) -> str | None:
    """Return the URL that a page or its header only redirects its readers to, if it does."""
    from libs.dataloader.html import LONG_ENOUGH

    ways = ((header, LONG_ENOUGH), (page.refresh, LONG_ENOUGH), (page.noscript_refresh, _PLACEHOLDER))
    only = set(_normalized(page.page_links, url))
    for link, enough in ways:
        target = join_url(url, link) if link else None
        if target is None or target == url:
            continue
        # A page whose only link leads there, too, redirects everybody: a script does it where scripts run.
        if len(page.markdown) < (LONG_ENOUGH if only == {target} else enough):
            return target
    return None


def _file(url: str, kind: Kind, headers: httpx.Headers, body: bytes, max_bytes: int) -> Page:
    from libs.dataloader.formats import FileData, UnreadableError, read_document

    extension = extension_of(url)
    if extension not in _TELLING.get(kind, ()):
        extension = _EXTENSIONS[kind]
    name = path_of(url).rpartition("/")[2].partition(".")[0] or "document"
    file = FileData(f"{name}.{extension}", body, uri=url, declared=_charset(headers), max_bytes=max_bytes)
    try:
        document = read_document(file)
    except UnreadableError as error:
        return Page(problem=error.reason)
    found = document.links
    links = _normalized(found, url)
    document = replace(
        document,
        path=url,
        uri=url,
        metadata={"url": url, **document.metadata},
        mime_type=document.mime_type if kind is Kind.TEXT else kind.value,
        links=tuple(Link(target, text) for target, text in links.items()),
    )
    return Page(
        document,
        follow=tuple(links),
        trace=_trace([document.title or "", document.content], found, url),
    )


def _normalized(links: Iterable[Link], base: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in links:
        target = join_url(base, link.target)
        if target is not None and target != base and not found.get(target):
            found[target] = link.text
    return found


def _trace(texts: list[str], links: Iterable[Link], base: str) -> Trace:
    """Return the hashes by which a page's text is recognised: of its words and links, with and without digits.

    Links to the page itself count like others, because under another URL the same page has them as links to others.
    """
    targets = ((link.text, join_url(base, link.target)) for link in links)
    parts = dict.fromkeys(f"{text}\t{path_key(target)}" for text, target in targets if target is not None)
    whole = "\n".join([*texts, *parts])
    return Trace(_hash(whole), _hash(_DIGITS.sub("0", whole)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _charset(headers: httpx.Headers) -> str | None:
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1] if match else None


def _canonical_header(url: str, headers: httpx.Headers) -> str | None:
    """Return the URL of ``Link: <…>; rel="canonical"`` (RFC 6596), the only canonical URL that a PDF can have."""
    for match in _LINK_HEADER.finditer(headers.get("link", "")):
        if _CANONICAL_RELATION.search(match[2]) is not None:
            return join_url(url, match[1])
    return None


def _robots_header(headers: httpx.Headers, robot: str) -> frozenset[str]:
    """Return the words of the X-Robots-Tag headers that address all crawlers or this one."""
    words: set[str] = set()
    for line in headers.get_list("x-robots-tag"):
        name, colon, rest = line.partition(":")
        if colon and "," not in name and name.strip().lower() not in ("unavailable_after", "max-snippet"):
            if name.strip().lower() != robot.lower():
                continue
            line = rest
        words.update(word for word in re.split(r"[\s,]+", line.lower()) if word)
    return frozenset(words)


def _followed(fingerprint: Mapping[str, str]) -> list[str] | None:
    try:
        found: Any = json.loads(fingerprint.get("follow", ""))
    except ValueError:
        return None
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else None
