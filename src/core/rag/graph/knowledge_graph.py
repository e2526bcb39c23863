"""KnowledgeGraph: nodes with texts and edges between them, searched by traversal, by meaning, and by both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from core.rag.arguments import as_float, check_flags, check_number, check_texts
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.store import MAX_DEPTH, MAX_K
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.graph.building import GraphBuilder
from core.rag.graph.nodes import Nodes, UndirectedNode

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService
    from core.rag.graph.walk import Walk
    from core.rag.settings import Settings

#: Default maximum number of nodes that a traversal returns.
MAX_NODES = 10_000


class KnowledgeGraph(GraphBuilder):
    """An undirected graph of nodes in a namespace of the database, where they are ``Concept`` nodes.

    Example:
        >>> async with KnowledgeGraph.open("embedded:graph.grafeo") as graph:
        ...     store = UndirectedNode("Vector databases store embeddings", "concept")
        ...     await graph.add_node(store, neighbor=UndirectedNode("Embeddings are vectors", "concept"))
        ...     await graph.query_by_content("Where are embeddings kept?", step=2)
    """

    @classmethod
    def open(
        cls,
        uri: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        embedder: EmbeddingService | None = None,
        username: str | None = None,
        password: str | None = None,
        merge_similar: bool = False,
        settings: Settings | None = None,
    ) -> Self:
        """Open a graph at a URI with its own connection; use it in an ``async with``.

        Args:
            uri: ``embedded:PATH``, ``bolt://HOST:7687`` …; ``None``: ``MEMGRAPH_URI``, else the embedded default.
            namespace: ``None``: ``MGRAG_NAMESPACE``, else ``default``.
            model: Embedding model; ``None``: ``MGRAG_EMBEDDING_MODEL``, else the offline default.
            embedder: A custom embedding service, instead of ``model``.
            username: For a server; ``None``: ``MEMGRAPH_USERNAME``.
            password: For a server; ``None``: ``MEMGRAPH_PASSWORD``.
            merge_similar: See the constructor.
            settings: ``None``: read from the environment.
        """
        from core.rag.embedder import open_embedder

        embedder = embedder or open_embedder(model, settings)
        client = MemGraphClient(uri, username, password, namespace=namespace, embedder=embedder, settings=settings)
        graph = cls(client, embedder, merge_similar=merge_similar)
        graph._owned, graph._owns_client = embedder, True
        return graph

    async def __aenter__(self) -> Self:
        await self._client.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what :meth:`open` opened; a client that was passed in stays open."""
        try:
            if self._owns_client:
                await self._client.close()
        finally:
            if self._owned is not None:
                await self._owned.close()

    async def get_all_nodes(self, constraint_labels: Sequence[str] | None = None) -> Nodes:
        """Return all nodes, or those with one of the labels, in the order of their ids."""
        return Nodes(await self._load(await self._client.concept_ids(_labels(constraint_labels))))

    async def get_neighbors(self, node: UndirectedNode | str, *, limit: int = MAX_NODES) -> Nodes:
        """Return the neighbours of a node, given itself or its id, in the order of their contents."""
        return await self.get_nodes_within_steps(node, 1, limit=limit)

    async def get_nodes_within_steps(
        self,
        start_node: UndirectedNode | str,
        steps: int = 1,
        constraint_labels: Sequence[str] | None = None,
        block: bool = False,
        *,
        limit: int = MAX_NODES,
    ) -> Nodes:
        """Return the nodes within ``steps`` edges of a node (breadth-first search).

        Args:
            start_node: Where to begin, a node or the id of one; not in the result. The result is empty for a node
                that is not in the graph.
            steps: Maximum number of edges, 0 to 64.
            constraint_labels: Only nodes with one of these labels; ``None`` or empty: any.
            block: Only pass through nodes with one of these labels; the start may have any.
            limit: Look at so many nodes at most.

        Returns:
            Nodes, nearest first; neighbours of one node in the order of their contents (first 200 characters, then
            the id in the graph). ``truncated`` tells whether the limit cut something off.

        Raises:
            InvalidInputError: if the number of steps or the limit is invalid.
            NotFoundError: if there is no node with the id.
        """
        found = await self._walk(start_node, steps, _labels(constraint_labels), limit, block=block)
        return Nodes(await self._load(_passing(found, _labels(constraint_labels))), truncated=found.truncated)

    async def get_nodes_intersection(
        self, nodes: Sequence[UndirectedNode | None], steps: int = 1, constraint_labels: Sequence[str] | None = None
    ) -> Nodes:
        """Return the nodes that are within ``steps`` edges of every given node.

        Args:
            nodes: At least one. ``None`` among them (a node that a lookup did not find) is refused.
            steps: Maximum number of edges.
            constraint_labels: Only nodes with one of these labels.

        Returns:
            Nodes in the order of the traversal from the first node.
        """
        labels = _labels(constraint_labels)
        given: object = nodes
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidInputError(f"nodes must be a sequence of nodes, not {type(given).__name__}.")
        starts = [node for node in nodes if node is not None]
        if not starts or len(starts) < len(nodes):
            raise InvalidInputError(
                "An intersection needs nodes, but one of them is None: perhaps it was not found?"
                if starts or nodes
                else "An intersection needs at least one node."
            )
        common: list[str] | None = None
        truncated = False
        for node in dict.fromkeys(starts):
            found = await self._walk(node, steps, labels, MAX_NODES)
            truncated = truncated or found.truncated
            reached = _passing(found, labels)
            there = set(reached)
            common = reached if common is None else [key for key in common if key in there]
        return Nodes(await self._load(common or []), truncated=truncated)

    async def semantic_search(
        self,
        node: UndirectedNode | str,
        similarity_threshold: float = 0.0,
        topk_k: int | None = None,
        constraint_labels: Sequence[str] | None = None,
    ) -> Nodes:
        """Return the nodes that are most similar in meaning.

        Args:
            node: A text, or a node, whose content and vector are used; if it is in the graph, it finds itself.
            similarity_threshold: Only nodes with a cosine above it, -1 to 1.
            topk_k: Maximum number to return; ``None``: all, up to 10,000.
            constraint_labels: Only nodes with one of these labels.

        Returns:
            Best first, each with its ``similarity``: that of its content or of its most similar trunk.

        Raises:
            ConfigurationError: if there is no embedding service.
        """
        ranked = await self._ranked(node, similarity_threshold, topk_k, _labels(constraint_labels))
        scores = dict(ranked)
        rows = await self._client.concept_rows([key for key, _ in ranked])
        return Nodes(UndirectedNode.from_row(rows[key], scores[key]) for key in scores if key in rows)

    async def query_by_node(
        self,
        node: UndirectedNode | str,
        step: int = 1,
        constraint_labels: Sequence[str] | None = None,
        constraint_node: UndirectedNode | None = None,
        constraint_distance: float = 0,
        block: bool = False,
    ) -> Nodes:
        """Return the nodes around a node, optionally only those near another node.

        Args:
            node: Where to begin: a node, or the id of one.
            step: Maximum number of edges.
            constraint_labels: Only nodes with one of these labels.
            constraint_node: Only nodes that are connected with this one (or are this one).
            constraint_distance: Maximum number of edges to ``constraint_node``; 0: any number, up to 64.
            block: Only pass through nodes with one of the labels.
        """
        found = await self._walk(node, step, _labels(constraint_labels), MAX_NODES, block=block)
        near = await self._near(constraint_node, constraint_distance)
        passing = [key for key in _passing(found, _labels(constraint_labels)) if near is None or key in near]
        return Nodes(await self._load(passing), truncated=found.truncated)

    async def query_by_content(
        self,
        content: str | Sequence[str],
        topk_k: int = 5,
        step: int = 1,
        constraint_labels: Sequence[str] | None = None,
        constraint_node: UndirectedNode | None = None,
        similarity_threshold: float = 0.0,
        constraint_distance: float = 0,
        block: bool = False,
    ) -> Nodes:
        """Return the nodes connected with those that are most similar to a text: "similar to X and connected to Y".

        For each text, traversals start at its ``topk_k`` most similar nodes, best first, until ``topk_k`` nodes are
        found.

        Args:
            content: One text or several.
            topk_k: Maximum number of nodes for each text.
            step: Maximum number of edges from a similar node.
            constraint_labels: Only nodes with one of these labels; traversals may start at nodes of any label.
            constraint_node: See :meth:`query_by_node`.
            similarity_threshold: Start only at nodes that are more similar than this.
            constraint_distance: See :meth:`query_by_node`.
            block: Only pass through nodes with one of the labels.

        Returns:
            Each node once.
        """
        check_flags(block=block)
        topk_k = check_number("topk_k", topk_k, 1, MAX_K)
        if not isinstance(content, str | Iterable):
            raise InvalidInputError(f"content must be one text or several, not {type(content).__name__}.")
        labels = _labels(constraint_labels)
        near = await self._near(constraint_node, constraint_distance)
        everything: dict[str, None] = {}
        truncated = False
        for text in [content] if isinstance(content, str) else content:
            of_this: dict[str, None] = {}
            for start, _ in await self._ranked(text, similarity_threshold, topk_k, None):
                found = await self._walk_from(start, step, labels, MAX_NODES, block=block)
                truncated = truncated or found.truncated
                of_this.update(dict.fromkeys(k for k in _passing(found, labels) if near is None or k in near))
                if len(of_this) >= topk_k:
                    break
            everything.update(dict.fromkeys(list(of_this)[:topk_k]))
        return Nodes(await self._load(list(everything)), truncated=truncated)

    async def embed_pending(self) -> int:
        """Embed nodes without vectors now instead of in the next search; return how many nodes."""
        return await self._similarity.embed_pending()

    async def _walk(
        self,
        start: UndirectedNode | str,
        steps: int,
        labels: Collection[str] | None,
        limit: int,
        *,
        block: bool = False,
    ) -> Walk:
        check_flags(block=block)
        if isinstance(start, str) and await self.get_node(start) is None:
            raise NotFoundError(
                f"There is no node with the id {start[:100]!r}; get_node_by_content finds nodes by text."
            )
        return await self._walk_from(self._id(start), steps, labels, limit, block=block)

    async def _walk_from(
        self, start: str, steps: int, labels: Collection[str] | None, limit: int, *, block: bool
    ) -> Walk:
        steps = check_number("steps", steps, 0, MAX_DEPTH)
        limit = check_number("limit", limit, 1, 10 * MAX_NODES)
        return await self._neighbours.walk(start, steps, labels if block else None, limit)

    async def _near(self, node: UndirectedNode | None, distance: float) -> Collection[str] | None:
        if node is None:
            return None
        if not 0 <= as_float(distance) <= MAX_DEPTH:
            raise InvalidInputError(f"constraint_distance is {distance!r}, but has to be from 0 to {MAX_DEPTH}.")
        return (await self._walk(node, MAX_DEPTH if distance == 0 else int(distance), None, 10 * MAX_NODES)).steps


def _labels(labels: Sequence[str] | None) -> list[str] | None:
    texts = check_texts("constraint_labels", () if labels is None else labels)
    return list(dict.fromkeys(texts)) or None


def _passing(found: Walk, labels: Collection[str] | None) -> list[str]:
    return [key for key, label in found.labels.items() if labels is None or label in labels]
