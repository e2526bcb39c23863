"""Decides from which of its ends an edge is looked for: the one with fewer edges.

The embedded engine goes through all edges of the node that a pattern begins with, for each row: writing the edges of a
hub would take quadratic time. Servers choose the end themselves, so both forms are equal to them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from core.rag.dbhandler.batches import batches, run_for_ids
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import EdgeType, Label, check_name

#: A pattern may begin at a node with at most this many edges, however few the other end has.
FEW = 50

#: Edges are counted up to this number; of two nodes with more, a pattern may begin at either.
_MANY = 1_000


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """A kind of edge: its type, and the labels of its ends. Rows name an edge by the ids of its ends, ``a`` and ``b``.

    Attributes:
        start: Label of the nodes where they begin.
        type: Their type.
        end: Label of the nodes where they end.
        property: The property that distinguishes several edges between two nodes; empty if there is only one.
        field: The name of this property in a row.
    """

    start: str
    type: str
    end: str
    property: str = ""
    field: str = ""

    def _edge(self) -> str:
        which = f" {{{check_name(self.property)}: row.{check_name(self.field)}}}" if self.property else ""
        return f"[r:{check_name(self.type)}{which}]"

    def there(self, *, backward: bool) -> str:
        """Return the pattern of an existing edge: ``(a)-[r]->(b)``, with the labels and ids of both ends."""
        a, b = f"(a:{check_name(self.start)} {{id: row.a}})", f"(b:{check_name(self.end)} {{id: row.b}})"
        return f"{b}<-{self._edge()}-{a}" if backward else f"{a}-{self._edge()}->{b}"

    def merge(self, *, backward: bool) -> str:
        """Return the ``MERGE`` of the edge of a row, for matched ``a`` and ``b``."""
        return f"MERGE (b)<-{self._edge()}-(a)" if backward else f"MERGE (a)-{self._edge()}->(b)"


#: Between entities; a row names an edge as its ``link``.
RELATED = EdgeKind(Label.ENTITY, EdgeType.RELATED, Label.ENTITY, "id", "link")


async def directed(tx: Transaction, kind: EdgeKind, rows: Sequence[Row]) -> AsyncIterator[tuple[bool, list[Row]]]:
    """Decide for each edge from which of its ends to look for it, and group the rows by that, in batches.

    Args:
        tx: The transaction.
        kind: The kind of the edges.
        rows: Any number of rows, each with an edge.

    Yields:
        Whether patterns begin at ``b``, and rows for one statement.
    """
    for part in batches(rows):
        out = await _degrees(tx, kind, [row["a"] for row in part], backward=False)
        hubs = [row["b"] for row in part if out.get(row["a"], 0) > FEW]
        into = await _degrees(tx, kind, hubs, backward=True) if hubs else {}
        sides: dict[bool, list[Row]] = {}
        for row in part:
            edges = out.get(row["a"], 0)
            sides.setdefault(edges > FEW and into.get(row["b"], 0) < edges, []).append(row)
        for side in sides.items():
            yield side


async def _degrees(tx: Transaction, kind: EdgeKind, ids: Sequence[str], *, backward: bool) -> dict[str, int]:
    """Return the number of edges of a kind from nodes (``backward``: to them) by id, counted up to ``_MANY``."""
    label, edge = check_name(kind.end if backward else kind.start), f"[r:{check_name(kind.type)}]"
    pattern = f"(n)<-{edge}-()" if backward else f"(n)-{edge}->()"
    rows = await run_for_ids(
        tx,
        f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) "
        f"CALL {{ WITH n MATCH {pattern} WITH r LIMIT {_MANY} RETURN count(r) AS edges }} "
        "RETURN n.id AS id, edges",
        sorted(set(ids)),
    )
    return {row["id"]: row["edges"] for row in rows}
