"""Plain text."""

from __future__ import annotations

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format


def read(file: FileData, _kind: Format) -> Content:
    """Return the text as it is, decoded and cleaned."""
    return Content(file.text())
