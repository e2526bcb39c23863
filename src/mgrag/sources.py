"""Checks and reads what clients of the servers may store: files in some folders, public web pages, and texts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.rag.errors import InvalidInputError
from core.rag.identity import uri_of_name
from core.rag.indexing.sources import is_web
from libs.dataloader import Document
from libs.dataloader.formats import FileData, read_document
from libs.dataloader.paths import path_given


def read_text(
    path: str, content: str, mime_type: str, *, title: str | None = None, metadata: Mapping[str, Any] | None = None
) -> Document:
    """Convert a text that a client sent as a file of this type, including the title and the metadata in it.

    Args:
        path: Path to store it under.
        content: The text.
        mime_type: Its media type, whatever the extension of the path says.
        title: Takes precedence over a title in the text.
        metadata: Takes precedence over metadata in the text, key by key.

    Raises:
        UnreadableError: if it is empty, or cannot be read as this type.
    """
    # With a mark in front, it is UTF-8, whatever a page says that it is in.
    read = read_document(FileData(path, content.encode("utf-8-sig"), uri_of_name(path)), mime_type)
    return replace(read, title=title or read.title, metadata={**read.metadata, **(metadata or {})})


class Allowed:
    """Decides what the server may load for clients.

    Args:
        roots: The folders that files may be ingested from; none: no files.
        allow_private: Whether pages may be fetched from addresses that only this machine or its network can reach.
    """

    def __init__(self, roots: Sequence[Path] = (), *, allow_private: bool = False) -> None:
        self._roots = [root.resolve() for root in roots]
        self._allow_private = allow_private

    def admit(self, source: str, *, max_pages: int, url_pattern: str | None) -> tuple[str, dict[str, Any]]:
        """Return what to ingest for a source, and the options of the loader.

        Args:
            source: A URL, file or folder. A relative path starts from the first allowed folder that contains it, since
                clients do not know in which folder the server was started.
            max_pages: Maximum number of pages of a site.
            url_pattern: Only pages whose URL matches.

        Raises:
            InvalidInputError: if it is a file or folder outside of the allowed ones, which the message names.
        """
        if is_web(source):
            return source, {"max_urls": max_pages, "url_pattern": url_pattern, "allow_private": self._allow_private}
        place = _place_of(source)
        # Not Path.exists, which raises an error on names that are too long.
        if self._is_allowed(place) and (os.path.isabs(place) or os.path.exists(place)):  # noqa: PTH110, PTH117
            return place, {"within": self._roots}
        below = (root / place for root in self._roots if source)
        found = next((file for file in below if os.path.exists(file) and self._is_allowed(file)), None)  # noqa: PTH110
        if found is not None:
            return str(found), {"within": self._roots}
        if not self._roots:
            raise InvalidInputError(
                f"This server takes no files ({source[:200]}); whoever starts it may allow a folder with --root FOLDER."
                " A text can be stored as a document."
            )
        inside = source and all(self._is_allowed(root / place) for root in self._roots)
        told = f"There is no {source[:200]!r} in" if inside else f"{source[:200]!r} is not in"
        raise InvalidInputError(
            f"{told} a folder that this server takes files from: {', '.join(map(str, self._roots))}. The address of a"
            " page begins with https://; a text can be stored as a document."
        )

    def _is_allowed(self, place: str | Path) -> bool:
        try:
            # As it is loaded: ".." is taken back before links are followed.
            resolved = Path(os.path.abspath(place)).resolve()  # noqa: PTH100
        except (OSError, RuntimeError, ValueError):  # no place that there can be: NUL in its name, links in a circle
            return False
        return any(resolved.is_relative_to(root) for root in self._roots)


def _place_of(source: str) -> str:
    """Return the path that a client means. It is no ``file`` URI, which would mean another one where it is loaded."""
    place = path_given(source)
    with contextlib.suppress(ValueError):  # ~NAME with a NUL
        place = os.path.expanduser(place)  # noqa: PTH111 - leaves ~NAME as it is if there is no such user
    return place if place == source else os.path.abspath(place)  # noqa: PTH100
