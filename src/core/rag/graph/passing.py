"""Which documents and records a filter lets pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.retrieval.filters import parse_filter
from core.rag.retrieval.legs import Legs

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row


_NAMED_BY = (
    "<-[:MENTIONS]-(:DocumentChunk)-[:CHUNK_OF]->(n:Document)",
    "<-[:TITLED]-(n:Document)",
    "<-[:HAS_ENTITY]-(n:Record)",
)


@dataclass(frozen=True, slots=True)
class Passing:
    """What passes a filter: documents, and the records that were read from these.

    Attributes:
        client: The graph.
        documents: The ids of the documents.
    """

    client: MemGraphClient
    documents: frozenset[str]

    async def records(self, ids: Collection[str]) -> set[str]:
        """Return the ids of those records that pass; one that a program inserted is of no document."""
        rows = await self.client.documents_of_records(sorted(ids))
        return {row["id"] for row in rows if row["document"] in self.documents}

    async def only(self, rows: Sequence[Row], key: str) -> list[Row]:
        """Return the rows whose record or document, by its id under a key, passes."""
        ids = {row[key] for row in rows}
        passing = await self.records(ids - self.documents) | (ids & self.documents)
        return [row for row in rows if row[key] in passing]

    async def naming(self, entities: Collection[str]) -> set[str]:
        """Return the ids of those entities that something which passes names."""
        rows: list[Row] = []
        for named_by in _NAMED_BY:
            statement = f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}){named_by} RETURN DISTINCT i AS entity, n.id AS of"
            rows += await self.client.read_for_ids(statement, entities)
        return {row["entity"] for row in await self.only(rows, "of")}

    async def first_chunks[Key](self, chunks: Mapping[Key, Iterable[str]]) -> dict[Key, str]:
        """Return of the chunks under each key the first one whose document passes."""
        read = await self.client.chunks_by_id(list({chunk for some in chunks.values() for chunk in some}))
        found: dict[Key, str] = {}
        for key, some in chunks.items():
            for chunk in some:
                if chunk in read and read[chunk]["document_id"] in self.documents:
                    found.setdefault(key, chunk)
        return found


async def passing_of(client: MemGraphClient, filters: str | Mapping[str, Any] | None) -> Passing | None:
    """Return what passes a filter of documents; ``None`` if everything does.

    Raises:
        FilterError: if it does not parse.
    """
    wanted = parse_filter(filters)
    if not wanted:
        return None
    return Passing(client, frozenset(await Legs(client, None).documents_where(wanted)))
