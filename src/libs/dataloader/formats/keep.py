"""Notes of Google Keep, as Google Takeout exports them: a JSON file for each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from libs.dataloader.formats.base import Content, UnreadableError
from libs.dataloader.formats.markdown import find_links
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text


def read_keep(data: Any) -> Content | None:
    """Convert a note: its text or list; labels are tags.

    Returns:
        Markdown; ``None`` if the data is something else.

    Raises:
        UnreadableError: if the note was thrown away.
    """
    if not isinstance(data, dict) or "userEditedTimestampUsec" not in data or "isTrashed" not in data:
        return None
    if data["isTrashed"] is True:
        raise UnreadableError("it is in the trash of Google Keep", gone=True)
    collector = LinkCollector(None)
    lines = [clean_text(str(data.get("textContent") or "")).strip()]
    items = _objects(data, "listContent")
    lines += (f"- [{'x' if item.get('isChecked') is True else ' '}] {_line(item.get('text'))}" for item in items)
    text = "\n".join(lines).strip()
    collector.extend(find_links(text))
    collector.extend((str(page.get("url") or ""), _line(page.get("title"))) for page in _objects(data, "annotations"))
    metadata = {
        "tags": [name for label in _objects(data, "labels") if (name := _line(label.get("name")))],
        "created": _moment(data.get("createdTimestampUsec")),
        "modified": _moment(data["userEditedTimestampUsec"]),
    }
    told = {name: value for name, value in metadata.items() if value}
    return Content(text, "markdown", _line(data.get("title")) or None, told, collector.links())


def _objects(data: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    items = data.get(name)
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())


def _line(words: Any) -> str:
    return " ".join(clean_text(words).split()) if isinstance(words, str) else ""


def _moment(microseconds: Any) -> str:
    try:
        return datetime.fromtimestamp(int(microseconds) // 1_000_000, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
