"""Notes that Evernote exports (``.enex``), which other programs for notes write, too."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats.archive import child, children, local, parse_xml, told
from libs.dataloader.formats.attachments import Attachments
from libs.dataloader.formats.base import Content, FileData, UnreadableError, join_lines, lowered
from libs.dataloader.formats.preamble import fields_line
from libs.dataloader.formats.registry import Format
from libs.dataloader.html import html_to_document
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

# Boxes to tick: elements in older notes, and a style of items of lists in newer ones.
_BOX = regex(r"""<en-todo\b([^<>]*?)/?>|<li style="[^"<>]*?--en-checked:(true|false)[^"<>]*">(<div[^<>]*>)?""")
_DOCTYPE = regex(rb"<!DOCTYPE[^<>\[\]]*>")
_TICKED = regex(r"checked=[\"']true")


def read(file: FileData, _kind: Format) -> Content:
    """Convert the notes, each below its title; one by itself has its title and fields for the whole file."""
    root = parse_xml(_DOCTYPE.sub(b"", file.data))  # with one, nothing large may be inside
    notes = list(children(root, "note"))
    if local(root) != "en-export" or not notes:
        raise UnreadableError("it has no notes")
    collector = LinkCollector(None)
    attachments = Attachments(file, collector)
    if len(notes) == 1:
        (note,) = notes
        return Content(
            join_lines(_text(note, collector, attachments)),
            "markdown",
            told(note, "title") or None,
            _metadata(note),
            collector.links(),
        )
    lines: list[str] = []
    for note in notes:
        lines += [
            f"# {told(note, 'title') or '(untitled)'}",
            "",
            *fields_line(_metadata(note), ("created", "tags", "author")),
        ]
        lines += [lowered("\n".join(_text(note, collector, attachments))), ""]
    return Content(join_lines(lines), "markdown", None, {"note_count": len(notes)}, collector.links())


def _metadata(note: _Element) -> dict[str, Any]:
    inside = child(note, "note-attributes")
    known = {
        "created": _moment(told(note, "created")),
        "modified": _moment(told(note, "updated")),
        "tags": [name for tag in children(note, "tag") if (name := _words(tag))],
        "author": told(inside, "author"),
        "url": told(inside, "source-url"),
    }
    return {name: value for name, value in known.items() if value}


def _text(note: _Element, collector: LinkCollector, attachments: Attachments) -> Iterator[str]:
    content = child(note, "content")
    html = "".join(content.itertext()) if content is not None else ""
    if html.strip():
        page = html_to_document(_BOX.sub(_box, html), whole_page=True)
        collector.extend((link.target, link.text) for link in page.links)
        yield page.markdown
    for resource in children(note, "resource"):
        kind, data = told(resource, "mime"), child(resource, "data")
        if data is None or kind.startswith(("image/", "audio/", "video/")):
            continue
        name = told(child(resource, "resource-attributes"), "file-name") or "attachment"
        with contextlib.suppress(ValueError):  # cut short; it costs only itself
            yield attachments.read(name, base64.b64decode("".join(data.itertext())), kind)


def _box(found: re.Match[str]) -> str:
    box = "[x] " if found[2] == "true" or (found[1] and _TICKED.search(found[1])) else "[ ] "
    return f"<li>{found[3] or ''}{box}" if found[2] else box


def _moment(written: str) -> str:
    try:
        return datetime.strptime(written, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).isoformat()
    except ValueError:
        return ""


def _words(node: _Element) -> str:
    return " ".join(clean_text("".join(node.itertext())).split())
