"""What a server may load for its clients: files of some folders, and pages of public addresses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.rag.errors import InvalidInputError
from core.rag.indexing.sources import is_web


class Allowed:
    """What clients may have loaded.

    Args:
        roots: The folders that files may be ingested from; none: no files.
        allow_private: Whether pages may be fetched from addresses that only this machine or its network can reach.
    """

    def __init__(self, roots: Sequence[Path] = (), *, allow_private: bool = False) -> None:
        self._roots = [root.resolve() for root in roots]
        self._allow_private = allow_private

    def admit(self, source: str, *, max_pages: int, url_pattern: str | None) -> tuple[str, dict[str, Any]]:
        """What to ingest for this source, and with which options.

        Args:
            source: A URL, file or folder. A relative path counts from the first allowed folder that has it: callers do
                not know in which folder the server was started.
            max_pages: At most so many pages of a site.
            url_pattern: Only pages whose URL matches.

        Raises:
            InvalidInputError: on a file or folder outside of what is allowed; names the folders that are.
        """
        if is_web(source):
            return source, {"max_urls": max_pages, "url_pattern": url_pattern, "allow_private": self._allow_private}
        place = Path(source).expanduser()
        if self._is_allowed(place):
            return source, {}
        below = (root / place for root in self._roots if source)
        found = next((file for file in below if file.exists() and self._is_allowed(file)), None)
        if found is not None:
            return str(found), {}
        if not self._roots:
            raise InvalidInputError(
                f"This server takes no files ({source[:200]}); whoever starts it may allow a folder with --root FOLDER."
                " A text can be stored as a document."
            )
        raise InvalidInputError(
            f"{source[:200]} is not in a folder that this server takes files from:"
            f" {', '.join(map(str, self._roots))}. A text can be stored as a document."
        )

    def _is_allowed(self, place: Path) -> bool:
        return any(place.resolve().is_relative_to(root) for root in self._roots)
