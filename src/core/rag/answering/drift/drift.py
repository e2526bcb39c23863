"""DRIFT RAG: dynamic reasoning and inference with flexible traversal."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from core.rag.answering.drift.admission import PathAdmission
from core.rag.answering.drift.base import DRIFTBase
from core.rag.answering.drift.cache import Entry
from core.rag.answering.drift.config import Direction, InferenceStrategy, check_edge_types
from core.rag.answering.drift.entry_points import ChunkSearch, Entries, find_entries
from core.rag.answering.drift.gaps import find_gaps
from core.rag.answering.drift.inference import Inferences
from core.rag.answering.drift.paths import InferredConnection, KnowledgeGap, Node, Path, TraversalStats
from core.rag.answering.drift.reader import PathReader, Reads
from core.rag.answering.drift.response import DRIFTResponse, respond
from core.rag.answering.drift.result import DRIFTResult, Exploration
from core.rag.answering.drift.scoring import order, rank
from core.rag.answering.drift.semantic import parts_of
from core.rag.answering.drift.traversal import Limits, NodeFilter, Traversal
from core.rag.answering.drift.validation import valid_only
from core.rag.answering.drift.words import QueryWords
from core.rag.answering.drift.writing import store_inferences
from core.rag.answering.understanding.asked_times import times_asked
from core.rag.arguments import check_function, check_items, check_text
from core.rag.errors import EmptyGraphError, InvalidInputError, NoEntryPointsError, NotFoundError
from core.rag.graph.finding import look_up
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.wording.spelling import applied, corrections, told_of
from core.rag.schema import Label


class DRIFTRAG(DRIFTBase):
    """Answers questions that need several steps, by following edges from the nodes that match the question.

    It also works without a language model: connections are then inferred from vectors or shared neighbours, and the
    answer consists of extracts.

    Example:
        >>> drift = DRIFTRAG(kb, entry_point_count=3, max_traversal_depth=3, traversal_direction="bidirectional")
        >>> response = await drift.query("What is machine learning?")
        >>> print(response)
    """

    async def query(self, question: str, *, include_provenance: bool = False) -> DRIFTResult:
        """Answer a question.

        Args:
            question: The question, in any words; one that asks for several things is split. Typing errors are
                corrected; the notes tell which.
            include_provenance: Also list the sources below the text.

        Returns:
            The answer with everything that led to it; it prints as its text.

        Raises:
            InvalidInputError: if the question is empty.
            EmptyGraphError: "Cannot query empty graph".
            NoEntryPointsError: "No entry points found for query".
        """
        question = _checked(question)
        meant = await corrections(self.client, question)
        found = await self.explore(applied(question, meant))
        response = await self.generate_response(found.question, found.paths, include_provenance)
        fields = {item.name: getattr(found, item.name) for item in dataclasses.fields(found)}
        notes = [f"{told_of(meant)}."] if meant else []
        notes += [*found.notes, *response.notes]
        return DRIFTResult(**fields | {"notes": notes}, response=response)

    async def explore(
        self,
        question: str,
        *,
        search: ChunkSearch | None = None,
        filters: str | Mapping[str, Any] | None = None,
    ) -> Exploration:
        """Run every step except the answer: entry points, traversal, inference, gaps and the best paths.

        Args:
            question: See :meth:`query`.
            search: Finds the passages to begin with; ``None``: the default search of the namespace.
            filters: Only visit passages of documents that pass; a ``search`` that is given must apply them, too.

        Returns:
            The results.

        Raises:
            InvalidInputError, EmptyGraphError, NoEntryPointsError: as :meth:`query`.
        """
        question = _checked(question)
        config = self.config
        admits = PathAdmission(self.client, filters) if filters else None
        hits: dict[str, Hit] = {}
        stats = TraversalStats()
        parts, notes = await parts_of(question, self.language_model)
        entries: list[Node] = []
        found: list[list[Path]] = []
        for part in parts:
            entry = await self._entries(part, config.entry_point_count, search)
            if admits is not None and search is None:
                entry = await admits.of_entries(entry)
            entries += [node for node in entry.nodes if node not in entries]
            hits.update((hit.chunk_id, hit) for hit in entry.hits if hit.chunk_id not in hits)
            walked = await self._traverse(entry, part, config.max_traversal_depth, stats=stats, admits=admits)
            found.append(walked if admits is None else await admits.of_paths(walked))
        if not entries:
            raise await self._nothing_found(question)
        paths = [path for some in found for path in some]
        inferred = Inferences([], config.inference_strategy)
        gaps: list[KnowledgeGap] = []
        if config.use_inference:
            best = sorted(paths, key=order)[: max(4 * config.top_k_paths, 20)]
            inferred = await self._infer(best, question, config.inference_strategy)
            if admits is not None:  # neighbours that two nodes share may be named in texts that do not pass
                others = [one for one in inferred.connections if one.strategy != "structural"]
                inferred = dataclasses.replace(inferred, connections=others)
            gaps = await self.identify_knowledge_gaps(best, question)
        ranked = self._ranked(found, inferred.connections)
        if inferred.note:
            notes.append(inferred.note)
        notes += stats.limits
        return Exploration(
            question=question,
            parts=parts,
            entry_points=entries if admits is None else await admits.of_nodes(entries),
            paths=ranked,
            inferences=inferred.connections,
            gaps=gaps,
            stats=stats,
            notes=notes,
            hits=sorted(hits.values(), key=lambda hit: -hit.score),
        )

    async def find_entry_points(self, query: str, count: int | None = None) -> list[Node]:
        """Find the nodes that a query names, and those that are most similar to it.

        Args:
            query: The question.
            count: Maximum number to return; ``None``: as configured.

        Returns:
            Nodes, best first; empty if nothing matches.
        """
        config = self.config if count is None else self.config.updated(entry_point_count=count)
        return (await self._entries(_checked(query), config.entry_point_count)).nodes

    async def dynamic_traversal(
        self,
        start: Node | str,
        query: str,
        max_depth: int | None = None,
        direction: Direction | None = None,
        node_filter: NodeFilter | None = None,
        edge_types: Sequence[str] | None = None,
        *,
        stats: TraversalStats | None = None,
    ) -> list[Path]:
        """Find paths from a node; no path visits a node twice.

        Args:
            start: A node, or its id or name.
            query: Decides which paths are followed if there are many.
            max_depth: Maximum number of edges in a path; ``None``: as configured.
            direction: ``forward``, ``backward`` or ``bidirectional``; ``None``: as configured.
            node_filter: Nodes for which it returns false are neither visited nor passed through, except the start.
            edge_types: Only edges of these types (``MENTIONS``; for facts also the relation, ``works_at``).
            stats: Receives counts of what was read, and what was left out.

        Returns:
            Paths, best first, including that of only the start node.

        Raises:
            NotFoundError: if there is no such node.
            InvalidInputError: if the start, depth, direction or filter is invalid.
        """
        query = _checked(query)
        if not isinstance(start, Node | str):
            raise InvalidInputError(f"start must be one node, or its id or name, not {type(start).__name__}.")
        check_function("node_filter", node_filter, "a node")
        changes = {"max_traversal_depth": max_depth, "traversal_direction": direction}
        config = self.config.updated(**{key: value for key, value in changes.items() if value is not None})
        node = start if isinstance(start, Node) else await self._node(start)
        liked = (await self._entries(query, config.entry_point_count)).liked
        return await self._traverse(
            Entries([node], liked),
            query,
            config.max_traversal_depth,
            direction=config.traversal_direction,
            node_filter=node_filter,
            edge_types=edge_types,
            stats=stats if stats is not None else TraversalStats(),
        )

    async def _node(self, name: str) -> Node:
        reader = PathReader(self.client)
        node = await reader.find(name) or await reader.find((await look_up(self.client, name)).id)
        if node is None:
            raise NotFoundError(f"No path can begin at {name[:200]!r} in namespace {self.client.namespace!r}.")
        return node

    async def infer_connections(
        self, paths: Sequence[Path], query: str, strategy: InferenceStrategy | None = None
    ) -> list[InferredConnection]:
        """Infer connections between nodes of the paths that are not in the graph.

        Args:
            paths: The paths that were found.
            query: The question.
            strategy: ``semantic`` (a language model), ``similarity`` (vectors) or ``structural`` (shared neighbours);
                ``None``: as configured. If it is not possible, the next one is used; each connection names its own.

        Returns:
            Valid connections, best first. Nothing is written; see :meth:`store_inferences`.

        Raises:
            InvalidInputError: if the strategy is unknown, or the paths are none.
        """
        paths = _paths(paths)
        config = self.config if strategy is None else self.config.updated(inference_strategy=strategy)
        return (await self._infer(paths, _checked(query), config.inference_strategy)).connections

    async def identify_knowledge_gaps(self, paths: Sequence[Path], query: str) -> list[KnowledgeGap]:
        """Find gaps in the paths: missing words of the query, unconnected parts, weak edges.

        Raises:
            InvalidInputError: if the query is empty, or the paths are none.
        """
        return find_gaps(_paths(paths), _checked(query))

    def aggregate_and_rank_paths(
        self, paths: Iterable[Path], inferences: Sequence[InferredConnection] = ()
    ) -> list[Path]:
        """Return the best paths without duplicates, ranked by the score in :mod:`core.rag.answering.drift.scoring`.

        Args:
            paths: From any number of traversals.
            inferences: They raise the scores of the paths that they touch; invalid ones do not count.

        Returns:
            At most ``top_k_paths``, none below ``min_path_score``, best first.

        Raises:
            InvalidInputError: on anything but paths and inferred connections.
        """
        config = self.config
        valid = valid_only(_inferences(inferences))
        return rank(_paths(paths), valid, top_k=config.top_k_paths, min_score=config.min_path_score)

    async def generate_response(
        self, query: str, paths: Sequence[Path], include_provenance: bool = False
    ) -> DRIFTResponse:
        """Make an answer from paths: written by the language model, or else made of extracts, which it says.

        Args:
            query: The question.
            paths: What it is answered from, best first.
            include_provenance: Also list the sources below the text.

        Returns:
            The answer, which prints as its text.

        Raises:
            InvalidInputError: on an empty query, or anything but paths.
        """
        query = _checked(query)
        return await respond(
            self.client,
            self.language_model,
            query,
            _paths(paths),
            include_provenance=include_provenance,
            instructions=self._instructions,
        )

    async def store_inferences(self, inferences: Sequence[InferredConnection]) -> int:
        """Write inferred connections between entities into the graph, marked ``inferred``.

        Args:
            inferences: What :meth:`infer_connections` gave.

        Returns:
            How many there are in the graph now; those between other nodes are left out.

        Raises:
            InvalidInputError: on an invalid one; nothing is written then.
        """
        inferences = _inferences(inferences)
        ends = {end for item in inferences for end in (item.source, item.target) if isinstance(end, str) and end}
        entities = await PathReader(self.client).nodes({Label.ENTITY: sorted(ends)})
        return await store_inferences(self.client, inferences, entities.keys())

    async def _entries(self, query: str, count: int, search: ChunkSearch | None = None) -> Entries:
        return await find_entries(self.client, self._vectors, query, count, search=search)

    async def _nothing_found(self, question: str) -> NotFoundError:
        if await PathReader(self.client).is_empty():
            return EmptyGraphError(self.client.namespace)
        return NoEntryPointsError(question)

    async def _infer(self, paths: Sequence[Path], query: str, strategy: InferenceStrategy) -> Inferences:
        inferred = await self.inference_engine.infer(paths, query, strategy)
        ids = {node.id for path in paths for node in path.nodes}
        return dataclasses.replace(inferred, connections=valid_only(inferred.connections, ids))

    def _ranked(self, found: Sequence[Sequence[Path]], inferences: Sequence[InferredConnection]) -> list[Path]:
        """Return the best paths for all parts of a question, at least the best one of each part."""
        everything = self.aggregate_and_rank_paths([path for some in found for path in some], inferences)
        if len(found) < 2:
            return everything
        heads = {path.key: path for some in found for path in self.aggregate_and_rank_paths(some, inferences)[:1]}
        rest = [path for path in everything if path.key not in heads]
        room = max(self.config.top_k_paths - len(heads), 0)
        return sorted([*heads.values(), *rest[:room]], key=order)[: self.config.top_k_paths]

    async def _traverse(
        self,
        entry: Entries,
        query: str,
        depth: int,
        *,
        stats: TraversalStats,
        direction: Direction | None = None,
        node_filter: NodeFilter | None = None,
        edge_types: Sequence[str] | None = None,
        admits: PathAdmission | None = None,
    ) -> list[Path]:
        config = self.config
        asked = tuple(times_asked(query).values())
        reader = PathReader(self.client, asked)
        way = direction or config.traversal_direction
        words = QueryWords(query)
        types = None if edge_types is None else check_edge_types(edge_types)
        limits = Limits(config.beam_width, config.max_edges_per_node, config.max_visited_edges)
        key: Hashable = (
            self.client.namespace,
            tuple((node.id, node.label) for node in entry.nodes),
            words.words,
            asked,
            depth,
            way,
            types,
            limits,
            tuple(sorted(entry.liked)),
        )
        # The result of a filter may depend on something that was not read.
        cached = node_filter is None and admits is None
        known = self._cache.get(key) if cached else None
        ahead: Reads | None = None
        if known is not None:
            ahead = await reader.reread(
                known.reads, way, limit=limits.max_edges_per_node, edge_types=types, liked=entry.liked
            )
            if ahead == known.reads:
                stats.add(known.stats, cached=True)
                stats.statements += reader.statements
                return list(known.paths)
        traversal = Traversal(
            reader,
            words,
            limits,
            direction=way,
            edge_types=types,
            node_filter=node_filter,
            admits=admits,
            liked=entry.liked,
            ahead=ahead,
        )
        paths = await traversal.run(entry.nodes, depth)
        traversal.stats.statements = reader.statements
        stats.add(traversal.stats)
        if cached:
            self._cache.put(key, Entry(traversal.reads, paths, traversal.stats))
        return list(paths)


def _paths(paths: Iterable[Path]) -> list[Path]:
    return check_items("paths", paths, Path, "as dynamic_traversal returns them; a result has them in .paths")


def _inferences(inferences: Iterable[InferredConnection]) -> list[InferredConnection]:
    return check_items("inferences", inferences, InferredConnection, "as infer_connections returns them")


def _checked(query: str) -> str:
    if not check_text("A query", query).strip():
        raise InvalidInputError("The query is empty.")
    return query.encode("utf-8", "replace").decode()  # lone surrogates are not text
