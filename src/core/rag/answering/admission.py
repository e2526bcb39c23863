"""Applies a document filter to what an answer is made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.rag.answering.first_chunks import first_chunks
from core.rag.answering.types import FoundFact, Knowledge
from core.rag.graph.sentences import Sentences
from core.rag.retrieval.filters import parse_filter
from core.rag.retrieval.legs import Legs
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


class Admission:
    """Decides which chunks, documents and records pass a filter; a record does as its document does.

    An entity belongs to no document. Of the entities and facts found, only those are returned that are supported by a
    passage which passes the filter.
    """

    def __init__(self, client: MemGraphClient, filters: str | Mapping[str, Any]) -> None:
        """Prepare.

        Raises:
            FilterError: if the filter does not parse.
        """
        self._client = client
        self._legs = Legs(client, None)
        self._wanted = parse_filter(filters)

    async def __call__(self, ids: Mapping[Label, Sequence[str]]) -> Collection[str]:
        """Return the ids of those chunks, documents and records that pass."""
        passing = await self._chunks(ids.get(Label.CHUNK, ()))
        records = await self._client.documents_of_records(ids.get(Label.RECORD, ()))
        wanted = sorted({*ids.get(Label.DOCUMENT, ()), *(row["document"] for row in records)})
        first = {chunk: document for document, chunk in (await first_chunks(self._client, wanted)).items()}
        documents = {first[chunk] for chunk in await self._chunks(first)}
        return passing | documents | {row["id"] for row in records if row["document"] in documents}

    async def narrowed(self, knowledge: Knowledge) -> Knowledge:
        """Return the part of the knowledge that is supported by passages that pass; summaries are made of any."""
        said = {chunk for fact in knowledge.facts for chunk in fact.chunk_ids}
        passing = await self._chunks({*said, *(hit.chunk_id for hit in knowledge.hits)})
        hits = [hit for hit in knowledge.hits if hit.chunk_id in passing]
        facts = [fact for fact in knowledge.facts if passing.intersection(fact.chunk_ids)]
        mentioned = await self._mentioned({entity.id for entity in knowledge.entities}, {hit.chunk_id for hit in hits})
        mentioned |= {end for fact in facts for end in (fact.source_id, fact.target_id)}
        entities = [replace(entity, summary="") for entity in knowledge.entities if entity.id in mentioned]
        keys = [(fact.source_id, fact.target_id, fact.type) for fact in facts]
        sentences = await Sentences.of(self._client, keys)
        texts = [sentences.among(key, fact.fact, passing) for key, fact in zip(keys, facts, strict=True)]
        facts = [_only(fact, text, passing) for fact, text in zip(facts, texts, strict=True)]
        return replace(knowledge, entities=entities, facts=facts, hits=hits)

    async def _chunks(self, ids: Iterable[str]) -> set[str]:
        return await self._legs.passing(self._wanted, list(ids))

    async def _mentioned(self, entities: Collection[str], chunks: Collection[str]) -> set[str]:
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) RETURN DISTINCT e.id AS id",
            ids=sorted(chunks),
        )
        return {row["id"] for row in rows} & set(entities)


def _only(fact: FoundFact, said: str, chunks: Collection[str]) -> FoundFact:
    return replace(fact, fact=said, chunk_ids=tuple(chunk for chunk in fact.chunk_ids if chunk in chunks))
