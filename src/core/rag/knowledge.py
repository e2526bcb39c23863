"""The part of a KnowledgeBase that takes knowledge in: records, facts, and which entities are the same."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_flags
from core.rag.errors import ConfigurationError, InvalidInputError, NotFoundError
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.knowledge.facts import Triple, TripleLike
    from core.rag.dbhandler.knowledge.recording import Inserted
    from core.rag.embedder import EmbeddingService
    from core.rag.extraction.wanted import RelationLike, WantedFacts
    from core.rag.indexing.factfinding import FactReport
    from core.rag.indexing.report import IngestReport
    from core.rag.indexing.resolving import ResolutionReport
    from core.rag.llm import LanguageModel
    from core.rag.retrieval.tables.table import RecordField, RecordTable
    from core.rag.settings import Settings


_A_TRIPLE = "a triple is (subject, relation, object), or a mapping of these"


class Knowledge:
    """The part of :class:`core.rag.KnowledgeBase` that stores records, facts and entities."""

    _client: MemGraphClient
    _settings: Settings
    _embedder: EmbeddingService | None

    if TYPE_CHECKING:

        @property
        def language_model(self) -> LanguageModel | None: ...

    async def insert(self, collection: str, record: Mapping[str, Any]) -> Inserted:
        """Insert a record. The people and things that its fields name become entities, linked to each other.

        These fields are name, title, company, email, team, project, owner, manager, category, tags and more
        (:data:`core.rag.extraction.records.FIELD_HINTS`), and those listed in ``MGRAG_ENTITY_FIELDS``, down to the
        fourth level of nesting. Every pair of entities is linked, so only the first 64 are kept. All text of the
        record can be searched. Entities with almost the same name are connected by the next ingest, or at once by
        :meth:`resolve_entities`.

        Args:
            collection: Name of the collection that the record belongs to.
            record: A JSON object, nested at most 200 levels deep. It replaces a record of the collection that has the
                same ``_id`` or ``id``. Ids are strings or numbers and are compared as written: 1 equals "1", but not
                1.0. ``True``, ``None``, lists and objects are not ids. Dates and times become ISO 8601 texts, a lone
                surrogate U+FFFD; rows of a database may have values of ``Decimal`` and ``UUID``.

        Returns:
            The id and entities of the record, and how many of the entities and their links are new.

        Raises:
            InvalidInputError: if the collection has no name, or a record is not a JSON object (e.g. has keys that
                are not strings) or is nested too deeply.
        """
        return (await self.insert_many(collection, [record]))[0]

    async def insert_many(self, collection: str, records: Iterable[Mapping[str, Any]]) -> list[Inserted]:
        """Insert many records, a few hundred per transaction; see :meth:`insert`."""
        return await self._client.insert_records(collection, records, self._hints())

    async def delete_record(self, record_id: str) -> bool:
        """Remove a record, and the entities that nothing else supports.

        The row of a file that it was read from stays in the text, and is a record again when the file changes.

        Returns:
            Whether it existed.
        """
        return await self._client.delete_records([record_id]) == 1

    async def records(self, collection: str, *, limit: int = 100, after: str = "") -> list[dict[str, Any]]:
        """List the records of a collection by id, as dicts with ``id``, ``collection`` and ``data``.

        Pass the last id of a page as ``after`` to get the next page.
        """
        return await self._client.list_records(collection, limit=limit, after=after)

    async def record(self, record_id: str) -> dict[str, Any] | None:
        """Return a record, by the id that :meth:`insert` returned, as :meth:`records` lists it; ``None``: none."""
        return (await self._client.records_by_id([record_id])).get(record_id)

    async def collections(self) -> dict[str, int]:
        """Return the names of all collections, also of those from files, with the number of their records."""
        return await self._client.collections()

    async def record_fields(self, collection: str) -> list[RecordField]:
        """Return the fields of a collection: names, kinds, in how many records they have a value, and examples.

        Raises:
            NotFoundError: if there is no such collection.
        """
        from core.rag.retrieval.tables.describing import describe_fields

        return await describe_fields(self._client, collection)

    async def tabulate(
        self,
        collection: str,
        *,
        filters: str | Mapping[str, Any] | None = None,
        group_by: str | Iterable[str] | None = None,
        measures: str | Iterable[str] | None = None,
        fields: str | Iterable[str] | None = None,
        order_by: str | Iterable[str] | None = None,
        limit: int = 100,
    ) -> RecordTable:
        """Answer a question about the records of a collection: which there are, how many, and what they come to.

        All records are looked at, so that counts and sums are exact, which answers from the nearest passages are not.

        Args:
            collection: Its name, as :meth:`collections` lists it; rows of ``staff.csv`` are in ``staff``.
            filters: Only records that match: ``'team=Backend salary>=60000 (city:Paris or city:Berlin)'``, in the
                grammar of :mod:`core.rag.retrieval.filters` with the fields of the records. A number also compares
                with what people write (``$1,200``, ``12 %``), a date in ISO 8601, its year or its month also with
                dates that are written otherwise (``start>=2020-03``; :mod:`core.rag.retrieval.tables.dates`).
            group_by: Fields; records with the same values are one row. A record with several values in a field, as
                a list or as ``oak, elm`` in ``tags``, belongs to several. ``created:month`` has one row for each month
                of the dates in ``created``, as they are written; so have ``year``, ``quarter``, ``week`` (ISO 8601),
                ``day`` and ``hour``.
            measures: ``count``, or ``count``, ``distinct``, ``sum``, ``avg``, ``median``, ``min`` and ``max`` with
                a field, such as ``avg:salary``; for each group, or for all records together. With ``group_by`` alone:
                ``count``.
            fields: Columns of single records; without them, all that they have.
            order_by: Columns, in order; ``-salary``: the largest first. What is missing comes last.
            limit: Maximum number of rows.

        Returns:
            The rows, how many there are in all, and how many values were left out of a measure because they are no
            numbers. Fields are named as in :meth:`record_fields`; case does not matter.

        Raises:
            NotFoundError: if there is no such collection.
            InvalidInputError: if no record has a field that is named, or a measure or another argument is wrong.
            FilterError: if the filter does not parse.
        """
        from core.rag.retrieval.tables.asked import Asked
        from core.rag.retrieval.tables.reading import AllRecords
        from core.rag.retrieval.tables.tabulating import tabulate

        asked = Asked.parse(
            fields=fields, filters=filters, group_by=group_by, measures=measures, order_by=order_by, limit=limit
        )
        return await tabulate(AllRecords(self._client, collection), asked)

    def _hints(self) -> dict[str, str]:
        from core.rag.extraction.records import with_hints

        return with_hints(self._settings.entity_fields.split(","))

    async def add_triples(self, triples: Iterable[TripleLike]) -> int:
        """Add facts, each a ``(subject, relation, object)`` triple.

        Args:
            triples: Tuples of three strings, mappings with ``subject``, ``relation``, ``object`` and optionally
                ``subject_type``, ``object_type``, ``fact``, ``weight``, ``chunk_ids``, ``valid_from``, ``valid_to``, or
                :class:`core.rag.dbhandler.knowledge.facts.Triple`. Missing entities are created; a type
                that is given replaces that of an existing one. A fact with ``chunk_ids`` is removed with the last of
                these chunks; one without stays until a person removes it. The times are as in :meth:`link`.

        Returns:
            How many distinct facts were given; a fact that existed is updated.

        Raises:
            InvalidInputError: naming the first invalid triple, chunks that do not exist, or a fact that contradicts
                the periods that are stored of it (see :meth:`link`); nothing is stored then.
        """
        if isinstance(triples, str | Mapping) or not isinstance(triples, Iterable):
            raise InvalidInputError(f"triples must be a list of triples, not {type(triples).__name__}: {_A_TRIPLE}.")
        return await self._client.add_triples([_triple(triple, number) for number, triple in enumerate(triples, 1)])

    async def merge_entities(self, alias: str, entity: str) -> None:
        """Declare that two entities are the same. Both nodes stay, and :meth:`split_entity` undoes it.

        Args:
            alias: Name or id of one entity.
            entity: Name or id of the other, whose name stands for both.

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
            other: The entity to separate it from, also if the two were not merged (yet); ``None``: all that it was
                merged with.

        Returns:
            How many merges were undone.

        Raises:
            NotFoundError: if there is no such entity.
            InvalidInputError: if they are the same entity.
        """
        a = await self._entity_id(entity)
        b = None if other is None else await self._entity_id(other)
        if other is not None and a == b:
            raise InvalidInputError(f"{entity[:100]!r} and {other[:100]!r} are one entity, not two that were merged.")
        return await self._client.split_entity(a, [] if b is None else [b])

    async def remove_entity(self, entity: str) -> bool:
        """Remove an entity that was added by hand (:meth:`link` with ``create``, :meth:`add_triples`), and its links.

        An entity that documents or records also name stays, without the links made by hand. Entities that only these
        links supported are removed as well.

        Args:
            entity: Name or id.

        Returns:
            Whether it had been added by hand.

        Raises:
            NotFoundError: if there is no such entity.
        """
        return await self._client.release_entity(await self._entity_id(entity))

    async def resolve_entities(self, *, vectors: bool = True) -> ResolutionReport:
        """Find entities that have several names, and connect these with SAME_AS.

        Names match by spelling, by initials, by a difference of one or two letters in a long word, or by a cosine of
        their vectors above 0.95; in doubt they are kept apart. Every ingest applies the first two rules; the others
        take longer. The result depends only on the entities in the graph, not on earlier runs; merges and splits made
        by hand are kept.

        Args:
            vectors: Whether to also compare vectors of names.

        Returns:
            How many names are connected now, and how many of these are new.
        """
        from core.rag.indexing.resolving import resolve_all

        check_flags(vectors=vectors)
        return await resolve_all(self._client, self._embedder if vectors else None)

    async def extract_facts(
        self,
        model: LanguageModel | None = None,
        *,
        entity_types: Iterable[str] | None = None,
        relations: Iterable[RelationLike] | None = None,
        again: bool = False,
        limit: int | None = None,
        stop: asyncio.Event | None = None,
        progress: Callable[[FactReport], None] | None = None,
    ) -> FactReport:
        """Extract typed entities, and facts between them, with a language model from chunks that it has not read yet.

        Args:
            model: ``None``: the model of this knowledge base.
            entity_types: Only entities of these types, such as ``person``, and facts between them; empty: all.
                ``None``: ``MGRAG_LLM_ENTITY_TYPES``.
            relations: Only facts of these relations, such as ``owns``, or ``person > owns > building`` (also as a
                tuple) for those between such entities; empty: all. ``None``: ``MGRAG_LLM_RELATIONS``.
            again: Also read the chunks that were read before. What was found in one stays until it is read; the next
                call continues where this one ended.
            limit: Maximum number of chunks.
            stop: When set, no further chunks are read.
            progress: Called from time to time with the report so far.

        Returns:
            What was found, and which chunks failed; the next call tries these again.

        Raises:
            ConfigurationError: if there is no language model.
            InvalidInputError: on a type or relation in another form.
            LanguageModelAuthError: if its key is refused.
        """
        from core.rag.indexing.factfinding import FactFinder
        from core.rag.indexing.stopping import check_callbacks
        from core.rag.llm.base import checked_model

        check_flags(again=again)
        check_callbacks(stop, progress)
        finder = FactFinder(
            self._client,
            checked_model(model) or self._reader(),
            wanted=self._wanted(entity_types, relations),
            concurrency=self._settings.llm_concurrency,
        )
        if again:
            await self._client.read_facts_again()
        return await finder.run(limit, stop=stop, progress=progress)

    async def _add_facts(
        self, report: IngestReport, stop: asyncio.Event | None, progress: Callable[[IngestReport], None] | None
    ) -> None:
        """Extract facts behind an ingest, and add what was done to its report."""

        def tell(found: FactReport) -> None:
            report.facts = found.to_dict()
            if progress is not None:
                progress(report)

        found = await self.extract_facts(stop=stop, progress=tell)
        report.facts, report.interrupted = found.to_dict(), found.interrupted

    def _wanted(
        self, entity_types: Iterable[str] | None = None, relations: Iterable[RelationLike] | None = None
    ) -> WantedFacts:
        from core.rag.extraction.wanted import WantedFacts

        return WantedFacts.parse(
            self._settings.llm_entity_types.split(",") if entity_types is None else entity_types,
            self._settings.llm_relations.split(",") if relations is None else relations,
        )

    def _reader(self) -> LanguageModel:
        model = self.language_model
        if model is None:
            raise ConfigurationError("Extracting facts needs a language model: set MGRAG_LLM_MODEL.")
        return model

    async def _entity_id(self, name: str) -> str:
        node = await self._client.named_node(name)
        if node is None or node["label"] != Label.ENTITY:
            raise NotFoundError(
                f"There is no entity {name[:100]!r} in namespace {self._client.namespace!r}. See: mgrag graph entities."
            )
        return str(node["id"])


def _triple(given: TripleLike, number: int) -> Triple:
    from core.rag.dbhandler.knowledge.facts import Triple

    if isinstance(given, Triple):
        return given
    try:
        if isinstance(given, str):  # would be read letter by letter
            raise TypeError("it is a text; put a single triple in a list, too")
        if isinstance(given, Mapping):
            names = [field.name for field in dataclasses.fields(Triple)]
            if unknown := [name for name in given if name not in names]:
                raise TypeError(f"it has no field {str(unknown[0])[:100]!r}, only {', '.join(names)}")
            if missing := [name for name in names[:3] if name not in given]:
                raise TypeError(f"its {missing[0]} is missing")
            return Triple(**given)
        subject, relation, object_ = given
        return Triple(subject, relation, object_)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"Triple {number} is invalid: {error}. {_A_TRIPLE.capitalize()}.") from error
