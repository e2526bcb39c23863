"""Builds a knowledge graph: adds and removes nodes and edges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from core.rag.arguments import check_flags, check_number, check_optional, check_text
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.store import MAX_K
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.graph.neighbours import Neighbours
from core.rag.graph.nodes import Nodes, UndirectedNode
from core.rag.graph.similarity import Similarity, check_cosine
from core.rag.identity import concept_id

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: An edge, with a weight or without: ``(node, node)``, ``(node, node, weight)``.
Edge = tuple[UndirectedNode, UndirectedNode] | tuple[UndirectedNode, UndirectedNode, float]


class HasClient(Protocol):
    """An object with a client, such as a knowledge base."""

    @property
    def client(self) -> MemGraphClient:
        """The database."""
        ...


class GraphBuilder:
    """The part of :class:`core.rag.KnowledgeGraph` that changes the graph."""

    def __init__(
        self,
        client: MemGraphClient | HasClient,
        embedder: EmbeddingService | None = None,
        *,
        merge_similar: bool = False,
        cache: bool = True,
    ) -> None:
        """Make a graph on a client; ``KnowledgeBase.knowledge_graph`` and :meth:`open` are shorter.

        Args:
            client: The database, or a knowledge base on it; not closed with the graph.
            embedder: For semantic search; ``None``: that of the client, if it has one.
            merge_similar: Whether adding a node also looks for an existing node of the same meaning. Off by default: a
                duplicate does less harm than a wrong merge.
            cache: Whether traversals learn from earlier ones which nodes to read ahead. Results are never stale; see
                :mod:`core.rag.graph.neighbours`.
        """
        check_flags(merge_similar=merge_similar, cache=cache)
        self._client = client if isinstance(client, MemGraphClient) else client.client
        self._similarity = Similarity(self._client, embedder or self._client.embedder)
        self._neighbours = Neighbours(self._client, cache=cache)
        self._merge_similar = merge_similar
        self._owned: EmbeddingService | None = None
        self._owns_client = False

    @property
    def client(self) -> MemGraphClient:
        """The database."""
        return self._client

    async def add_node(
        self,
        node: UndirectedNode,
        neighbor: UndirectedNode | None = None,
        same_node_threshold: float = 0.95,
        *,
        merge_similar: bool | None = None,
    ) -> UndirectedNode:
        """Add a node and, if given, a neighbour, and connect them.

        A node exists already if one in the graph has its id, or its content and label, or, with ``merge_similar``, its
        label and a similarity above ``same_node_threshold``.

        Args:
            node: The node to add. It is not embedded yet: the next semantic search embeds all new nodes together.
            neighbor: The node to connect it with.
            same_node_threshold: Cosine above which two nodes are the same, with ``merge_similar``.
            merge_similar: Whether to compare meanings; ``None``: as the graph was opened.

        Returns:
            The node in the graph: the existing one, or the new one.

        Raises:
            InvalidInputError: on anything but a node, or a threshold outside -1 to 1; nothing is stored then.
            InvalidVectorError: if an embedding does not fit this graph; nothing is stored then.
        """
        if neighbor is None:
            return (await self._add([node], (), same_node_threshold, merge_similar))[0]
        return (await self._add([node, neighbor], [(node, neighbor)], same_node_threshold, merge_similar))[0]

    async def add_nodes(
        self,
        node: UndirectedNode | Iterable[UndirectedNode],
        neighbors: Iterable[UndirectedNode] = (),
        same_node_threshold: float = 0.95,
        *,
        merge_similar: bool | None = None,
    ) -> Nodes:
        """Add nodes and neighbours in batches, and connect each node with all of the neighbours.

        Returns:
            For each node, then for each neighbour, the node in the graph.

        Raises:
            InvalidInputError: on anything but a node, or a threshold outside -1 to 1; nothing is stored then.
            InvalidVectorError: if an embedding does not fit this graph; nothing is stored then.
        """
        nodes = [node] if isinstance(node, UndirectedNode) else _nodes(node)
        others = _nodes(neighbors)
        edges = [(a, b) for a in nodes for b in others]
        return await self._add([*nodes, *others], edges, same_node_threshold, merge_similar)

    async def add_edge(self, a: UndirectedNode, b: UndirectedNode, weight: float | None = None) -> None:
        """Connect two nodes of the graph; connecting them again only updates the weight.

        Raises:
            NotFoundError: if either node is not in the graph.
        """
        await self.add_edges([(a, b) if weight is None else (a, b, weight)])

    async def add_edges(self, edges: Iterable[Edge]) -> None:
        """Connect many pairs of nodes of the graph, in batches. A pair of a node with itself is skipped.

        Raises:
            InvalidInputError: on anything but edges; nothing is stored then.
            NotFoundError: if one of the nodes is not in the graph; all other edges are stored.
        """
        rows = [(self._id(edge[0]), self._id(edge[1]), edge[2] if len(edge) == 3 else None) for edge in _edges(edges)]
        wanted = {frozenset((a, b)) for a, b, _ in rows if a != b}
        made = await self._client.link_concepts(rows)
        if made < len(wanted):
            raise NotFoundError(
                f"{len(wanted) - made} of {len(wanted)} edges lack a node: add the nodes to the graph first."
            )

    async def remove_edge(self, a: UndirectedNode, b: UndirectedNode) -> bool:
        """Remove the edge between two nodes; return whether it existed."""
        return await self._client.unlink_concepts([(self._id(a), self._id(b))]) > 0

    async def remove_node(self, node: UndirectedNode | str) -> bool:
        """Remove a node, given itself or its id, with its edges and vectors; return whether it existed."""
        return await self._client.remove_concepts([self._id(node)]) > 0

    async def clear(self) -> int:
        """Remove all nodes with their edges and vectors; return how many."""
        return await self._client.remove_concepts(await self._client.concept_ids())

    async def size(self) -> int:
        """Return the number of nodes."""
        return await self._client.count_concepts()

    async def get_node(self, node_id: str) -> UndirectedNode | None:
        """Return the node with this id, or ``None``."""
        identifier = concept_id(self._client.namespace, check_text("The id of a node", node_id))
        return next(iter(await self._load([identifier])), None)

    async def get_node_by_content(self, content: str, label: str | None = None) -> UndirectedNode | None:
        """Return the node with exactly this content (and label), or ``None``; the oldest of several."""
        check_optional(label=label)
        for row in await self._client.concepts_of_content(UndirectedNode(content).content):
            if label is None or row["label"] == label:
                return UndirectedNode.from_row(row)
        return None

    async def _add(
        self, nodes: Sequence[UndirectedNode], edges: Iterable[Edge], threshold: float, merge_similar: bool | None
    ) -> Nodes:
        merge = self._merge_similar if merge_similar is None else merge_similar
        check_flags(merge_similar=merge)
        _check_nodes(nodes)
        check_cosine("same_node_threshold", threshold)
        rows = [node.to_row() for node in nodes]
        given = {node.id: node for node in nodes if node.embedding is not None}
        vectors = await self._similarity.checked(  # before anything is written
            [(self._id(n), n.embedding or (), n.trunks_embedding, len(n.trunks)) for n in given.values()]
        )
        if merge:
            stands: dict[str, str] = {}
            fresh: set[str] = set()
            for node, row in zip(nodes, rows, strict=True):  # one by one: a later node may be similar to this one
                if same := await self._twin(node, threshold):
                    stands[node.id] = same
                    continue
                stood, new = await self._client.put_concepts([row])
                stands |= stood
                fresh |= new
        else:
            stands, fresh = await self._client.put_concepts(rows)
        pairs = [(self._id(stands[edge[0].id]), self._id(stands[edge[1].id]), None) for edge in edges]
        if pairs:
            await self._client.link_concepts(pairs, fresh)
        own = {self._id(node) for node in nodes if stands[node.id] == node.id}
        await self._similarity.keep([vector for vector in vectors if vector.node in own])
        there = await self._client.concept_rows([self._id(stands[node.id]) for node in nodes])
        return Nodes(UndirectedNode.from_row(there[self._id(stands[node.id])]) for node in nodes)

    async def _twin(self, node: UndirectedNode, threshold: float) -> str | None:
        """Return the id of the node with the same meaning, unless one has the id, or the content and label."""
        if await self.get_node(node.id) or await self.get_node_by_content(node.content, node.label):
            return None
        ranked = await self._ranked(node, threshold, 1, [node.label])
        found = await self._load([key for key, _ in ranked])
        return found[0].id if found else None

    async def _ranked(
        self, node: UndirectedNode | str, threshold: float, topk_k: int | None, labels: Collection[str] | None
    ) -> list[tuple[str, float]]:
        k = MAX_K if topk_k is None else check_number("topk_k", topk_k, 1, MAX_K)
        if isinstance(node, UndirectedNode):
            return await self._similarity.ranked(node.content, node.embedding, k, threshold, labels, is_query=False)
        return await self._similarity.ranked(check_text("A query", node), None, k, threshold, labels, is_query=True)

    async def _load(self, ids: Sequence[str]) -> list[UndirectedNode]:
        rows = await self._client.concept_rows(ids)
        return [UndirectedNode.from_row(rows[key]) for key in ids if key in rows]

    def _id(self, node: UndirectedNode | str | None) -> str:
        if not isinstance(node, UndirectedNode | str):
            raise InvalidInputError(f"A node is needed, but this is {type(node).__name__}: perhaps it was not found?")
        return concept_id(self._client.namespace, node if isinstance(node, str) else node.id)


def _nodes(given: Iterable[UndirectedNode]) -> list[UndirectedNode]:
    if not isinstance(given, Iterable):
        raise InvalidInputError(f"Nodes are needed, but this is {type(given).__name__}: perhaps it was not found?")
    return list(given)


def _edges(given: Iterable[Edge]) -> Iterator[Edge]:
    if not isinstance(given, Iterable):
        raise InvalidInputError(f"Edges are needed, but this is {type(given).__name__}.")
    for edge in given:
        if not isinstance(edge, tuple | list) or len(edge) not in (2, 3):
            raise InvalidInputError(f"An edge must be (node, node) or (node, node, weight), not {repr(edge)[:100]}.")
        yield edge


def _check_nodes(nodes: Iterable[UndirectedNode]) -> None:
    for node in nodes:
        if not isinstance(node, UndirectedNode):
            raise InvalidInputError(f"An UndirectedNode is needed, but this is {type(node).__name__}.")
