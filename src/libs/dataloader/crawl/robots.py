"""Reads robots.txt (RFC 9309), once per host and before any page of it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from http import HTTPStatus

from protego import Protego

from libs.dataloader.crawl.fetch import UNASKED_304, BlockedError, Fetcher, FetchError, UnreachableError
from libs.dataloader.crawl.urls import host_and_port, join_url, origin

MAX_CRAWL_DELAY = 30.0
_MAX_BYTES = 500 * 1024
_MAX_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class Rules:
    """What the robots.txt of a host allows.

    Attributes:
        parsed: The file; ``None`` if there is none, so that everything is allowed.
        unavailable: Why the file could not be read although it may exist; then nothing is allowed.
        robot: The name by which rules address this crawler.
    """

    parsed: Protego | None = None
    unavailable: str | None = None
    robot: str = "*"

    def allows(self, url: str) -> bool:
        """Return whether the file allows the URL to be fetched."""
        return self.parsed is None or self.parsed.can_fetch(url, self.robot)

    @property
    def crawl_delay(self) -> float:
        """Seconds between two requests, at most :data:`MAX_CRAWL_DELAY`."""
        delay = self.parsed.crawl_delay(self.robot) if self.parsed is not None else None
        return min(delay, MAX_CRAWL_DELAY) if delay is not None and math.isfinite(delay) else 0.0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """URLs of the sitemaps that the file names, as written."""
        return tuple(dict.fromkeys(self.parsed.sitemaps)) if self.parsed is not None else ()


@dataclass(slots=True)
class Robots:
    """The rules of all hosts that a crawl meets.

    A host without the file (any 4xx but 429) allows everything. If the host answers 429 or 5xx, or not at all, even
    after retries, nothing is allowed (RFC 9309, section 2.3.1.4): the file may be there and forbid it.

    Args:
        fetcher: Fetches the files, and is slowed down to the crawl-delay that they request.
        user_agent: The ``User-Agent`` of this crawler; rules are looked up by its first word.
        respected: If false no file is fetched and everything is allowed.
    """

    fetcher: Fetcher
    user_agent: str
    respected: bool = True
    _known: dict[str, Rules] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def rules(self, url: str) -> Rules:
        """Return the rules for a URL's host.

        Raises:
            UnreachableError: if no connection to the host can be made at all.
            BlockedError: if requests to its address are not allowed.
        """
        if not self.respected:
            return Rules()
        root = origin(url)
        async with self._locks.setdefault(root, asyncio.Lock()):
            if root not in self._known:
                rules = await self._fetch(root)
                self._known[root] = rules
                self.fetcher.throttle.slow_down(host_and_port(root + "/"), rules.crawl_delay)
            return self._known[root]

    async def _fetch(self, root: str) -> Rules:
        robot = product_token(self.user_agent)
        url = root + "/robots.txt"
        for _ in range(_MAX_REDIRECTS + 1):
            try:
                answer = await self.fetcher.get(url, max_bytes=_MAX_BYTES, truncate=True, urgent=True)
            except (UnreachableError, BlockedError):
                raise
            except FetchError as error:
                if error.is_absent:
                    return Rules(robot=robot)
                return Rules(unavailable=error.reason, robot=robot)
            if answer.status == HTTPStatus.NOT_MODIFIED:
                return Rules(unavailable=UNASKED_304, robot=robot)
            if answer.location is None:
                body = answer.body
                if len(body) == _MAX_BYTES:  # possibly cut off: half a rule may mean something else
                    body = body[: body.rfind(b"\n") + 1]
                text = body.decode("utf-8", "replace").removeprefix("\ufeff")
                return Rules(Protego.parse(text), robot=robot)
            target = join_url(url, answer.location)
            if target is None:
                break
            url = target
        return Rules(robot=robot)  # too many redirects count as no file (section 2.3.1.2)


def product_token(user_agent: str) -> str:
    """Return the name by which robots.txt addresses a crawler: ``memgraph-rag`` of ``memgraph-rag/0.1 (…)``."""
    words = user_agent.split("/")[0].split()
    return words[0] if words else "*"
