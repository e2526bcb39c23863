"""Which chunks, documents and records a filter lets pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.retrieval.filters import parse_filter
from core.rag.retrieval.legs import Legs
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row

_NAMED_BY = (
    "<-[:MENTIONS]-(:DocumentChunk)-[:CHUNK_OF]->(n:Document)",
    "<-[:TITLED]-(n:Document)",
    "<-[:HAS_ENTITY]-(n:Record)",
)
#: Of one entity, so many documents and records are looked at: all, if it is not the name of everything.
_MOST_NAMED_BY = 100_000


class Passing:
    """Decides which chunks, documents and records pass a filter; a record does as its document does."""

    def __init__(self, client: MemGraphClient, filters: str | Mapping[str, Any]) -> None:
        """Prepare.

        Raises:
            FilterError: if the filter does not parse.
        """
        self._client = client
        self._legs = Legs(client, None)
        self._wanted = parse_filter(filters)
        self._tested: dict[str, bool] = {}  # whether documents pass

    async def __call__(self, ids: Mapping[Label, Collection[str]]) -> set[str]:
        """Return the ids of those chunks, documents and records that pass."""
        passing = await self.chunks(ids.get(Label.CHUNK, ()))
        passing |= await self._documents(ids.get(Label.DOCUMENT, ()))
        return passing | await self._records(ids.get(Label.RECORD, ()))

    async def chunks(self, ids: Collection[str]) -> set[str]:
        """Return the ids of those chunks that pass."""
        return await self._legs.passing(self._wanted, ids)

    async def only(self, rows: Sequence[Row], key: str) -> list[Row]:
        """Return the rows whose record or document, by its id under a key, passes."""
        ids = {row[key] for row in rows}
        passing = await self._documents(ids)
        passing |= await self._records(ids.difference(self._tested))
        return [row for row in rows if row[key] in passing]

    async def naming(self, entities: Collection[str], most: int = _MOST_NAMED_BY) -> set[str]:
        """Return the ids of those entities that something which passes names.

        Args:
            entities: Ids of entities.
            most: Of each entity, so many documents and records are looked at.
        """
        rows: list[Row] = []
        for named_by in _NAMED_BY:
            rows += await self._client.read_for_ids(
                f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}) CALL {{ WITH e MATCH (e){named_by} "
                f"RETURN DISTINCT n.id AS of LIMIT {int(most)} }} RETURN i AS entity, of",
                sorted(entities),
            )
        return {row["entity"] for row in await self.only(rows, "of")}

    async def first_chunks[Key](self, chunks: Mapping[Key, Iterable[str]]) -> dict[Key, str]:
        """Return of the chunks under each key the first one that passes."""
        passing = await self.chunks({chunk for some in chunks.values() for chunk in some})
        first = {key: next((chunk for chunk in some if chunk in passing), "") for key, some in chunks.items()}
        return {key: chunk for key, chunk in first.items() if chunk}

    async def _documents(self, ids: Collection[str]) -> set[str]:
        if new := set(ids).difference(self._tested):
            self._tested |= await self._legs.documents_passing(self._wanted, new)
        return {document for document in ids if self._tested.get(document)}

    async def _records(self, ids: Collection[str]) -> set[str]:
        """Return those records that pass; one that a program inserted is of no document."""
        rows = await self._client.documents_of_records(sorted(ids))
        documents = await self._documents({row["document"] for row in rows})
        return {row["id"] for row in rows if row["document"] in documents}


def passing_of(client: MemGraphClient, filters: str | Mapping[str, Any] | None) -> Passing | None:
    """Return what decides whether something passes a filter; ``None`` if everything does.

    Raises:
        FilterError: if it does not parse.
    """
    return Passing(client, filters) if filters is not None and parse_filter(filters) else None
