"""HTML files."""

from __future__ import annotations

from libs.dataloader.encodings import bom_encoding
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.bookmarks import BOOKMARKS, read_bookmarks
from libs.dataloader.formats.chat_pages import read_chat_page
from libs.dataloader.formats.registry import Format
from libs.dataloader.html import LONG_ENOUGH, NO_TEXT, html_to_document


def read(file: FileData, _kind: Format) -> Content:
    """Convert the main text of a page to Markdown; a conversation to its messages, bookmarks to records."""
    data = file.data
    if b"\x00" in data[:1024] and bom_encoding(data) is None and file.encoding is None:
        file.text()  # raises if it is binary
    if data.startswith(b"bplist"):
        raise UnreadableError("it is a Safari web archive; save the page as HTML")
    marked = read_bookmarks(file.text()) if BOOKMARKS.match(data) else None
    if (known := marked or read_chat_page(file)) is not None:
        return known
    page = html_to_document(
        data.decode(file.encoding, "replace") if file.encoding else data,
        file.uri,
        encoding=file.declared,
        root_url=file.root_uri,
    )
    if page.refresh not in (None, file.uri) and len(page.markdown) < LONG_ENOUGH:
        raise UnreadableError("it only leads to another page", gone=True)
    if page.repeats_others and file.root_uri is not None:  # a file that is named itself is wanted
        raise UnreadableError("it repeats the pages beside it, for printing, as a frame or as an index", gone=True)
    if data.strip() and not page.markdown.strip():
        raise UnreadableError(NO_TEXT)
    return Content(page.markdown, "markdown", page.title, dict(page.metadata), page.links)
