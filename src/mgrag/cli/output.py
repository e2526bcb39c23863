"""Prints JSON for programs and lines for people: never wrapped or truncated, with colours only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from libs.regexes import regex

if TYPE_CHECKING:
    from collections.abc import Callable

#: A piece of a line: text, or text and a style of Rich.
Styled = str | tuple[str, str]

#: What a terminal would obey (escape sequences, changes of direction) when it stands in a document.
_CONTROL = regex("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

#: The ends of lines, and tabs, which have no place in a row.
_BREAKS = regex(r"[\t\n\v\f\r\x85]+")


class OutputError(Exception):
    """Standard output cannot be written any more, as on a full disk.

    Args:
        reason: What the operating system says.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def print_json(value: Any, *, one_line: bool = False) -> None:
    """Print one JSON document on standard output."""
    import json

    _write(json.dumps(value, ensure_ascii=False, indent=None if one_line else 2) + "\n", at_once=True)


def print_either(as_json: bool, value: Any, *lines: str) -> None:
    """Print a value as JSON, or lines about it for people."""
    if as_json:
        print_json(value)
        return
    for text in lines:
        line(text)


def as_text(value: Any) -> str:
    """Return a value as people read it: text as it is, anything else as JSON."""
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_on(text: str) -> None:
    """Print a part of a text on standard output at once; lines end only where the text has line ends."""
    _write("\n".join(map(clean, text.split("\n"))), at_once=True)


def line(*pieces: Styled) -> None:
    """Print one line on standard output."""
    if not sys.stdout.isatty():
        _write("".join(clean(piece if isinstance(piece, str) else piece[0]) for piece in pieces) + "\n")
        return
    from rich.console import Console
    from rich.text import Text

    parts = [clean(piece) if isinstance(piece, str) else (clean(piece[0]), piece[1]) for piece in pieces]
    Console(highlight=False, soft_wrap=True).print(Text.assemble(*parts))


def note(text: str) -> None:
    """Print one line on standard error."""
    try:
        sys.stderr.write(_encodable(clean(text)) + "\n")
    except BrokenPipeError:
        raise
    except OSError:  # nothing can be printed; the exit code has to do
        return


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number and what it counts: ``1 edge``, ``2 edges``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns, each row on one line; the last column may be of any width."""
    cells = [head, *([clean(_BREAKS.sub(" ", cell.strip())) for cell in row] for row in rows)]
    widths = [min(max(len(row[column]) for row in cells), 60) for column in range(len(head) - 1)]
    for number, row in enumerate(cells):
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        text = "  ".join([*padded, row[-1]]).rstrip()
        line((text, "bold") if number == 0 else text)


def clean(text: str) -> str:
    """Return text as one line, without anything that a terminal would obey."""
    return _CONTROL.sub("�", text)


def counts(numbers: dict[str, int]) -> str:
    """Return counts as one line: ``Document 3, DocumentChunk 9``."""
    return ", ".join(f"{name} {count:,}" for name, count in numbers.items()) or "none"


def minute(time: str) -> str:
    """Return a stored time to the minute: ``2026-01-31 12:00`` (UTC)."""
    return time[:16].replace("T", " ")


@contextmanager
def progress(text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show that work is going on, on a terminal only.

    Args:
        text: What is being done.
        quiet: Show nothing.

    Yields:
        A function that changes the text.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False).status(text) as status:
        yield lambda new: status.update(clean(new))


def _write(text: str, *, at_once: bool = False) -> None:
    try:
        sys.stdout.write(_encodable(text))
        if at_once:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error


def _encodable(text: str) -> str:
    """Return text with lone surrogates (from file names that are not UTF-8) escaped, as in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
