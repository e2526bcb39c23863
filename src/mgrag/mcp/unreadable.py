"""Messages that the SDK cannot read. It drops them, and the client would wait for the answer for ever."""

from __future__ import annotations

import json

from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_ADVICE = (
    "Half of a character (an escape such as \\ud83d without the other half), and what is nested more than 200 levels"
    " deep, cannot be read: send it without."
)


def refusal_of(message: SessionMessage | Exception) -> SessionMessage | None:
    """The answer to a request that cannot be read; ``None`` if it can be, or if nobody waits for an answer."""
    if not isinstance(message, ValidationError):
        return None
    found = message.errors(include_url=False, include_context=False)[0]
    if found["type"] != "json_invalid" or (identifier := _id_in(found["input"])) is None:
        return None
    error = ErrorData(code=PARSE_ERROR, message=f"{found['msg']}. {_ADVICE}")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


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
