"""Acronyms and what they may stand for, where no text says so: WHO and World Health Organization."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: A word in capitals that may stand for a name of several words.
ACRONYM: Final = re.compile(r"(?<![\w.-])[^\W\d_a-z]{2,8}(?![\w-])")
#: Between the words of a name, whose initials are not counted.
_SMALL: Final = r"(?:of|for|and|the|on|in|de|des|du|del|la|les|der|die|für|und|et|y|&)"
_BETWEEN: Final = rf"(?:[\s-]+{_SMALL})*[\s-]+"


@lru_cache(maxsize=512)
def _spelt(acronym: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_BETWEEN.join(rf'{re.escape(letter)}[\w’-]*' for letter in acronym)}(?!\w)")


def spelt_out(acronym: str, text: str) -> re.Match[str] | None:
    """Return where a text has consecutive words with capitals whose initials are an acronym.

    Example:
        >>> spelt_out("WHO", "the World Health Organization said")[0]
        'World Health Organization'
    """
    return _spelt(acronym).search(text)
