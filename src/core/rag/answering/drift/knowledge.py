"""Converts paths into the material of an answer: entities, facts, and the passages that support them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from core.rag.answering.drift.paths import Edge, Node, Path
from core.rag.answering.first_chunks import first_chunks
from core.rag.answering.types import FoundEntity, FoundFact, Knowledge
from core.rag.retrieval.hits import Hit
from core.rag.schema import EdgeType, Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Maximum number of passages for an answer.
MAX_PASSAGES = 10

_THINGS = frozenset({Label.ENTITY, Label.CONCEPT, Label.TOPIC, Label.TOOL, Label.SYMBOL, Label.RECORD})
_FACTS = frozenset({EdgeType.RELATED, EdgeType.RELATED_TO})


async def knowledge_of(client: MemGraphClient, paths: Sequence[Path], limit: int = MAX_PASSAGES) -> Knowledge:
    """Collect the knowledge on paths.

    Args:
        client: The graph, for the passages.
        paths: Paths, best first.
        limit: Maximum number of passages.

    Returns:
        Entities and facts in the order of the paths, and passages: the chunks on the paths, the beginnings of documents
        on paths without their chunks, and the chunks that support the facts. Each has the score of its best path.
    """
    entities: dict[str, FoundEntity] = {}
    facts: dict[tuple[str, ...], FoundFact] = {}
    chunks: dict[str, float] = {}
    opening = await _openings(client, paths)
    for path in paths:
        names = {node.id: node.name for node in path.nodes}
        for node in path.nodes:
            if node.label == Label.CHUNK:
                chunks.setdefault(node.id, path.score)
            elif node.label == Label.DOCUMENT and node.id in opening:
                chunks.setdefault(opening[node.id], path.score)
            elif node.label in _THINGS:
                entities.setdefault(node.id, _entity(node, path.score))
        for edge in path.edges:
            if edge.kind in _FACTS:
                fact = _fact(edge, names, path.score)
                facts.setdefault(fact.key, fact)
        for edge in path.edges:
            for chunk in edge.chunk_ids:
                chunks.setdefault(chunk, path.score)
    wanted = list(chunks)[:limit]
    found = await client.chunks_by_id(wanted)
    hits = [Hit.of_chunk(found[chunk], chunks[chunk], {"path": chunks[chunk]}) for chunk in wanted if chunk in found]
    return Knowledge(list(entities.values()), list(facts.values()), hits, relevant=bool(paths))


def mixed(hits: Sequence[Hit], others: Sequence[Hit], limit: int) -> list[Hit]:
    """Mix the passages of two rankings in turn, each once."""
    turns = (hit for pair in zip_longest(hits, others) for hit in pair if hit is not None)
    return list({hit.chunk_id: hit for hit in reversed(list(turns))}.values())[::-1][:limit]


def replaced(entities: Sequence[FoundEntity], told: Sequence[FoundEntity]) -> list[FoundEntity]:
    """Return entities with what their records say of some of them, without the records that say the same.

    Args:
        entities: Those on paths, records among them.
        told: Some of them, with what their records say.
    """
    known = {one.id: one for one in told}
    said = [(one.name, set(line.split(", "))) for one in told for line in one.summary.split("; ") if line]
    return [
        known.get(one.id, one)
        for one in entities
        if one.type != "record"
        or not any(name in one.summary and line.issubset(one.summary.split(", ")) for name, line in said)
    ]


async def _openings(client: MemGraphClient, paths: Sequence[Path]) -> dict[str, str]:
    """Return the first chunk of each document on a path that has none of its chunks."""
    passed = {
        node.id
        for path in paths
        if not any(edge.kind == EdgeType.CHUNK_OF for edge in path.edges)
        for node in path.nodes
        if node.label == Label.DOCUMENT
    }
    return await first_chunks(client, sorted(passed))


def _entity(node: Node, score: float) -> FoundEntity:
    # people: name: Ada Lane, hobby: chess. Its name as a node is the beginning of that.
    name = str(node.metadata["collection"]) if node.label == Label.RECORD else node.name
    summary = node.content if node.content != name else ""
    if summary.startswith(f"{name}. "):
        summary = summary[len(name) + 2 :]
    kind = str(node.metadata.get("type") or node.metadata.get("label") or node.label.lower())
    mentions = node.metadata.get("mention_count")
    return FoundEntity(
        id=node.id,
        name=name,
        type=kind,
        summary=summary,
        mention_count=mentions if isinstance(mentions, int) else 0,
        score=score,
        similarity=node.score,
        method="drift",
    )


def _fact(edge: Edge, names: dict[str, str], score: float) -> FoundFact:
    return FoundFact(
        source_id=edge.source,
        source=names[edge.source],
        target_id=edge.target,
        target=names[edge.target],
        type=edge.type,
        fact=edge.fact,
        weight=edge.weight,
        chunk_ids=edge.chunk_ids,
        score=score,
        method="drift",
        valid_from=edge.period.valid_from,
        valid_to=edge.period.valid_to,
    )
