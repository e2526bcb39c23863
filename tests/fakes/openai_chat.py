"""The chat part of the fake OpenAI server::

    async with OpenAIServer() as server:
        chat = Chat(server)
        chat.then("It rains [1].")                 # the next answer; a callable gets the request's JSON
        chat.then(stream(["It ", "rains"], cut=True))

Without anything queued it answers ``chat.default``.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.openai_server import OpenAIServer, Reply, Request, as_json, error


@dataclass
class Stream:
    """How an answer is streamed.

    Attributes:
        parts: The words.
        pause: Seconds before each part but the first.
        cut: Drop the connection after the last part, instead of ending.
        silent: End without a finish reason and without ``[DONE]``.
        after: Raw bytes sent after the last part, instead of ending.
        sent: When each part was sent (``time.monotonic``).
        proceed: If set, parts but the first wait for it; of a server in a thread of its own, a ``threading.Event``.
    """

    parts: Sequence[str]
    pause: float = 0.0
    cut: bool = False
    silent: bool = False
    after: bytes | None = None
    finish_reason: str = "stop"
    sent: list[float] = field(default_factory=list)
    proceed: asyncio.Event | threading.Event | None = None


Said = str | Stream | Callable[[Any], str]


class Chat:
    """Answers at ``/chat/completions``.

    Args:
        server: The server.
        refuses: Parameters it does not know; ``{"response_format": "json_schema"}`` refuses only such a value.
        stream_usage: Whether a stream ends with token counts when asked for.
    """

    def __init__(self, server: OpenAIServer, *, refuses: dict[str, str | None] | None = None) -> None:
        self.default: Said = "I cannot say."
        self.refuses = refuses or {}
        self.bodies: list[dict[str, Any]] = []
        self._queue: deque[Said] = deque()
        server.routes["chat/completions"] = self.completions

    def then(self, *answers: Said) -> None:
        """Queue answers."""
        self._queue.extend(answers)

    async def completions(self, request: Request) -> Reply:
        """POST /chat/completions."""
        body = request.json
        self.bodies.append(body)
        for name, value in self.refuses.items():
            if name in body and (value is None or value in json.dumps(body[name])):
                advice = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return error(400, f"Unsupported parameter: '{name}' {value or ''} is not supported.{advice}")
        said = self._queue.popleft() if self._queue else self.default
        if callable(said):
            said = said(body)
        if body.get("stream"):
            return Reply(200, self._events(said, body), {"Content-Type": "text/event-stream"})
        text, reason = ("".join(said.parts), said.finish_reason) if isinstance(said, Stream) else (said, "stop")
        return as_json(self._whole(text, reason, body))

    def _whole(self, text: str, reason: str, body: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if "tools" in body:
            function = {"name": body["tools"][0]["function"]["name"], "arguments": text}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion", "model": body["model"], "choices": [choice]} | {
            "usage": _usage(body, text)
        }

    async def _events(self, said: str | Stream, body: dict[str, Any]) -> AsyncIterator[bytes]:
        plan = said if isinstance(said, Stream) else Stream([part + " " for part in said.split(" ")])
        for index, part in enumerate(plan.parts):
            if index:
                if isinstance(plan.proceed, asyncio.Event):
                    await plan.proceed.wait()
                elif plan.proceed is not None:
                    await asyncio.to_thread(plan.proceed.wait, 60)
                if plan.pause:
                    await asyncio.sleep(plan.pause)
            plan.sent.append(time.monotonic())
            yield _event({"choices": [{"index": 0, "delta": {"content": part}, "finish_reason": None}]})
        if plan.after is not None:
            yield plan.after
            return
        if plan.cut:
            await asyncio.sleep(0.02)  # what was written is to arrive before the connection goes
            raise ConnectionResetError
        if plan.silent:
            return
        yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": plan.finish_reason}]})
        if body.get("stream_options", {}).get("include_usage"):
            yield _event({"choices": [], "usage": _usage(body, "".join(plan.parts))})
        yield b"data: [DONE]\n\n"


def _usage(body: dict[str, Any], text: str) -> dict[str, int]:
    """Words stand for tokens."""
    sent = sum(len(message["content"].split()) for message in body["messages"])
    return {"prompt_tokens": sent, "completion_tokens": len(text.split()), "total_tokens": sent + len(text.split())}


def _event(payload: dict[str, Any]) -> bytes:
    return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'model': 'm', **payload})}\n\n".encode()
