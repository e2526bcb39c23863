"""Lists of addresses as programs export them: bookmarks of browsers (Netscape's HTML), and feeds (OPML)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import unescape
from typing import TYPE_CHECKING, Any, Final

from libs.dataloader.epochs import time_of_number
from libs.dataloader.formats.archive import local
from libs.dataloader.formats.base import Content
from libs.dataloader.formats.records import content_of_records
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_IGNORECASE: Final = 2
BOOKMARKS: Final = regex(rb"\s*<!DOCTYPE NETSCAPE-Bookmark-file-1", _IGNORECASE)
#: A tag that matters, its attributes, and the words behind it.
_TAG: Final = regex(r"<(/?)(DL|H1|H3|A|DD)\b((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>([^<]*)", _IGNORECASE)
_ATTRIBUTE: Final = regex(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_BETWEEN: Final = " > "


def read_bookmarks(text: str) -> Content | None:
    """Convert the bookmarks of a browser to a record for each: its title, address, folder, tags, day and description.

    As a page, they are links without what they lead to, and folders are headings that say nothing of the days and tags.

    Returns:
        The bookmarks; ``None`` if there are none.
    """
    records: list[dict[str, Any]] = []
    folders: list[str] = []
    named = title = last = ""
    for ends, tag, told, words in (found.groups() for found in _TAG.finditer(text)):
        name, words = tag.upper(), " ".join(unescape(words).split())
        attributes = {key.lower(): unescape(one or other) for key, one, other in _ATTRIBUTE.findall(told)}
        last = name if name != "DD" and not ends else last
        if name == "DL":
            folders, named = (folders[:-1] if ends else [*folders, named]), ""
        elif ends:
            continue
        elif name == "H1":
            title = words
        elif name == "H3":
            named = words
        elif name == "DD" and words and last == "A" and records:
            records[-1]["description"] = words
        elif name == "A" and "://" in (address := attributes.get("href", "")):
            tags = [one for tag in attributes.get("tags", "").split(",") if (one := tag.strip())]
            shown = {
                "bookmark": words or address,
                "address": address,
                "folder": _BETWEEN.join(filter(None, folders)),
                "tags": tags,
                "keyword": attributes.get("shortcuturl"),
                "added": time_of_number(attributes.get("add_date", "")),
            }
            records.append({key: value for key, value in shown.items() if value})
    return _content(records, title) if records else None


def read_feeds(root: _Element) -> Content | None:
    """Convert a list of feeds in OPML to a record for each; ``None`` if it is something else, as an outline is."""
    if local(root) != "opml":
        return None
    records = [record for body in root.iterfind("{*}body") for record in _feeds(body, ())]
    return (
        _content(records, next((node.text or "" for node in root.iterfind("{*}head/{*}title")), ""))
        if records
        else None
    )


def _feeds(node: _Element, folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    for outline in node.iterfind("{*}outline"):
        told = {str(key): " ".join(str(value).split()) for key, value in outline.attrib.items()}
        name = told.get("title") or told.get("text") or ""
        if address := told.get("xmlUrl"):
            shown = {
                "feed": name or address,
                "folder": _BETWEEN.join(folders) or told.get("category"),
                "address": address,
                "website": told.get("htmlUrl"),
                "description": told.get("description"),
            }
            yield {key: value for key, value in shown.items() if value}
        yield from _feeds(outline, (*folders, name) if name else folders)


def _content(records: Sequence[dict[str, Any]], title: str) -> Content:
    collector = LinkCollector(None)
    for record in records:
        collector.add(record["address"], next(iter(record.values())))
    content = content_of_records(range(1, len(records) + 1), records.__getitem__)
    content.title, content.links = title or None, collector.links()
    return content
