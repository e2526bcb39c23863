"""Plain text."""

from __future__ import annotations

from dataclasses import replace

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.chat_logs import read_log
from libs.dataloader.formats.gutenberg import read_book
from libs.dataloader.formats.program_logs import read_program_log
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.rfc import front_matter


def read(file: FileData, _kind: Format) -> Content:
    """Return the text as it is, decoded and cleaned, if it is no conversation and no log.

    Printed pages are joined, without what runs along their heads and feet. Books of Project Gutenberg have no licence.
    """
    pages = file.pages() if b"\f" in file.data else []
    text = file.text() if len(pages) < 2 else ""
    if len(pages) > 1 or b"[Page " in file.data:
        from libs.dataloader.formats import printed

        pages = pages if len(pages) > 1 else printed.pages_by_feet(text)
        if pages and printed.is_printed(pages):
            return _described(printed.content_of(pages))
    text = text or file.text()
    return read_book(text) or read_log(text) or read_program_log(text) or _described(Content(text))


def _described(content: Content) -> Content:
    """Return a text with what its first page says of it, if it is a standard."""
    title, metadata = front_matter(content.text)
    return replace(content, title=title or content.title, metadata=content.metadata | metadata)
