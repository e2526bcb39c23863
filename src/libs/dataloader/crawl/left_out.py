"""Counts what a crawl left out and why, and describes it for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# Commands always obey robots.txt; the option is for code, by people who know whose site it is.
ROBOTS_HINT = (
    "ask the owner of the site to allow it; if you have permission to fetch it anyway, load it from Python, with"
    " respect_robots=False (there is no command-line option for that)"
)
_IN_SHORT = {
    "robots": "not allowed by robots.txt",
    "noindex": "asking not to be indexed",
    "scope": "redirecting out of the crawl",
    "duplicate": "copies of others",
    "type": "of a kind that is not read",
    "trap": "in a crawl trap",
    "frames": "made of frames, without text of their own",
    "listing": "lists of the files in a folder",
    "limit": "beyond the limit of pages",
}
_AT_LENGTH = {
    "limit": "beyond the limit of pages to fetch; raise it (--max-urls, max_urls; of a server max_pages) to fetch more",
    "trap": (
        "pages that look like a calendar or another endless trap are not followed for ever; to include a page, name it"
        " as a source"
    ),
    "robots": f"forbidden by robots.txt; {ROBOTS_HINT}",
    "noindex": "marked as not to be indexed (noindex), which only the owner of the site can change",
}


@dataclass(slots=True)
class LeftOut:
    """Counts the URLs that a crawl leaves out, by reason, and keeps one of each kind as an example.

    Attributes:
        counts: By reason: ``robots``, ``noindex``, ``scope``, ``duplicate``, ``type``, ``trap``, ``frames``,
            ``listing``, ``limit``.
    """

    counts: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, str] = field(default_factory=dict)

    def note(self, reason: str, url: str, count: int = 1) -> None:
        """Count one URL that is left out, or several for the same reason."""
        self.counts[reason] += count
        self._examples.setdefault(reason, url)

    def in_short(self) -> list[str]:
        """Return all that was left out, in short: ``3 copies of others``."""
        return [f"{count} {_IN_SHORT[reason]}" for reason, count in sorted(self.counts.items()) if count]

    def at_length(self, start: str) -> list[str]:
        """Return a sentence for each reason that the user may want to act on.

        Args:
            start: Where the crawl began.
        """
        found: list[str] = []
        for reason, why in _AT_LENGTH.items():
            if count := self.counts[reason]:
                pages = "1 page was" if count == 1 else f"{count:,} pages were"
                least = "At least " if reason in ("limit", "trap") else ""  # they may lead to more
                example = self._examples[reason]
                found.append(f"{start}: {least}{pages} left out ({'' if count == 1 else 'such as '}{example}): {why}.")
        return found
