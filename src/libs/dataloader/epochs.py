"""Times that JSON has as seconds or milliseconds since 1970, as logs and the APIs of services write them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from libs.regexes import regex

#: The years 2001 to 2039, in seconds.
_FIRST: Final = 1e9
_LAST: Final = 2.2e9
_MILLISECONDS: Final = 1000
_DIGITS: Final = (10, 13)
#: The last word of the name of a field with a time: ``createdAt``, ``due_date``, ``current_period_end``, ``ts``.
_OF_TIME: Final = regex(
    r"(?:.*[^A-Za-z]|.*[a-z](?=[A-Z]))?"
    r"(?i:at|on|date|time|timestamp|ts|created|updated|modified|changed|start|end|due|expires|expiry|since|until|seen|added|saved)"
)


def with_times(node: dict[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with times as ISO 8601, in UTC, where a field that is called so has such a number.

    As numbers, nobody can read or ask for them: "How many errors were there on 3 May 2026?"
    """
    for name, value in node.items():
        if type(value) in (int, float) and value >= _FIRST and (told := _told(value)) and is_of_time(name):
            node[name] = told
    return node


@lru_cache(maxsize=4096)
def is_of_time(name: str) -> bool:
    """Return whether a field is called as one with a time."""
    return _OF_TIME.fullmatch(name) is not None


def time_of_number(text: str) -> str:
    """Return a time as ISO 8601 that is written as such a number; empty if it is none."""
    text = text.strip()
    return _told(int(text)) if text.isascii() and text.isdigit() and len(text) in _DIGITS else ""


def _told(value: float) -> str:
    seconds = value if value < _LAST else value / _MILLISECONDS
    if not _FIRST <= seconds < _LAST:
        return ""
    time = datetime.fromtimestamp(seconds, UTC)
    return f"{time.replace(tzinfo=None).isoformat(timespec='milliseconds' if time.microsecond else 'seconds')}Z"
