"""Loads web pages: :class:`WebLoader`."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING

from libs.dataloader.crawl.arguments import (
    check_flag,
    check_number,
    checked_header,
    checked_headers,
    checked_hosts,
    compiled_pattern,
)
from libs.dataloader.crawl.clock import Clock
from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.urls import host_and_port, normalize_url, path_of, split_credentials, without_www
from libs.dataloader.errors import InvalidSourceError
from libs.dataloader.types import Known, LoadResult, SourceInfo

if TYPE_CHECKING:
    import ssl

    import httpx

    from libs.dataloader.crawl.cache import AnswerCache
    from libs.dataloader.crawl.crawler import Crawler
    from libs.dataloader.crawl.guard import GuardedBackend
    from libs.dataloader.crawl.visit import Visitor


class _DefaultInt(int):
    """A default that can be distinguished from the same number passed by the caller."""


DEFAULT_CHUNK_SIZE = _DefaultInt(1024)
DEFAULT_CHUNK_OVERLAP = _DefaultInt(200)
DEFAULT_USER_AGENT = "memgraph-rag/0.1 (document loader)"
_ACCEPT = "text/html, application/xhtml+xml, text/markdown, application/pdf;q=0.9, text/plain;q=0.9, */*;q=0.5"
_LEAST_LOOKAHEAD = 32
_LOOKAHEAD = 8  # pages that may wait to be processed, for each concurrent request


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the SSL context of all crawls; cached, as reading the certificates takes a while."""
    import httpx

    return httpx.create_ssl_context()


class WebLoader:
    """Loads a web site, beginning with one page.

    Pages are fetched concurrently, but yielded in the order in which their URLs were found, so the same site gives the
    same documents in the same order. Nothing is fetched before ``load`` is iterated over.

    **What belongs to the crawl.** Pages of the start URL's host (with and without ``www.``; the host that it redirects
    to, if it does), found by links in HTML or by the sitemaps of the start page's host. The start page is always
    fetched, but only yielded if it matches ``url_pattern``. Links marked ``nofollow`` are not followed, and ``noindex``
    pages are not yielded; ``robots.txt`` is obeyed (a host that answers it with 5xx or 429 forbids everything). Links
    to images, archives, style sheets and the like are not pages.

    **What a page becomes.** HTML, PDF, plain text, Markdown and JSON are read, by Content-Type or, if that is wrong, by
    the bytes. The path of a document is its normalised URL (:func:`libs.dataloader.crawl.urls.normalize_url`), or its
    ``rel=canonical`` on the same host, unless that is known to have no content (404, noindex) or is a separate page, of
    which this one is then a copy. A page that cannot be loaded is yielded as a :class:`~libs.dataloader.LoadFailure`.
    Pages that were loaded before (``known``) are requested with ``If-None-Match`` and ``If-Modified-Since``; their
    links are still followed.

    **What ends a crawl.** Besides ``max_urls`` and ``max_depth``, limits that end traps: URLs over 2,048 characters,
    over 24 path segments, with one segment more than 3 times, or with over 16 parameters are left out; so are the 61st
    step within one calendar since a page had new text, and pages beyond 100 of one path with different queries or 1,000
    of one numbered series, plus 5 for each page with new text. Text is new if it differs in more than numbers. The
    links of a page with the same bytes as an earlier one are not followed, and the same text under the same path with
    another query is yielded once, without the query if both URLs are known in time.

    Args:
        url: The start URL, ``http`` or ``https``. User and password in it are used for its host, and never stored.
        url_pattern: Regular expression, searched in a page's normalised URL (and in the same without
            percent-encoding).
        max_urls: Maximum number of pages to fetch.
        chunk_size: For the splitter of this source; the loader itself does not split.
        chunk_overlap: Likewise.
        same_host: If false, links to every host are followed.
        allowed_hosts: Further hosts: ``docs.example.org``, ``example.org:8080``, ``*.example.org``.
        concurrency: Number of concurrent requests.
        delay: Seconds between the beginnings of two requests to one host; a longer ``Crawl-delay`` of robots.txt takes
            precedence, up to 30 seconds.
        max_bytes: Size limit of a page, before and after decompression.
        timeout: Seconds for one attempt at a page, from connecting to its last byte.
        max_redirects: Maximum number of consecutive redirects, including ``Refresh`` headers and ``meta refresh``.
        max_depth: Maximum number of links from the start page; 0 loads only that page. ``None``: no limit.
        respect_robots: Obey robots.txt.
        use_sitemap: Read the sitemaps that robots.txt names, else ``/sitemap.xml``.
        retries: How often a request is repeated after 408, 425, 429, 5xx, a timeout or a broken connection; only once
            if an answer had begun and did not end in time. Retry-After is honoured up to two minutes; if it is longer,
            the page fails immediately.
        user_agent: Sent with each request; its first word is looked up in robots.txt.
        headers: Sent to the start URL's host and to ``allowed_hosts`` only.
        allow_private: If false, only connect to public addresses, also after redirects, and without a proxy; for
            services that fetch URLs of others.
        transport: An httpx transport that sends the requests.
        cache: Answers that the loaders of one run share, so that each page is fetched once.

    Attributes:
        complete: After the iteration: whether everything that belongs to the crawl was seen. False if ``max_urls`` or
            the consumer ended it, pages lead deeper than ``max_depth``, something looked like a trap, or a page or
            sitemap failed for a temporary reason (5xx, 429, no answer). Pages that were not seen may still exist, so do
            not delete them.
        why_incomplete: After the iteration: why not everything was seen, for people to read; ``None`` if it was.
        moved: After the iteration: URLs that redirect permanently (301, 308). They have no content any more, even if
            the crawl is incomplete; but a page may still be yielded under such a URL, if it is its canonical one.
        skipped: After the iteration: how many URLs were left out, by reason (``robots``, ``noindex``, ``scope``,
            ``duplicate``, ``type``, ``trap``, ``frames``, ``listing``, ``limit``).
        notes: After the iteration: sentences about what was left out, if the caller can change that.
        chunk_size, chunk_overlap: The arguments, else 1,024 and 200.
        explicit_chunk_size, explicit_chunk_overlap: The arguments; ``None`` if not given.

    Raises:
        InvalidSourceError: if an argument is invalid.

    Example:
        >>> loader = WebLoader("https://example.org/docs/", url_pattern=r"/docs/")
        >>> loader.source.type
        'web'
    """

    def __init__(
        self,
        url: str,
        url_pattern: str | None = None,
        max_urls: int = 10000,
        chunk_size: int | None = DEFAULT_CHUNK_SIZE,
        chunk_overlap: int | None = DEFAULT_CHUNK_OVERLAP,
        *,
        same_host: bool = True,
        allowed_hosts: Iterable[str] = (),
        concurrency: int = 8,
        delay: float = 0.0,
        max_bytes: int = 50_000_000,
        timeout: float = 30.0,
        max_redirects: int = 10,
        max_depth: int | None = None,
        respect_robots: bool = True,
        use_sitemap: bool = True,
        retries: int = 4,
        user_agent: str = DEFAULT_USER_AGENT,
        headers: Mapping[str, str] | None = None,
        allow_private: bool = True,
        transport: httpx.AsyncBaseTransport | None = None,
        cache: AnswerCache | None = None,
    ) -> None:
        if not isinstance(url, str):
            raise InvalidSourceError(repr(url)[:100], f"a URL must be text, not {type(url).__name__}")
        bare, self._credentials = split_credentials(url)
        try:
            self.url = normalize_url(bare)
        except ValueError as error:
            shown = re.sub(r"(?<=://).*@", "", bare, flags=re.DOTALL)  # a password with / in it is no user info
            raise InvalidSourceError(shown, f"{error}; write a URL like https://example.org/page") from None
        self.url_pattern = url_pattern
        self._pattern = None if url_pattern is None else compiled_pattern(self.url, url_pattern)
        for name, value, least in (
            ("max_urls", max_urls, 1),
            ("concurrency", concurrency, 1),
            ("delay", delay, 0),
            ("max_bytes", max_bytes, 1),
            ("timeout", timeout, 0.001),
            ("max_redirects", max_redirects, 0),
            ("max_depth", max_depth or 0, 0),
            ("retries", retries, 0),
            ("chunk_size", 1 if chunk_size is None else chunk_size, 1),
            ("chunk_overlap", chunk_overlap or 0, 0),
        ):
            check_number(self.url, name, value, least)
        for name, flag in (
            ("same_host", same_host),
            ("respect_robots", respect_robots),
            ("use_sitemap", use_sitemap),
            ("allow_private", allow_private),
        ):
            check_flag(self.url, name, flag)
        if transport is not None and not allow_private:
            raise InvalidSourceError(self.url, "a transport of your own cannot be kept to public addresses")
        self.max_urls = max_urls
        self.explicit_chunk_size = None if isinstance(chunk_size, _DefaultInt) else chunk_size
        self.explicit_chunk_overlap = None if isinstance(chunk_overlap, _DefaultInt) else chunk_overlap
        self.chunk_size = int(DEFAULT_CHUNK_SIZE if chunk_size is None else chunk_size)
        self.chunk_overlap = int(DEFAULT_CHUNK_OVERLAP if chunk_overlap is None else chunk_overlap)
        self._same_host = same_host
        self._allowed_hosts = checked_hosts(self.url, allowed_hosts)
        self._trusted = Scope(self.url, same_host=True, allowed_hosts=self._allowed_hosts, pattern=None)
        self._concurrency = concurrency
        self._delay = delay
        self._max_bytes = max_bytes
        self._timeout = timeout
        self._max_redirects = max_redirects
        self._max_depth = max_depth
        self._respect_robots = respect_robots
        self._use_sitemap = use_sitemap
        self._retries = retries
        self._user_agent = checked_header(self.url, "User-Agent", user_agent) or DEFAULT_USER_AGENT
        self._headers = checked_headers(self.url, headers)
        self._allow_private = allow_private
        self._transport = transport
        self._cache = cache
        self._clock = Clock()
        self._backend: GuardedBackend | None = None
        self._forget()

    @property
    def source(self) -> SourceInfo:
        """The start URL, as the source of the documents."""
        return SourceInfo(host_and_port(self.url) + path_of(self.url).rstrip("/"), "web", self.url)

    def covers(self, uri: str) -> bool:
        """Return whether a page is of the hosts and pattern of this crawl; it says nothing about other pages."""
        try:  # the scope is that of the host that the start URL redirects to
            return (self._trusted.allows_host(uri) or self._scope.allows_host(uri)) and self._scope.matches(uri)
        except InvalidSourceError:  # the pattern takes too long to tell
            return False

    def _forget(self) -> None:
        self._scope = Scope(
            self.url, same_host=self._same_host, allowed_hosts=self._allowed_hosts, pattern=self._pattern
        )
        self.complete = False
        self.why_incomplete: str | None = "it was not read"
        self.moved: frozenset[str] = frozenset()
        self.skipped: Counter[str] = Counter()
        self.notes: list[str] = []

    async def load(self, known: Known | None = None) -> AsyncGenerator[LoadResult]:
        """Crawl.

        Args:
            known: Returns what is already stored.

        Yields:
            Documents, unchanged pages, and pages that failed, as they come; each URL once.

        Raises:
            SourceNotFoundError: if the start URL cannot be fetched, with the reason.
            InvalidSourceError: if its address is not public, and ``allow_private`` is false.
            LoadError: if robots.txt does not allow the start URL.
            NothingMatchedError: if no page matches the pattern.
        """
        self._forget()
        async with await asyncio.to_thread(self._client) as client:
            crawler = self._crawler(client, known)
            try:
                async with aclosing(crawler.run()) as results:
                    async for result in results:
                        yield result
            finally:
                self.complete = crawler.complete
                self.why_incomplete = crawler.why_incomplete
                self.moved = crawler.moved
                self.skipped = crawler.left_out.counts
                self.notes = crawler.notes

    async def why_doubtful(self, urls: Sequence[str]) -> str | None:
        """Ask for pages that a crawl did not find, though they are stored, to learn whether it saw the real site.

        Args:
            urls: A few of the pages.

        Returns:
            Why most of them may still exist, for people to read; ``None`` if they are gone, or only not linked.
        """
        from libs.dataloader.crawl.missing import why_doubtful

        async with await asyncio.to_thread(self._client) as client:
            scope = Scope(self.url, same_host=self._same_host, allowed_hosts=self._allowed_hosts, pattern=None)
            return await why_doubtful(self.url, urls, self._visitor(client, scope, lambda _: True, None, retries=0))

    def _client(self) -> httpx.AsyncClient:
        import httpx

        from libs.dataloader.crawl.fetch import keep_location

        ssl_context = _ssl_context()
        transport = self._transport
        if not self._allow_private:
            from libs.dataloader.crawl.guard import GuardedTransport

            transport = GuardedTransport(ssl_context, self._backend, self._concurrency)
        return httpx.AsyncClient(
            transport=transport,
            verify=ssl_context,
            trust_env=self._allow_private,  # proxies, as set for this machine
            event_hooks={"response": [keep_location]},
            timeout=httpx.Timeout(self._timeout, pool=None),
            limits=httpx.Limits(max_connections=self._concurrency, max_keepalive_connections=self._concurrency),
            headers={"User-Agent": self._user_agent, "Accept": _ACCEPT},
        )

    def _crawler(self, client: httpx.AsyncClient, known: Known | None) -> Crawler:
        from libs.dataloader.crawl.crawler import Crawler
        from libs.dataloader.crawl.frontier import Frontier
        from libs.dataloader.crawl.left_out import LeftOut
        from libs.dataloader.crawl.names import Names
        from libs.dataloader.crawl.traps import TrapDetector

        traps = TrapDetector()
        left_out = LeftOut()
        frontier = Frontier(self._scope, traps, self.max_urls, self._max_depth, left_out)
        return Crawler(
            start=self.url,
            visitor=self._visitor(client, self._scope, frontier.claim, known, retries=self._retries),
            scope=self._scope,
            frontier=frontier,
            names=Names(frontier.claim),
            traps=traps,
            known=known,
            use_sitemap=self._use_sitemap and self._max_depth != 0 and self.max_urls > 1,
            lookahead=max(_LEAST_LOOKAHEAD, _LOOKAHEAD * self._concurrency),
            left_out=left_out,
        )

    def _visitor(
        self,
        client: httpx.AsyncClient,
        scope: Scope,
        claim: Callable[[str], bool],
        known: Known | None,
        *,
        retries: int,
    ) -> Visitor:
        from libs.dataloader.crawl.fetch import Fetcher
        from libs.dataloader.crawl.robots import Robots
        from libs.dataloader.crawl.throttle import Throttle
        from libs.dataloader.crawl.visit import Visitor

        fetcher = Fetcher(
            client=client,
            throttle=Throttle(self._clock, self._concurrency, self._delay),
            clock=self._clock,
            retries=retries,
            timeout=self._timeout,
            max_bytes=self._max_bytes,
            headers_for=self._headers_for,
            cache=self._cache,
            sender=(self._user_agent, self._allow_private),
        )
        return Visitor(
            fetcher=fetcher,
            robots=Robots(fetcher, self._user_agent, self._respect_robots),
            scope=scope,
            claim=claim,
            known=known,
            max_redirects=self._max_redirects,
        )

    def _headers_for(self, url: str) -> Mapping[str, str]:
        """Return the headers for hosts that the caller named; none over http if the start URL is https."""
        if not self._trusted.allows_host(url) or (self.url.startswith("https:") and not url.startswith("https:")):
            return {}
        if self._credentials is None or without_www(host_and_port(url)) != without_www(host_and_port(self.url)):
            return self._headers
        pair = ":".join(self._credentials).encode()
        return {"Authorization": "Basic " + b64encode(pair).decode("ascii"), **self._headers}
