"""What the converters of AsciiDoc and Org share: lines of which the following ones are looked at, or skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from libs.dataloader.formats.base import Content, join_lines
from libs.dataloader.formats.markdown import first_heading
from libs.dataloader.links import LinkCollector


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


def converted(
    text: str, lines: Iterable[str], fields: Mapping[str, str], names: Mapping[str, str], collector: LinkCollector
) -> Content:
    """Return a text that was converted to Markdown; as it was if nothing is left of it.

    Args:
        text: The text as written.
        lines: Its converted lines; ``fields`` and ``collector`` are complete at their end.
        fields: The values that it defines, ``title`` among them.
        names: The names that some of them have in the metadata.
        collector: Its links.
    """
    made = join_lines(lines).strip("\n") + "\n"
    if not made.strip():
        return Content(text)  # nothing but settings, say
    metadata = {names[name]: value for name, value in fields.items() if name in names and value}
    return Content(made, "markdown", fields.get("title") or first_heading(made), metadata, collector.links())


def without_last(heading: str, is_mark: Callable[[str], object]) -> str:
    """Return a heading without its last word if that is a mark."""
    words = heading.rsplit(maxsplit=1)
    return words[0] if len(words) == 2 and is_mark(words[1]) else heading.rstrip()
