"""Calendars (iCalendar) and address books (vCard)."""

from __future__ import annotations

import re
from dataclasses import replace

from libs.dataloader.formats.base import Content, FileData, sensible_title
from libs.dataloader.formats.registry import Format

_FOLD = re.compile(rb"\r?\n[ \t]")
_ENTRY = re.compile(r"^(?=BEGIN:(?:VEVENT|VTODO|VJOURNAL|VFREEBUSY|VCARD)[ \t]*$)", re.MULTILINE | re.IGNORECASE)
_PICTURE = re.compile(r"^[^:\n]{0,500};ENCODING=B(?:ASE64)?\b[^:\n]{0,500}:[^\n]*\n?", re.MULTILINE | re.IGNORECASE)
_ESCAPE = re.compile(r"\\([,;nN\\])")
_NAME = re.compile(r"^X-WR-CALNAME[^:\n]{0,500}:([^\n]+)$", re.MULTILINE | re.IGNORECASE)


def read(file: FileData, _kind: Format) -> Content:
    """Convert each entry to a record; folded lines, and the words cut by folding, are joined again."""
    # Before they are decoded: lines are folded after so many bytes, within characters too.
    text = _PICTURE.sub("", replace(file, data=_FOLD.sub(b"", file.data)).text())
    name = _NAME.search(text)
    text = re.sub(r"\n{2,}", "\n", _unescaped(text))
    title = sensible_title(_unescaped(name[1])) if name else None
    return Content(_ENTRY.sub("\n", text).strip(), "records", title)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], text)
