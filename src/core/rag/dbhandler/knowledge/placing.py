"""Finds the edge of each fact that a caller states: a fact has one for each of its periods, which do not overlap.

The id of an edge follows from its ends, its relation, and the beginning of the period. So what is stated twice is there
once, a later period leaves the earlier ones as they are, and what an import brings is joined by the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.rag.dbhandler.knowledge.edge_direction import EdgeKind, directed
from core.rag.dbhandler.knowledge.entities import FROM_CALLER
from core.rag.dbhandler.knowledge.periods import ALWAYS, Period
from core.rag.dbhandler.knowledge.validity import has_mark, period_in
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.errors import InvalidInputError
from core.rag.identity import link_id
from core.rag.schema import EdgeType, Label

#: The edges between two entities, whatever they say.
_BETWEEN = EdgeKind(Label.ENTITY, EdgeType.RELATED, Label.ENTITY)


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact that a caller states.

    Attributes:
        source: Id of the entity that it goes from.
        target: Id of the other one.
        relation: The relation.
        words: What it says, for errors.
        period: When it holds.
        props: Further properties of the edge.
    """

    source: str
    target: str
    relation: str
    words: str
    period: Period
    props: Mapping[str, Any]

    @property
    def fact(self) -> tuple[str, str, str]:
        """What it says, whenever."""
        return self.source, self.target, self.relation

    def ends(self, period: Period) -> Row:
        """Return which edge it has for a period: ``a``, ``b`` and ``link``."""
        return {"a": self.source, "b": self.target, "link": link_id(*self.fact, period.valid_from)}

    def edge(self, period: Period) -> Row:
        """Return this edge with its ``props``."""
        row = self.ends(period)
        props = {**self.props, **period.stored, "key": row["link"], "type": self.relation, "origin": FROM_CALLER}
        return {**row, "props": props}


@dataclass(frozen=True, slots=True)
class Placed:
    """The edge of a statement.

    Attributes:
        edge: ``a``, ``b``, ``link`` and ``props``, to be written.
        instead: ``a``, ``b`` and ``link`` of an edge that it replaces; ``None``: of none.
    """

    edge: Row
    instead: Row | None = None


async def placed(tx: Transaction, statements: Sequence[Statement], namespace: str, now: str) -> list[Placed]:
    """Find the edges of statements; until the transaction ends, no other client states anything about their sources.

    Args:
        tx: The transaction that writes the edges.
        statements: Each may refer to those before it.
        namespace: The namespace of their entities.
        now: The time.

    Raises:
        InvalidInputError: on a statement that contradicts a stored one.
    """
    await lock(tx, Label.ENTITY, (statement.source for statement in statements))
    if not any(statement.period for statement in statements) and not await has_mark(tx, namespace):
        return [Placed(statement.edge(ALWAYS)) for statement in statements]  # no fact has times
    known = await _stored(tx, statements)
    found = []
    for statement in statements:
        periods = known.setdefault(statement.fact, [])
        period, instead = _place(statement, periods, now)
        periods[:] = [one for one in periods if one.valid_from != period.valid_from and one != instead]
        periods.append(period)
        found.append(Placed(statement.edge(period), None if instead is None else statement.ends(instead)))
    return found


def _place(statement: Statement, stored: Sequence[Period], now: str) -> tuple[Period, Period | None]:
    """Return the period that a statement belongs to, and one that it replaces, if any."""
    given = statement.period
    if not given:
        # It says that this is so, not since when: what holds, or will, stays as it is.
        lasting = [one for one in stored if not one.has_ended(now)]
        if stored and not lasting:
            raise _ended(statement, max(stored, key=lambda one: one.valid_to))
        return min(lasting, key=lambda one: one.valid_from, default=ALWAYS), None
    same = next((one for one in stored if one.valid_from == given.valid_from), None)
    # Of one whose beginning was not known, it is known now.
    vague = next((one for one in stored if one is not same and not one.valid_from and one.overlaps(given)), None)
    for one in (same, vague):
        if one is not None and not given.valid_to:
            if one.has_ended(now):
                raise _ended(statement, one)
            given = Period(given.valid_from, one.valid_to)
    for one in stored:
        if one is not same and one is not vague and one.overlaps(given):
            raise InvalidInputError(
                f"{statement.words!r} is stored already ({one}), and cannot hold {given} as well: the periods of a fact"
                " do not overlap. End the stored one before (ended), or remove it."
            )
    return given, vague


def _ended(statement: Statement, period: Period) -> InvalidInputError:
    return InvalidInputError(
        f"{statement.words!r} is stored as no longer true ({period}): give valid_from to state since when it is so"
        " again, or remove the stored one."
    )


async def _stored(tx: Transaction, statements: Sequence[Statement]) -> dict[tuple[str, str, str], list[Period]]:
    """Return the periods of what callers stated before, by the fact."""
    wanted = {
        statement.fact: {"a": statement.source, "b": statement.target, "type": statement.relation}
        for statement in statements
    }
    found: dict[tuple[str, str, str], list[Period]] = {}
    async for backward, rows in directed(tx, _BETWEEN, list(wanted.values())):
        for row in await tx.run(
            f"UNWIND $rows AS row MATCH {_BETWEEN.there(backward=backward)} "
            "WHERE r.type = row.type AND r.origin = $origin AND r.inferred IS NULL "
            "RETURN row.a AS a, row.b AS b, row.type AS type, r.valid_from AS valid_from, r.valid_to AS valid_to",
            {"rows": rows, "origin": FROM_CALLER},
        ):
            found.setdefault((row["a"], row["b"], row["type"]), []).append(period_in(row))
    return found
