"""The part of a KnowledgeBase that takes knowledge in: records, facts, and which entities are the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.errors import ConfigurationError, InvalidInputError, NotFoundError
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.facts import Triple
    from core.rag.dbhandler.recording import Inserted
    from core.rag.embedder import EmbeddingService
    from core.rag.indexing.factfinding import FactReport
    from core.rag.indexing.resolving import ResolutionReport
    from core.rag.llm import LanguageModel
    from core.rag.settings import Settings

    TripleLike = Triple | Mapping[str, Any] | Sequence[str]


_A_TRIPLE = "a triple is (subject, relation, object), or a mapping of these"


class Knowledge:
    """The part of :class:`core.rag.KnowledgeBase` that takes in records and facts."""

    _client: MemGraphClient
    _settings: Settings
    _embedder: EmbeddingService | None

    if TYPE_CHECKING:

        @property
        def language_model(self) -> LanguageModel | None:
            """The model that writes answers; see :class:`core.rag.answering.asking.Answers`."""

    async def insert(self, collection: str, record: Mapping[str, Any]) -> Inserted:
        """Insert a record: fields that name somebody or something become entities, which are linked to each other.

        Which fields do: name, title, company, email, team, project, owner, manager, category, tags and more
        (:data:`core.rag.extraction.records.FIELD_HINTS`), and those of ``MGRAG_ENTITY_FIELDS``. A record has at most
        64 of them, the first ones, since each two are linked; fields down to the fourth level count. All of its text
        can be searched for.

        Args:
            collection: What the record belongs to.
            record: A JSON object, nested at most 500 levels deep. One with the same ``_id`` or ``id`` in the collection
                is replaced; ids are texts or numbers, and compared as they are written, so 1 is "1", but 1.0 is not.
                ``True``, ``None``, lists and objects are no ids. Half of a surrogate pair becomes U+FFFD.

        Returns:
            Its id, its entities, and how many of these and of the links between them are new.

        Raises:
            InvalidInputError: if the collection has no name, or a record is not a JSON object (e.g. has keys that
                are not strings) or is nested too deeply.
        """
        return (await self.insert_many(collection, [record]))[0]

    async def insert_many(self, collection: str, records: Iterable[Mapping[str, Any]]) -> list[Inserted]:
        """The same for many records, some hundreds to a transaction."""
        return await self._client.insert_records(collection, records, self._hints())

    async def delete_record(self, record_id: str) -> bool:
        """Remove a record, with the entities that nothing else supports.

        Returns:
            Whether it existed.
        """
        return await self._client.delete_records([record_id]) == 1

    async def records(self, collection: str, *, limit: int = 100, after: str = "") -> list[dict[str, Any]]:
        """List records of a collection by id: ``id``, ``collection`` and ``data``; ``after`` is the last id before."""
        return await self._client.list_records(collection, limit=limit, after=after)

    def _hints(self) -> dict[str, str]:
        from core.rag.extraction.records import with_hints

        return with_hints(self._settings.entity_fields.split(","))

    async def add_triples(self, triples: Iterable[TripleLike]) -> int:
        """State facts: ``(subject, relation, object)``.

        Args:
            triples: Tuples of three texts, mappings with ``subject``, ``relation``, ``object`` and optionally
                ``subject_type``, ``object_type``, ``fact``, ``weight``, ``chunk_ids``, or
                :class:`core.rag.dbhandler.facts.Triple`. Missing entities are created. A fact with
                ``chunk_ids`` goes with the last of these chunks; one without stays until a person removes it.

        Returns:
            How many different facts there were; one that was stated before is updated.

        Raises:
            InvalidInputError: naming the first invalid one, or chunks that are not there; then nothing is
                stored.
        """
        if isinstance(triples, str | Mapping) or not isinstance(triples, Iterable):
            raise InvalidInputError(f"triples must be a list of triples, not {type(triples).__name__}: {_A_TRIPLE}.")
        return await self._client.add_triples([_triple(triple, number) for number, triple in enumerate(triples, 1)])

    async def merge_entities(self, alias: str, entity: str) -> None:
        """Declare two entities to be the same; both keep what they have, and :meth:`split_entity` undoes it.

        Args:
            alias: Name or id of the one.
            entity: Name or id of the other, under which they are known.

        Raises:
            NotFoundError: if either does not exist.
            InvalidInputError: if they are the same entity.
        """
        a, b = await self._entity_id(alias), await self._entity_id(entity)
        if a == b:
            raise InvalidInputError(f"{alias[:100]!r} and {entity[:100]!r} are already the same entity.")
        await self._client.merge_entity(a, b)

    async def split_entity(self, entity: str, other: str | None = None) -> int:
        """Undo a merge, and keep :meth:`resolve_entities` from making it again.

        Args:
            entity: Name or id.
            other: The one that it is not; ``None``: all that it was merged with.

        Returns:
            How many merges were undone.

        Raises:
            NotFoundError: if there is no such entity.
        """
        a = await self._entity_id(entity)
        return await self._client.split_entity(a, [] if other is None else [await self._entity_id(other)])

    async def remove_entity(self, entity: str) -> bool:
        """Remove an entity that was added by hand (:meth:`link` with ``create``, :meth:`add_triples`), and its links.

        It disappears unless documents or records have it, too; entities that only these have disappear with them.

        Args:
            entity: Name or id.

        Returns:
            Whether it was made by hand.

        Raises:
            NotFoundError: if there is no such entity.
        """
        return await self._client.release_entity(await self._entity_id(entity))

    async def resolve_entities(self, *, vectors: bool = True) -> ResolutionReport:
        """Find entities that are the same under several names, and connect them with SAME_AS.

        By spelling, by initials, by a letter or two of a long word, and by vectors above 0.95; rather two than a
        wrong one. Every ingest does the first two by itself; the others take longer. The result follows from the
        entities that there are, whatever was found before; merges and splits by hand stay.

        Args:
            vectors: Whether to compare vectors of names, too.

        Returns:
            What is the same now, and how much of it is new.
        """
        from core.rag.indexing.resolving import resolve_all

        return await resolve_all(self._client, self._embedder if vectors else None)

    async def extract_facts(
        self,
        model: LanguageModel | None = None,
        *,
        limit: int | None = None,
        stop: asyncio.Event | None = None,
        progress: Callable[[FactReport], None] | None = None,
    ) -> FactReport:
        """Have a language model read the chunks that it has not read yet: typed entities and facts between them.

        Args:
            model: ``None``: that of this knowledge base.
            limit: Maximum number of chunks.
            stop: When set, no further chunks are taken up.
            progress: Called now and then with the report so far.

        Returns:
            What was found, and which chunks failed; these are tried again the next time.

        Raises:
            ConfigurationError: if there is no language model.
            LanguageModelAuthError: if its key is refused.
        """
        from core.rag.indexing.factfinding import FactFinder
        from core.rag.llm.base import checked_model

        finder = FactFinder(
            self._client, checked_model(model) or self._reader(), concurrency=self._settings.llm_concurrency
        )
        return await finder.run(limit, stop=stop, progress=progress)

    def _reader(self) -> LanguageModel:
        model = self.language_model
        if model is None:
            raise ConfigurationError("Extracting facts needs a language model: set MGRAG_LLM_MODEL.")
        return model

    async def _entity_id(self, name: str) -> str:
        node = await self._client.named_node(name)
        if node is None or node["label"] != Label.ENTITY:
            raise NotFoundError(f"There is no entity {name[:100]!r} in namespace {self._client.namespace!r}.")
        return str(node["id"])


def _triple(given: TripleLike, number: int) -> Triple:
    from core.rag.dbhandler.facts import Triple

    if isinstance(given, Triple):
        return given
    try:
        if isinstance(given, str):  # which would be taken apart letter by letter
            raise TypeError("it is a text; put a single triple in a list, too")
        if isinstance(given, Mapping):
            return Triple(**given)
        subject, relation, object_ = given
        return Triple(subject, relation, object_)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"Triple {number} is invalid: {error}. {_A_TRIPLE.capitalize()}.") from error
