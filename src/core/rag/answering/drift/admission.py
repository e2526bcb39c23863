"""Applies document filters to everything that a traversal visits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.rag.answering.admission import Admission
from core.rag.answering.drift.paths import TEXTS, Edge, Node, Path
from core.rag.graph.hops import by_label
from core.rag.graph.sentences import Key, Sentences
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.answering.drift.entry_points import Entries

#: Of one entity, so many documents and records are looked at.
_MOST_TEXTS = 1_000


class PathAdmission(Admission):
    """Decides what of a traversal passes a filter: entities belong to no document, so it may pass through any."""

    async def of_paths(self, paths: Sequence[Path]) -> list[Path]:
        """Return the paths that may be shown: each of their edges is of a text that passes, or supported by one.

        What a caller stated is of no text, and so are the relations that a record makes; it is visited itself.
        """
        passing = await self.chunks({chunk for path in paths for edge in path.edges for chunk in edge.chunk_ids})
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
        texts = by_label((node.id, Label(node.label)) for node in nodes if node.label in TEXTS)
        entities = {node.id for node in nodes if node.label == Label.ENTITY}
        allowed = await self(texts) | await self.naming(entities, _MOST_TEXTS)
        return [_bare(node) for node in nodes if node.id in allowed]


def _bare(node: Node) -> Node:
    """Return a node without its summary, if it is an entity: that is made of any texts."""
    if node.label != Label.ENTITY:
        return node
    kept = {key: node.metadata[key] for key in ("type", "mention_count") if key in node.metadata}
    return replace(node, content=node.name, metadata=kept)


def _key(edge: Edge) -> Key:
    return edge.source, edge.target, edge.type


def _is_said(path: Path, passing: Collection[str]) -> bool:
    texts = {node.id for node in path.nodes if node.label in TEXTS}
    return all(
        not texts.isdisjoint((edge.source, edge.target)) or not set(passing).isdisjoint(edge.chunk_ids)
        for edge in path.edges
    )
