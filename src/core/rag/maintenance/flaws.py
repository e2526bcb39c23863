"""The flaws that checks look for in a namespace, and code that checks share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Flaw:
    """An inconsistency of the graph.

    Attributes:
        message: What is wrong, and how much of it.
        mend: Repairs it; ``None`` if only a person can.
        advice: What to do; with ``mend``, what remains to be done afterwards.
        harmless: Whether it does no harm as long as it stays.
    """

    message: str
    mend: Callable[[], Awaitable[None]] | None = None
    advice: str = ""
    harmless: bool = False


#: Looks for flaws; all are taken before the first one is repaired.
Look = Callable[[], AsyncIterator[Flaw]]


async def mend_all(flaws: Iterable[Flaw]) -> None:
    """Repair the flaws that can be repaired, one after the other."""
    for flaw in flaws:
        if flaw.mend is not None:
            await flaw.mend()


class Checks:
    """Checks of one namespace. Each one reads first; repairs are separate transactions that can be repeated."""

    def __init__(self, client: MemGraphClient) -> None:
        self._client = client
        self._namespace = client.namespace

    async def _mend(self, *checks: Look) -> None:
        """Repair everything that checks find, one after the other."""
        for check in checks:
            await mend_all([flaw async for flaw in check()])

    async def _delete(self, label: Label, ids: Sequence[str]) -> None:
        await self._in_parts(
            [{"id": identifier} for identifier in ids],
            f"UNWIND $rows AS row MATCH (n:{label} {{id: row.id}}) DETACH DELETE n",
        )

    async def _in_parts(self, rows: Sequence[Row], *statements: str) -> None:
        async def work(tx: Transaction, part: Sequence[Any]) -> None:
            for statement in statements:
                await tx.run(statement, {"rows": list(part)})

        await self._transact(rows, work)

    async def _transact(self, items: Sequence[Any], work: Callable[[Transaction, Any], Awaitable[object]]) -> None:
        store = await self._client.connect()
        for part in batches(list(items)):

            async def mend(tx: Transaction, part: Sequence[Any] = part) -> None:
                await work(tx, part)

            await store.transaction(mend)

    async def _read(self, statement: str, **parameters: Any) -> list[Row]:
        return await self._client.read(statement, **parameters)

    async def _read_wide(
        self, match: str, columns: Mapping[str, str], ids: Iterable[str] | None = None, **parameters: Any
    ) -> list[Row]:
        """Read what there may be very much of; see :meth:`.MemGraphClient.read_together`."""
        return await self._client.read_together(match, columns, ids, **parameters)


async def seen_twice[T](look: Callable[[], Awaitable[dict[str, T]]]) -> dict[str, T]:
    """Look for what is not as it should be, and again if there is any; return what is the same both times.

    A check reads with several statements, between which others write: what one of them has not seen yet is no flaw, and
    to repair it would undo what was written.
    """
    first = await look()
    again = await look() if first else {}
    return {key: found for key, found in first.items() if key in again and again[key] == found}


def some(names: Any) -> str:
    """Return the first few of some names, as text."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
