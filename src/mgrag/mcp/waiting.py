"""Requests that wait for their answer: a client that sends all at once and ends its side gets each of them."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import sys
from collections.abc import AsyncIterable, AsyncIterator

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from mgrag.mcp.unreadable import refusal_of

_Incoming = SessionMessage | Exception


class Waiting:
    """The ids of requests without an answer."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._changed = anyio.Event()

    def came(self, item: _Incoming) -> None:
        message = item.message if isinstance(item, SessionMessage) else None
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._ids.discard((message.params or {}).get("requestId", ""))  # which gets no answer

    def went(self, item: SessionMessage) -> None:
        if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
            self._ids.discard(item.message.id)
            self._changed.set()

    def __bool__(self) -> bool:
        return bool(self._ids)

    async def none(self) -> None:
        """Wait until each has its answer."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


@contextlib.asynccontextmanager
async def until_answered(
    incoming: AsyncIterable[_Incoming], outgoing: MemoryObjectSendStream[SessionMessage], waiting: Waiting
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Streams for a server, of which the first one does not end before what came in has been answered.

    At the end of its input the SDK drops what it is working on, and at all times what it cannot read.

    Args:
        incoming: What comes in.
        outgoing: Where answers go.
        waiting: Is told what comes and goes.
    """
    pass_in, messages = anyio.create_memory_object_stream[_Incoming](0)
    replies, pass_out = anyio.create_memory_object_stream[SessionMessage](0)

    async def bring() -> None:
        async with pass_in:
            async for item in incoming:
                if (refusal := refusal_of(item)) is not None:
                    await outgoing.send(refusal)
                else:
                    waiting.came(item)
                    await pass_in.send(item)
            await waiting.none()

    async def take() -> None:
        async with outgoing, pass_out:  # at its end both, or who has an answer would wait for somebody to take it
            async for item in pass_out:
                await outgoing.send(item)
                waiting.went(item)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bring)
        tasks.start_soon(take)
        yield messages, replies
        tasks.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def while_somebody_reads(descriptor: int, waiting: Waiting) -> AsyncIterator[None]:
    """End the block when nobody reads a pipe any more, amid a request: the client was killed, or has given up.

    Otherwise the server would go on with what it was asked for, and keep the graph from others.

    Args:
        descriptor: Of the end of the pipe that is written to. What is no pipe is not watched.
        waiting: The requests without an answer.

    Raises:
        BrokenPipeError: in a group, if nobody reads it any more.
    """
    own = os.dup(descriptor)  # since the SDK puts something else in its place

    async def watch() -> None:
        await anyio.wait_readable(own)  # it never is, but this also ends with the other end of the pipe
        if waiting and _nobody_reads(own):
            raise BrokenPipeError

    try:
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32" and stat.S_ISFIFO(os.fstat(own).st_mode):
                tasks.start_soon(watch)
            yield
            tasks.cancel_scope.cancel()
    finally:
        os.close(own)


def _nobody_reads(descriptor: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, 0)
    return any(told & (select.POLLERR | select.POLLHUP) for _, told in waiting.poll(0))
