"""Requests that wait for their answer: a client that sends all at once and ends its side gets each of them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterable, AsyncIterator

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from mgrag.mcp.unreadable import refusal_of

_Incoming = SessionMessage | Exception


class _Waiting:
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

    async def none(self) -> None:
        """Wait until each has its answer."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


@contextlib.asynccontextmanager
async def until_answered(
    incoming: AsyncIterable[_Incoming], outgoing: MemoryObjectSendStream[SessionMessage]
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[_Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Streams for a server, of which the first one does not end before what came in has been answered.

    At the end of its input the SDK drops what it is working on, and at all times what it cannot read.

    Args:
        incoming: What comes in.
        outgoing: Where answers go.
    """
    waiting = _Waiting()
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
        async with outgoing:
            async for item in pass_out:
                await outgoing.send(item)
                waiting.went(item)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bring)
        tasks.start_soon(take)
        yield messages, replies
        tasks.cancel_scope.cancel()
