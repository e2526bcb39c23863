"""The part of a KnowledgeBase that removes documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_text
from core.rag.errors import InvalidInputError

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


class Removal:
    """The part of :class:`core.rag.KnowledgeBase` that removes documents."""

    _client: MemGraphClient

    async def delete(self, path: str) -> bool:
        """Delete a document with its chunks and vectors, and everything that only it referred to.

        Args:
            path: The path, URL or name that was ingested, or the id. It must match exactly.

        Returns:
            Whether it existed.

        Raises:
            NotFoundError: if several documents have this path; the message names their URIs.
        """
        return await self._client.delete_document(path)

    async def matching(
        self, *, prefix: str = "", source: str = "", filters: str | Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """List the documents that :meth:`delete_all` is to remove.

        Args:
            prefix: Their paths begin with it.
            source: The name, if there is no other of that name, URI or id of the source that they come from.
            filters: They pass it; see :func:`core.rag.retrieval.filters.parse_filter`.

        Returns:
            ``id`` and ``path`` of each, by path.

        Raises:
            InvalidInputError: unless exactly one of the three is given; on a filter that does not parse; or if several
                sources have this name.
        """
        check_text("prefix", prefix)
        check_text("source", source)
        if sum(map(bool, (prefix, source, filters))) != 1:
            raise InvalidInputError("Give a path prefix, a source or a filter: exactly one of these.")
        if source:
            return await self._client.documents_from(source)
        if prefix:
            return await self._client.document_paths(prefix=prefix)
        from core.rag.retrieval.filters import parse_filter
        from core.rag.retrieval.legs import Legs

        # What lets every document pass, such as a filter of blanks, is more likely a mistake.
        if not (wanted := parse_filter(filters)):
            raise InvalidInputError("The filter is empty; every document would match.")
        paths = await Legs(self._client, None).documents_where(wanted)
        return sorted(({"id": key, "path": path} for key, path in paths.items()), key=lambda row: row["path"])

    async def delete_all(self, ids: Sequence[str]) -> int:
        """Remove documents by id, with their chunks, vectors and what only they referred to; return how many."""
        return await self._client.delete_documents(ids)
