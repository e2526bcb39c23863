"""The crawl: pages are fetched concurrently and processed one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from libs.dataloader.crawl.fetch import BlockedError, FetchError, UnwantedError
from libs.dataloader.crawl.frontier import Entry, Frontier
from libs.dataloader.crawl.left_out import ROBOTS_HINT, LeftOut
from libs.dataloader.crawl.names import Candidate, Names
from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.sitemaps import SitemapFailure, sitemap_pages
from libs.dataloader.crawl.traps import TrapDetector
from libs.dataloader.crawl.urls import host_and_port, looks_like_page, path_of, without_www
from libs.dataloader.crawl.visit import RobotsForbidError, Visit, Visitor
from libs.dataloader.errors import InvalidSourceError, LoadError, NothingMatchedError, SourceNotFoundError
from libs.dataloader.types import Document, Known, KnownDocument, LoadFailure, LoadResult, Unchanged

_INDEX_PATHS = ("/index", "/default", "/home")


@dataclass(slots=True)
class Crawler:
    """Crawls a site from one start URL.

    Up to ``lookahead`` pages are fetched concurrently, but they are handled in the order in which their URLs were
    found. The same site therefore gives the same documents in the same order, however fast each page arrives, even if
    a limit cuts the crawl short.

    Args:
        start: Normalised start URL.
        visitor: Visits pages; it is closed at the end.
        scope: Decides which URLs belong to the crawl.
        frontier: The URLs to fetch.
        names: Decides under which URL a page is returned.
        traps: Recognises crawl traps.
        known: Looks up which pages are stored already; ``None``: none are.
        use_sitemap: Whether sitemaps are read.
        lookahead: Maximum number of pages that are being fetched or waiting to be handled.
        left_out: Counts what is left out.
    """

    start: str
    visitor: Visitor
    scope: Scope
    frontier: Frontier
    names: Names
    traps: TrapDetector
    known: Known | None
    use_sitemap: bool
    lookahead: int
    left_out: LeftOut
    _unread: list[str] = field(default_factory=list)
    _moved: dict[str, str] = field(default_factory=dict)
    _leads_on: bool = False
    _bodies: set[str] = field(default_factory=set)
    _results: int = 0
    _ended: bool = False

    async def run(self) -> AsyncGenerator[LoadResult]:
        """Crawl; see :meth:`libs.dataloader.WebLoader.load`."""
        running: deque[tuple[Entry, asyncio.Task[Visit]]] = deque()
        entry = Entry(self.start)
        throttle = self.visitor.fetcher.throttle
        self.frontier.claim(self.start)
        try:
            visit = await self.visitor.visit(self.start, await self.visitor.ask(self.start), is_start=True)
            self._refuse(visit)
            self._leads_on = not visit.is_html or any(
                self.scope.allows_host(link) and looks_like_page(link) for link in visit.follow
            )
            self.frontier.claim(visit.url)
            if self.scope.matches(visit.url):
                self.frontier.spend()
            for result in self._settle(entry, visit, is_start=True):
                yield self._count(result)
            async with aclosing(self._add_sitemaps(visit)) as failures:
                async for failure in failures:
                    yield failure
            while True:
                await self._dispatch(running)
                if not running:
                    if not self.names.give_up_waiting():
                        break
                    for result in self._give_released():  # pages whose text was dropped are fetched again
                        yield self._count(result)
                    continue
                entry, task = running[0]
                throttle.put_first(task)
                visit = await task
                running.popleft()
                for result in self._settle(entry, visit):
                    yield self._count(result)
                throttle.keep(-visit.size)
        finally:
            for _, task in running:
                task.cancel()
            await asyncio.gather(*(task for _, task in running), return_exceptions=True)
            self.visitor.close()
        self._ended = True
        self.frontier.note_limit()
        if not self._results:
            raise NothingMatchedError(self.start, self._why_nothing())

    @property
    def complete(self) -> bool:
        """Whether everything that belongs to the crawl was seen."""
        return self.why_incomplete is None

    @property
    def why_incomplete(self) -> str | None:
        """Why not everything was seen, as text for people; ``None`` if everything was."""
        if not self._ended:
            return "it was not read to the end"
        if self._unread:
            more = f" (and {len(self._unread) - 1:,} more)" if len(self._unread) > 1 else ""
            return f"{self._unread[0]}{more} could not be read, which may be temporary; run it again later"
        if self.frontier.overflowed:
            return "there are more pages than the limit (--max-urls, max_urls) allows"
        if self.frontier.is_cut_off:
            return "there are pages deeper than max_depth"
        return "part of it looks like an endless trap" if self.left_out.counts["trap"] else None

    @property
    def moved(self) -> frozenset[str]:
        """URLs that redirect permanently, except to a page that could not be read for a reason that may pass."""
        unread = set(self._unread)
        return frozenset(url for url in self._moved if self._end(url) not in unread)

    @property
    def notes(self) -> list[str]:
        """Messages for the user about what the crawl left out, or why it found only one page."""
        found = self.left_out.at_length(self.start)
        if self._ended and self.use_sitemap and not self._leads_on:
            found.append(
                f"{self.start}: only this page was found: it links to no other page of its host, and no sitemap lists"
                " one. Menus that are built by scripts are not seen; you can name further pages, or a sitemap, as"
                " sources."
            )
        return found

    def _end(self, url: str) -> str:
        seen = {url}
        while (target := self._moved.get(url)) is not None and target not in seen:
            seen.add(target)
            url = target
        return url

    async def _dispatch(self, running: deque[tuple[Entry, asyncio.Task[Visit]]]) -> None:
        entries: list[Entry] = []
        while len(running) + len(entries) < self.lookahead and (entry := self.frontier.take()) is not None:
            if entry.name is None and self.names.is_given(entry.url):  # as the canonical URL of another page
                self.left_out.note("duplicate", entry.url)
            else:
                entries.append(entry)
        if not entries:
            return
        stored = await self.known([entry.url for entry in entries]) if self.known is not None else {}
        for entry in entries:
            running.append((entry, asyncio.create_task(self._visit(entry.url, stored.get(entry.url)))))

    async def _visit(self, url: str, known: KnownDocument | None) -> Visit:
        visit = await self.visitor.visit(url, known)
        self.visitor.fetcher.throttle.keep(visit.size)
        return visit

    def _refuse(self, visit: Visit) -> None:
        """Raise an error if the start URL could not be fetched; an unwanted kind of page is no error.

        Raises:
            LoadError: if robots.txt forbids it.
            InvalidSourceError: if its address is blocked.
            SourceNotFoundError: if it could not be fetched for another reason.
        """
        error = visit.failure
        if error is None or isinstance(error, UnwantedError):
            return
        where = "" if visit.url == self.start else f" (redirected to {visit.url})"
        if isinstance(error, RobotsForbidError):
            raise LoadError(self.start, f"{error.reason}{where}; {ROBOTS_HINT}") from error
        if isinstance(error, BlockedError):
            raise InvalidSourceError(self.start, f"{error.reason}{where}") from error
        raise SourceNotFoundError(self.start, f"{error.reason}{where}") from error

    async def _add_sitemaps(self, visit: Visit) -> AsyncGenerator[LoadResult]:
        if not visit.sitemap and not (self.use_sitemap and visit.is_html and self.frontier.has_room):
            return
        rules = await self.visitor.robots.rules(visit.url)
        named = (visit.url,) if visit.sitemap else rules.sitemaps
        start = Entry(visit.url)
        async with aclosing(sitemap_pages(self.visitor.fetcher, visit.url, named, self.scope)) as pages:
            async for page in pages:
                if isinstance(page, SitemapFailure):
                    self._unread.append(page.url)
                    self._leads_on = True
                    yield LoadFailure(page.url, page.reason)
                    continue
                self._leads_on = self._leads_on or page != visit.url
                self.frontier.add_links(start, (page,))
                if self.frontier.overflowed:
                    break

    def _settle(self, entry: Entry, visit: Visit, *, is_start: bool = False) -> Iterator[LoadResult]:
        """Record a visit; yield its result, if it has one, and the results that waited for it."""
        for passed in visit.chain:
            self.names.note_leads(passed, visit.url)
        for passed in visit.moved:
            self._moved[passed] = visit.target or visit.url
        yield from self._handle(replace(entry, url=visit.url), visit, is_start=is_start)
        yield from self._give_released()

    def _handle(self, entry: Entry, visit: Visit, *, is_start: bool) -> Iterator[LoadResult]:
        url = visit.url
        if visit.failure is not None:
            yield self._failure(entry, visit, visit.failure)
            return
        skipped = visit.skipped
        if visit.sitemap:
            return
        if entry.name is not None and skipped is None:
            yield from self._result(entry, visit, is_start=is_start)
            return
        if skipped is None and self.traps.is_closed(url) and not is_start:
            skipped = "trap"
        if skipped is not None:
            self._skip(url, skipped, visit.target)
            return
        found = self.traps.record(url, visit.trace)
        is_copy = found.is_copy or visit.sha256 in self._bodies
        if visit.sha256:
            self._bodies.add(visit.sha256)
        if not is_copy:  # the links of a copy can only lead to more of the same
            self.frontier.add_links(entry, visit.follow, is_new=found.is_new)
        if found.is_copy and not self.names.is_awaited(url):  # another page may be a copy of this one
            self._skip(url, "duplicate")
        elif self.names.is_given(url):
            self.left_out.note("duplicate", url)
        elif not is_start or self.scope.matches(url):
            yield from self._result(entry, visit, is_start=is_start)

    def _failure(self, entry: Entry, visit: Visit, error: FetchError) -> LoadFailure:
        if error.may_pass:
            self._unread.append(visit.url)
        if not error.is_gone:  # the pages that it linked to last time most likely still exist
            self.frontier.add_links(entry, visit.follow)
        path, reason = visit.url, error.reason
        if visit.stored_as is not None:
            path, reason = visit.stored_as, f"{reason} (redirected to {visit.url})"
        if visit.known is not None and not error.is_gone:  # the stored document stays
            self.names.note_given(path)
        else:
            self.names.note_barren(visit.url)
        return LoadFailure(path, reason, gone=error.is_gone)

    def _result(self, entry: Entry, visit: Visit, *, is_start: bool) -> Iterator[LoadResult]:
        page, url = visit.page, visit.url
        canonical = self._canonical(url, visit.canonical)
        if page is None:
            yield from self._give(Candidate(entry, canonical, stored_as=visit.stored_as or url))
            return
        if not page.indexed:
            if is_start:
                self.names.note_barren(url)
                yield LoadFailure(url, "the page asks not to be indexed (noindex)")
            else:
                self._skip(url, "noindex")
            return
        if any(frame in page.follow and self.scope.includes(frame) for frame in page.frames):
            self._skip(url, "frames")
            return
        if page.is_listing:
            self._skip(url, "listing")
            return
        if page.repeats_others and not is_start:
            self._skip(url, "duplicate")
            return
        if page.document is None or page.problem is not None:
            self.names.note_barren(url)
            yield LoadFailure(url, page.problem or "it could not be read")
            return
        known = visit.known_canonical
        same = known is not None and known.fingerprint.get("sha256") == visit.sha256
        yield from self._give(Candidate(entry, canonical, page.document, same_as_canonical=same))

    def _give(self, page: Candidate) -> Iterator[LoadResult]:
        """Yield the result for a page, unless it is a copy or has to wait for its canonical URL."""
        entry = page.entry
        name = self.names.settle(page)
        if name is None:
            if not self.names.is_waiting(entry.url):
                self.left_out.note("duplicate", entry.url)
        elif page.stored_as is not None or (page.same_as_canonical and name == page.canonical):
            yield Unchanged(name, name)
        elif page.document is None:
            self.frontier.add_again(replace(entry, name=name))
        elif name == entry.url:
            yield page.document if page.canonical is None else _noted(page.document, page.canonical)
        else:
            yield _renamed(page.document, name)

    def _give_released(self) -> Iterator[LoadResult]:
        while (page := self.names.released()) is not None:
            yield from self._give(page)

    def _canonical(self, url: str, canonical: str | None) -> str | None:
        """Return the canonical URL of a page; ``None`` if it has no other than its own, or names an implausible one."""
        if canonical is None or canonical == url or not self.scope.includes(canonical):
            return None
        if without_www(host_and_port(canonical)) != without_www(host_and_port(url)):
            return None
        # The templates of many sites name the home page as the canonical URL of every page.
        if path_of(canonical) == "/" and path_of(url) != "/" and not path_of(url).lower().startswith(_INDEX_PATHS):
            return None
        return canonical

    def _skip(self, url: str, reason: str, target: str | None = None) -> None:
        self.left_out.note(reason, url)
        if target is None:
            self.names.note_barren(url)
        else:
            self.names.note_leads(url, target)

    def _count(self, result: LoadResult) -> LoadResult:
        self._results += 1
        return result

    def _why_nothing(self) -> str:
        found = self.left_out.in_short()
        pattern = self.scope.pattern
        what = f"nothing matched the URL pattern {pattern!r}" if pattern is not None else "no page was found"
        if self._unread:
            found.append("a sitemap that could not be read")
        return f"{what} among the pages that this one and the sitemap lead to" + (
            f": {', '.join(found)}" if found else ""
        )


def _renamed(document: Document, url: str) -> Document:
    """Return the document under its canonical URL, with the fetched URL in its fingerprint for conditional requests."""
    fetched = document.path
    return replace(
        document,
        path=url,
        uri=url,
        metadata={**document.metadata, "url": url},
        fingerprint={**document.fingerprint, "url": fetched},
    )


def _noted(document: Document, canonical: str) -> Document:
    """Return the document under its own URL, with the canonical one in its fingerprint: it may be a page next time."""
    return replace(document, fingerprint={**document.fingerprint, "canonical": canonical})
