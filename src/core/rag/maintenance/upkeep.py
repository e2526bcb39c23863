"""What a KnowledgeBase offers for looking after its graph; each method hands on to a module of this package."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.transfer.file import TransferReport
    from core.rag.embedder import EmbeddingService
    from core.rag.maintenance.backup import BackupReport
    from core.rag.maintenance.findings import DoctorReport
    from core.rag.maintenance.reembed import ReembedReport
    from core.rag.settings import Settings


class Upkeep:
    """The part of :class:`core.rag.KnowledgeBase` that manages the graph as a whole."""

    _client: MemGraphClient
    _embedder: EmbeddingService | None
    _settings: Settings

    if TYPE_CHECKING:

        @property
        def embedder(self) -> EmbeddingService: ...

    async def status(self) -> dict[str, Any]:
        """Report the engine, location, size, counts of nodes and edges, vector stores, and the embedding model.

        Returns:
            ``engine``, ``location``, ``bytes`` (``None`` for a server), ``namespace``, ``nodes``, ``edges``,
            ``vector_stores``, ``embedding_model`` (``model``, and ``dimension`` if it is known), ``facts``
            (chunks that a language model has read, and has not).
        """
        from core.rag.maintenance.overview import status

        return await status(self._client, self._embedder, self._settings)

    async def documents(self, *, prefix: str = "", limit: int | None = None, after: str = "") -> list[dict[str, Any]]:
        """List documents by path, without their content.

        Args:
            prefix: Only paths that begin with it.
            limit: Maximum number to return, exceeded only if several documents have the last path; ``None``: all.
            after: Only paths after this one; pass the last path of a page to get the next page.

        Returns:
            Dicts with ``id, path, uri, title, mime_type, metadata, status, created_at, updated_at, chunk_count,
            sources`` and more; as :meth:`MemGraphClient.find_document` gives them.
        """
        from core.rag.maintenance.overview import documents

        return await documents(self._client, prefix=prefix, limit=limit, after=after)

    async def show(self, path: str) -> dict[str, Any]:
        """Return a document with its sources, references and chunks.

        Args:
            path: Path, URL or id; else the last part of a path, or a title, if only one document has it
                (case-insensitive).

        Returns:
            The dict of :meth:`MemGraphClient.find_document`, with ``sources``, ``references`` and ``chunks``.

        Raises:
            NotFoundError: naming documents with a similar path, or all documents of that name.
        """
        from core.rag.maintenance.overview import show

        return await show(self._client, path)

    async def explain_missing(self, path: str) -> str:
        """Return a message about a document that does not exist, suggesting what is below it, or similar paths."""
        from core.rag.maintenance.overview import not_found

        return await not_found(self._client, path)

    async def namespaces(self) -> dict[str, dict[str, int]]:
        """Return every namespace of the graph, with its number of nodes by label."""
        return await self._client.namespaces()

    async def delete_namespace(self, name: str) -> int:
        """Remove a namespace and everything in it.

        Returns:
            How many nodes it had.

        Raises:
            NotFoundError: if it is empty.
        """
        from core.rag.maintenance.overview import delete_namespace

        return await delete_namespace(self._client, name)

    async def export(
        self, file: str | os.PathLike[str], *, namespaces: Sequence[str] | None = None
    ) -> dict[str, TransferReport]:
        """Write namespaces to a file of JSON lines that any engine can import (compressed where it ends in ``.gz``).

        Args:
            file: Must not exist; it is created only when complete. Writers to an embedded graph wait meanwhile; on a
                server nothing should write to the namespaces.
            namespaces: ``None``, or none at all (an empty graph has none): the namespace of this knowledge base.

        Returns:
            What was written, by namespace.

        Raises:
            BackupError: if the file exists or cannot be written, or a namespace was written to meanwhile.
            NotFoundError: if there is no such namespace.
        """
        from core.rag.maintenance.archive import export_namespaces

        return await export_namespaces(self._client, file, namespaces)

    async def import_(self, file: str | os.PathLike[str], *, everything: bool = False) -> dict[str, TransferReport]:
        """Load a file written by :meth:`export`, updating what exists; it can be repeated.

        The whole file is checked before anything is written. A document that exists in another version is replaced by
        that of the file; everything else in the graph stays.

        Args:
            file: The file to read.
            everything: Also import namespaces other than that of this knowledge base.

        Returns:
            What was read, by namespace.

        Raises:
            BackupError: if the file is not an export, is truncated or damaged.
            InvalidInputError: if it contains other namespaces, and ``everything`` is not set.
            StoreConflictError: if somebody else removes what it writes; repeat it then.
        """
        from core.rag.maintenance.archive import import_namespaces

        return await import_namespaces(self._client, file, everything=everything)

    async def backup(self, file: str | os.PathLike[str]) -> BackupReport:
        """Write a copy of the whole graph (all namespaces) and verify it by reading it back.

        The file of an embedded graph is copied; of a server, all namespaces are exported as JSON lines.

        Args:
            file: Must not exist; it is created only when complete and verified.

        Returns:
            Kind, size, counts and checksum of the backup.

        Raises:
            BackupError: if the backup cannot be written, or differs from the graph.
        """
        from core.rag.maintenance.backup import backup

        return await backup(self._client, file)

    async def doctor(self, *, repair: bool = False, everywhere: bool = False) -> DoctorReport:
        """Check the environment and the graph.

        Args:
            repair: Repair what can be repaired.
            everywhere: Check all namespaces, not only that of this knowledge base.

        Returns:
            The checks; a failed one says what to do.
        """
        from core.rag.maintenance.doctor import examine_open

        return await examine_open(self._client, self._embedder, self._settings, repair=repair, everywhere=everywhere)

    async def reembed(
        self,
        *,
        drop_old: bool = False,
        stop: asyncio.Event | None = None,
        progress: Callable[[ReembedReport], None] | None = None,
    ) -> ReembedReport:
        """Embed all chunks again with the model of this knowledge base, and make the new vectors the active ones.

        Searches use the old vectors until all new ones are stored. An interrupted run is continued by the next call.

        Args:
            drop_old: Remove the vector stores of other models afterwards.
            stop: When set, the batch in flight is finished and no further one is started.
            progress: Called after each batch with the report so far.

        Returns:
            What was done.

        Raises:
            EmbeddingError: if the embedding provider fails; vectors stored so far are kept.
        """
        from core.rag.maintenance.reembed import reembed

        return await reembed(self._client, self.embedder, drop_old=drop_old, stop=stop, progress=progress)
