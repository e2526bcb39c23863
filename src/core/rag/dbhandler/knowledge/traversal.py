"""Reads the entity graph along its edges, one step at a time, in a fixed order and within limits."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.checks import check_characters, check_limit, check_mapping, check_text, check_texts
from core.rag.dbhandler.documents.rows import from_json
from core.rag.dbhandler.store import Row
from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.extraction.symbols import PROTOTYPE
from core.rag.extraction.words import is_unspaced, normalize_name
from core.rag.identity import concept_id, entity_id, knowledge_key, topic_id
from core.rag.schema import EdgeType, Label, check_name

#: Edges that connect entities with entities, and concepts with concepts.
GRAPH_EDGES: tuple[EdgeType, ...] = (EdgeType.RELATED, EdgeType.SAME_AS, EdgeType.RELATED_TO)

#: Edges from documents to what they are about; also followed from a document or topic.
DOCUMENT_EDGES: tuple[EdgeType, ...] = (EdgeType.TITLED, EdgeType.ABOUT, EdgeType.EXPLAINS, EdgeType.REFERENCES)

#: Edges to and from what documents define (symbols and records); also followed from such a document.
DEFINED_EDGES: tuple[EdgeType, ...] = (EdgeType.DEFINED_IN, EdgeType.CALLS, EdgeType.IMPORTS, EdgeType.HAS_ENTITY)

#: Labels of the nodes that callers can name, in order of precedence.
NAMED_LABELS: tuple[Label, ...] = (Label.ENTITY, Label.CONCEPT, Label.TOPIC)

_LABELS = frozenset(Label)


def node_columns(variable: str) -> str:
    """Return the result columns of a node: ``id``, ``labels``, ``name``, ``kind``, ``heading``."""
    v = check_name(variable)
    return (
        f"{v}.id AS id, labels({v}) AS labels, coalesce({v}.name, {v}.title, {v}.path, {v}.heading, {v}.uri) AS name, "
        f"coalesce({v}.type, {v}.label, {v}.collection, {v}.kind) AS kind, {v}.heading AS heading"
    )


# The names that nodes are sorted by: those of node_columns, except for chunks.
_SHOWN = "coalesce(m.name, m.title, m.path, m.uri, '') AS shown"

_EDGE_COLUMNS = (
    "type(r) AS edge, r.id AS edge_id, r.type AS relation, r.fact AS fact, r.weight AS weight, r.count AS count, "
    "r.origin AS origin"
)

_FEWER_MENTIONS = (
    "WHERE mentions < $mentions OR (mentions = $mentions AND (name > $name OR (name = $name AND id > $after))) "
    "WITH id, name, kind, mentions "
)


class TraversalOperations(VectorStoreOperations):
    """Reading nodes and edges around a node.

    Ids belong to a namespace, so statements for an id that was found there do not test the namespace again: together
    with an id as a parameter, that test makes Grafeo scan the label.
    """

    async def nodes_by_id(self, ids: Sequence[str], labels: Sequence[Label] = NAMED_LABELS) -> dict[str, Row]:
        """Return nodes with one of the labels, by id: ``id``, ``label``, ``name``, ``kind``."""
        found: dict[str, Row] = {}
        for label in labels:
            rows = await self.read_for_ids(
                f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) WHERE n.namespace = $namespace "
                f"RETURN {node_columns('n')}",
                [identifier for identifier in check_texts("ids", ids) if identifier not in found],
            )
            found.update((row["id"], plain_node(row)) for row in rows)
        return found

    async def named_node(self, name: str) -> Row | None:
        """Return the node with this id, or the entity, concept or topic with this name, as from :meth:`nodes_by_id`.

        Raises:
            InvalidInputError: if the name is not text, or has a lone surrogate.
        """
        check_characters(check_text("The name or id of a node", name), "name")
        text = " ".join(name.split())
        if not text:
            return None
        wanted = [name, concept_id(self._namespace, knowledge_key(text)), topic_id(self._namespace, text)]
        if normalized := normalize_name(text):
            wanted.insert(0, entity_id(self._namespace, normalized))
        there = await self.nodes_by_id(wanted)
        return next((there[identifier] for identifier in wanted if identifier in there), None)

    async def node_in_any_case(self, name: str) -> Row | None:
        """Return the first concept or topic with this name, ignoring case, as from :meth:`nodes_by_id`.

        Entities need no such search: their ids are made from the name regardless of its case.
        """
        for label in (Label.CONCEPT, Label.TOPIC):
            rows = await self.read(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace AND n.normalized_name = $name "
                f"WITH n, n.name AS shown, n.id AS i ORDER BY shown, i LIMIT 1 RETURN {node_columns('n')}",
                name=normalize_name(check_text("The name of a node", name)),
            )
            if rows:
                return plain_node(rows[0])
        return None

    async def symbols_called(self, name: str, limit: int) -> list[Row]:
        """Return symbols of source code by name or id, as from :meth:`nodes_by_id`, with the ``path`` of their file.

        Prototypes are returned only if nothing defines what they declare.
        """
        rows: list[Row] = []
        for is_kind in ("<>", "="):
            rows = rows or await self.read(
                "MATCH (s:Symbol)-[:DEFINED_IN]->(d:Document) WHERE s.namespace = $namespace "
                f"AND (s.name = $name OR s.id = $name) AND s.kind {is_kind} $prototype "
                f"WITH s, d.path AS path, s.id AS i ORDER BY path, i LIMIT {check_limit(limit)} "
                f"RETURN {node_columns('s')}, path",
                name=name,
                prototype=PROTOTYPE,
            )
        return [{**plain_node(row), "path": row["path"]} for row in rows]

    async def hop(
        self, nodes: Mapping[Label, Sequence[str]], edges: Sequence[EdgeType], direction: str, limit: int
    ) -> list[Row] | None:
        """Return the edges of some nodes, with the nodes at their other ends.

        Args:
            nodes: Ids by label.
            edges: Types to follow.
            direction: ``out``, ``in`` or ``both``.
            limit: Maximum number of rows.

        Returns:
            Rows of ``here`` (one of the ids), ``outward``, the node at the other end (as from :meth:`nodes_by_id`) and
            the edge (``edge``, ``edge_id``, ``relation``, ``fact``, ``weight``, ``count``, ``origin``), in any order;
            ``None`` if there are more than ``limit``.
        """
        types = _any_of(edges)
        rows: list[Row] = []
        for label, ids in check_mapping("nodes", nodes).items():
            for outward in _outward(direction):
                pattern = f"-[r:{types}]->(m)" if outward else f"<-[r:{types}]-(m)"
                for part in batches(check_texts("ids", ids), max_rows=1000):
                    found = await self.read(
                        f"UNWIND $ids AS i MATCH (n:{check_name(label)} {{id: i}}){pattern} "
                        f"WHERE n.namespace = $namespace RETURN i AS here, {node_columns('m')}, {_EDGE_COLUMNS} "
                        f"LIMIT {check_limit(limit) + 1 - len(rows)}",
                        ids=part,
                    )
                    rows += [{**row, **plain_node(row), "outward": outward} for row in found]
                    if len(rows) > limit:
                        return None
        return rows

    async def strongest(
        self, label: Label, node: str, edges: Sequence[EdgeType], direction: str, limit: int
    ) -> list[Row]:
        """Return the heaviest edges of a node; rows as from :meth:`hop`, by weight, then name and id."""
        types = _any_of(edges)
        rows: list[Row] = []
        for outward in _outward(direction):
            pattern = f"-[r:{types}]->(m)" if outward else f"<-[r:{types}]-(m)"
            found = await self.read(
                f"MATCH (n:{check_name(label)} {{id: $id}}){pattern} "
                f"WITH r, m, coalesce(r.weight, r.count, 0) AS w, {_SHOWN}, "
                f"m.id AS other ORDER BY w DESC, shown, other LIMIT {check_limit(limit)} "
                f"RETURN $id AS here, {node_columns('m')}, {_EDGE_COLUMNS}",
                id=node,
            )
            rows += [{**row, **plain_node(row), "outward": outward} for row in found]
        return sorted(rows, key=strength)[:limit]

    async def neighbour_page(
        self, label: Label, node: str, edges: Sequence[EdgeType], after: Sequence[str], limit: int
    ) -> list[Row]:
        """Return the neighbours of a node after ``after``, by name and id, each once; rows as from :meth:`hop`."""
        types = _any_of(edges)
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[:{types}]-(m) "
            f"WITH DISTINCT m WITH m, m.id AS i, {_SHOWN} "
            "WHERE shown > $name OR (shown = $name AND i > $after) "
            f"WITH m, shown, i ORDER BY shown, i LIMIT {check_limit(limit)} RETURN {node_columns('m')}, shown",
            id=node,
            name=after[0],
            after=after[1],
        )
        return sorted(
            ({**plain_node(row), "shown": row["shown"]} for row in rows), key=lambda row: (row["shown"], row["id"])
        )

    async def edges_between(
        self, label: Label, node: str, others: Mapping[Label, Sequence[str]], edges: Sequence[EdgeType]
    ) -> list[Row]:
        """Return the edges between a node and others, in either direction; rows as from :meth:`hop`."""
        types = _any_of(edges)
        rows: list[Row] = []
        for other, ids in check_mapping("others", others).items():
            for outward in (True, False):
                # Starting at the others, which have fewer edges than a hub.
                pattern = f"<-[r:{types}]-" if outward else f"-[r:{types}]->"
                for part in batches(check_texts("ids", ids)):
                    found = await self.read(
                        f"UNWIND $ids AS i MATCH (m:{check_name(other)} {{id: i}}){pattern}"
                        f"(n:{check_name(label)} {{id: $id}}) WHERE n.namespace = $namespace "
                        f"RETURN $id AS here, {node_columns('m')}, {_EDGE_COLUMNS}",
                        ids=part,
                        id=node,
                    )
                    rows += [{**row, **plain_node(row), "outward": outward} for row in found]
        return rows

    async def edge_page(self, relation: str | None, after: Sequence[str], limit: int) -> list[Row]:
        """Return the edges between entities after ``after``, by the ids of their ends and their own.

        Args:
            relation: Only edges of this relation.
            after: Source, target and key of the last edge of the previous page; at the beginning three empty strings.
            limit: Maximum number to return.

        Returns:
            Rows of ``source``, ``target``, their names ``source_name`` and ``target_name``, ``key``, ``said`` (the
            relation, else the type) and the edge as from :meth:`hop`.
        """
        return await self.read(
            "MATCH (a:Entity)-[r:RELATED|SAME_AS]->(b:Entity) WHERE a.namespace = $namespace "
            "WITH r, a.id AS source, b.id AS target, a.name AS source_name, b.name AS target_name, "
            "coalesce(r.type, type(r)) AS said, coalesce(r.id, r.type, type(r)) AS key "
            "WHERE (source > $a OR (source = $a AND (target > $b OR (target = $b AND key > $key)))) "
            + ("AND said = $relation " if relation is not None else "")
            + "WITH r, source, target, source_name, target_name, said, key "
            f"ORDER BY source, target, key LIMIT {check_limit(limit)} "
            f"RETURN source, target, source_name, target_name, said, key, {_EDGE_COLUMNS}",
            a=after[0],
            b=after[1],
            key=after[2],
            **({} if relation is None else {"relation": relation}),
        )

    async def degree(self, label: Label, node: str, edges: Sequence[EdgeType]) -> int:
        """Count the edges of these types that a node has."""
        types = _any_of(edges)
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[r:{types}]-() RETURN count(r) AS n",
            id=node,
        )
        return int(rows[0]["n"]) if rows else 0

    async def has_edges(self, label: Label, node: str, edges: Sequence[EdgeType]) -> bool:
        """Return whether a node has any edge of these types."""
        types = _any_of(edges)
        rows = await self.read(
            f"MATCH (n:{check_name(label)} {{id: $id}})-[:{types}]-(m) RETURN m.id AS id LIMIT 1", id=node
        )
        return bool(rows)

    async def degrees(self, nodes: Mapping[Label, Sequence[str]], edges: Sequence[EdgeType]) -> dict[str, int]:
        """Count the edges of these types that nodes have, by id; nodes without any are left out."""
        types = _any_of(edges)
        found: dict[str, int] = {}
        for label, ids in check_mapping("nodes", nodes).items():
            rows = await self.read_for_ids(
                f"UNWIND $ids AS i MATCH (n:{check_name(label)} {{id: i}})-[r:{types}]-() RETURN i, count(r) AS n",
                ids,
                at_once=1000,
            )
            found.update((row["i"], row["n"]) for row in rows)
        return found

    async def nodes_with_words(
        self, words: Sequence[str], limit: int, kind: str | None = None, labels: Sequence[Label] = NAMED_LABELS
    ) -> list[Row]:
        """Return nodes whose names have words with one of the given normalised prefixes, the most mentioned first.

        Returns:
            Rows as from :meth:`nodes_by_id`, with ``mentions``; at most ``limit`` of each label.
        """
        found: list[Row] = []
        for label in labels:
            type_key = {Label.ENTITY: "n.type", Label.CONCEPT: "n.label"}.get(label, "''")
            rows = await self.read(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace "
                "AND any(w IN $words WHERE (' ' + n.normalized_name) CONTAINS w) "
                + (f"AND {type_key} = $kind " if kind is not None else "")
                + "WITH n, coalesce(n.mention_count, 0) AS mentions, n.name AS shown, n.id AS i "
                f"ORDER BY mentions DESC, shown, i LIMIT {check_limit(limit)} RETURN {node_columns('n')}, mentions",
                words=[word if is_unspaced(word) else f" {word}" for word in words],
                kind=kind or "",
            )
            found += [{**plain_node(row), "mentions": row["mentions"]} for row in rows]
        return found

    async def list_entities(
        self, *, kind: str | None, after: tuple[int, str, str], limit: int, by_mentions: bool = False
    ) -> list[Row]:
        """Return a page of entities by name and id; rows as from :meth:`nodes_with_words`.

        Args:
            kind: Only those of this type.
            after: Mentions, name and id of the last entity of the page before.
            limit: Maximum number.
            by_mentions: The most mentioned first, and those that are mentioned equally often by name.
        """
        by_name = "" if by_mentions else "AND n.name >= $name AND (n.name > $name OR n.id > $after) "
        order = "mentions DESC, name, id" if by_mentions else "name, id"
        rows = await self.read(
            f"MATCH (n:Entity) WHERE n.namespace = $namespace {by_name}"
            + ("AND n.type = $kind " if kind is not None else "")
            # Not the nodes themselves: the embedded engine would load each of them to sort them.
            + "WITH n.id AS id, n.name AS name, n.type AS kind, coalesce(n.mention_count, 0) AS mentions "
            + (_FEWER_MENTIONS if by_mentions else "")
            + f"ORDER BY {order} LIMIT {check_limit(limit)} RETURN id, name, kind, mentions",
            kind=kind or "",
            mentions=after[0],
            name=after[1],
            after=after[2],
        )
        return [
            {**row, "label": Label.ENTITY, "name": row["name"] or row["id"], "kind": row["kind"] or ""} for row in rows
        ]

    async def entity_graph_counts(self) -> dict[str, Any]:
        """Count entities by type, edges between them by relation, and related nodes and edges."""
        nodes = await self.read(
            "MATCH (n:Entity) WHERE n.namespace = $namespace RETURN coalesce(n.type, '') AS kind, count(n) AS n"
        )
        related = await self.read(
            "MATCH (n:Entity)-[r:RELATED]->(:Entity) WHERE n.namespace = $namespace "
            "RETURN coalesce(r.type, 'related') AS kind, count(r) AS n"
        )
        counts: dict[str, Any] = {
            "nodes": {row["kind"] or "other": row["n"] for row in nodes},
            "edges": {row["kind"]: row["n"] for row in related},
        }
        for key, statement in _COUNTED.items():
            rows = await self.read(f"{statement} RETURN count(x) AS n")
            counts[key] = rows[0]["n"]
        return counts

    async def attached(self, entities: Sequence[str], limit: int) -> list[Row]:
        """Return records and documents that have or mention entities: ``entity``, ``label``, ``id``, ``weight``."""
        rows: list[Row] = []
        for part in batches(check_texts("entities", entities), max_rows=500):
            rows += [
                {**row, "label": Label.RECORD, "weight": 1}
                for row in await self.read(
                    "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:HAS_ENTITY]-(n:Record) "
                    f"RETURN DISTINCT i AS entity, n.id AS id LIMIT {check_limit(limit)}",
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
        rows = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (n:Record {id: i}) WHERE n.namespace = $namespace "
            "RETURN n.id AS id, n.collection AS collection, n.data AS data",
            ids,
        )
        return {row["id"]: {**row, "data": from_json(row["data"])} for row in rows}


_COUNTED = {
    "same_as": "MATCH (n:Entity)-[x:SAME_AS]->(:Entity) WHERE n.namespace = $namespace",
    "mentions": "MATCH (n:DocumentChunk)-[x:MENTIONS]->(:Entity) WHERE n.namespace = $namespace",
    "records": "MATCH (x:Record) WHERE x.namespace = $namespace",
    "concepts": "MATCH (x:Concept) WHERE x.namespace = $namespace",
    "concept_edges": "MATCH (n:Concept)-[x:RELATED_TO]->(:Concept) WHERE n.namespace = $namespace",
    "topics": "MATCH (x:Topic) WHERE x.namespace = $namespace",
}


def plain_node(row: Row) -> Row:
    """Return ``id``, ``label`` (of the schema), ``name`` and ``kind`` of a row with ``node_columns``."""
    label = next((Label(name) for name in sorted(row["labels"]) if name in _LABELS), Label.ENTITY)
    name = row["name"] or row["id"]
    if label is Label.CHUNK:  # chunks of a document have the same path
        name = ": ".join(part for part in (posixpath.basename(name.rstrip("/")) or name, row["heading"]) if part)
    return {"id": row["id"], "label": label, "name": name, "kind": row["kind"] or ""}


def strength(row: Row) -> tuple[float, str, str, str]:
    """Return the sort key of an edge: the heaviest first, then by name and id of the node that it leads to."""
    weight = row["weight"] if row["weight"] is not None else row["count"]
    return (-float(weight or 0), row["name"], row["id"], str(row["edge"]))


def _any_of(edges: Sequence[EdgeType]) -> str:
    """Return edge types in the form of a pattern: ``RELATED|SAME_AS``."""
    return "|".join(map(check_name, check_texts("edges", edges)))


def _outward(direction: str) -> tuple[bool, ...]:
    return {"out": (True,), "in": (False,)}.get(direction, (True, False))
