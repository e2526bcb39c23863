"""Lines of a text for converters that look at, or skip, the following ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator


class Lines:
    """Iterates over the lines of a text; the code in the loop may look at, or skip, following lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._place = 0
        self._unclosed: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        while self._place < len(self._lines):
            self._place += 1
            yield self._lines[self._place - 1]

    def following(self) -> str:
        """Return the next line without consuming it; empty at the end."""
        return self._lines[self._place] if self._place < len(self._lines) else ""

    def skip(self) -> None:
        """Skip the next line."""
        self._place += 1

    def until(self, closing: str) -> list[str] | None:
        """Consume the lines up to and including the closing one; return those before it, ``None`` if it is missing."""
        if closing in self._unclosed:
            return None
        for index in range(self._place, len(self._lines)):
            if self._lines[index].strip().lower() == closing:
                inside, self._place = self._lines[self._place : index], index + 1
                return inside
        self._unclosed.add(closing)  # no need to look again, as often as it is opened
        return None


def without_last(heading: str, is_mark: Callable[[str], object]) -> str:
    """Return a heading without its last word if that is a mark."""
    words = heading.rsplit(maxsplit=1)
    return words[0] if len(words) == 2 and is_mark(words[1]) else heading.rstrip()
