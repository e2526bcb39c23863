"""Completes the rows of documents: embeds every text that has no vector yet."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from core.rag.indexing.cutting import Prepared

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.indexing.workbench import Workbench

#: How many of the last vectors are remembered, so that equal texts in documents not yet written are embedded once.
_REMEMBERED = 100_000


class Preparer:
    """Embeds the texts of rows whose vectors the graph does not have yet, for one run."""

    def __init__(self, client: MemGraphClient, workbench: Workbench) -> None:
        """Make a preparer for a graph; the workbench embeds."""
        self._client = client
        self._workbench = workbench
        self._made: OrderedDict[str, None] = OrderedDict()

    async def embed(self, prepared: Prepared, *, backlog: int = 0, in_pieces: bool = False) -> None:
        """Embed the texts that have no vector in the graph yet.

        Args:
            prepared: Documents.
            backlog: Number of parts that are embedded already and not written yet.
            in_pieces: Whether to embed a text that the model cannot take in pieces.

        Raises:
            EmbeddingInputError: if the model cannot take one of them.
        """
        wanted = [key for key in prepared.texts if key not in self._made]
        there = await self._client.existing_vectors(wanted) if wanted else set()
        keys = [key for key in wanted if key not in there]
        await self._embed(prepared, keys, backlog=backlog, in_pieces=in_pieces)

    async def embed_again(self, prepared: Prepared, ids: Collection[str]) -> None:
        """Embed texts whose vectors were in the graph but no longer exist."""
        await self._embed(prepared, sorted(ids))

    async def _embed(
        self, prepared: Prepared, keys: Sequence[str], *, backlog: int = 0, in_pieces: bool = False
    ) -> None:
        if not keys:
            return
        texts, names = zip(*(prepared.texts[key] for key in keys), strict=True)
        vectors = await self._workbench.embed(texts, names, backlog=backlog, in_pieces=in_pieces)
        # No Python floats: there would be millions of them.
        made = {key: memoryview(vector) for key, vector in zip(keys, vectors, strict=True)}
        for chunk in (chunk for row in prepared.rows for chunk in row.chunks):
            if chunk.embedding is None and chunk.vector_id in made:
                chunk.embedding = made[chunk.vector_id]
        prepared.embedded += len(keys)
        for key in keys:
            self._made[key] = None
            del prepared.texts[key]  # nobody asks for it again
        while len(self._made) > _REMEMBERED:
            self._made.popitem(last=False)
