"""Applies a document filter to what an answer is made from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from core.rag.answering.types import FoundFact, Knowledge
from core.rag.graph.passing import Passing
from core.rag.graph.sentences import Sentences


class Admission(Passing):
    """Decides what an answer may be made from.

    An entity belongs to no document. Of the entities and facts found, only those are returned that are supported by a
    passage which passes the filter.
    """

    async def narrowed(self, knowledge: Knowledge) -> Knowledge:
        """Return the part of the knowledge that is supported by passages that pass; summaries are made of any."""
        said = {chunk for fact in knowledge.facts for chunk in fact.chunk_ids}
        passing = await self.chunks({*said, *(hit.chunk_id for hit in knowledge.hits)})
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

    async def _mentioned(self, entities: Collection[str], chunks: Collection[str]) -> set[str]:
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) RETURN DISTINCT e.id AS id",
            ids=sorted(chunks),
        )
        return {row["id"] for row in rows} & set(entities)


def _only(fact: FoundFact, said: str, chunks: Collection[str]) -> FoundFact:
    return replace(fact, fact=said, chunk_ids=tuple(chunk for chunk in fact.chunk_ids if chunk in chunks))
