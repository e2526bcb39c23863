"""Visits one URL: follows its redirects to a page, an unchanged page, a failure, or a URL that is skipped."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import httpx

from libs.dataloader.crawl.fetch import UNASKED_304, Fetched, Fetcher, FetchError, RedirectError, UnwantedError
from libs.dataloader.crawl.media import Kind, kind_of
from libs.dataloader.crawl.pages import Page, conditions, is_read_as_now, links_to_follow, read_page
from libs.dataloader.crawl.robots import Robots, product_token
from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.traps import Trace
from libs.dataloader.crawl.urls import join_url, names_a_page
from libs.dataloader.types import Known, KnownDocument

_WORKERS = max(2, min(4, os.cpu_count() or 1))

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Visit:
    """The outcome of a URL. Exactly one of ``page``, ``unchanged``, ``failure`` and ``skipped`` is set.

    Attributes:
        url: The URL at the end of the redirects.
        page: The page there.
        sha256: Of the body.
        unchanged: What is stored of the page, which did not change.
        failure: Why it could not be fetched.
        skipped: Why it was skipped: ``robots``, ``scope``, ``duplicate``, ``type``.
        known: What is stored of a page that could not be fetched.
        sitemap: Whether the body was a sitemap.
        known_canonical: What is stored under the canonical URL of the page.
        chain: The URLs that led here, this one included.
        moved: Those of the chain that redirect permanently.
        target: The URL that it redirects to, if that is visited separately.
        stored_as: The URL that ``unchanged`` or ``known`` is stored under, if it is one that redirected here.
    """

    url: str
    page: Page | None = None
    sha256: str = ""
    unchanged: KnownDocument | None = None
    failure: FetchError | None = None
    skipped: str | None = None
    known: KnownDocument | None = None
    sitemap: bool = False
    known_canonical: KnownDocument | None = None
    chain: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    target: str | None = None
    stored_as: str | None = None

    @property
    def canonical(self) -> str | None:
        """The canonical URL that the page names, or named when it was stored under another one nevertheless."""
        if self.page is not None:
            return self.page.canonical
        if self.stored_as is not None:
            return self.stored_as
        return self.unchanged.fingerprint.get("canonical") if self.unchanged is not None else None

    @property
    def trace(self) -> Trace | None:
        """The hashes by which the page's text is recognised."""
        if self.page is not None:
            return self.page.trace
        if self.unchanged is not None:
            return Trace.parse(self.unchanged.fingerprint.get("text", ""))
        return None

    @property
    def size(self) -> int:
        """Bytes of memory that the text of the page takes."""
        return sys.getsizeof(self.page.document.content) if self.page is not None and self.page.document else 0

    @property
    def is_html(self) -> bool:
        """Whether it is a page with links to follow, not a document that pages link to."""
        if self.page is not None and self.page.document is not None:
            return self.page.document.mime_type == Kind.HTML
        return self.unchanged is not None and self.unchanged.fingerprint.get("kind", Kind.HTML) == Kind.HTML

    @property
    def follow(self) -> tuple[str, ...]:
        """The links to follow."""
        if self.page is not None:
            return self.page.follow
        known = self.unchanged or self.known
        return links_to_follow(self.url, known) if known is not None else ()


class RobotsForbidError(FetchError):
    """robots.txt does not allow the URL, or could not be read.

    Args:
        unavailable: Why it could not be read; ``None`` if it could.
        known: Whether the URL is stored.
    """

    def __init__(self, unavailable: str | None = None, *, known: bool = False) -> None:
        if unavailable is not None:
            reason = f"robots.txt of the host could not be read, so nothing may be fetched: {unavailable}"
        elif known:
            reason = "robots.txt of the host does not allow it any more; what was read before stays until it is deleted"
        else:
            reason = "robots.txt of the host does not allow it"
        super().__init__(reason)
        self._unavailable = unavailable is not None

    @property
    def may_pass(self) -> bool:
        """Only if the file could not be read."""
        return self._unavailable


@dataclass(slots=True)
class Visitor:
    """Visits pages, and reads them in threads of its own.

    In those of the event loop, a few long documents would keep everything else waiting that needs one: the addresses of
    hosts, the embeddings of earlier pages, the searches of others.

    Args:
        fetcher: Sends the requests.
        robots: Decides which URLs may be fetched.
        scope: Decides which URLs belong to the crawl.
        claim: Marks a URL as found; false if it was found before.
        known: What is stored already.
        max_redirects: Maximum number of consecutive redirects.
    """

    fetcher: Fetcher
    robots: Robots
    scope: Scope
    claim: Callable[[str], bool]
    known: Known | None
    max_redirects: int
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_WORKERS, thread_name_prefix="page"))

    def close(self) -> None:
        """End the threads; nothing is visited any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def visit(self, url: str, known: KnownDocument | None, *, is_start: bool = False) -> Visit:
        """Fetch a page. Redirects, also of ``meta refresh``, are followed to URLs that are not visited separately.

        Args:
            url: Normalised, and already claimed.
            known: What is stored of it.
            is_start: It is the start URL: a redirect takes the crawl to another host, and nothing is skipped silently.
        """
        chain = [url]
        moved: list[str] = []
        visit = await self._follow(chain, moved, known, is_start=is_start)
        return replace(visit, chain=tuple(chain), moved=tuple(moved))

    async def _follow(
        self, chain: list[str], moved: list[str], known: KnownDocument | None, *, is_start: bool
    ) -> Visit:
        """Visit the first URL of ``chain``, and follow its redirects.

        Args:
            chain: Begins with the URL; those that it redirects to are added.
            moved: The URLs that redirect permanently are added.
            known: What is stored of the first URL.
            is_start: Whether it is the start URL of the crawl.
        """
        url = chain[0]
        stored_as: str | None = None
        renamed: dict[str, tuple[str, KnownDocument]] = {}  # stored under a URL that redirects to them
        cookie_was_set = False
        while True:
            if known is not None and stored_as is None and (fetched := known.fingerprint.get("url")) is not None:
                renamed[fetched] = url, known
            step = await self._step(url, known, is_start=is_start)
            if isinstance(step, Visit):
                if step.page is None or step.page.refresh is None:
                    return replace(step, stored_as=stored_as)
                location = step.page.refresh
            else:
                location = step.location or ""
                cookie_was_set = cookie_was_set or "set-cookie" in step.headers
            target = join_url(url, location)
            if target is None:
                return Visit(
                    chain[0], failure=RedirectError(f"redirects to {location[:200]!r}, which is not a web page")
                )
            if len(chain) > self.max_redirects:
                return Visit(chain[0], failure=RedirectError(f"more than {self.max_redirects} redirects"))
            if isinstance(step, Fetched) and step.moved and target not in chain:
                moved.append(url)
            if target in chain:
                if not cookie_was_set:
                    return Visit(chain[0], failure=RedirectError("redirects in a circle"))
            elif is_start:
                self.claim(target)
                if not self.scope.allows_host(target):
                    self.scope.move_to(target)
            elif not self.scope.includes(target):
                return Visit(url, skipped="scope")
            elif not self.claim(target):
                return Visit(url, skipped="duplicate", target=target)
            chain.append(target)
            url = target
            stored_as, known = None, await self.ask(url)
            if known is None and url in renamed:
                stored_as, known = renamed[url]

    async def ask(self, url: str) -> KnownDocument | None:
        """Return what is stored of a URL."""
        return None if self.known is None else (await self.known([url])).get(url)

    async def _step(self, url: str, known: KnownDocument | None, *, is_start: bool) -> Visit | Fetched:
        """Fetch one URL; a redirect is returned."""
        try:
            rules = await self.robots.rules(url)
            if rules.unavailable is not None:
                return Visit(url, failure=RobotsForbidError(rules.unavailable), known=known)
            if not rules.allows(url):
                if is_start:
                    return Visit(url, failure=RobotsForbidError())
                if known is not None:  # it was not looked at, so nothing says that it is gone
                    return Visit(url, failure=RobotsForbidError(known=True), known=known)
                return Visit(url, skipped="robots")
            kinds: list[Kind] = []

            def check(headers: httpx.Headers, head: bytes) -> str | None:
                kind = kind_of(headers.get("content-type", ""), head, url)
                if isinstance(kind, Kind):
                    kinds.append(kind)
                    return None
                return kind

            answer = await self.fetcher.get(url, headers=conditions(known, url), check=check)
            if answer.status == 304 and known is None:
                raise FetchError(UNASKED_304)
        except UnwantedError as error:
            if is_start or names_a_page(url):
                return Visit(url, failure=error)
            return Visit(url, skipped="type")
        except FetchError as error:
            return Visit(url, failure=error, known=known)
        if answer.location is not None:
            return answer
        if answer.status == 304 and known is not None:
            return Visit(url, unchanged=known, sha256=known.fingerprint.get("sha256", ""))
        if kinds[-1] is Kind.SITEMAP:
            return Visit(url, sitemap=True) if is_start else Visit(url, skipped="type")
        return await self._read(url, kinds[-1], answer, known)

    async def _read(self, url: str, kind: Kind, answer: Fetched, known: KnownDocument | None) -> Visit:
        sha256 = hashlib.sha256(answer.body).hexdigest()
        if known is not None and known.fingerprint.get("sha256") == sha256 and is_read_as_now(known):
            return Visit(url, unchanged=known, sha256=sha256)
        robot = product_token(self.robots.user_agent)
        limit = self.fetcher.max_bytes
        read = partial(read_page, url, kind, answer.headers, answer.body, robot=robot, max_bytes=limit)
        try:
            with self.fetcher.throttle.keeping(len(answer.body)):
                page = await asyncio.get_running_loop().run_in_executor(self._pool, read)
        except Exception as error:
            logger.warning("Converting %s failed", url, exc_info=True)
            return Visit(url, failure=UnwantedError(f"it could not be converted: {type(error).__name__}: {error}"))
        known_canonical = None
        if page.canonical is not None and page.canonical != url:
            known_canonical = await self.ask(page.canonical)
        return Visit(url, page=page, sha256=sha256, known_canonical=known_canonical)
