"""Determines the type of a response: by its Content-Type, or by its bytes where that is wrong."""

from __future__ import annotations

import json
from enum import StrEnum

from libs.dataloader.crawl.sitemaps import is_sitemap
from libs.dataloader.crawl.urls import extension_of
from libs.dataloader.formats.registry import is_html


class Kind(StrEnum):
    """Kinds of documents that are read, by their media types."""

    HTML = "text/html"
    PDF = "application/pdf"
    MARKDOWN = "text/markdown"
    JSON = "application/json"
    TEXT = "text/plain"
    SITEMAP = "application/xml"


_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_XML_TYPES = frozenset(("application/xml", "text/xml"))
_MARKDOWN_TYPES = frozenset(("text/markdown", "text/x-markdown", "text/x-web-markdown"))
_JSON_TYPES = frozenset(("application/json", "text/json", "application/x-ndjson", "application/jsonl"))
_UNTOLD_TYPES = frozenset(
    ("", "application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download")
)
_UNREAD_TEXT_TYPES = frozenset(
    f"text/{name}"
    for name in ("css", "javascript", "ecmascript", "csv", "tab-separated-values", "calendar", "vcard", "vtt", "xml")
)
_BY_EXTENSION = {"md": Kind.MARKDOWN, "markdown": Kind.MARKDOWN, "json": Kind.JSON, "jsonl": Kind.JSON}
_BINARY_STARTS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a ZIP archive or Office file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x7fELF", "a program"),
)


def kind_of(content_type: str, head: bytes, url: str) -> Kind | str:
    """Determine the kind of a document.

    Args:
        content_type: Value of the header, or empty.
        head: At least the first 1,024 bytes of the body, or all of it.
        url: Where it came from; its extension decides if nothing else does.

    Returns:
        Its kind, or as text why it is not read.
    """
    essence = content_type.partition(";")[0].strip().lower()
    if head.lstrip()[:5] == b"%PDF-":
        return Kind.PDF
    for start, name in _BINARY_STARTS:
        if head.startswith(start):
            return f"it is {name}, which is not read from the web"
    if is_sitemap(head) and (essence in _XML_TYPES or essence in _UNTOLD_TYPES):
        return Kind.SITEMAP
    known = essence in _HTML_TYPES or essence in _XML_TYPES or essence in _UNTOLD_TYPES or essence.startswith("text/")
    if (known or essence == Kind.PDF) and is_html(head):
        return Kind.HTML
    if essence in _HTML_TYPES:
        return Kind.JSON if _is_json_beginning(head, url) else Kind.HTML
    if essence == Kind.PDF:
        return Kind.PDF
    if essence in _MARKDOWN_TYPES:
        return Kind.MARKDOWN
    if essence in _JSON_TYPES or (essence.startswith("application/") and essence.endswith("+json")):
        return Kind.JSON
    if essence in _UNREAD_TEXT_TYPES or not (essence.startswith("text/") or essence in _UNTOLD_TYPES):
        return f"its Content-Type {essence} is not one that is read from the web"
    if _is_binary(head):
        return "it is binary data of an unknown kind"
    return _BY_EXTENSION.get(extension_of(url), Kind.TEXT)


def _is_json_beginning(head: bytes, url: str) -> bool:
    """Return whether a response labelled as HTML (the default of many scripts) is JSON."""
    text = head.strip()
    if not text.startswith((b"{", b"[")) or b"<" in text:
        return False
    if extension_of(url) == "json":
        return True
    try:
        json.loads(text)
    except ValueError:
        return len(head) >= 1024 and text[1:].lstrip()[:1] in b'"{['
    return True


def _is_binary(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16 with its mark
        return False
    return b"\x00" in head
