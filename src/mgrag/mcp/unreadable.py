"""Messages that the SDK cannot read. It drops them, and the client would wait for the answer for ever."""

from __future__ import annotations

import json

from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_ADVICE = (
    "Half of a character (an escape such as \\ud83d without the other half), and what is nested more than 200 levels"
    " deep, cannot be read: send it without."
)


_FORM = 'A request has "jsonrpc": "2.0", an "id", a "method", and "params" that are an object, if it has any.'


def refusal_of(message: SessionMessage | Exception) -> SessionMessage | None:
    """The answer to a request that cannot be read; ``None`` if it can be, or if nobody waits for an answer."""
    if not isinstance(message, ValidationError):
        return None
    found = message.errors(include_url=False, include_context=False)
    if found[0]["type"] == "json_invalid":
        code, told, request = PARSE_ERROR, f"{found[0]['msg']}. {_ADVICE}", _decoded(found[0]["input"])
    else:  # What it could have been is told one by one, and of which it has no field at all with the whole of it.
        wholes = (problem["input"] for problem in found if problem["type"] == "missing")
        code, told, request = INVALID_REQUEST, _FORM, next(wholes, None)
    if (identifier := _id_in(request)) is None:
        return None
    error = ErrorData(code=code, message=told)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=identifier, error=error))


def _decoded(line: object) -> object:
    """What Python's own decoder reads, which takes more than that of the SDK."""
    try:
        return json.loads(str(line))
    except (ValueError, RecursionError):
        return None


def _id_in(message: object) -> str | int | None:
    """The id of what is a request."""
    if not isinstance(message, dict) or "method" not in message:
        return None
    identifier = message.get("id")
    return identifier if isinstance(identifier, (str, int)) and not isinstance(identifier, bool) else None
