"""Which facts a read sees: those that hold at a time.

To look at two more properties of each edge would make every walk slower. So a mark in the graph says whether any fact
of a namespace has times. Without it, statements are as they would be if there were no times at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from core.rag.dbhandler.kept import Kept
from core.rag.dbhandler.knowledge.periods import Period, Time, window_of
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import Label
from core.rag.times import utc_now

if TYPE_CHECKING:
    from core.rag.dbhandler.base import ClientBase

#: The ``at`` of a read that sees facts of all times.
EVER: Final = "ever"

#: What an edge ``r`` has with the times of its fact, by the names of the columns.
DATED: Final = {"valid_from": "r.valid_from", "valid_to": "r.valid_to"}

#: On a server, where other processes write, the mark is looked for again after so many seconds.
_PATIENCE: Final = 1.0

_MARK: Final = f"(m:{Label.SCHEMA_VERSION} {{id: $mark}})"
_COUNT: Final = f"MATCH {_MARK} RETURN count(m) AS n"


@dataclass(frozen=True, slots=True)
class Validity:
    """Which facts a read sees.

    Attributes:
        dated: Whether any have times.
        windows: It sees what holds at some moment between the two times of a window; of all times if there is none.
    """

    dated: bool = False
    windows: tuple[tuple[str, str], ...] = ()

    @property
    def condition(self) -> str:
        """The condition on an edge ``r``; empty if a read sees all."""
        if not self.dated:
            return ""
        return " OR ".join(
            f"((r.valid_from IS NULL OR r.valid_from <= $last{place}) "
            f"AND (r.valid_to IS NULL OR r.valid_to > $first{place}))"
            for place in range(len(self.windows))
        )

    def narrowed(self, keyword: str) -> str:
        """The condition after ``WHERE`` or ``AND``; nothing if a read sees all."""
        return f"{keyword} ({condition}) " if (condition := self.condition) else ""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the condition."""
        if not self.dated:
            return {}
        return {
            f"{name}{place}": time
            for place, window in enumerate(self.windows)
            for name, time in zip(("first", "last"), window, strict=True)
        }

    @property
    def columns(self) -> str:
        """More columns of a row with an edge ``r``; see :func:`period_in`."""
        return "".join(f", {value} AS {name}" for name, value in DATED.items()) if self.dated else ""

    def sees(self, period: Period) -> bool:
        """Return whether a read sees a fact of this period."""
        return not self.windows or any(period.holds(*window) for window in self.windows)


#: Of a read that follows no facts, or of a graph where none has times.
UNDATED: Final = Validity()

_kept: Kept[bool] = Kept({Label.SCHEMA_VERSION}, _COUNT, patience=_PATIENCE)


async def valid_at(client: ClientBase, at: Time | None = None, *periods: tuple[str, str]) -> Validity:
    """Return which facts a read sees.

    Args:
        client: The graph.
        at: The time at which they hold, or a year or month in which they do at some moment; ``None``: now;
            :data:`EVER`: any.
        periods: They may also hold at some moment of these: the first and the last, as times are stored.

    Raises:
        InvalidInputError: if ``at`` is no time in ISO 8601.
    """
    given = None if at is None or at == EVER else window_of(at, "at")
    if not await is_dated(client):
        return UNDATED
    if at is None:
        given = (now := utc_now()), now
    return Validity(dated=True, windows=(given, *periods) if given else ())


async def is_dated(client: ClientBase) -> bool:
    """Return whether facts of the namespace have times, or had, for a read: on a server as of the last second."""
    return await _kept.get(client, lambda: is_marked(client), mark=_mark(client.namespace))


async def is_marked(client: ClientBase) -> bool:
    """Return what :func:`is_dated` does, from the graph itself: for what is kept longer."""
    return bool((await client.read(_COUNT, mark=_mark(client.namespace)))[0]["n"])


async def has_mark(tx: Transaction, namespace: str) -> bool:
    """Return what :func:`is_marked` does, for a transaction that writes facts."""
    return bool((await tx.run(_COUNT, {"mark": _mark(namespace)}))[0]["n"])


async def mark_dated(tx: Transaction, namespace: str) -> None:
    """Note that facts of a namespace have times."""
    if not await has_mark(tx, namespace):  # a second write of it would conflict with others
        await tx.run(f"MERGE {_MARK}", {"mark": _mark(namespace)})


async def remove_mark(tx: Transaction, namespace: str) -> None:
    """Remove the note of :func:`mark_dated`, of a namespace without facts."""
    await tx.run(f"MATCH {_MARK} DETACH DELETE m", {"mark": _mark(namespace)})


def period_in(row: Row | Mapping[str, Any]) -> Period:
    """Return the period of the edge in a row, which has the columns of a :class:`Validity`, if any has a period."""
    return Period(row.get("valid_from") or "", row.get("valid_to") or "")


def has_times(properties: Mapping[str, Any]) -> bool:
    """Return whether the properties of an edge say when it holds."""
    return bool(properties.get("valid_from") or properties.get("valid_to"))


def _mark(namespace: str) -> str:
    return f"dated {namespace}"
