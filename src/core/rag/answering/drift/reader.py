"""Reads the graph for a traversal, a whole frontier in one statement per label and direction."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from core.rag.answering.drift.config import Direction
from core.rag.answering.drift.paths import Edge, Node
from core.rag.answering.drift.scoring import clamp
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.knowledge.validity import period_in, valid_at
from core.rag.dbhandler.store import Row
from core.rag.extraction.records import record_line, record_name
from core.rag.graph.hops import by_label
from core.rag.schema import EdgeType, Label
from core.rag.together import all_together, together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: What a path may visit. Conversations, users and vectors are not knowledge, and not everybody's.
LABELS: tuple[Label, ...] = (
    Label.ENTITY,
    Label.CHUNK,
    Label.DOCUMENT,
    Label.CONCEPT,
    Label.TOPIC,
    Label.SYMBOL,
    Label.RESOURCE,
    Label.TOOL,
    Label.RECORD,
)

_NOT_KNOWLEDGE = frozenset(
    {
        EdgeType.FOLLOWS,
        EdgeType.SOURCED_FROM,
        EdgeType.STORED_IN,
        EdgeType.EMBEDDING_OF,
        EdgeType.PART_OF,
        EdgeType.SUMMARIZES,
        EdgeType.RETRIEVED,
        EdgeType.VIEWED,
        EdgeType.STARTED,
        EdgeType.SPOKE_IN,
        EdgeType.RATED,
    }
)

#: What a path may follow.
KINDS: tuple[EdgeType, ...] = tuple(kind for kind in EdgeType if kind not in _NOT_KNOWLEDGE)

#: That a text belongs to a document, or stands next to another, says little about what it says.
_STRUCTURAL: dict[str, float] = {EdgeType.CHUNK_OF: 0.5, EdgeType.NEXT: 0.5}

_BY_NAME = {label.value: label for label in LABELS}
_FOLLOWED = "|".join(KINDS)
_KNOWN = " OR ".join(f"m:{label}" for label in LABELS)

#: The columns of a node, by label; of all others, their properties.
_COLUMNS = {
    Label.CHUNK: {
        name: f"n.{name}" for name in ("content", "heading", "path", "metadata", "terms", "chunk_index", "chunk_count")
    },
    Label.DOCUMENT: {"name": "n.title", "path": "n.path", "metadata": "n.metadata", "mime_type": "n.mime_type"},
}

#: The columns of an edge ``r`` from ``n`` to ``m``, and where facts have times.
_HOP = {
    "id": "i",
    "other": "m.id",
    "labels": "labels(m)",
    "kind": "type(r)",
    "type": "r.type",
    "fact": "r.fact",
    "weight": "r.weight",
    "count": "r.count",
    "chunk_ids": "r.chunk_ids",
    "inferred": "r.inferred",
    "mentions": "coalesce(m.mention_count, n.mention_count)",
}
_TIMES = {"valid_from": "r.valid_from", "valid_to": "r.valid_to"}

#: Properties of a node that are no metadata.
_PLUMBING = frozenset(
    {"id", "namespace", "partition", "terms", "created_at", "updated_at", "metadata", "name", "normalized_name"}
    | {"content", "content_hash", "head", "key", "trunks", "pending"}
)

#: An edge with the id and the label of the node that it leads to.
Hop = tuple[Edge, str, Label]


@dataclass(slots=True)
class Reads:
    """What was read of a graph.

    Attributes:
        labels: Labels of nodes by id.
        hops: Edges by the id of the node that they were read of.
        nodes: Nodes with their analysed texts (see :meth:`PathReader.nodes`); ``None`` for those that are gone.
    """

    labels: dict[str, Label] = field(default_factory=dict)
    hops: dict[str, Sequence[Hop]] = field(default_factory=dict)
    nodes: dict[str, tuple[Node, str] | None] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many things were read."""
        return len(self.nodes) + sum(map(len, self.hops.values()))


class PathReader:
    """Reads nodes and edges of one namespace.

    Attributes:
        statements: How many statements were sent.
    """

    def __init__(self, client: MemGraphClient, periods: Sequence[tuple[str, str]] = ()) -> None:
        """Prepare a reader.

        Args:
            client: The graph.
            periods: Facts are read that hold now, or at some time of these; see :func:`valid_at`.
        """
        self._client = client
        self._periods = periods
        self.statements = 0
        # Texts of rows, each once: what is read is kept by the cache of paths, and every edge of a node has its id.
        self._texts: dict[str, str] = {}

    async def hops(
        self,
        ids: Mapping[Label, Sequence[str]],
        direction: Literal["forward", "backward"],
        *,
        limit: int,
        edge_types: Sequence[str] | None = None,
        liked: Sequence[str] = (),
    ) -> dict[str, list[Hop]]:
        """Return the edges of nodes in one direction.

        Args:
            ids: Ids of nodes by label.
            direction: Edges that leave them, or that enter them.
            limit: Of each node at most this many: first those to liked nodes, then by weight.
            edge_types: Only edges of these types, those of facts between entities included; ``None``: all.
            liked: Ids of nodes that fit the query.

        Returns:
            By node id; nodes without such edges are left out.
        """
        left, right = ("-", "->") if direction == "forward" else ("<-", "-")
        narrow, given = _narrowed(edge_types)
        validity = await valid_at(self._client, None, *self._periods)
        found: dict[str, list[Hop]] = {}

        async def read(label: Label, part: list[str]) -> list[Row]:
            return await self._read_together(
                f"MATCH (n:{label} {{id: i}}) WHERE n.namespace = $namespace "
                f"CALL {{ WITH n MATCH (n){left}[r:{_FOLLOWED}]{right}(m) WHERE ({_KNOWN}){narrow} "
                f"{validity.narrowed('AND')}"
                "WITH m, r, coalesce(r.weight, r.count * 1.0 / (1 + coalesce(m.mention_count, 0)), 1.0) AS strength "
                "ORDER BY CASE WHEN m.id IN $liked THEN 0 ELSE 1 END, strength DESC, m.id "
                f"LIMIT {int(limit)} RETURN m, r }}",
                {**_HOP, **(_TIMES if validity.dated else {})},
                part,
                liked=list(liked),
                **given,
                **validity.parameters,
            )

        for rows in await _in_parts(read, ids):
            for row in rows:
                label = _label(row["labels"])
                if label is not None:
                    source, target = self._once(row["id"]), self._once(row["other"])
                    ends = (source, target) if direction == "forward" else (target, source)
                    edge = _edge(row, *ends, self._once)
                    found.setdefault(source, []).append((edge, target, label))
        return found

    async def both_ways(
        self,
        ids: Mapping[Label, Sequence[str]],
        direction: Direction,
        *,
        limit: int,
        edge_types: Sequence[str] | None,
        liked: Collection[str],
    ) -> dict[str, list[Hop]]:
        """Return the edges of nodes in the direction of a traversal, which may be both; see :meth:`hops`."""
        ways: tuple[Literal["forward", "backward"], ...]
        ways = ("forward", "backward") if direction == "bidirectional" else (direction,)
        found: dict[str, list[Hop]] = {}
        fitting = sorted(liked)
        reading = (self.hops(ids, way, limit=limit, edge_types=edge_types, liked=fitting) for way in ways)
        for hops in await all_together(reading):
            for name, some in hops.items():
                found.setdefault(name, []).extend(some)
        return found

    async def reread(
        self,
        before: Reads,
        direction: Direction,
        *,
        limit: int,
        edge_types: Sequence[str] | None,
        liked: Collection[str],
    ) -> Reads:
        """Read again, in one round, what was read before in several."""
        hops, nodes = await together(
            self.both_ways(
                by_label((name, before.labels[name]) for name in before.hops),
                direction,
                limit=limit,
                edge_types=edge_types,
                liked=liked,
            ),
            self.nodes(by_label((name, before.labels[name]) for name in before.nodes)),
        )
        return Reads(
            dict(before.labels),
            {name: hops.get(name, ()) for name in before.hops},
            {name: nodes.get(name) for name in before.nodes},
        )

    async def nodes(self, ids: Mapping[Label, Sequence[str]]) -> dict[str, tuple[Node, str]]:
        """Nodes by id, each with its text for analysis; analysed already where it is that of a chunk."""

        async def read(label: Label, part: list[str]) -> tuple[Label, list[Row]]:
            columns = {"id": "n.id", **_COLUMNS.get(label, {"properties": "properties(n)"})}
            match = f"MATCH (n:{label} {{id: i}}) WHERE n.namespace = $namespace"
            return label, await self._read_together(match, columns, part)

        found: dict[str, tuple[Node, str]] = {}
        for label, rows in await _in_parts(read, ids):
            for row in rows:
                node = _node(label, row)
                found[node.id] = (node, row.get("terms") or "")
        return found

    async def find(self, identifier: str) -> Node | None:
        """Return the node with this id, whatever its label; ``None`` if there is none that a path may visit."""
        if not identifier:
            return None
        found = await self.nodes({label: [identifier] for label in LABELS})
        return found[identifier][0] if identifier in found else None

    async def is_empty(self) -> bool:
        """Return whether the namespace has no node at all that a path may visit."""
        for label in LABELS:
            if await self._read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN 1 AS one LIMIT 1"):
                return False
        return True

    async def degrees(self, ids: Mapping[Label, Sequence[str]]) -> dict[str, int]:
        """Return the number of knowledge edges of each node."""

        async def read(label: Label, part: list[str]) -> list[Row]:
            return await self._read(
                f"UNWIND $ids AS i MATCH (n:{label} {{id: i}})-[r:{_FOLLOWED}]-() RETURN i AS id, count(r) AS n",
                ids=part,
            )

        return {row["id"]: row["n"] for rows in await _in_parts(read, ids) for row in rows}

    async def joined(self, pairs: Sequence[tuple[Node, Node]]) -> set[frozenset[str]]:
        """Return the pairs of nodes that a knowledge edge connects, as sets of their ids."""
        rows: dict[tuple[Label, Label], list[Row]] = {}
        for a, b in pairs:
            rows.setdefault((Label(a.label), Label(b.label)), []).append({"a": a.id, "b": b.id})
        found: set[frozenset[str]] = set()
        for (one, other), some in rows.items():
            for part in batches(some):
                edges = await self._read(
                    f"UNWIND $rows AS row MATCH (a:{one} {{id: row.a}})-[:{_FOLLOWED}]-(b:{other} {{id: row.b}}) "
                    "RETURN DISTINCT a.id AS a, b.id AS b",
                    rows=part,
                )
                found |= {frozenset((edge["a"], edge["b"])) for edge in edges}
        return found

    def _once(self, text: str) -> str:
        return self._texts.setdefault(text, text)

    async def _read_together(
        self, match: str, columns: Mapping[str, str], ids: Sequence[str], **parameters: Any
    ) -> list[Row]:
        self.statements += 1
        return await self._client.read_together(match, columns, ids, at_once=max(len(ids), 1), **parameters)

    async def _read(self, statement: str, **parameters: Any) -> list[Row]:
        self.statements += 1
        return await self._client.read(statement, **parameters)


async def _in_parts[Found](
    read: Callable[[Label, list[str]], Awaitable[Found]], ids: Mapping[Label, Sequence[str]]
) -> list[Found]:
    """Return what is read for ids of each label, in parts that are read at once."""
    return await all_together(read(label, part) for label, some in ids.items() for part in batches(sorted(some)))


def _narrowed(edge_types: Sequence[str] | None) -> tuple[str, dict[str, list[str]]]:
    """Return the condition for edge types, named as in the graph or in facts, in upper or lower case."""
    if edge_types is None:
        return "", {}
    types = {form for name in edge_types for form in (name, name.lower(), name.upper())}
    types |= {form.replace(" ", "_") for form in types} | {form.replace("_", " ") for form in types}
    kinds: list[str] = sorted(kind.value for kind in KINDS if kind.value in types)
    return " AND (type(r) IN $kinds OR (r.type IS NOT NULL AND r.type IN $types))", {
        "kinds": kinds,
        "types": sorted(types),
    }


def _label(labels: Sequence[str]) -> Label | None:
    return next((_BY_NAME[name] for name in labels if name in _BY_NAME), None)


def _edge(row: Row, source: str, target: str, once: Callable[[str], str]) -> Edge:
    kind = once(row["kind"])
    weight = row["weight"]
    if isinstance(weight, int | float):
        strength = clamp(float(weight))
    elif isinstance(row["count"], int | float) and row["count"] > 0:
        # What many texts mention joins them less than what few do.
        often = row["mentions"] if isinstance(row["mentions"], int) and row["mentions"] > 1 else 1
        strength = row["count"] / (1.0 + row["count"]) / (1.0 + math.log(often))
    else:
        strength = _STRUCTURAL.get(kind, 1.0)
    return Edge(
        source=source,
        target=target,
        type=once(str(row["type"] or kind)),
        kind=kind,
        weight=strength,
        fact=str(row["fact"] or ""),
        chunk_ids=tuple(map(once, row["chunk_ids"] or ())),
        inferred=bool(row["inferred"]),
        period=period_in(row),
    )


def _node(label: Label, row: Row) -> Node:
    if label is Label.CHUNK:
        name = row["heading"] or row["path"] or row["id"]
        if (row["chunk_count"] or 0) > 1:  # several may stand below one heading
            name = f"{name} #{(row['chunk_index'] or 0) + 1}"
        metadata = {"path": row["path"], "heading": row["heading"], **_json(row["metadata"])}
        return Node(row["id"], label.value, name, row["content"] or "", metadata)
    if label is Label.DOCUMENT:
        metadata = {"path": row["path"], "mime_type": row["mime_type"], **_json(row["metadata"])}
        return Node(row["id"], label.value, row["name"] or row["path"] or row["id"], row["name"] or "", metadata)
    properties = row["properties"]
    if label is Label.RECORD:
        fields, collection = _json(properties["data"]), properties["collection"]
        metadata = {"collection": collection, "data": properties["data"]}
        said = record_line(fields) or collection
        return Node(row["id"], label.value, record_name(fields) or collection, said, metadata)
    name = str(properties.get("name") or properties.get("uri") or row["id"])
    texts = [properties.get(key) for key in ("content", "summary", "description", "signature")]
    said = list(dict.fromkeys(str(text) for text in texts if text))
    if not any(text.startswith(name) for text in said):
        said.insert(0, name)
    metadata = {key: value for key, value in properties.items() if key not in _PLUMBING}
    more = _json(properties.get("appendix")) | _json(properties.get("metadata"))
    return Node(row["id"], label.value, name, ". ".join(said), metadata | more)


def _json(text: Any) -> dict[str, Any]:
    """Return a stored JSON object; empty if something else was stored."""
    try:
        value = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
