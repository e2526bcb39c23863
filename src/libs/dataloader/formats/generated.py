"""Tells files that programs made for programs, with nothing in them that somebody wrote to be read."""

from __future__ import annotations

import re

from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.registry import JSON, Format

_MINIFIED = frozenset(("javascript", "css"))
_SMALL = 2000  # bytes; a short script in one line is a bookmark, or an example
_LONG = 300  # characters of an average line: lines are read
#: Where a page is that the index has words of; a file of settings for an index has none.
_PLACE = re.compile(rb'"(?:location|url|uri|href|path|permalink|u|l)"\s*:\s*"')
_SEARCH_INDEX = re.compile(r"(?:^|[-_.])search[-_]?index[-_.\w]*\.json$", re.IGNORECASE)


def check_written(name: str, data: bytes, kind: Format) -> None:
    """Refuse what is in a folder with built pages besides these: minified scripts, source maps, search indexes.

    Args:
        name: Name of the file.
        data: Its bytes.
        kind: Its format.

    Raises:
        UnreadableError: if it is one of these, naming it.
    """
    if kind.language in _MINIFIED and len(data) > max(_SMALL, _LONG * (data.count(b"\n") + 1)):
        raise UnreadableError(f"it is minified code or data ({kind.language})")
    if kind == JSON:
        if name.endswith(".map") and b'"mappings"' in data:
            raise UnreadableError("it is a source map")
        if _SEARCH_INDEX.search(name) and _PLACE.search(data):
            raise UnreadableError("it is the search index of web pages, and only repeats them")
