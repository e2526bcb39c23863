"""Where a page of results begins: what callers pass as ``after`` is what the page before gave them."""

from __future__ import annotations

import json

from core.rag.arguments import check_text
from core.rag.errors import InvalidInputError

#: Maximum number of nodes of a traversal, on all of its pages together, and of one page of a list.
MAX_VISITED = 10_000

#: What callers are told who pass something else.
NO_PAGE = "after must be the value of next from an earlier page."


def cursor(after: str, parts: int = 2) -> tuple[str, ...]:
    """Return the texts that a list goes on after, empty ones for its first page.

    Raises:
        InvalidInputError: if ``after`` is none of these.
    """
    if not check_text("after", after):
        return ("",) * parts
    try:
        found = json.loads(after)
    except ValueError:
        found = None
    if not isinstance(found, list) or len(found) != parts or not all(isinstance(part, str) for part in found):
        raise InvalidInputError(NO_PAGE)
    return tuple(found)


def offset(after: str) -> int:
    """Return how many nodes of a traversal earlier pages had.

    Raises:
        InvalidInputError: if ``after`` does not say it.
    """
    if check_text("after", after) and not (after.isascii() and after.isdigit() and int(after) <= MAX_VISITED):
        raise InvalidInputError(NO_PAGE)
    return int(after or 0)
