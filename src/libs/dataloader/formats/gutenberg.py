"""Books of Project Gutenberg as plain text, between what says where they are from and the licence."""

from __future__ import annotations

import re

from libs.dataloader.formats.base import Content
from libs.regexes import regex

_HEAD = 20_000  # characters within which a book begins
_MARK = r"^[ \t]*\*{3}[ \t]?%s OF (?:THE |THIS )?PROJECT GUTENBERG\b[^\n]*"
_START = regex(_MARK % "START" + r"(?:(?<!\*{3})\n[^\n]*\*{3}[ \t]*$)?", re.MULTILINE | re.IGNORECASE)
_END = regex(_MARK % "END", re.MULTILINE | re.IGNORECASE)
#: What stands above the mark in older files.
_LAST = regex(r"\n[ \t]*End of (?:the |this )?Project Gutenberg[^\n]*(?:\n[^\n]+){0,2}\s*\Z", re.IGNORECASE)
_LAST_LENGTH = 400
_FIELD = regex(r"^(Title|Author):[ \t]*(\S[^\n]*(?:\n[ \t]+\S[^\n]*)*)", re.MULTILINE)


def read_book(text: str) -> Content | None:
    """Return a book without its licence, or ``None`` for any other text.

    The licence, of twenty passages, would answer questions about fees, warranties and copies.
    """
    start = _START.search(text, 0, _HEAD)
    if start is None:
        return None
    fields = {match[1].lower(): " ".join(match[2].split()) for match in _FIELD.finditer(text, 0, start.start())}
    end = _END.search(text, start.end())
    book = text[start.end() : end.start() if end else len(text)].strip("\n")
    book = (book[:-_LAST_LENGTH] + _LAST.sub("", book[-_LAST_LENGTH:])).rstrip("\n")
    metadata = {"author": author} if (author := fields.get("author")) else {}
    return Content(book, title=fields.get("title"), metadata=metadata) if book.strip() else None
