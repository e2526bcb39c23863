"""Taking turns: work that met a conflict on a server runs one at a time from then on, across processes."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Protocol

from core.rag.dbhandler.bolt.work import RetryableError
from core.rag.dbhandler.store import Transaction
from core.rag.errors import StoreConflictError, StoreConstraintError


class _Attempts(Protocol):
    """Runs work once, in a transaction of its own."""

    async def __call__[T](self, work: Callable[[Transaction], Awaitable[T]], /) -> T: ...


class Turns:
    """The turns on one server: a node that whoever has the turn keeps locked until the end of its transaction."""

    def __init__(self, statement: str | None) -> None:
        """Use the statement that locks the node, :attr:`.Dialect.turn`; with ``None`` nobody waits for anybody."""
        self._statement = statement
        self._prepared = False

    def in_turn[T](self, work: Callable[[Transaction], Awaitable[T]]) -> Callable[[Transaction], Awaitable[T]]:
        """Return work that waits for its turn before it begins; :meth:`prepare` must run before it."""
        statement = self._statement
        if statement is None:
            return work

        async def alone(tx: Transaction) -> T:
            await _take(tx, statement)
            return await work(tx)

        return alone

    async def prepare(self, attempt: _Attempts) -> None:
        """Create the node that serves as the lock, before any work that uses it begins.

        Two transactions that created it within their work would not see each other's node: each would do all its work
        and fail at the end, without leaving a node in the graph.

        Args:
            attempt: Runs work once, in a transaction of its own.

        Raises:
            RetryableError: if that fails for another reason than that another client creates the node.
        """
        statement = self._statement
        if statement is None or self._prepared:
            return
        try:
            await attempt(lambda tx: _take(tx, statement))
        except RetryableError as error:
            somebody_has = isinstance(error.failed.error, StoreConflictError | StoreConstraintError)
            if not somebody_has:
                raise
        self._prepared = True


async def _take(tx: Transaction, statement: str) -> None:
    # Always a new value, as an equal one would not count as a write.
    await tx.run(statement, {"taken": uuid.uuid4().hex})
