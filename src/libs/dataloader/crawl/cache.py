"""Caches responses that the crawls of one run share, so that overlapping sources fetch a page once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libs.dataloader.crawl.fetch import Fetched

MAX_CACHED_BYTES = 64_000_000
_ENTRY_BYTES = 2_000  # approximate size of headers and URL

_Key = tuple[str, int, tuple[str, bool], frozenset[tuple[str, str]]]


class AnswerCache:
    """Keeps the first responses of a run, up to :data:`MAX_CACHED_BYTES`.

    Nothing is evicted for later responses: crawls of one site fetch its pages in the same order, so the page that was
    requested the longest ago is the next one to be requested.
    """

    def __init__(self) -> None:
        self._answers: dict[_Key, tuple[Mapping[str, str], Fetched]] = {}
        self._left = MAX_CACHED_BYTES

    def get(self, key: _Key, conditions: Mapping[str, str]) -> Fetched | None:
        """Return the response to an earlier, equal request, if it was kept.

        Args:
            key: URL, size limit, User-Agent and whether private addresses are allowed, and headers that not everybody
                may send.
            conditions: ``If-None-Match`` and the like; "not modified" holds for the same ones only.
        """
        asked, answer = self._answers.get(key, (None, None))
        if answer is None or (answer.status == 304 and asked != conditions):
            return None
        return answer

    def put(self, key: _Key, conditions: Mapping[str, str], answer: Fetched) -> None:
        """Keep a response while there is room, unless it sets a cookie and expects to be requested again with it."""
        if answer.location is not None and "set-cookie" in answer.headers:
            return
        size = len(answer.body) + _ENTRY_BYTES
        if size <= self._left and key not in self._answers:
            self._left -= size
            self._answers[key] = (dict(conditions), answer)
