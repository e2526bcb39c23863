"""Reads ZIP containers and XML from untrusted sources: bounded, without entities, with clear errors."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from html.entities import name2codepoint
from typing import TYPE_CHECKING, Any

from libs.dataloader.formats.base import EXPANSION, FileData, UnreadableError
from libs.dataloader.formats.compound import SIGNATURE
from libs.dataloader.text import clean_text
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_ENTRIES = 20_000
_MOST_SHOWN = 10  # times
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_PIECE = 1 << 20
#: How XML is parsed: nothing that it names is looked up or fetched.
_SAFELY: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "remove_comments": True,
    "remove_pis": True,
}
_OF_XML = frozenset(("amp", "lt", "gt", "quot", "apos"))
_ENTITY = regex(rb"&([A-Za-z]{2,20});")
_HUGE_FROM = 5_000_000
_PLAIN_START = regex(
    rb"""(?:\xef\xbb\xbf)?\s*<(?:[A-Za-z_]|\?xml(?![^>]*encoding)|\?xml[^>]*encoding=["'](?i:utf-8)["'])"""
)


class Archive:
    """A ZIP container in memory.

    Args:
        file: The file.
        kind: What it should be, for messages.

    Raises:
        UnreadableError: if it is damaged, encrypted, or would expand to too much.
    """

    def __init__(self, file: FileData, kind: str) -> None:
        if file.data.startswith(SIGNATURE):
            if _ENCRYPTED_PACKAGE in file.data:
                raise UnreadableError("it is encrypted (a password is needed)")
            raise UnreadableError(f"it is an old binary Office file, not {kind}; save it in the current format")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(file.data))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, IndexError, OverflowError) as error:
            if zipfile.is_zipfile(io.BytesIO(file.data)) or file.data.startswith(b"PK"):
                raise UnreadableError(f"it is damaged: {error}") from error
            raise UnreadableError(f"it is not {kind}, despite its name") from error
        if len(entries) > _MAX_ENTRIES:
            raise UnreadableError(f"it holds {len(entries):,} parts; the limit is {_MAX_ENTRIES:,}")
        if any(entry.flag_bits & 1 for entry in entries):
            raise UnreadableError("it is encrypted (a password is needed)")
        total = sum(entry.file_size for entry in entries)
        limit = EXPANSION * file.max_bytes
        if total > limit or not file.nested.expand(total, limit):
            raise UnreadableError(f"it would expand to {size_text(total)}; the limit is {size_text(limit)}")
        self._entries = {entry.filename.replace("\\", "/").lstrip("/"): entry for entry in entries}
        self._folded = {name.casefold(): name for name in self._entries}
        self._taken: Counter[str] = Counter()

    @property
    def names(self) -> list[str]:
        """The names of the parts, in the order of the container."""
        return list(self._entries)

    def has(self, name: str) -> bool:
        """Return whether there is a part of this name; upper and lower case are the same."""
        return name.lstrip("/").casefold() in self._folded

    def read(self, name: str) -> bytes:
        """Return the bytes of a part.

        Raises:
            UnreadableError: if it is missing or damaged.
        """
        return b"".join(self._pieces(name))

    def check(self) -> None:
        """Expand all parts once, before a library reads them that does not check their sizes itself.

        Raises:
            UnreadableError: if a part is damaged or larger than the container states.
        """
        for name in self._entries:
            for _ in self._pieces(name):
                pass

    def _pieces(self, name: str) -> Iterator[bytes]:
        exact = name.lstrip("/")
        entry = self._entries.get(exact) or self._entries.get(self._folded.get(exact.casefold(), ""))
        if entry is None:
            raise UnreadableError(f"it is damaged: {name} is missing")
        try:
            # Piece by piece: read at once, a part that lies about its size would be expanded before it is cut.
            with self._zip.open(entry) as stream:
                while piece := stream.read(_PIECE):
                    yield piece
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            OSError,
            ValueError,
        ) as error:
            raise UnreadableError(f"it is damaged: {name}: {error}") from error

    def xml(self, name: str) -> _Element:
        """Parse a part as XML; see :func:`parse_xml`.

        Raises:
            UnreadableError: if it is missing, damaged, not well-formed XML, or declares entities.
        """
        return parse_xml(self.read(name), name)

    def take(self, name: str) -> _Element | None:
        """Parse a part that another one shows as XML; ``None`` if there is no such part, or it is shown very often.

        Programs write a part for each place, while a few bytes can refer to one a million times.

        Raises:
            UnreadableError: as :meth:`xml`.
        """
        key = name.lstrip("/").casefold()
        self._taken[key] += 1
        return self.xml(name) if self._taken[key] <= _MOST_SHOWN and self.has(name) else None


def parse_xml(data: bytes, name: str = "the XML") -> _Element:
    """Parse XML without resolving entities or fetching anything.

    Raises:
        UnreadableError: if it is not well-formed or declares entities.
    """
    from lxml import etree

    # Without a table of ids, which may then occur twice, libxml2 looks a definition up in spite of what it was told.
    parser = etree.XMLParser(**_SAFELY, huge_tree=_is_plain(data), collect_ids=_may_have_definition(data))
    try:
        root: _Element = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it is damaged: {name}: {error}") from error
    _refuse_entities(root, name)
    return root


def with_characters(data: bytes) -> bytes:
    """Return XML with numbers for characters that have a name in HTML: the definition with these names is not read."""
    return _ENTITY.sub(_character, data)


def _character(match: re.Match[bytes]) -> bytes:
    name = match[1].decode()
    return match[0] if name in _OF_XML or name not in name2codepoint else b"&#%d;" % name2codepoint[name]


def join_part(base: str, target: str) -> str:
    """Return the name of the part that ``target``, in the part ``base``, refers to."""
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), target))


def size_text(size: int) -> str:
    """Return a size in bytes as people read it: ``1,234 bytes``, ``2.5 MB``."""
    if size < 100_000:
        return f"{size:,} bytes"
    return f"{size / 1_000_000:,.1f} MB" if size < 100_000_000 else f"{size / 1_000_000:,.0f} MB"


def local(node: _Element | None) -> str:
    """Return an element's name without its namespace; strict and transitional Office files differ only in that."""
    tag = node.tag if node is not None else None
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(node: _Element, name: str) -> str | None:
    """Return an attribute by its name without namespace; ``None`` if there is none."""
    value = node.get(name)
    if value is not None:
        return str(value)
    return next((str(value) for key, value in node.attrib.items() if str(key).rpartition("}")[2] == name), None)


def flat_text(node: _Element) -> str:
    """Return the text of an element as one line."""
    return " ".join("".join(map(str, node.itertext())).split())


def told(node: _Element | None, name: str) -> str:
    """Return the text of the first child element of this name as one line; empty if there is none."""
    part = child(node, name)
    return " ".join(clean_text("".join(map(str, part.itertext()))).split()) if part is not None else ""


def has_own_text(node: _Element) -> bool:
    """Return whether there is text between the parts of an element."""
    return any(text and not text.isspace() for text in (node.text, *(part.tail for part in node)))


def children(node: _Element | None, name: str) -> Iterator[_Element]:
    """Return the child elements of this name (without namespace)."""
    return (item for item in (node if node is not None else ()) if local(item) == name)


def child(node: _Element | None, *names: str) -> _Element | None:
    """Follow a path of child elements, the first of each name; ``None`` if it does not exist."""
    for name in names:
        if node is None:
            return None
        node = next(children(node, name), None)
    return node


def iter_xml(data: bytes, name: str, tags: frozenset[str]) -> Iterator[_Element]:
    """Yield the outermost elements with these names; each is emptied when the next one is requested, to save memory.

    Raises:
        UnreadableError: if it is not well-formed or declares entities.
    """
    from lxml import etree

    depth = 0
    seen = False
    walk = etree.iterparse(
        io.BytesIO(data),
        events=("start", "end"),
        tag=[f"{{*}}{tag}" for tag in tags],
        huge_tree=_is_plain(data),
        **_SAFELY,
    )
    try:
        for event, node in walk:
            if not seen:
                _refuse_entities(node, name)
                seen = True
            depth += 1 if event == "start" else -1
            if event == "end" and depth == 0:
                yield node
                node.clear(keep_tail=True)
                parent = node.getparent()
                while parent is not None and parent[0] is not node:
                    del parent[0]
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it is damaged: {name}: {error}") from error


def _is_plain(data: bytes) -> bool:
    """Return whether XML is large and certainly declares no entities, so that libxml2's limits can be lifted safely."""
    if len(data) < _HUGE_FROM or not _PLAIN_START.match(data):
        return False
    return not _may_have_definition(data)


def _may_have_definition(data: bytes) -> bool:
    return b"<!DOCTYPE" in data or b"\x00" in data  # in two bytes for each letter, it looks otherwise


def _refuse_entities(root: _Element, name: str) -> None:
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise UnreadableError(f"{name} declares XML entities, which are never resolved")
