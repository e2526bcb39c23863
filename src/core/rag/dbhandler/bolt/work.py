"""Units of work on a Bolt server: running a transaction, and retrying it."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.bolt.errors import Again, Failure, failure, timed_out
from core.rag.dbhandler.checks import check_parameters
from core.rag.dbhandler.finishing import finish
from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.misuse import ended, spoiled
from core.rag.dbhandler.store import Parameters, Row
from core.rag.errors import MGRagError, QueryError, StoreConflictError

if TYPE_CHECKING:
    from neo4j import AsyncResult, AsyncSession, AsyncTransaction

    from core.rag.dbhandler.bolt.address import Address

_log = logging.getLogger("mgrag")

FIRST_RETRY_SECONDS = 0.05
_LONGEST_RETRY_SECONDS = 2.0
_A_FEW = 8  # as many processes may be about to make the same node

#: A write that meets conflicts waits for others, which get on meanwhile: it is given up after so many times as long.
_WHILE_OTHERS_WRITE = 10

#: Additional time before the server's or the driver's own limit, which takes effect with a delay, counts as failed.
GRACE_SECONDS = 5.0

#: How soon a connection is closed that was opened for somebody who does not wait any more.
_LOOK_SECONDS = 0.02

#: A rollback that takes longer is left to the server, which rolls back what has lost its connection.
_ROLLBACK_SECONDS = 5.0


class RetryableError(Exception):
    """Carries a failure from an attempt to the loop that may try again.

    Args:
        failed: What happened.
    """

    def __init__(self, failed: Failure) -> None:
        super().__init__(str(failed.error))
        self.failed = failed


async def attempts[T](
    attempt: Callable[[], Awaitable[T]],
    deadline: float,
    gate: WriterGate | None = None,
    *,
    conflicts: float | None = None,
) -> T:
    """Try something until it succeeds, its failure is final, or the deadline has passed.

    Args:
        attempt: Raises :class:`RetryableError` with what happened.
        deadline: For this many seconds after the first failure; for ten times as long where others write.
        gate: Of writes: held by attempts after the first, so that those who have met a conflict do not meet each other
            again.
        conflicts: The deadline if others prevent it; ``None``: that of other failures.

    Raises:
        MGRagError: the last failure.
    """
    delay = FIRST_RETRY_SECONDS
    first: float | None = None
    count = 0
    waiting: AbstractAsyncContextManager[Any] = nullcontext()
    while True:
        count += 1
        try:
            async with waiting:
                return await attempt()
        except RetryableError as error:
            failed = error.failed
            now = time.monotonic()
            first = now if first is None else first
            prevented = isinstance(failed.error, StoreConflictError)
            meets_others = gate is not None and prevented
            seconds = conflicts if prevented and conflicts is not None else deadline
            if meets_others:
                seconds *= _WHILE_OTHERS_WRITE
            if failed.again is Again.NEVER or now + delay > first + seconds:
                raise failed.error from failed.error.__cause__
            if failed.again is Again.A_FEW_TIMES and count >= _A_FEW:
                raise failed.error from failed.error.__cause__
        _log.info("Attempt %d failed and is repeated: %s", count, failed.error)
        await asyncio.sleep(delay * random.uniform(0.5, 1.5))  # noqa: S311
        if failed.again is not Again.A_FEW_TIMES:  # there, whoever was first has committed by now
            delay = min(2 * delay, _LONGEST_RETRY_SECONDS)
        waiting = gate.hold() if gate is not None and meets_others else nullcontext()


class BoltTransaction:
    """One attempt at a transaction. Once a statement has failed, or was cancelled, it can only be rolled back."""

    def __init__(
        self,
        session: AsyncSession,
        address: Address,
        *,
        query_timeout: float,
        server_timeout: float,
        locking: bool,
        hinted: Callable[[str], str],
    ) -> None:
        """Prepare a transaction.

        Args:
            session: Its own session.
            address: For messages.
            query_timeout: Seconds that a statement, or the commit, may take.
            server_timeout: Seconds after which the server ends the whole transaction.
            locking: See :class:`~core.rag.dbhandler.store.Transaction`.
            hinted: See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`.
        """
        self.locking = locking
        self._hinted = hinted
        #: What was run, without parameters.
        self.statements: set[str] = set()
        self._session = session
        self._address = address
        self._query_timeout = query_timeout
        self._server_timeout = server_timeout
        self._transaction: AsyncTransaction | None = None
        self._running = asyncio.Lock()  # statements may be gathered, but the protocol takes one at a time
        self._spoiled: BaseException | None = None
        self._failure: Failure | None = None
        self._ended = False

    async def attempt[T](self, work: Callable[[BoltTransaction], Awaitable[T]]) -> T:
        """Begin, do the work, and commit; roll back when anything of it fails.

        Raises:
            RetryableError: if the transaction failed; what the work itself raised is passed on.
        """
        try:
            await self._begin()
            result = await work(self)
            await finish(self._commit())
            return result
        except BaseException as error:
            await finish(self._roll_back())
            if isinstance(error, RetryableError):
                raise
            if self._failure is not None and error is self._failure.error:
                raise RetryableError(self._failure) from error
            if isinstance(error, StoreConflictError):
                raise RetryableError(Failure(error, Again.UNTIL_DEADLINE)) from error
            raise
        finally:
            self._ended = True

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """See :class:`~core.rag.dbhandler.store.Transaction`."""
        check_parameters(parameters or {})
        try:
            async with self._running:
                transaction = self._open()
                self.statements.add(statement)

                async def send() -> list[Row]:
                    hinted = self._hinted(statement)
                    return await rows(await transaction.run(hinted, sendable(dict(parameters or {}))))

                return await self._answered(send(), "A write")
        except BaseException as error:
            self._spoiled = self._spoiled or error
            if isinstance(error, RetryableError):
                raise error.failed.error from error.failed.error.__cause__
            raise

    def _open(self) -> AsyncTransaction:
        if self._ended or self._transaction is None:
            raise ended()
        if self._spoiled is not None:
            raise QueryError(
                "A statement came after another one of its transaction had failed or was cancelled"
                f" ({str(self._spoiled) or 'cancelled'})."
            ) from self._spoiled
        return self._transaction

    async def _begin(self) -> None:
        begin = self._session.begin_transaction(timeout=self._server_timeout)
        self._transaction = await self._answered(cancellable(self._session, begin), "Beginning a transaction")

    async def _commit(self) -> None:
        async with self._running:
            if self._spoiled is not None:
                if self._failure is not None and self._failure.again is not Again.NEVER:
                    raise RetryableError(self._failure)
                raise spoiled(self._spoiled) from self._spoiled
            assert self._transaction is not None
            self._ended = True
            await self._answered(self._transaction.commit(), "A commit")

    async def _roll_back(self) -> None:
        self._ended = True
        transaction, self._transaction = self._transaction, None
        if transaction is None or transaction.closed():
            return
        try:
            async with asyncio.timeout(_ROLLBACK_SECONDS):
                await transaction.rollback()
        except Exception as error:  # noqa: BLE001 - the connection is given up, so the server rolls back by itself
            _log.debug("A rollback failed, and its connection is closed: %s", error)
            transaction.cancel()

    async def _answered[T](self, call: Coroutine[Any, Any, T], what: str) -> T:
        try:
            return await answered(call, what, self._query_timeout, self._address)
        except RetryableError as error:
            self._failure = self._failure or error.failed
            raise


async def answered[T](call: Coroutine[Any, Any, T], what: str, seconds: float, address: Address) -> T:
    """Await a call of the driver, for a limited time.

    Args:
        call: When it takes too long it is cancelled, which cuts the connection.
        what: What it does, for messages.
        seconds: How long it may take.
        address: Where, for messages.

    Raises:
        RetryableError: if it fails or takes too long.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await call
    except MGRagError:
        raise
    except Exception as error:
        failed = (
            Failure(timed_out(what, seconds, address), Again.NEVER)
            if limit.expired()
            else failure(error, what, address)
        )
        failed.error.__cause__ = error
        raise RetryableError(failed) from error


async def cancellable[T](session: AsyncSession, call: Coroutine[Any, Any, T]) -> T:
    """Await a call that may open a connection.

    The driver forgets to close a socket when it is cancelled while it connects. So the call itself is not cancelled:
    who waits for it is, at once, and its connection is closed behind it.
    """
    task = asyncio.ensure_future(call)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        session.cancel()  # at once: closing the session would read where the call is still reading
        cleaning = asyncio.ensure_future(_close_behind(session, task))
        _cleaning.add(cleaning)
        cleaning.add_done_callback(_cleaning.discard)
        raise


_cleaning: set[asyncio.Future[None]] = set()


async def _close_behind(session: AsyncSession, task: asyncio.Future[Any]) -> None:
    while not task.done():
        session.cancel()  # closes the connection as soon as there is one
        await asyncio.wait([task], timeout=_LOOK_SECONDS)
    session.cancel()
    if not task.cancelled():
        task.exception()  # seen, so that it is not reported as lost


async def rows(result: AsyncResult) -> list[Row]:
    """Return all rows of a result."""
    return [dict(zip(record.keys(), record.values(), strict=True)) async for record in result]


_MAY_HOLD = frozenset({memoryview, list, dict})


def sendable(value: Any) -> Any:
    """Return the value with lists for memoryviews of floats, which the driver would send as bytes."""
    if isinstance(value, memoryview):
        return value.tolist()
    if isinstance(value, dict):
        return value if _MAY_HOLD.isdisjoint(map(type, value.values())) else {k: sendable(v) for k, v in value.items()}
    if isinstance(value, list):
        return value if _MAY_HOLD.isdisjoint(map(type, value)) else list(map(sendable, value))
    return value
