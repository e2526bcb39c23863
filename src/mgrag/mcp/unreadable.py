"""Messages that the SDK cannot read. It drops them, and the client would wait for the answer for ever."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_ADVICE = (
    "Half of a character (an escape such as \\ud83d without the other half), and what is nested more than 200 levels"
    " deep, cannot be read: send it without."
)


@contextlib.asynccontextmanager
async def answered(
    incoming: AsyncIterable[SessionMessage | Exception], answer: Callable[[SessionMessage], Awaitable[None]]
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """The messages that come in, after answering requests among them that cannot be read."""
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def pass_on() -> None:
        async with send:
            async for message in incoming:
                if isinstance(message, Exception) and (problem := _problem(message)) is not None:
                    await answer(SessionMessage(problem))
                else:
                    await send.send(message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        yield receive
        tasks.cancel_scope.cancel()


def _problem(error: Exception) -> JSONRPCError | None:
    """What is wrong with a message, for who sent it; ``None`` if that is nobody who waits for an answer."""
    if not isinstance(error, ValidationError):
        return None
    found = error.errors(include_url=False, include_context=False)[0]
    if found["type"] != "json_invalid" or (identifier := _id_in(found["input"])) is None:
        return None
    return JSONRPCError(
        jsonrpc="2.0", id=identifier, error=ErrorData(code=PARSE_ERROR, message=f"{found['msg']}. {_ADVICE}")
    )


def _id_in(line: object) -> str | int | None:
    """The id of a request that Python's own decoder can read, which takes more than that of the SDK."""
    try:
        message = json.loads(str(line))
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    identifier = message.get("id")
    return identifier if isinstance(identifier, (str, int)) and not isinstance(identifier, bool) else None
