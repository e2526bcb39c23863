"""Resolves links in documents to absolute targets."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote, urljoin, urlsplit

from libs.dataloader.crawl.urls import normalize_url
from libs.dataloader.types import Link
from libs.regexes import regex

_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: "C:" is a drive, not a scheme
_IGNORED = regex(r"[\t\n\r\x00]")
_KEPT_SCHEMES = ("http://", "https://", "file://")
_MAX_LENGTH = 4096


def reference_name(text: str) -> str:
    """Return the name of a target that is defined elsewhere in a text, however its letters and spaces are written."""
    return " ".join(text.split()).casefold()


@lru_cache(maxsize=4096)
def resolve_link(href: str, base: str | None, root: str | None = None) -> str | None:
    """Make a link absolute, without its fragment.

    Args:
        href: As written in the document.
        base: URL or ``file://`` URI of the document, or a name like a path; without it only absolute links survive.
        root: ``file://`` URI of the folder that ``/…`` starts from in a local file (the root of the load).

    Returns:
        An ``http(s)://`` URL in the spelling that a crawl has for it, a ``file://`` URI without percent-encoding, or,
        in a document with a name, a name beside it; ``None`` if the link leads nowhere else: another scheme
        (``mailto:``, ``javascript:``, ``data:``), only a fragment, or not a link at all.
    """
    href = _IGNORED.sub("", href).strip()
    if not href or href.startswith("#") or len(href) > _MAX_LENGTH:
        return None
    try:
        if base is not None and base.startswith("file://") and not _SCHEME.match(href):
            return _resolve_local(href, base, root)
        if base and not _SCHEME.match(base) and not _SCHEME.match(href):
            return _resolve_named(href, base)
        target = urljoin(base, href) if base else href
        target = target.partition("#")[0]
        if target.startswith("//"):
            target = "https:" + target
        parts = urlsplit(target)
    except ValueError:  # such as an unclosed IPv6 bracket
        return None
    if parts.scheme == "file":
        return "file://" + posixpath.normpath(unquote(parts.path)) if parts.path else None
    if not target.lower().startswith(_KEPT_SCHEMES) or not parts.hostname:
        return None
    try:
        return normalize_url(target)  # as a crawl calls the page
    except ValueError:
        return target


def resolve_base(href: str, page: str | None, root: str | None) -> str | None:
    """Return what the links of a page are relative to where it says so itself (``<base href>``).

    Args:
        href: As written in the page; on the web or a local folder or file.
        page: URL or ``file://`` URI of the page.
        root: As for :func:`resolve_link`.

    Returns:
        A base for :func:`resolve_link`: the page where the link leads nowhere.
    """
    base = resolve_link(href, page, root)
    if base is None:
        return page
    last = href.strip().partition("#")[0].partition("?")[0].replace("\\", "/").rpartition("/")[2]
    # Without its slash a folder would be taken for a file in the folder above.
    is_folder = base.startswith("file://") and last in ("", ".", "..")
    return base.rstrip("/") + "/" if is_folder else base


def _resolve_local(href: str, base: str, root: str | None) -> str | None:
    if href.startswith("//"):
        return resolve_link("https:" + href, None)
    path = unquote(href.partition("#")[0].partition("?")[0]).replace("\\", "/")
    if not path:
        return None
    folder = posixpath.dirname(base.removeprefix("file://"))
    if path.startswith("/") and root is not None:
        folder, path = root.removeprefix("file://"), path.lstrip("/")
    target = posixpath.normpath(posixpath.join(folder, path))
    return None if target == base.removeprefix("file://") else "file://" + target


def _resolve_named(href: str, base: str) -> str | None:
    if href.startswith("//"):
        return resolve_link("https:" + href, None)
    path = unquote(href.partition("#")[0].partition("?")[0]).replace("\\", "/")
    folder = "" if path.startswith("/") else posixpath.dirname(base)
    target = posixpath.normpath(posixpath.join(folder, path.lstrip("/"))) if path else base
    return None if target == base or target.split("/")[0] in {".", ".."} else target


class LinkCollector:
    """Gathers links in order, each target once; the first non-empty text wins."""

    def __init__(self, base: str | None, root: str | None = None, *, to_itself: bool = False) -> None:
        self._base = base
        self._own = None if to_itself else base
        self._root = root
        self._texts: dict[str, str] = {}

    def add(self, href: str, text: str = "") -> None:
        """Add a link as it stands in the document."""
        if (target := resolve_link(href, self._base, self._root)) is not None:
            self.add_target(target, text)

    def add_target(self, target: str, text: str = "") -> None:
        """Add a link whose target is known."""
        if target == self._own:
            return
        text = " ".join(text.split())
        if not self._texts.get(target):
            self._texts[target] = text

    def extend(self, links: Iterable[tuple[str, str]]) -> None:
        """Add ``(href, text)`` pairs."""
        for href, text in links:
            self.add(href, text)

    def links(self) -> tuple[Link, ...]:
        """Return the links collected so far."""
        return tuple(Link(target, text) for target, text in self._texts.items())
