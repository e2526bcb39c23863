"""EPUB books: the chapters in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from libs.dataloader.formats.archive import Archive, child, children, join_part, local
from libs.dataloader.formats.base import Content, FileData, TextBuilder, UnreadableError, sensible_title
from libs.dataloader.formats.registry import Format
from libs.dataloader.html import html_to_document
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text

if TYPE_CHECKING:
    from lxml.etree import _Element

_META = {
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "date": "created",
    "subject": "subject",
    "description": "description",
}
_FONTS_ONLY = (b"http://www.idpf.org/2008/embedding", b"http://ns.adobe.com/pdf/enc#RC")
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read(file: FileData, _kind: Format) -> Content:
    """Convert the chapters to Markdown."""
    archive = Archive(file, "an EPUB book")
    _refuse_locked(archive)
    package, title, metadata = _package(archive)
    builder = TextBuilder()
    collector = LinkCollector(None)
    for name in _reading_order(archive, package):
        if not archive.has(name):
            continue
        page = html_to_document(archive.read(name), whole_page=True)
        builder.block(page.markdown)
        collector.extend((link.target, link.text) for link in page.links)
    return Content(builder.text(), "markdown", title, metadata, collector.links())


def _refuse_locked(archive: Archive) -> None:
    if archive.has("META-INF/encryption.xml"):
        methods = [
            node.get("Algorithm", "").encode()
            for node in archive.xml("META-INF/encryption.xml").iter()
            if local(node) == "EncryptionMethod"
        ]
        if any(method and method not in _FONTS_ONLY for method in methods):
            raise UnreadableError("it is encrypted (copy protection)")


def _package(archive: Archive) -> tuple[tuple[str, _Element] | None, str | None, dict[str, Any]]:
    """Return the package document with its name, and the title and metadata of the book."""
    path = None
    if archive.has("META-INF/container.xml"):
        for node in archive.xml("META-INF/container.xml").iter():
            if local(node) == "rootfile" and (path := node.get("full-path")):
                break
    if path is None or not archive.has(path):
        path = next((name for name in archive.names if name.endswith(".opf")), None)
    if path is None:
        return None, None, {}
    package = archive.xml(path)
    title: str | None = None
    metadata: dict[str, Any] = {}
    fields = child(package, "metadata")
    for node in fields.iter() if fields is not None else ():
        value = clean_text(" ".join((node.text or "").split()))
        if local(node) == "title" and title is None:
            title = sensible_title(value)
        elif value and (name := _META.get(local(node))):
            metadata[name] = f"{metadata[name]}, {value}" if name in metadata else value
    return (path, package), title, metadata


def _reading_order(archive: Archive, package: tuple[str, _Element] | None) -> list[str]:
    if package is not None:
        path, root = package
        manifest = child(root, "manifest")
        items = {node.get("id"): node for node in children(manifest, "item")} if manifest is not None else {}
        spine = child(root, "spine")
        chosen = (
            [items[node.get("idref")] for node in children(spine, "itemref") if node.get("idref") in items]
            if spine is not None
            else []
        )
        names = [
            join_part(path, unquote(node.get("href") or ""))
            for node in chosen
            if (node.get("media-type") or "") in _PAGES and "nav" not in (node.get("properties") or "").split()
        ]
        if any(archive.has(name) for name in names):
            return list(dict.fromkeys(names))
    return sorted(name for name in archive.names if name.lower().endswith((".xhtml", ".html", ".htm")))
