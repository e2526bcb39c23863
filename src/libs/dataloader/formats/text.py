"""Plain text."""

from __future__ import annotations

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format


def read(file: FileData, _kind: Format) -> Content:
    """Return the text as it is, decoded and cleaned; printed pages without what runs along their heads and feet."""
    pages = file.pages() if b"\f" in file.data else []
    if len(pages) > 1:
        from libs.dataloader.formats import printed

        if printed.is_printed(pages):
            return printed.content_of(pages)
    return Content(file.text())
