"""Chooses between a page's own URL and its canonical URL, so that every page is returned exactly once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from libs.dataloader.crawl.frontier import Entry
from libs.dataloader.types import Document

MAX_WAITING_CHARS = 8_000_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that was fetched, and for which a URL has to be chosen.

    Attributes:
        entry: The page's own URL.
        canonical: The canonical URL that the page names, if it is not its own.
        document: The page; ``None`` if it is stored already, or was dropped to save memory.
        stored_as: The URL under which the graph has the page unchanged, if it has.
        same_as_canonical: Whether the graph has exactly this page under the canonical URL.
    """

    entry: Entry
    canonical: str | None = None
    document: Document | None = None
    stored_as: str | None = None
    same_as_canonical: bool = False

    @property
    def chars(self) -> int:
        """Number of characters of its text in memory."""
        return len(self.document.content) if self.document is not None else 0


@dataclass(slots=True)
class Names:
    """Records the outcome of each URL, and holds pages whose URL depends on the outcome of another one.

    A page is returned under its canonical URL if no other page is there: if that URL is not fetched, or redirects to
    this page. If the canonical URL has a page of its own, this page is a copy and left out; if it has none (404,
    noindex, forbidden), this page is returned under its own URL. The page waits until the canonical URL was fetched.

    Args:
        claim: Marks a URL as found; false if it was found before.
    """

    claim: Callable[[str], bool]
    _given: set[str] = field(default_factory=set)
    _barren: set[str] = field(default_factory=set)
    _unvisited: set[str] = field(default_factory=set)
    _leads_to: dict[str, str] = field(default_factory=dict)
    _waiting: dict[str, list[Candidate]] = field(default_factory=dict)
    _waits_for: dict[str, str] = field(default_factory=dict)
    _news: deque[str] = field(default_factory=deque)
    _chars: int = 0

    def is_given(self, url: str) -> bool:
        """Return whether a page was returned under this URL."""
        return url in self._given

    def is_awaited(self, url: str) -> bool:
        """Return whether a page waits for the outcome of this URL."""
        return url in self._waiting

    def is_waiting(self, url: str) -> bool:
        """Return whether the page at this URL waits for the outcome of another one."""
        return url in self._waits_for

    def note_given(self, url: str) -> None:
        """Record that a page was returned under this URL, or that the document stored under it stays."""
        self._given.add(url)
        self._news.append(url)

    def note_barren(self, url: str) -> None:
        """Record that this URL has no page."""
        self._barren.add(url)
        self._news.append(url)

    def note_leads(self, url: str, target: str) -> None:
        """Record that the page at this URL is returned under another one, or that the URL redirects there."""
        if url != target:
            self._leads_to[url] = target
            self._news.append(url)

    def settle(self, page: Candidate) -> str | None:
        """Decide under which URL to return a page, and record that it is returned.

        Returns:
            The URL; ``None`` for a copy, and for a page that has to wait, which :meth:`released` returns later.
        """
        url, canonical = page.entry.url, page.canonical
        if page.entry.name is not None:
            return page.entry.name
        if canonical is None:
            return self._give(page, url)
        end = self._end(canonical, url)
        if canonical in self._given or end in self._given:
            self.note_leads(url, canonical)
            return None
        if end == url or end in self._unvisited:
            return self._give(page, canonical)
        if end in self._barren or self._is_awaiting(end, url):
            return self._give(page, url)
        if page.stored_as is None and self.claim(end):  # it is not visited any more
            return self._give(page, canonical)
        self._wait(page, end)
        return None

    def released(self) -> Candidate | None:
        """Return the next page whose wait is over; ``None`` if there is none."""
        while self._news:
            pages = self._waiting.get(self._news[0])
            if pages:
                page = pages.pop(0)
                self._waits_for.pop(page.entry.url, None)
                self._chars -= page.chars
                return page
            self._waiting.pop(self._news.popleft(), None)
        return None

    def give_up_waiting(self) -> bool:
        """End all waiting, because nothing more is fetched: URLs that pages still wait for are never visited.

        Returns:
            False if no page waits.
        """
        if not self._waiting:
            return False
        first = next(iter(self._waiting))
        url = next((url for url in self._waiting if url not in self._waits_for), first)
        self._unvisited.add(url)
        self._news.append(url)
        return True

    def _give(self, page: Candidate, name: str) -> str:
        name = page.stored_as or name
        self.note_given(name)
        self.note_leads(page.entry.url, name)
        return name

    def _wait(self, page: Candidate, end: str) -> None:
        if self._chars + page.chars > MAX_WAITING_CHARS:
            page = replace(page, document=None)
        self._chars += page.chars
        self._waiting.setdefault(end, []).append(page)
        self._waits_for[page.entry.url] = end

    def _end(self, url: str, page: str) -> str:
        """Follow a URL to the one that leads no further, has a page, or is ``page``.

        If it leads in a circle, the result is ``page``.
        """
        seen = {url}
        while url != page and url not in self._given and (target := self._leads_to.get(url)) is not None:
            if target in seen:
                return page
            seen.add(target)
            url = target
        return url

    def _is_awaiting(self, url: str, page: str) -> bool:
        """Return whether a URL waits for this page, directly or through others (two may name each other)."""
        seen = {url}
        while (awaited := self._waits_for.get(url)) is not None and (target := self._end(awaited, page)) not in seen:
            if target == page:
                return True
            seen.add(target)
            url = target
        return False
