"""Recognises crawl traps (endless calendars, growing paths, session ids), and distinguishes them from large sites."""

from __future__ import annotations

import logging
import re
from collections import Counter
from dataclasses import dataclass, field

from libs.dataloader.crawl.urls import MAX_URL_LENGTH, page_key, path_of, query_of
from libs.regexes import regex

MAX_SEGMENTS = 24
MAX_SEGMENT_REPEATS = 3
MAX_PARAMETERS = 16
FREE_VARIANTS = 100
FREE_NUMBERED_PAGES = 1000
VARIANTS_PER_NEW_CONTENT = 5
MAX_COPIES = 5
MAX_DATE_STEPS = 60

logger = logging.getLogger(__name__)

_DIGITS = regex(r"[0-9]+")
_DATE = regex(
    r"(?<![0-9])(?:1[89]|2[0-9])[0-9]{2}(?:[-/_.]|%2F)?(?:0?[1-9]|1[0-2])(?![0-9])"  # 2031-05, 2031/5, 203105
    r"|[?&](?:year|yr|month|week|day|date)=",
    re.IGNORECASE,
)


def endless_shape(url: str) -> str | None:
    """Return why a URL has a shape that only traps have; ``None`` if it has not.

    Longer than :data:`MAX_URL_LENGTH`, more than :data:`MAX_SEGMENTS` path segments, one segment more than
    :data:`MAX_SEGMENT_REPEATS` times (``/a/b/a/b/a/b/a/b``), more than :data:`MAX_PARAMETERS` parameters.
    """
    if len(url) > MAX_URL_LENGTH:
        return "the URL is too long"
    segments = [segment for segment in path_of(url).split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "the path is too deep"
    if len(segments) > MAX_SEGMENT_REPEATS and Counter(segments).most_common(1)[0][1] > MAX_SEGMENT_REPEATS:
        return "the path repeats itself"
    if query_of(url).count("&") >= MAX_PARAMETERS:
        return "the URL has too many parameters"
    return None


def group_of(url: str) -> str:
    """Return the group of a URL: what all URLs share that may be one page over and over.

    All queries of one path are one group; so are URLs without a query that differ only in numbers.
    """
    path, question, _ = url.partition("?")
    if question:
        return path + "?"
    scheme, _, rest = path.partition("://")
    host, slash, rest = rest.partition("/")
    return f"{scheme}://{host}{slash}{_DIGITS.sub('0', rest)}"


def has_date(url: str) -> bool:
    """Return whether a URL names a month or a day, as calendars do."""
    return _DATE.search(url) is not None


@dataclass(slots=True)
class _Group:
    pages: int = 0
    copies: int = 0
    shapes: set[str] = field(default_factory=set)
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """Hashes by which the text of a page is recognised.

    Attributes:
        text: Hash of the visible text and of the paths of its links.
        shape: Hash of the same without numbers, so that all sheets of a calendar are equal.
    """

    text: str
    shape: str

    def __str__(self) -> str:
        return f"{self.text}:{self.shape}"

    @classmethod
    def parse(cls, text: str) -> Trace | None:
        """Parse the result of ``str``; ``None`` for any other text."""
        first, colon, second = text.partition(":")
        return cls(first, second) if colon and first and second else None


@dataclass(frozen=True, slots=True)
class Found:
    """What is new about a page.

    Attributes:
        is_copy: Whether the same path with another query had the same text before.
        is_new: Whether no page of its group had this text before, apart from numbers.
    """

    is_copy: bool = False
    is_new: bool = False


class TrapDetector:
    """Watches the pages of each group of similar URLs (:func:`group_of`), and closes groups without new text.

    A group of queries of one path is closed after :data:`FREE_VARIANTS` pages, one of numbered pages after
    :data:`FREE_NUMBERED_PAGES`, and :data:`VARIANTS_PER_NEW_CONTENT` more for each page whose text was new, apart
    from numbers: a catalogue goes on, a calendar does not. Queries of one path are also closed when :data:`MAX_COPIES`
    of them, and twice as many as were new, had exactly the same text as another (session ids).
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._texts: dict[str, set[str]] = {}

    def is_closed(self, url: str) -> bool:
        """Return whether the group of this URL is closed."""
        group = self._groups.get(group_of(url))
        return group is not None and group.closed

    def record(self, url: str, trace: Trace | None) -> Found:
        """Record a fetched page.

        Args:
            url: Its normalised URL.
            trace: The hashes of its text, if it has any.

        Returns:
            What is new about it.
        """
        key = group_of(url)
        group = self._groups.setdefault(key, _Group())
        group.pages += 1
        is_copy = is_new = False
        if trace is not None:
            texts = self._texts.setdefault(page_key(url), set())
            is_copy = trace.text in texts
            texts.add(trace.text)
            group.copies += is_copy
            is_new = trace.shape not in group.shapes
            group.shapes.add(trace.shape)
        is_query = key.endswith("?")
        free = FREE_VARIANTS if is_query else FREE_NUMBERED_PAGES
        too_many = group.pages >= free + VARIANTS_PER_NEW_CONTENT * len(group.shapes)
        only_copies = is_query and group.copies >= max(MAX_COPIES, 2 * (group.pages - group.copies))
        if (too_many or only_copies) and not group.closed:
            group.closed = True
            logger.warning("No more pages like %s are fetched: %d of them brought little new", url, group.pages)
        return Found(is_copy, is_new)
