"""Applies document filters to everything that a traversal visits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.rag.answering.drift.paths import TEXTS, Edge, Node, Path
from core.rag.answering.types import FoundFact, Knowledge
from core.rag.graph.hops import by_label
from core.rag.graph.sentences import Key, Sentences
from core.rag.retrieval.filters import parse_filter
from core.rag.retrieval.legs import Legs
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.answering.drift.entry_points import Entries
    from core.rag.dbhandler import MemGraphClient

#: The texts that name entities, and by which edges.
_NAMING = {Label.CHUNK: EdgeType.MENTIONS, Label.DOCUMENT: EdgeType.TITLED, Label.RECORD: EdgeType.HAS_ENTITY}
#: Of one entity, so many texts of a label are looked at.
_MOST_TEXTS = 1_000


class Admission:
    """Decides which chunks, documents and records pass a filter; a record does as its document does.

    An entity belongs to no document, so a traversal may always pass through it. But of the entities and facts found,
    only those are returned that are supported by a passage which passes the filter.
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
        rows = await self._client.read_for_ids(
            "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) "
            "WHERE c.chunk_index = 0 RETURN i AS id, c.id AS chunk",
            sorted({*ids.get(Label.DOCUMENT, ()), *(row["document"] for row in records)}),
        )
        first = {row["chunk"]: row["id"] for row in rows}
        documents = {first[chunk] for chunk in await self._chunks(first)}
        return passing | documents | {row["id"] for row in records if row["document"] in documents}

    async def of_paths(self, paths: Sequence[Path]) -> list[Path]:
        """Return the paths that may be shown: each of their edges is of a text that passes, or supported by one.

        What a caller stated is of no text, and so are the relations that a record makes; it is visited itself.
        """
        passing = await self._chunks({chunk for path in paths for edge in path.edges for chunk in edge.chunk_ids})
        alone = {node.id for node in await self.of_nodes([path.nodes[0] for path in paths if not path.edges])}
        sentences = await Sentences.of(self._client, (_key(edge) for path in paths for edge in path.edges if edge.fact))

        def told(edge: Edge) -> Edge:
            return replace(edge, fact=sentences.among(_key(edge), edge.fact, passing)) if edge.fact else edge

        return [
            replace(path, nodes=tuple(map(_bare, path.nodes)), edges=tuple(map(told, path.edges)))
            for path in paths
            if (_is_said(path, passing) if path.edges else path.nodes[0].id in alone)
        ]

    async def of_entries(self, entries: Entries) -> Entries:
        """Return where a traversal begins without texts that do not pass."""
        texts = by_label((node.id, Label(node.label)) for node in entries.nodes if node.label in TEXTS)
        found = {hit.chunk_id for hit in entries.hits}
        passing = await self({**texts, Label.CHUNK: sorted(found.union(texts.get(Label.CHUNK, ())))})
        nodes = [node for node in entries.nodes if node.label not in TEXTS or node.id in passing]
        return replace(entries, nodes=nodes, hits=[hit for hit in entries.hits if hit.chunk_id in passing])

    async def of_nodes(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the nodes that may be shown by themselves: texts that pass, and entities that one of these names."""
        entities = sorted({node.id for node in nodes if node.label == Label.ENTITY})
        named: dict[Label, dict[str, set[str]]] = {label: {} for label in _NAMING}
        for label, edge in _NAMING.items():
            for row in await self._client.read_for_ids(
                f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}) CALL {{ WITH e MATCH (e)<-[:{edge}]-(t:{label}) "
                f"RETURN t.id AS text LIMIT {_MOST_TEXTS} }} RETURN i AS id, text",
                entities,
            ):
                named[label].setdefault(row["text"], set()).add(row["id"])
        texts = by_label((node.id, Label(node.label)) for node in nodes if node.label in TEXTS)
        wanted = {label: {*texts.get(label, ()), *named.get(label, ())} for label in TEXTS}
        passing = set(await self({label: sorted(ids) for label, ids in wanted.items()}))
        allowed = passing.union(*(some for own in named.values() for text, some in own.items() if text in passing))
        return [_bare(node) for node in nodes if node.id in allowed]

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
        facts = await self._legs.facts(list(ids))
        return {name for name, fact in facts.items() if self._wanted.matches(fact)}

    async def _mentioned(self, entities: Collection[str], chunks: Collection[str]) -> set[str]:
        rows = await self._client.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) RETURN DISTINCT e.id AS id",
            ids=sorted(chunks),
        )
        return {row["id"] for row in rows} & set(entities)


def _bare(node: Node) -> Node:
    """Return a node without its summary, if it is an entity: that is made of any texts."""
    if node.label != Label.ENTITY:
        return node
    kept = {key: node.metadata[key] for key in ("type", "mention_count") if key in node.metadata}
    return replace(node, content=node.name, metadata=kept)


def _key(edge: Edge) -> Key:
    return edge.source, edge.target, edge.type


def _only(fact: FoundFact, said: str, chunks: Collection[str]) -> FoundFact:
    return replace(fact, fact=said, chunk_ids=tuple(chunk for chunk in fact.chunk_ids if chunk in chunks))


def _is_said(path: Path, passing: Collection[str]) -> bool:
    texts = {node.id for node in path.nodes if node.label in TEXTS}
    return all(
        not texts.isdisjoint((edge.source, edge.target)) or not set(passing).isdisjoint(edge.chunk_ids)
        for edge in path.edges
    )
