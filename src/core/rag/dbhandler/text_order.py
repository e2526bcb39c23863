"""Pages of rows in the order of a text, for engines that do not agree about that order.

Neo4j sorts stored texts by code points, as the others do, but compares them with parameters by UTF-16 units, in which
emoji and rare Chinese characters come before U+E000 to U+FFFF (fullwidth letters and brackets): what follows a text of
one kind and begins with the other is not greater than it, and no page would have it.
"""

from __future__ import annotations

_COMPARED_ALIKE = "\ud7ff"  # characters up to this one


def comparable(text: str) -> str:
    """Return the beginning of a text that engines compare alike; whatever comes after the text, comes after this."""
    return text[: next((place for place, char in enumerate(text) if char > _COMPARED_ALIKE), len(text))]
