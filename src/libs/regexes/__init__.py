"""Regular expressions that are compiled when they are first used.

There are about a thousand of them. A command uses one in five, and compiling all would take it a quarter of its time.
"""

from __future__ import annotations

import re
from typing import Any, cast, overload

_USED = ("finditer", "findall", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")


class _Regex:
    """Stands for a pattern; once that is compiled, its methods are found here as fast as there."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(self._source, self._flags)
        for used in _USED:
            setattr(self, used, getattr(compiled, used))
        return getattr(compiled, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return regex, (self._source, self._flags)

    def __repr__(self) -> str:
        return f"regex({self._source!r}, {self._flags!r})"


@overload
def regex(source: str, flags: int = 0) -> re.Pattern[str]: ...


@overload
def regex(source: bytes, flags: int = 0) -> re.Pattern[bytes]: ...


def regex(source: str | bytes, flags: int = 0) -> re.Pattern[str] | re.Pattern[bytes]:
    """Return what `re.compile` would, for a constant of a module.

    Args:
        source: The expression. Whether it is one is found out when it is first used.
        flags: Those of `re`.

    Returns:
        The pattern, for all that its methods do. `re.sub` and its like, which want a compiled one, do not take it.
    """
    return cast("re.Pattern[str]", _Regex(source, flags))


def matched_as(text: str) -> str:
    """Return what a pattern that ignores case takes a text for, in lower case: the key of what was found in a table.

    Such a pattern finds more than other cases: the long s of old prints ("Auguſt") and both letters i of Turkish.

    Example:
        >>> matched_as("Auguſt"), matched_as("APRİL"), matched_as("aprıl")
        ('august', 'april', 'april')
    """
    return text.casefold().replace("\u0131", "i").replace("\u0307", "")
