"""What a KnowledgeBase is told: records, facts, and which names are one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.recording import Inserted
    from core.rag.settings import Settings


class Knowledge:
    """The part of :class:`core.rag.KnowledgeBase` that takes in records and facts."""

    _client: MemGraphClient
    _settings: Settings

    async def insert(self, collection: str, record: Mapping[str, Any]) -> Inserted:
        """Insert a record: the fields that name somebody or something become entities, linked with one another.

        Which fields do: name, title, company, email, team, project, owner, manager, category, tags and more
        (:data:`core.rag.extraction.records.FIELD_HINTS`), and those of ``MGRAG_ENTITY_FIELDS``.

        Args:
            collection: What the record belongs to.
            record: A JSON object. One with the same ``_id`` or ``id`` in the collection is replaced.

        Returns:
            Its id, its entities, and how many of these and of the links between them are new.

        Raises:
            InvalidInputError: on a collection without a name, or a record that is no JSON object.
        """
        return (await self.insert_many(collection, [record]))[0]

    async def insert_many(self, collection: str, records: Iterable[Mapping[str, Any]]) -> list[Inserted]:
        """The same for many records, some hundreds to a transaction."""
        return await self._client.insert_records(collection, list(records), self._hints())

    async def delete_record(self, record_id: str) -> bool:
        """Remove a record, with the entities that nothing else supports.

        Returns:
            Whether there was one.
        """
        return await self._client.delete_records([record_id]) == 1

    async def records(self, collection: str, *, limit: int = 100, after: str = "") -> list[dict[str, Any]]:
        """Records of a collection by id: ``id``, ``collection`` and ``data``; ``after`` is the last id of a page."""
        return await self._client.list_records(collection, limit=limit, after=after)

    def _hints(self) -> dict[str, str]:
        from core.rag.extraction.records import with_hints

        return with_hints(self._settings.entity_fields.split(","))
