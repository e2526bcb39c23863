"""Reads sitemaps and sitemap indexes (sitemaps.org)."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from io import BytesIO

from libs.dataloader.crawl.decoding import BadEncodingError, TooMuchError, gunzip
from libs.dataloader.crawl.fetch import Fetcher, FetchError
from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.urls import host_and_port, join_url, without_www
from libs.regexes import regex

MAX_FILES = 500
MAX_NESTING = 3
MAX_SITEMAP_BYTES = 50 * 1024 * 1024
_MAX_REDIRECTS = 5
_GZIP_MAGIC = b"\x1f\x8b"
# Comments and CDATA (where an ampersand stands for itself), or an ampersand that begins no entity. What is not closed
# goes on to the end, or many of them would take for ever.
_BARE_AMPERSAND = regex(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:[A-Za-z][A-Za-z0-9]{0,30}|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)",
    re.DOTALL,
)


class SitemapError(Exception):
    """A sitemap cannot be read."""


@dataclass(frozen=True, slots=True)
class SitemapFailure:
    """A sitemap that could not be read."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The entries of a sitemap as written: pages, or further sitemaps."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parse_sitemap(body: bytes) -> Sitemap | None:
    """Read a sitemap: XML (also gzipped) or one URL per line.

    Returns:
        Its entries; ``None`` if it is something else, such as an HTML page that says "not found".

    Raises:
        SitemapError: if it is gzipped and damaged or too large.
    """
    if body.startswith(_GZIP_MAGIC):
        try:
            body = gunzip(body, MAX_SITEMAP_BYTES)
        except BadEncodingError as error:
            raise SitemapError(str(error)) from None
        except TooMuchError:
            raise SitemapError(f"larger than the limit of {MAX_SITEMAP_BYTES:,} bytes") from None
    head = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"<") and b"\x00" not in head:
        lines = tuple(line.strip() for line in body.decode("utf-8-sig", "replace").splitlines() if line.strip())
        return Sitemap(lines) if lines and lines[0].lower().startswith(("http://", "https://")) else None
    return _parse_xml(body)


def is_sitemap(head: bytes) -> bool:
    """Return whether a document begins as an XML sitemap."""
    return b"<urlset" in head or b"<sitemapindex" in head


def _parse_xml(body: bytes) -> Sitemap | None:
    from lxml import etree

    pages: list[str] = []
    sitemaps: list[str] = []
    root = None
    parents = {"url": pages, "sitemap": sitemaps}
    try:
        events = etree.iterparse(
            BytesIO(_escaped(body)), events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False,
            recover=True, huge_tree=False,
        )  # fmt: skip
        for event, node in events:
            if root is None:
                root = node
                if _local_name(node) not in ("urlset", "sitemapindex"):
                    return None
            if event == "end" and _local_name(node) in parents:
                found = next((child.text for child in node if _local_name(child) == "loc" and child.text), None)
                if found:
                    parents[_local_name(node)].append(found.strip())
                node.clear()
                parent = node.getparent()
                while parent is not None and node.getprevious() is not None:
                    del parent[0]
    except etree.XMLSyntaxError as error:
        if not pages and not sitemaps:
            if root is None:
                return None
            raise SitemapError(f"not well-formed XML: {error}") from None
    return Sitemap(tuple(pages), tuple(sitemaps))


def _escaped(body: bytes) -> bytes:
    """Escape bare ampersands; the parser, which goes on after errors, would drop the ``&b`` of ``&b=2``."""
    if b"\x00" in body[:64]:  # UTF-16, in which the byte of an ampersand may be half of another character
        return body
    return _BARE_AMPERSAND.sub(lambda match: b"&amp;" if match[0] == b"&" else match[0], body)


def _local_name(node: object) -> str:
    tag = getattr(node, "tag", None)
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


async def sitemap_pages(
    fetcher: Fetcher, start: str, named: tuple[str, ...], scope: Scope
) -> AsyncGenerator[str | SitemapFailure]:
    """Yield the pages within the scope that the sitemaps of a host list, sitemap by sitemap.

    At most :data:`MAX_FILES` sitemaps are read, nested at most :data:`MAX_NESTING` deep, each once and each up to
    :data:`MAX_SITEMAP_BYTES`. A sitemap that does not exist lists nothing.

    Args:
        fetcher: Fetches the sitemaps.
        start: URL of a page of the host.
        named: Sitemaps that robots.txt names; if it names none, ``/sitemap.xml`` is read.
        scope: Which URLs are wanted.

    Yields:
        Normalised URLs, possibly repeated, and sitemaps that could not be read.
    """
    first = [url for link in named or ("/sitemap.xml",) if (url := join_url(start, link))]
    waiting = deque((url, 0) for url in first)
    hosts = {without_www(host_and_port(url)) for url in first}  # robots.txt may name one on another host
    seen: set[str] = set()
    while waiting and len(seen) < MAX_FILES:
        url, nesting = waiting.popleft()
        if url in seen:
            continue
        seen.add(url)
        try:
            sitemap = await _fetch(fetcher, url)
        except SitemapError as error:
            yield SitemapFailure(url, f"sitemap: {error}")
            continue
        if sitemap is None:
            continue
        for page in _resolved(url, sitemap.pages):
            if scope.includes(page):
                yield page
        if nesting < MAX_NESTING:
            for further in _resolved(url, sitemap.sitemaps):
                if without_www(host_and_port(further)) in hosts or scope.allows_host(further):
                    waiting.append((further, nesting + 1))


def _resolved(base: str, links: tuple[str, ...]) -> Iterator[str]:
    return (url for link in links if (url := join_url(base, link)) is not None)


async def _fetch(fetcher: Fetcher, url: str) -> Sitemap | None:
    for _ in range(_MAX_REDIRECTS + 1):
        try:
            answer = await fetcher.get(url, max_bytes=MAX_SITEMAP_BYTES)
        except FetchError as error:
            if error.is_absent:
                return None
            raise SitemapError(error.reason) from error
        if answer.location is None:
            return await asyncio.to_thread(parse_sitemap, answer.body)
        target = join_url(url, answer.location)
        if target is None:
            return None
        url = target
    raise SitemapError(f"more than {_MAX_REDIRECTS} redirects")
