"""Looks up titles, to find mentions of them in chunks that were stored before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.rag.arguments import check_texts
from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.mentions import recompute
from core.rag.dbhandler.store import Transaction
from core.rag.extraction.matching import NameTable
from core.rag.times import iso, utc_now

#: A document may bear a time this long before that of the mark: transactions take time, and clocks differ.
_MARGIN = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The mark of a source with documents whose titles were not looked for in all chunks yet.

    Attributes:
        source: The id of the source.
        since: When the first of them was written; ``None``: all chunks have to be looked at.
        last: When the last of them was written.
    """

    source: str
    since: str | None
    last: str


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

    async def unlinked_sources(self) -> list[Unlinked]:
        """Return the marks of sources with documents whose titles were not looked for in the other chunks yet."""
        rows = await self.read(
            "MATCH (s:Source) WHERE s.namespace = $namespace AND s.unlinked IS NOT NULL "
            "RETURN s.id AS id, s.unlinked AS since, s.unlinked_last AS last ORDER BY id"
        )
        return [
            Unlinked(row["id"], row["since"] if isinstance(row["since"], str) else None, row["last"] or "")
            for row in rows
        ]

    async def unlinked_titles(self) -> list[str]:
        """Return the normalised titles that another run wrote, but has not looked for in all chunks (yet)."""
        marks = [mark.since for mark in await self.unlinked_sources() if mark.since is not None]
        if not marks:
            return []
        rows = await self.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.updated_at >= $since "
            "MATCH (d)-[:TITLED]->(e:Entity) RETURN collect(DISTINCT e.normalized_name) AS names",
            since=iso(datetime.fromisoformat(min(marks)) - _MARGIN),
        )
        names: list[str] = rows[0]["names"]
        return names

    async def set_linked(self, marks: Iterable[Unlinked]) -> None:
        """Record that titles were looked for. The mark of a source that was written to since it was read stays."""
        rows = [{"id": mark.source, "last": mark.last} for mark in marks]
        await self._write_one(
            "UNWIND $rows AS row MATCH (s:Source {id: row.id}) WHERE coalesce(s.unlinked_last, '') = row.last "
            "SET s.unlinked = null, s.unlinked_last = null",
            rows=rows,
        )

    async def chunk_ids(self) -> list[str]:
        """Return the ids of all chunks of the namespace."""
        rows = await self.read("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN collect(c.id) AS ids")
        ids: list[str] = rows[0]["ids"]
        return ids

    async def chunk_texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the content of chunks by id."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) WHERE c.namespace = $namespace "
            "RETURN c.id AS id, c.content AS content",
            ids=check_texts("ids", ids),
        )
        return {row["id"]: row["content"] for row in rows}

    async def extract_again(self, chunks: Sequence[str], titles: NameTable) -> None:
        """Find again what chunks mention, and store it.

        Args:
            chunks: Their ids.
            titles: All titles to look for.
        """
        for part in batches(chunks):

            async def work(tx: Transaction, part: list[str] = part) -> None:
                ledger = EntityLedger(self._namespace, utc_now())
                await recompute(tx, part, titles, ledger)
                await ledger.remove_unused(tx)

            await self._write(work)
