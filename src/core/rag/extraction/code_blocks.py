"""Blocks of code in passages, which may begin within one: a passage is a piece of a document."""

from __future__ import annotations

from libs.regexes import regex

#: A first line of backticks that ends a block: it stands right below a line, and above none.
_CLOSES = regex(r"[^`]*[^`\s][ \t]*\n[ \t]*(`{3,})[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z)")
#: A line of JSON: brackets, a value, or a key with its value or the beginning of it.
_DATA_LINE = regex(
    r"[ \t]*(?:[{}\[\]]{1,4},?|(?:\"[^\"\n]*\"|-?[\d.]+|true|false|null),?|\"[^\"\n]{1,80}\"[ \t]*:[^\n]*)[ \t]*"
)
_DATA_SHARE = 0.8
_LEAST_LINES = 4


def block_before(text: str) -> int:
    """Return the length of the code that a passage begins with, if it begins within a block; else 0."""
    closing = _CLOSES.match(text) if "```" in text else None
    return 0 if closing is None else closing.end(1)


def is_data(text: str) -> bool:
    """Return whether a passage is nothing but a piece of JSON, which may begin and end anywhere."""
    if '"' not in text:
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _LEAST_LINES and sum(map(bool, map(_DATA_LINE.fullmatch, lines))) >= _DATA_SHARE * len(lines)
