"""The frontier of a crawl: URLs to fetch, and URLs already seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from libs.dataloader.crawl.left_out import LeftOut
from libs.dataloader.crawl.scope import Scope
from libs.dataloader.crawl.traps import MAX_DATE_STEPS, TrapDetector, endless_shape, group_of, has_date

#: Maximum number of distinct URLs beyond a limit that are remembered, for each of the two limits.
_MAX_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A page to fetch.

    Attributes:
        url: Normalised.
        depth: Links from the start page.
        steps: Number of consecutive links within one group of similar, dated URLs since a page had new text.
        name: The URL to return it under, if it was fetched before and only its text is needed again.
    """

    url: str
    depth: int = 0
    steps: int = 0
    name: str | None = None


class Frontier:
    """A first-in, first-out queue that takes each URL once. A URL without a query precedes the same one with a query.

    The first of two URLs of one page becomes the name of that page, and the shorter name is the better one.

    Args:
        scope: Which URLs are wanted.
        traps: Which groups of URLs were closed.
        limit: Maximum number of pages to fetch.
        max_depth: Maximum number of links from the start page; ``None`` for no limit.
        left_out: Counts what is not fetched.
    """

    def __init__(self, scope: Scope, traps: TrapDetector, limit: int, max_depth: int | None, left_out: LeftOut) -> None:
        self._scope = scope
        self._traps = traps
        self._left = limit
        self._max_depth = max_depth
        self._queue: OrderedDict[str, Entry] = OrderedDict()
        self._found: set[str] = set()
        self._beyond: dict[str, None] = {}
        self._deeper: set[str] = set()
        self._left_out = left_out
        self.overflowed = False

    @property
    def has_room(self) -> bool:
        """Whether further URLs could still be fetched."""
        return len(self._queue) < self._left

    @property
    def is_cut_off(self) -> bool:
        """Whether pages at the maximum depth link to wanted URLs that were not found elsewhere."""
        return not self._deeper <= self._found

    def claim(self, url: str) -> bool:
        """Mark a URL as found, and return whether it was new."""
        if url in self._found:
            return False
        self._found.add(url)
        return True

    def spend(self) -> None:
        """Count a page that is fetched but was not taken from this queue."""
        self._left -= 1

    def add_links(self, parent: Entry, links: Iterable[str], *, is_new: bool = False) -> None:
        """Add the links of a page, in order.

        Args:
            parent: The page.
            links: Normalised URLs.
            is_new: Whether the page has text that no other page of its group had.
        """
        if self._max_depth is not None and parent.depth >= self._max_depth:
            if len(self._deeper) < _MAX_COUNTED:
                self._deeper.update(url for url in links if url not in self._found and self._scope.includes(url))
            return
        group = group_of(parent.url) if has_date(parent.url) else None
        steps = 1 if is_new else parent.steps + 1
        for url in links:
            self._add(Entry(url, parent.depth + 1, steps if group is not None and group == group_of(url) else 0))

    def add_again(self, entry: Entry) -> None:
        """Add a page that was fetched before."""
        self._queue[entry.url] = entry

    def note_limit(self) -> None:
        """Record, at the end of the crawl, the URLs that were not fetched because of the limit."""
        beyond = [*self._queue, *(url for url in self._beyond if url not in self._found)]
        if beyond:
            self._left_out.note("limit", beyond[0], len(beyond))

    def _add(self, entry: Entry) -> None:
        url = entry.url
        if url in self._found or not self._scope.includes(url):
            return
        self._found.add(url)
        if entry.steps > MAX_DATE_STEPS or endless_shape(url) or self._traps.is_closed(url):
            self._left_out.note("trap", url)
        elif self.has_room:
            self._queue[url] = entry
        else:
            if len(self._beyond) < _MAX_COUNTED:
                self._beyond[url] = None
            self._found.discard(url)  # otherwise the set would grow without bound
            self.overflowed = True

    def take(self) -> Entry | None:
        """Return the next page to fetch; ``None`` if there is none or the limit is reached."""
        while self._queue and self._left > 0:
            url = next(iter(self._queue))
            plain = url.partition("?")[0]
            entry = self._queue.pop(plain if plain in self._queue else url)
            if entry.name is None and self._traps.is_closed(entry.url):
                self._left_out.note("trap", entry.url)
                continue
            self._left -= 1
            return entry
        if self._queue:
            self.overflowed = True
        return None
