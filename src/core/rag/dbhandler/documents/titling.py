"""Looks up titles, to find mentions of them in chunks that were stored before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import batches, run_for_ids
from core.rag.dbhandler.checks import check_texts
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.mentions import recompute
from core.rag.dbhandler.store import Transaction
from core.rag.extraction.matching import NameTable
from core.rag.times import utc_now

#: Number of chunks per transaction.
_CHUNKS = 500


class TitleOperations(ClientBase):
    """Reading titles and the chunks that may name them."""

    async def title_names(self) -> list[str]:
        """Return the normalised names from the titles of documents, each once."""
        rows = await self.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace MATCH (d)-[:TITLED]->(e:Entity) "
            "RETURN collect(DISTINCT e.normalized_name) AS names"  # a row each takes a driver eight times as long
        )
        names: list[str] = rows[0]["names"]
        return names

    async def unlinked_sources(self) -> set[str]:
        """Return the ids of sources with documents whose titles were not looked for in the other chunks yet."""
        rows = await self.read(
            "MATCH (s:Source) WHERE s.namespace = $namespace AND s.unlinked = true RETURN s.id AS id"
        )
        return {row["id"] for row in rows}

    async def set_linked(self, sources: Iterable[str]) -> None:
        """Record that the titles of these sources were looked for."""
        ids = sorted(check_texts("sources", sources))

        async def work(tx: Transaction) -> None:
            await run_for_ids(tx, "UNWIND $ids AS i MATCH (s:Source {id: i}) SET s.unlinked = null", ids)

        await self._write(work)

    async def chunk_ids(self) -> list[str]:
        """Return the ids of all chunks of the namespace."""
        rows = await self.read("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN collect(c.id) AS ids")
        ids: list[str] = rows[0]["ids"]
        return ids

    async def chunk_texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the content of chunks by id."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) RETURN c.id AS id, c.content AS content",
            ids=check_texts("ids", ids),
        )
        return {row["id"]: row["content"] for row in rows}

    async def extract_again(self, chunks: Sequence[str], titles: NameTable) -> None:
        """Find again what chunks mention, and store it.

        Args:
            chunks: Their ids.
            titles: All titles to look for.
        """
        for part in batches(chunks, max_rows=_CHUNKS):

            async def work(tx: Transaction, part: list[str] = part) -> None:
                ledger = EntityLedger(self._namespace, utc_now())
                await recompute(tx, part, titles, ledger)
                await ledger.remove_unused(tx)

            await self._write(work)
