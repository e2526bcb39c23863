"""From a downloaded body to a document and the links to follow."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from libs.dataloader.crawl.media import Kind
from libs.dataloader.crawl.traps import Trace
from libs.dataloader.crawl.urls import join_url, origin, path_of
from libs.dataloader.types import Document, KnownDocument, Link

_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:+\-]+)""", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]+")
_LONG_ENOUGH = 200  # characters of text with which a page that refreshes to another is still a page of its own


@dataclass(frozen=True, slots=True)
class Page:
    """What a page gives to a crawl.

    Attributes:
        document: The document; ``None`` where the body could not be read.
        follow: Normalised URLs to go on to, in order.
        canonical: The URL that the page says is its own, normalised.
        refresh: Where the page only sends its reader on to.
        indexed: Whether the page may be stored.
        trace: What its text is remembered by.
        problem: Why there is no document.
    """

    document: Document | None = None
    follow: tuple[str, ...] = ()
    canonical: str | None = None
    refresh: str | None = None
    indexed: bool = True
    trace: Trace | None = None
    problem: str | None = None


def read_page(url: str, kind: Kind, headers: httpx.Headers, body: bytes, robot: str) -> Page:
    """Convert a body; takes a while, so it belongs into a thread.

    Args:
        url: Normalised URL it came from, for relative links.
        kind: What it is.
        headers: Of the response.
        body: Decompressed.
        robot: Name of this crawler in X-Robots-Tag headers.

    Returns:
        The page. Its document has ``url`` as path and URI.
    """
    orders = _robots_header(headers, robot)
    page = _html(url, headers, body, orders) if kind is Kind.HTML else _file(url, kind, headers, body, orders)
    if page.document is None:
        return page
    fingerprint = {"sha256": hashlib.sha256(body).hexdigest(), "kind": kind.value, **page.document.fingerprint}
    if page.trace is not None:
        fingerprint["text"] = str(page.trace)
    for key, header in (("etag", "etag"), ("last_modified", "last-modified")):
        if value := headers.get(header, "").strip():
            fingerprint[key] = value
    document = replace(page.document, fingerprint=fingerprint)
    return replace(page, document=document)


def links_to_follow(url: str, known: KnownDocument) -> tuple[str, ...]:
    """The links of a page as they were followed when it was stored."""
    links = _followed(known.fingerprint)
    urls = (join_url(url, link) for link in (known.links if links is None else links))
    return tuple(dict.fromkeys(target for target in urls if target is not None))


def conditions(known: KnownDocument | None, url: str) -> dict[str, str]:
    """Headers that ask for a page only if it changed."""
    if known is None or known.fingerprint.get("url", url) != url:
        return {}
    found: dict[str, str] = {}
    if etag := known.fingerprint.get("etag"):
        found["If-None-Match"] = etag
    if date := known.fingerprint.get("last_modified"):
        found["If-Modified-Since"] = date
    return found


def _html(url: str, headers: httpx.Headers, body: bytes, orders: frozenset[str]) -> Page:
    from libs.dataloader.html import html_to_document

    page = html_to_document(body, url, encoding=_charset(headers))
    orders |= page.robots
    page_links = _normalized(page.page_links, url)
    follow = () if orders & {"nofollow", "none"} else tuple(page_links)
    # More and other links than the document's own: navigation belongs to it, nofollow does not.
    root = origin(url)
    fingerprint = {"follow": json.dumps([link.removeprefix(root) for link in follow])}
    refresh = join_url(url, page.refresh) if page.refresh else None
    return Page(
        Document(
            path=url,
            uri=url,
            content=page.markdown,
            title=page.title,
            metadata={"url": url, **page.metadata},
            mime_type=Kind.HTML.value,
            format="markdown",
            links=tuple(Link(target, text) for target, text in _normalized(page.links, url).items()),
            fingerprint=fingerprint,
        ),
        follow=follow,
        canonical=join_url(url, page.canonical) if page.canonical else None,
        refresh=refresh if refresh != url and len(page.markdown) < _LONG_ENOUGH else None,
        indexed=not orders & {"noindex", "none"},
        trace=_trace([page.title or "", page.markdown], page_links),
    )


def _file(url: str, kind: Kind, headers: httpx.Headers, body: bytes, orders: frozenset[str]) -> Page:
    from libs.dataloader.text import clean_text, decode_bytes

    text = clean_text(decode_bytes(body, declared=_charset(headers)).text)
    return Page(
        Document(path=url, uri=url, content=text, metadata={"url": url}, mime_type=kind.value, format="text"),
        indexed=not orders & {"noindex", "none"},
        trace=_trace([text], {}),
    )


def _normalized(links: Iterable[Link], base: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in links:
        target = join_url(base, link.target)
        if target is not None and target != base and not found.get(target):
            found[target] = link.text
    return found


def _trace(texts: list[str], links: Mapping[str, str]) -> Trace:
    parts = [*texts, *(f"{text}\t{path_of(target)}" for target, text in links.items())]
    whole = "\n".join(parts)
    return Trace(_hash(whole), _hash(_DIGITS.sub("0", whole)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _charset(headers: httpx.Headers) -> str | None:
    match = _CHARSET.search(headers.get("content-type", ""))
    return match[1] if match else None


def _robots_header(headers: httpx.Headers, robot: str) -> frozenset[str]:
    """Words of the X-Robots-Tag headers that are for all crawlers or for this one."""
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
