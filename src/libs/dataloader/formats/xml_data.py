"""XML: lists of records and feeds, as JSON has them; anything else as source code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats import code
from libs.dataloader.formats.archive import flat_text, has_own_text, local, parse_xml, with_characters
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.bookmarks import read_feeds
from libs.dataloader.formats.json_outline import indented
from libs.dataloader.formats.law import read_law
from libs.dataloader.formats.records import content_of_records
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.stack_exchange import as_questions
from libs.dataloader.formats.wiki import read_export
from libs.dataloader.html import html_to_document
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

#: How far below the root the list may be, as in ``rss > channel > item``.
_DEEPEST_LIST = 4
#: Deeper elements are written as the words in them.
_DEEPEST_FIELD = 20
_MOST_BESIDE = 0.5
_MOSTLY = 0.8
#: How many of the items tell what all of them are.
_LOOKED_AT = 200
_MOST_TEXTS = 10_000
#: The share of values with words; tracks of places and tables of measurements have less.
_LEAST_WORDS = 0.1
#: An item with more values than this on average is no record, but a document of its own.
_MOST_VALUES = 500
#: People write comments to what they write themselves, such as configurations.
_COMMENTED = 0.1
#: Schemas, programs and pages.
_CODE = regex(r"\{http://www\.w3\.org/(?:2001/XMLSchema|1999/XSL/|1999/xhtml|2000/svg)")
_MARKUP = regex(r"</[a-zA-Z][a-zA-Z0-9]{0,15}>|<(?:br|p|img|hr)\b[^<>]{0,500}>", re.IGNORECASE)
_OPENED = regex(r"<([^\W\d][\w.:-]*)")
_AMPERSAND = regex(rb"&(?!#?[A-Za-z0-9]{1,20};)")
_WORD = regex(r"[^\W\d_]{3}")
_FEEDS = {"rss": "item", "RDF": "item", "feed": "entry"}
_FEED_NAMES = {"creator": "author", "encoded": "content"}
_FEED_FIRST = ("title", "author", "pubDate", "published", "updated", "date", "link", "category")
_FEED_PARTS = {"author": ("name", "email"), "category": ("label", "term"), "link": ("href",)}
_FEED_LEFT_OUT = frozenset(("guid", "id"))
#: Attributes that tell programs how to take a value.
_FOR_PROGRAMS = frozenset(("isPermaLink", "space", "schemaLocation", "noNamespaceSchemaLocation", "base", "nil"))
_TEXT_TYPES = frozenset(("text", "html", "xhtml"))


def read(file: FileData, kind: Format) -> Content:
    """Return a list as records, each a paragraph of ``name: value`` lines; anything else as it is written.

    A list is what repeats below the root, or below an element that holds most of it, if the items have fields with
    words, and hardly any comments.
    What is not well-formed, or declares entities, stays as it is. If that is because the file was cut short, the
    metadata ``cut_short_in_line`` says where.
    """
    root = _root(file.data)
    if root is None:
        return _as_it_is(code.read(file, kind))
    if (known := read_feeds(root) or read_export(root) or read_law(root)) is not None:
        return known
    items = _list(root)
    if items is None or not _are_data(items) or file.data.count(b"<!--") > _COMMENTED * len(items) + 1:
        return code.read(file, kind)
    return _content(root, items)


def _root(data: bytes) -> _Element | None:
    data = with_characters(data)
    with suppress(UnreadableError):
        return parse_xml(data)
    with suppress(UnreadableError):
        return parse_xml(_AMPERSAND.sub(b"&amp;", data))  # what programs forget most often
    return None


def _as_it_is(content: Content) -> Content:
    text = content.text.rstrip()
    if (opened := _OPENED.search(text)) and f"</{opened[1]}" not in text:
        content.metadata["cut_short_in_line"] = text.count("\n") + 1
    return content


def _content(root: _Element, items: Sequence[_Element]) -> Content:
    above = items[0].getparent()
    assert above is not None  # an item is not the root
    is_feed = local(items[0]) == _FEEDS.get(local(root))
    heads = (above.find("{*}head"), root.find("{*}head"), above, root)
    titles = (_told(node) for head in heads if head is not None for node in islice(head, _LOOKED_AT))
    title = clean_text(next(filter(None, titles), ""))[:500] or None
    records: list[Mapping[str, Any]] = []
    for item in items:
        fields = _fields(item)
        records.append(_entry(fields) if is_feed else fields)
        above.remove(item)  # what is left stands above them; and the memory is needed
    intro = indented(_entry(_fields(above)) if is_feed else _fields(root))
    records = list(as_questions(records))
    content = content_of_records(range(1, len(records) + 1), records.__getitem__, intro)
    content.title = title
    return content


def _told(node: _Element) -> str:
    return flat_text(node) if local(node) in ("title", "name") and not len(node) else ""


# -- what is a list ---------------------------------------------------------------------------------------------------


def _list(root: _Element) -> list[_Element] | None:
    """Return the elements that repeat, and have most of the text of the file; ``None`` if there are none."""
    if _CODE.match(str(root.tag)):
        return None
    if (name := _FEEDS.get(local(root))) and (entries := list(root.iterfind(f".//{{*}}{name}"))):
        return entries
    node, whole = root, _weight(root)
    for _ in range(_DEEPEST_LIST):
        names = Counter(name for part in node if (name := local(part)))
        if not names:
            return None
        name, count = names.most_common(1)[0]
        beside = whole - _weight(node) + sum(_weight(part) for part in node if local(part) != name)
        if count > 1 and beside <= _MOST_BESIDE * whole:
            return [part for part in node if local(part) == name]
        node = max((part for part in node if local(part)), key=_weight)
    return None


def _weight(node: _Element) -> float:
    """Return about how many characters an element takes."""
    return float(str(node.xpath("string-length(.) + 10 * count(descendant-or-self::*) + 20 * count(.//@*)")))


def _values(item: _Element) -> float:
    return float(str(item.xpath("count(.//*) + count(.//@*)")))


def _are_data(items: Sequence[_Element]) -> bool:
    """Return whether items have fields with words, nearly the same ones, and no text between these."""
    looked_at = items[:_LOOKED_AT]
    if sum(_values(item) for item in looked_at) > _MOST_VALUES * len(looked_at):
        return False
    fields = [{*map(_local_name, item.attrib), *filter(None, map(local, item))} for item in looked_at]
    like_records = sum(len(names) > 1 and not has_own_text(item) for item, names in zip(looked_at, fields, strict=True))
    if like_records < _MOSTLY * len(looked_at):
        return False
    often = Counter(name for names in fields for name in names)
    shared = sum(count for count in often.values() if count * 5 >= len(looked_at))
    if shared < _MOSTLY * often.total():
        return False
    if 2 * sum(any(map(_WORD.search, _texts(item))) for item in looked_at) < len(looked_at):
        return False  # measurements
    texts = [text for text in islice(chain.from_iterable(map(_texts, looked_at)), _MOST_TEXTS) if not text.isspace()]
    return sum(_WORD.search(text) is not None for text in texts) >= _LEAST_WORDS * len(texts)


def _texts(item: _Element) -> Iterator[str]:
    yield from map(str, item.itertext())
    yield from (str(value) for node in item.iter() for value in node.attrib.values())


# -- what is in it ----------------------------------------------------------------------------------------------------


def _fields(node: _Element, depth: int = 0) -> dict[str, Any]:
    """Return the attributes and parts of an element by their names; of several with the same name, a list."""
    found: dict[str, list[Any]] = {}
    for name, value in _attributes(node):
        found.setdefault(name, []).append(value)
    for part in node:
        if not (name := local(part)):
            continue
        if len(part) and depth < _DEEPEST_FIELD and not has_own_text(part):
            found.setdefault(name, []).append(_fields(part, depth + 1))
            continue
        told = list(_attributes(part))
        if text := _shown(part):
            found.setdefault(name, []).append(text)
            for attribute, value in told:
                found.setdefault(f"{name}.{attribute}", []).append(value)
        elif told:
            found.setdefault(name, []).append(told[0][1] if len(told) == 1 else dict(told))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _attributes(node: _Element) -> Iterator[tuple[str, str]]:
    for key, value in node.attrib.items():
        name, text = _local_name(key), _plain(str(value))
        if text and name not in _FOR_PROGRAMS and not (name == "type" and text in _TEXT_TYPES):
            yield name, text


def _local_name(key: str | bytes) -> str:
    return str(key).rpartition("}")[2]


def _shown(node: _Element) -> str:
    """Return the words of an element; those that are HTML without its tags."""
    return flat_text(node) if len(node) else _plain(node.text or "")


def _plain(text: str) -> str:
    if _MARKUP.search(text):
        return html_to_document(f"<html><body>{text}</body></html>", whole_page=True).markdown.strip()
    return "\n".join(line for line in map(str.strip, text.split("\n")) if line) if text else ""


def _entry(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item of a feed with what people see of it: the title first, and the address of its page."""
    entry = {_FEED_NAMES.get(name, name): value for name, value in fields.items() if name not in _FEED_LEFT_OUT}
    for name, keys in _FEED_PARTS.items():
        if name in entry:
            entry[name] = _parts(entry[name], keys)
    if "content" in entry:  # of which the description is the beginning
        entry.pop("description", None)
        entry.pop("summary", None)
    return {name: entry[name] for name in _FEED_FIRST if name in entry} | entry


def _parts(value: Any, keys: Sequence[str]) -> Any:
    """Return of values with several parts only that which people see, and of several addresses that of the page."""
    values = value if isinstance(value, list) else [value]
    pages = [part for part in values if not isinstance(part, dict) or part.get("rel", "alternate") == "alternate"]
    shown = [
        next((part[key] for key in keys if key in part), part) if isinstance(part, dict) else part
        for part in pages or values
    ]
    return shown[0] if len(shown) == 1 else shown
