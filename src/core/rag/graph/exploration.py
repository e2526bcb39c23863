"""What a KnowledgeBase offers for looking around in its graph; each method hands on to a module of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.knowledge.periods import Time
    from core.rag.embedder import EmbeddingService
    from core.rag.graph.context import GraphContext
    from core.rag.graph.finding import Order
    from core.rag.graph.knowledge_graph import KnowledgeGraph
    from core.rag.graph.parts import EdgePage, GraphEdge, GraphNode, GraphStats, NeighbourPage, Path, Piece
    from core.rag.graph.searching import KnowledgeHit, KnowledgeMode
    from core.rag.graph.traversing import Direction


class Exploration:
    """The part of :class:`core.rag.KnowledgeBase` about entities, concepts and the edges between them.

    Methods take a node by its name (case-insensitive) or its id. If several nodes have the name, entities take
    precedence over concepts, then topics, then documents (named by their path), then symbols of source code
    (``Loader.run``). :meth:`neighbors`, :meth:`traverse` and :meth:`shortest_path` prefer a concept that has relations
    to an entity that only texts mention.

    Facts may have been stated with the period in which they hold. Methods that follow them take ``at``, the time whose
    facts they see: a date or time (ISO 8601, UTC), a year or month (``2019-06``) for what held at some moment of it,
    ``"ever"`` for those of all times, or ``None`` for now. Facts
    without times hold at any time.
    """

    _client: MemGraphClient
    _embedder: EmbeddingService | None
    _graph: KnowledgeGraph | None = None

    @property
    def knowledge_graph(self) -> KnowledgeGraph:
        """The graph of nodes that callers create, in the namespace of this knowledge base."""
        from core.rag.graph.knowledge_graph import KnowledgeGraph

        if self._graph is None:
            self._graph = KnowledgeGraph(self._client, self._embedder)
        return self._graph

    async def graph_stats(self) -> GraphStats:
        """Count the nodes and edges of the entity graph, by type."""
        from core.rag.dbhandler.knowledge.validity import valid_at
        from core.rag.graph.parts import GraphStats

        return GraphStats.of(await self._client.entity_graph_counts(await valid_at(self._client)))

    async def search_nodes(self, query: str, limit: int = 20, *, type: str | None = None) -> list[GraphNode]:  # noqa: A002
        """Find entities, concepts and topics by words in their names.

        Args:
            query: Words, or beginnings of words.
            limit: Maximum number to return.
            type: Only entities of this type, and concepts of this label.

        Returns:
            Nodes ordered by how many of the words their names contain, then by how often they are mentioned. If none
            has all of the words, entities with similar names come first: typing errors, and accents that are left out.
        """
        from core.rag.graph.finding import search_nodes

        return await search_nodes(self._client, query, limit, type)

    async def entities(
        self,
        *,
        type: str | None = None,  # noqa: A002
        limit: int = 100,
        after: str = "",
        order: Order = "name",
    ) -> tuple[list[GraphNode], str]:
        """List entities, in pages.

        Args:
            type: Only those of this type; ``Person`` also finds ``person``, as types found in texts and records are.
            limit: Maximum number to return.
            after: The second value that the previous page, in the same order, returned.
            order: ``name``, or ``mentions``: the most mentioned first.

        Returns:
            Entities with ``mentions``, and the ``after`` of the next page; empty at the end.
        """
        from core.rag.graph.finding import list_entities

        return await list_entities(self._client, type, limit, after, order)

    async def edges(
        self, *, relation: str | None = None, limit: int = 100, after: str = "", at: Time | None = None
    ) -> EdgePage:
        """List all edges between entities, in pages.

        Args:
            relation: Only edges of this relation, such as ``works_at`` or ``SAME_AS``.
            limit: Maximum number to return, 1 to 10,000.
            after: The ``next`` of the page before.
            at: When facts hold.
        """
        from core.rag.graph.finding import list_edges

        return await list_edges(self._client, relation, limit, after, at)

    async def neighbors(
        self,
        node: str,
        *,
        edge_types: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        limit: int = 100,
        after: str = "",
        at: Time | None = None,
    ) -> NeighbourPage:
        """List the neighbours of a node in the order of their names, in pages.

        Args:
            node: Name or id.
            edge_types: Edges to follow (:class:`core.rag.EdgeType`); ``None``: RELATED, SAME_AS and RELATED_TO, and
                from a document or topic also TITLED, ABOUT, EXPLAINS and REFERENCES; from a concept EXPLAINS; from an
                entity that has none of these MENTIONS and TITLED, which lead to the passages that mention it.
            relations: Only edges of these relations, such as ``works_at``.
            limit: Maximum number to return, 1 to 10,000.
            after: The ``next`` of the page before.
            at: When facts hold.

        Raises:
            NotFoundError: if there is no such node; the message suggests similar names.
        """
        from core.rag.graph.traversing import neighbours

        return await neighbours(self._client, node, edge_types, limit, after, relations, at)

    async def traverse(
        self,
        start: str,
        depth: int = 2,
        *,
        edge_types: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 100,
        after: str = "",
        induced: bool = False,
        at: Time | None = None,
    ) -> Piece:
        """List the nodes within some steps of a node (breadth-first search), in pages.

        Args:
            start: Name or id.
            depth: Maximum number of steps, 1 to 64.
            edge_types: Edges to follow; ``None``: RELATED, SAME_AS and RELATED_TO, and
                from a document or topic also TITLED, ABOUT, EXPLAINS and REFERENCES; from a concept EXPLAINS; from an
                entity that has none of these MENTIONS and TITLED, which lead to passages, and on to what those mention.
            relations: Only edges of these relations, such as ``works_at``.
            direction: ``both``, ``out`` or ``in``.
            limit: Maximum number of nodes, 1 to 10,000.
            after: The ``next`` of the page before; all pages together have up to 10,000 nodes.
            induced: For drawing: also return the edges among the outermost nodes, and around an entity without
                relations not all passages that mention it, but room for what some of them mention as well.
            at: When facts hold.

        Returns:
            Nodes ordered by distance, then by edge weight (heaviest first), then by name. Of a node with more than
            1,000 edges only the heaviest are followed, and ``hubs`` names it; :meth:`neighbors` lists all.

        Raises:
            NotFoundError: if there is no such node.
        """
        from core.rag.graph.traversing import traverse

        return await traverse(
            self._client,
            start,
            depth,
            edge_types=edge_types,
            direction=direction,
            limit=limit,
            after=after,
            induced=induced,
            relations=relations,
            at=at,
        )

    async def shortest_path(
        self,
        start: str,
        end: str,
        *,
        weighted: bool = False,
        max_depth: int = 6,
        edge_types: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        at: Time | None = None,
    ) -> Path | None:
        """Find a shortest path between two nodes, following edges in either direction.

        Args:
            start: Name or id.
            end: Name or id.
            weighted: Count an edge as ``1 / weight`` long instead of 1, so that heavy edges are short.
            max_depth: Maximum number of edges.
            edge_types: Edges to follow; ``None``: RELATED, SAME_AS and RELATED_TO, and
                from a document or topic also TITLED, ABOUT, EXPLAINS and REFERENCES. If these give no path, also
                MENTIONS (through passages that mention both) and, unless both are entities, CHUNK_OF (from a document
                through its passages).
            relations: Only edges of these relations, such as ``works_at``.
            at: When facts hold.

        Returns:
            The path, or ``None`` if there is none.

        Raises:
            NotFoundError: if either does not exist.
        """
        from core.rag.graph.paths import shortest_path

        return await shortest_path(
            self._client,
            start,
            end,
            weighted=weighted,
            max_depth=max_depth,
            edge_types=edge_types,
            relations=relations,
            at=at,
        )

    async def link(
        self,
        source: str,
        target: str,
        relation: str = "related",
        *,
        fact: str = "",
        weight: float = 1.0,
        create: bool = False,
        valid_from: Time | None = None,
        valid_to: Time | None = None,
    ) -> GraphEdge:
        """Link two entities, or two concepts, by hand; the link stays until :meth:`unlink`, as long as both exist.

        Args:
            source: Name or id.
            target: Name or id.
            relation: Type of the relation, such as ``works_at``; links between concepts have none.
            fact: The relation as a sentence, for people and language models.
            weight: Weight of the edge, above 0.
            create: Create missing entities. They stay, even if nothing mentions them.
            valid_from: Since when it holds: a date or time, ISO 8601, UTC; ``None``: nothing is known of that.
            valid_to: Since when it does not hold any more, likewise; ``None``: it still does.

        Returns:
            The edge, with its ``id``. Linking the same two nodes with the same relation again updates the link, unless
            it is for another period: that is a link of its own.

        Raises:
            NotFoundError: if either does not exist, with names that were perhaps meant.
            InvalidInputError: if both are the same node, they have different labels, a link of two concepts is given
                a relation, fact or time, or the period overlaps one that the link has; also if it ended, and nothing
                says since when it holds again.
        """
        from core.rag.graph.linking import link

        return await link(
            self._client,
            source,
            target,
            relation,
            fact=fact,
            weight=weight,
            create=create,
            valid_from=valid_from,
            valid_to=valid_to,
        )

    async def unlink(
        self,
        source: str,
        target: str | None = None,
        relation: str | None = None,
        *,
        ended: Time | None = None,
    ) -> int:
        """Remove or end links that were added by hand. Links found in documents and records go only with these.

        Args:
            source: Name or id of one end; or the id of a link, alone.
            target: Name or id of the other end; the order does not matter.
            relation: Only links with this relation.
            ended: Keep them, as links that have not held since this date or time (ISO 8601, UTC). They stay history:
                reads with an ``at`` before it, or ``"ever"``, see them. ``None``: remove them, and all their periods.

        Returns:
            How many links were removed, or ended; those that had ended before are not among these.

        Raises:
            NotFoundError: if either does not exist.
            InvalidInputError: if the links began after ``ended``.
        """
        from core.rag.graph.linking import unlink

        return await unlink(self._client, source, target, relation, ended)

    async def search_knowledge(
        self,
        query: str,
        mode: KnowledgeMode = "hybrid",
        limit: int = 10,
        *,
        at: Time | None = None,
        filters: str | Mapping[str, Any] | None = None,
    ) -> list[KnowledgeHit]:
        """Find records and documents.

        Args:
            query: The search text.
            mode: ``keyword`` (BM25), ``graph`` (what has or mentions entities that are at most two steps away from
                those that the query names, nearest first), or ``hybrid``: 0.4 of the keyword score plus 0.6 of the
                graph score, each divided by its maximum.
            limit: Maximum number to return, 1 to 1,000.
            at: When the facts hold that lead from one entity to the next.
            filters: Only documents that pass, as in :meth:`core.rag.KnowledgeBase.search`, and records that were read
                from these; those that were inserted are of no document.

        Returns:
            Best first, each with all three scores. A row of a file is found as a record, not also as its document.
        """
        from core.rag.graph.searching import search_knowledge

        return await search_knowledge(self._client, query, mode, limit, at, filters)

    async def ask_context(
        self,
        question: str,
        context_depth: int = 2,
        limit: int = 5,
        *,
        at: Time | None = None,
        filters: str | Mapping[str, Any] | None = None,
    ) -> GraphContext:
        """Collect the context from the graph with which a language model can answer a question; calls no model.

        Args:
            question: The question.
            context_depth: Steps from the entities that it names, 0 to 4.
            limit: Maximum number of lines, 1 to 100.
            at: When facts hold.
            filters: Only documents that pass, as in :meth:`core.rag.KnowledgeBase.search`, records that were read from
                these, and facts that one of them states.
        """
        from core.rag.graph.context import ask_context

        return await ask_context(self._client, question, context_depth, limit, at, filters)

    async def create_or_get_concept(self, name: str, description: str | None = None) -> str:
        """See :meth:`core.rag.MemGraphClient.create_or_get_concept`."""
        return await self._client.create_or_get_concept(name, description)

    async def create_or_get_topic(self, name: str, description: str | None = None) -> str:
        """See :meth:`core.rag.MemGraphClient.create_or_get_topic`."""
        return await self._client.create_or_get_topic(name, description)

    async def link_related_concepts(self, concept: str, other: str, weight: float = 1.0) -> None:
        """See :meth:`core.rag.MemGraphClient.link_related_concepts`."""
        await self._client.link_related_concepts(concept, other, weight)

    async def link_document_to_topic(self, document: str, topic: str) -> str:
        """See :meth:`core.rag.MemGraphClient.link_document_to_topic`."""
        return await self._client.link_document_to_topic(document, topic)

    async def link_document_explains_concept(self, document: str, concept: str) -> str:
        """See :meth:`core.rag.MemGraphClient.link_document_explains_concept`."""
        return await self._client.link_document_explains_concept(document, concept)
