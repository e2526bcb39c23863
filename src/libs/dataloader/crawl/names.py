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
        canonical: The canonical URL that the page names, where that is another one.
        document: The page; ``None`` where it is stored already, or was dropped to save memory.
        stored_as: Where the graph has the page unchanged: under which URL.
        same_as_canonical: Whether the graph has exactly this page under the canonical URL.
    """

    entry: Entry
    canonical: str | None = None
    document: Document | None = None
    stored_as: str | None = None
    same_as_canonical: bool = False

    @property
    def chars(self) -> int:
        """Length of the text that it keeps in memory."""
        return len(self.document.content) if self.document is not None else 0


@dataclass(slots=True)
class Names:
    """Knows what became of each URL, and keeps pages whose name depends on what becomes of another URL.

    A page is given under its canonical URL where nothing else comes from there: where nobody fetches that, or where it
    redirects to this very page. Where the canonical URL gives a page of its own, this one is a copy; where it gives
    nothing (404, noindex, forbidden), the page is given under the URL that it has. As long as the canonical URL is
    still to be fetched, the page waits.

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
        """Whether there was a page under this URL."""
        return url in self._given

    def is_awaited(self, url: str) -> bool:
        """Whether a page waits for what becomes of this URL."""
        return url in self._waiting

    def is_waiting(self, url: str) -> bool:
        """Whether the page at this URL waits for what becomes of another."""
        return url in self._waits_for

    def note_given(self, url: str) -> None:
        """Note that a page was given under this URL, or that what is stored under it stays."""
        self._given.add(url)
        self._news.append(url)

    def note_barren(self, url: str) -> None:
        """Note that this URL gives no page."""
        self._barren.add(url)
        self._news.append(url)

    def note_leads(self, url: str, target: str) -> None:
        """Note that the page at this URL is given under another one, or that the URL redirects there."""
        if url != target:
            self._leads_to[url] = target
            self._news.append(url)

    def settle(self, page: Candidate) -> str | None:
        """Decide under which URL to give a page, which is taken as given then.

        Returns:
            The URL; ``None`` for a copy and for a page that has to wait: :meth:`released` has it later.
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
        if page.stored_as is None and self.claim(end):  # nobody will visit it now
            return self._give(page, canonical)
        self._wait(page, end)
        return None

    def released(self) -> Candidate | None:
        """The next page that waited for something that is known by now."""
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
        """Take note that nothing more is fetched: a URL that is still waited for is never visited.

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
        """Follow what is known of a URL to its end: to a URL that leads no further, was given, or is ``page``.

        Where it leads in a circle, the end is ``page``.
        """
        seen = {url}
        while url != page and url not in self._given and (target := self._leads_to.get(url)) is not None:
            if target in seen:
                return page
            seen.add(target)
            url = target
        return url

    def _is_awaiting(self, url: str, page: str) -> bool:
        """Whether a URL waits for this page, directly or through others, as two do that call each other canonical."""
        seen = {url}
        while (awaited := self._waits_for.get(url)) is not None and (target := self._end(awaited, page)) not in seen:
            if target == page:
                return True
            seen.add(target)
            url = target
        return False
