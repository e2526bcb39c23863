"""Reads the entity graph along its edges, one step at a time, in a fixed order and within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.rag.arguments import MAX_LIMIT, check_limit, check_mapping, check_texts
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.json_texts import from_json
from core.rag.dbhandler.knowledge.nodes import NodeOperations, node_columns, plain_node
from core.rag.dbhandler.knowledge.validity import UNDATED, Validity
from core.rag.dbhandler.store import Row
from core.rag.dbhandler.text_order import comparable
from core.rag.schema import EdgeType, Label, check_name

#: Edges that connect entities with entities, and concepts with concepts.
GRAPH_EDGES: tuple[EdgeType, ...] = (EdgeType.RELATED, EdgeType.SAME_AS, EdgeType.RELATED_TO)

#: Edges from documents to what they are about; also followed from a document or topic.
DOCUMENT_EDGES: tuple[EdgeType, ...] = (EdgeType.TITLED, EdgeType.ABOUT, EdgeType.EXPLAINS, EdgeType.REFERENCES)

#: Edges to and from what documents define (symbols and records); also followed from such a document.
DEFINED_EDGES: tuple[EdgeType, ...] = (EdgeType.DEFINED_IN, EdgeType.CALLS, EdgeType.IMPORTS, EdgeType.HAS_ENTITY)

# The names that nodes are sorted by: those of node_columns, except for chunks.
_SHOWN = "coalesce(m.name, m.title, m.path, m.uri, '') AS shown"

_EDGE_COLUMNS = (
    "type(r) AS edge, r.id AS edge_id, r.type AS relation, r.fact AS fact, r.weight AS weight, r.count AS count, "
    "r.origin AS origin"
)


@dataclass(frozen=True, slots=True)
class Followed:
    """Edges to follow.

    Attributes:
        types: Of these types.
        relations: Only those of these relations; of an edge without one, its type. Empty: of all.
        validity: Only facts that hold then.
    """

    types: Sequence[str]
    relations: Sequence[str] = ()
    validity: Validity = UNDATED

    @property
    def pattern(self) -> str:
        """The types in the form of a pattern: ``RELATED|SAME_AS``."""
        return "|".join(map(check_name, check_texts("edges", self.types)))

    def narrowed(self, keyword: str) -> str:
        """The condition on ``r`` after ``WHERE`` or ``AND``; nothing where all facts are followed."""
        if not self.relations:
            return self.validity.narrowed(keyword)
        return f"{keyword} coalesce(r.type, type(r)) IN $relations {self.validity.narrowed('AND')}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the condition."""
        return {**self.validity.parameters, **({"relations": list(self.relations)} if self.relations else {})}

    @property
    def columns(self) -> str:
        """The columns of an edge ``r``."""
        return _EDGE_COLUMNS + self.validity.columns


#: Edges to follow; types alone mean all of these types.
Edges = Followed | Sequence[str]


def followed(edges: Edges) -> Followed:
    """Return edges to follow from types alone."""
    return edges if isinstance(edges, Followed) else Followed(edges)


class TraversalOperations(NodeOperations):
    """Reading nodes and edges around a node.

    Ids belong to a namespace, so statements for an id that was found there do not test the namespace again: together
    with an id as a parameter, that test makes Grafeo scan the label.
    """

    async def hop(
        self, nodes: Mapping[Label, Sequence[str]], edges: Edges, direction: str, limit: int
    ) -> list[Row] | None:
        """Return the edges of some nodes, with the nodes at their other ends.

        Args:
            nodes: Ids by label.
            edges: Edges to follow.
            direction: ``out``, ``in`` or ``both``.
            limit: Maximum number of rows.

        Returns:
            Rows of ``here`` (one of the ids), ``outward``, the node at the other end (as from :meth:`nodes_by_id`) and
            the edge (``edge``, ``edge_id``, ``relation``, ``fact``, ``weight``, ``count``, ``origin``, and where facts
            have times ``valid_from``, ``valid_to``), in any order;
            ``None`` if there are more than ``limit``.
        """
        edges = followed(edges)
        rows: list[Row] = []
        for label, ids in check_mapping("nodes", nodes).items():
            for outward, pattern in _ways(edges, direction):
                for part in batches(check_texts("ids", ids), max_rows=1000):
                    found = await self.read(
                        f"UNWIND $ids AS i MATCH (n:{check_name(label)} {{id: i}}){pattern} "
                        f"WHERE n.namespace = $namespace {edges.narrowed('AND')}"
                        f"RETURN i AS here, {node_columns('m')}, {edges.columns} "
                        f"LIMIT {check_limit(limit) + 1 - len(rows)}",
                        ids=part,
                        **edges.parameters,
                    )
                    rows += [{**row, **plain_node(row), "outward": outward} for row in found]
                    if len(rows) > limit:
                        return None
        return rows

    async def strongest(self, label: Label, node: str, edges: Edges, direction: str, limit: int) -> list[Row]:
        """Return the heaviest edges of a node; rows as from :meth:`hop`, by weight, then name and id."""
        edges = followed(edges)
        rows: list[Row] = []
        for outward, pattern in _ways(edges, direction):
            found = await self.read(
                f"MATCH (n:{check_name(label)} {{id: $id}}){pattern} {edges.narrowed('WHERE')}"
                f"WITH r, m, coalesce(r.weight, r.count, 0) AS w, {_SHOWN}, "
                f"m.id AS other ORDER BY w DESC, shown, other LIMIT {check_limit(limit)} "
                f"RETURN $id AS here, {node_columns('m')}, {edges.columns}",
                id=node,
                **edges.parameters,
            )
            rows += [{**row, **plain_node(row), "outward": outward} for row in found]
        return sorted(rows, key=strength)[:limit]

    async def neighbour_page(
        self, label: Label, node: str, edges: Edges, after: Sequence[str], limit: int
    ) -> list[Row]:
        """Return the neighbours of a node after ``after``, by name and id, each once; rows as from :meth:`hop`."""
        edges = followed(edges)
        start = comparable(after[0])
        exact = start == after[0]
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[r:{edges.pattern}]-(m) {edges.narrowed('WHERE')}"
            f"WITH DISTINCT m WITH m, m.id AS i, {_SHOWN} "
            "WHERE shown > $name OR (shown = $name AND i > $after) "
            f"WITH m, shown, i ORDER BY shown, i LIMIT {check_limit(limit if exact else MAX_LIMIT)} "
            f"RETURN {node_columns('m')}, shown",
            id=node,
            name=start,
            after=after[1] if exact else "",
            **edges.parameters,
        )
        found = sorted(
            ({**plain_node(row), "shown": row["shown"]} for row in rows), key=lambda row: (row["shown"], row["id"])
        )
        return [row for row in found if (row["shown"], row["id"]) > (after[0], after[1])][:limit]

    async def edges_between(
        self, label: Label, node: str, others: Mapping[Label, Sequence[str]], edges: Edges
    ) -> list[Row]:
        """Return the edges between a node and others, in either direction; rows as from :meth:`hop`."""
        edges = followed(edges)
        rows: list[Row] = []
        for other, ids in check_mapping("others", others).items():
            for outward in (True, False):
                # Starting at the others, which have fewer edges than a hub.
                pattern = f"<-[r:{edges.pattern}]-" if outward else f"-[r:{edges.pattern}]->"
                for part in batches(check_texts("ids", ids)):
                    found = await self.read(
                        f"UNWIND $ids AS i MATCH (m:{check_name(other)} {{id: i}}){pattern}"
                        f"(n:{check_name(label)} {{id: $id}}) WHERE n.namespace = $namespace {edges.narrowed('AND')}"
                        f"RETURN $id AS here, {node_columns('m')}, {edges.columns}",
                        ids=part,
                        id=node,
                        **edges.parameters,
                    )
                    rows += [{**row, **plain_node(row), "outward": outward} for row in found]
        return rows

    async def edge_page(self, edges: Followed, after: Sequence[str], limit: int) -> list[Row]:
        """Return the edges between entities after ``after``, by the ids of their ends and their own.

        Args:
            edges: The edges.
            after: Source, target and key of the last edge of the previous page; at the beginning three empty strings.
            limit: Maximum number to return.

        Returns:
            Rows of ``source``, ``target``, their names ``source_name`` and ``target_name``, ``key``, ``said`` (the
            relation, else the type) and the edge as from :meth:`hop`.
        """
        return await self.read(
            f"MATCH (a:Entity)-[r:{edges.pattern}]->(b:Entity) WHERE a.namespace = $namespace "
            f"{edges.narrowed('AND')}"
            "WITH r, a.id AS source, b.id AS target, a.name AS source_name, b.name AS target_name, "
            "coalesce(r.type, type(r)) AS said, coalesce(r.id, r.type, type(r)) AS key "
            "WHERE source > $a OR (source = $a AND (target > $b OR (target = $b AND key > $key))) "
            "WITH r, source, target, source_name, target_name, said, key "
            f"ORDER BY source, target, key LIMIT {check_limit(limit)} "
            f"RETURN source, target, source_name, target_name, said, key, {edges.columns}",
            a=after[0],
            b=after[1],
            key=after[2],
            **edges.parameters,
        )

    async def degree(self, label: Label, node: str, edges: Edges) -> int:
        """Count the edges of these types that a node has."""
        edges = followed(edges)
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[r:{edges.pattern}]-() {edges.narrowed('WHERE')}"
            "RETURN count(r) AS n",
            id=node,
            **edges.parameters,
        )
        return int(rows[0]["n"]) if rows else 0

    async def has_edges(self, label: Label, node: str, edges: Edges) -> bool:
        """Return whether a node has any edge of these types."""
        edges = followed(edges)
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[r:{edges.pattern}]-(m) {edges.narrowed('WHERE')}"
            "RETURN m.id AS id LIMIT 1",
            id=node,
            **edges.parameters,
        )
        return bool(rows)

    async def degrees(self, nodes: Mapping[Label, Sequence[str]], edges: Edges) -> dict[str, int]:
        """Count the edges of these types that nodes have, by id; nodes without any are left out."""
        edges = followed(edges)
        found: dict[str, int] = {}
        for label, ids in check_mapping("nodes", nodes).items():
            rows = await self.read_for_ids(
                f"UNWIND $ids AS i MATCH (n:{check_name(label)} {{id: i}})-[r:{edges.pattern}]-() "
                f"{edges.narrowed('WHERE')}RETURN i, count(r) AS n",
                ids,
                at_once=1000,
                **edges.parameters,
            )
            found.update((row["i"], row["n"]) for row in rows)
        return found

    async def entity_graph_counts(self, validity: Validity = UNDATED) -> dict[str, Any]:
        """Count entities by type, edges between them by relation, and related nodes and edges.

        Args:
            validity: Only facts that hold then; the others are counted as ``past``.
        """
        nodes = await self.read(
            "MATCH (n:Entity) WHERE n.namespace = $namespace RETURN coalesce(n.type, '') AS kind, count(n) AS n"
        )
        related = await self.read(
            f"MATCH (n:Entity)-[r:RELATED]->(:Entity) WHERE n.namespace = $namespace {validity.narrowed('AND')}"
            "RETURN coalesce(r.type, 'related') AS kind, count(r) AS n",
            **validity.parameters,
        )
        counts: dict[str, Any] = {
            "nodes": {row["kind"] or "other": row["n"] for row in nodes},
            "edges": {row["kind"]: row["n"] for row in related},
        }
        for key, statement in _COUNTED.items():
            rows = await self.read(f"{statement} RETURN count(x) AS n")
            counts[key] = rows[0]["n"]
        if validity.dated:
            rows = await self.read(f"{_ALL_FACTS} RETURN count(x) AS n")
            counts["past"] = rows[0]["n"] - sum(counts["edges"].values())
        return counts

    async def attached(self, entities: Sequence[str], limit: int) -> list[Row]:
        """Return records and documents that have or mention entities: ``entity``, ``label``, ``id``, ``weight``."""
        rows: list[Row] = []
        for part in batches(check_texts("entities", entities)):
            rows += [
                {**row, "label": Label.RECORD, "weight": 1}
                for row in await self.read(
                    "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:HAS_ENTITY]-(n:Record) "
                    f"RETURN DISTINCT i AS entity, n.id AS id ORDER BY entity, id LIMIT {check_limit(limit)}",
                    ids=part,
                )
            ]
            rows += [
                {**row, "label": Label.DOCUMENT}
                for row in await self.read(
                    "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[m:MENTIONS]-(c:DocumentChunk) "
                    "RETURN i AS entity, c.parent_id AS id, sum(coalesce(m.count, 1)) AS weight "
                    f"ORDER BY entity, weight DESC, id LIMIT {check_limit(limit)}",
                    ids=part,
                )
            ]
        return rows

    async def records_by_id(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return records by id: ``id``, ``collection`` and ``data`` as a dict; unknown ids are left out."""
        rows = await self.read_together(
            "MATCH (n:Record {id: i}) WHERE n.namespace = $namespace",
            {"id": "n.id", "collection": "n.collection", "data": "n.data"},
            ids,
        )
        return {row["id"]: {**row, "data": from_json(row["data"])} for row in rows}

    async def record_data(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the data of records as JSON, by id; unknown ids are left out."""
        return dict(
            await self.read_lists("MATCH (n:Record {id: i}) WHERE n.namespace = $namespace", ("n.id", "n.data"), ids)
        )


_ALL_FACTS = "MATCH (n:Entity)-[x:RELATED]->(:Entity) WHERE n.namespace = $namespace"
_COUNTED = {
    "same_as": "MATCH (n:Entity)-[x:SAME_AS]->(:Entity) WHERE n.namespace = $namespace",
    "mentions": "MATCH (n:DocumentChunk)-[x:MENTIONS]->(:Entity) WHERE n.namespace = $namespace",
    "records": "MATCH (x:Record) WHERE x.namespace = $namespace",
    "concepts": "MATCH (x:Concept) WHERE x.namespace = $namespace",
    "concept_edges": "MATCH (n:Concept)-[x:RELATED_TO]->(:Concept) WHERE n.namespace = $namespace",
    "topics": "MATCH (x:Topic) WHERE x.namespace = $namespace",
}


def strength(row: Row) -> tuple[float, str, str, str]:
    """Return the sort key of an edge: the heaviest first, then by name and id of the node that it leads to."""
    weight = row["weight"] if row["weight"] is not None else row["count"]
    return (-float(weight or 0), row["name"], row["id"], str(row["edge"]))


def _ways(edges: Followed, direction: str) -> list[tuple[bool, str]]:
    """Return whether edges lead outward, and their pattern, for each direction to follow; ``m`` is at their ends."""
    types = edges.pattern
    ways = {"out": f"-[r:{types}]->(m)", "in": f"<-[r:{types}]-(m)"}
    return [(way == "out", pattern) for way, pattern in ways.items() if direction == way or direction not in ways]
