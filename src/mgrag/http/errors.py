"""Errors as responses: a status, and a message that says what to do next."""

from __future__ import annotations

import errno
import logging
from typing import TYPE_CHECKING, Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from core.rag import errors
from core.rag.dbhandler.store import READING_ONLY
from libs.regexes import regex
from mgrag.http.access import RefusedError
from mgrag.http.guard import FAILED, refusal
from mgrag.http.names import RESERVED
from mgrag.http.request_ids import HEADER, request_id

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

_logger = logging.getLogger(__name__)

#: The status for each kind of error; the first that fits counts.
_STATUS: tuple[tuple[type[errors.MGRagError], int], ...] = (
    (errors.InvalidInputError, 400),
    (errors.NotFoundError, 404),
    (errors.ModelMismatchError, 409),
    (errors.StoreReadOnlyError, 403),
    (errors.StoreFullError, 507),
    (errors.StoreTimeoutError, 504),
    (errors.StoreUnavailableError, 503),
    (errors.StoreConflictError, 503),
    (errors.BackupError, 503),
    (errors.SourceError, 422),
    (errors.EmbeddingInputError, 422),
    (errors.LanguageModelInputError, 422),
    (errors.EmbeddingError, 502),
    (errors.LanguageModelError, 502),
    (errors.RerankerError, 502),
)

#: What the system says where a file has no room.
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

#: What FastAPI says of a body that Python's decoder of JSON raises another error on than one of syntax.
_UNREADABLE = "There was an error parsing the body"

#: What is right below a database: a collection, or another route.
_IN_DATABASE = regex(r"/db/[^/]+/([^/]+)\Z")

#: How many of the problems of a request are told.
_PROBLEMS = 5


class Problem(BaseModel):
    """What is wrong, and what to do next."""

    error: str = Field(description="For people.")
    type: str | None = Field(default=None, description="The name of the exception, if there is one.")
    request_id: str | None = Field(default=None, description="Finds the reason in the server's log, if that says it.")
    received: str | None = Field(default=None, description="What there is of an answer that the model broke off.")


#: What the description of the API says of errors; FastAPI's own describes others than these. Not by ``model``: of that
#: FastAPI makes a validator for each route and status, and describes those of streams as events.
DESCRIBED: dict[int | str, dict[str, Any]] = {
    status: {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, description in (
        (400, "The request makes no sense"),
        (401, "The key or token is missing or not valid"),
        (403, "The key, token or server does not allow this"),
        (404, "What was named does not exist"),
        (409, "The namespace was built with another embedding model"),
        (413, "The request is too large"),
        (422, "The request makes no sense, or a source cannot be loaded"),
        (500, "The server failed; its log says why"),
        (502, "The embedding provider, the language model or the reranker failed"),
        (503, "The graph database is not available"),
        (504, "The graph database took too long"),
        (507, "The graph database is full, or the disk for uploads and copies"),
    )
}


def no_namespace(name: str) -> errors.NotFoundError:
    """The error for a namespace that is not there; it names no others, which the caller may not even know of."""
    return errors.NotFoundError(f"There is no namespace {name!r}. GET /db lists those that you may use.")


def status_of(error: errors.MGRagError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def may_be_told(error: errors.MGRagError) -> bool:
    """Whether callers may know of an error. What is wrong with the server itself is for its log: it names its files."""
    if isinstance(error, errors.StoreReadOnlyError):
        return str(error) == READING_ONLY
    return status_of(error) < 500


def body_of(error: errors.MGRagError, request: Request) -> dict[str, str]:
    """The JSON of an error."""
    status = status_of(error)
    if may_be_told(error):
        message = str(error).encode("utf-8", "replace").decode()  # what it quotes may hold half of a character
        for advice, own in _FOR_SERVICES.items():
            message = message.replace(advice, own)
        return {"error": message, "type": type(error).__name__}
    # The route without its values: these may be people, and hold lines of their own.
    identifier, kind = request_id(request), type(error).__name__
    _logger.error(
        "%s %s: %s: %s (request %s)", request.method, request.scope["route"].path_format, kind, error, identifier
    )
    body = {"error": _TOLD.get(status, FAILED), "type": kind, "request_id": identifier}
    return {**body, "received": error.received} if isinstance(error, errors.StreamCutError) else body


#: What error messages recommend to people who have the command line or Python, for callers that have routes.
_FOR_SERVICES = {
    "See: mgrag graph entities.": "GET /db/NAME/graph/nodes lists what there is.",
    "See: mgrag list.": "GET /db/NAME/documents lists them.",
    "--create (create=True).": '"create": true.',
    "start it with create_conversation.": "POST /db/NAME/conversations begins one.",
    " The first argument is the session: recall(query=…).": "",
    "session_id, memory_id, user_id or before.": "sessionId, memoryId, userId or before.",
}

_TOLD = {
    403: "Nothing can be stored: the server can only read its graph. Its log says why.",
    502: "The embedding provider, the language model or the reranker failed; the server's log says how.",
    503: "The graph database cannot be used now; try again later. The server's log says why.",
    504: "The graph database took too long; ask for less, or try again later.",
    507: "The graph database is full; the server's log says more.",
}

_NO_ROOM_TOLD = "The server has no room for the files of a request; try again later. Its log says more."


def add_handlers(app: FastAPI) -> None:
    """Have every error answered as JSON with ``error``, what happened."""
    app.add_exception_handler(errors.MGRagError, _failed)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OSError, _of_system)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _broken)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.MGRagError)
    return JSONResponse(body_of(error, request), status_of(error))


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RefusedError)
    return refusal(error)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    told = list(dict.fromkeys(map(_problem, problems)))  # of a choice of types, each has the same to say
    said = told[:_PROBLEMS]
    if len(told) > _PROBLEMS:
        said.append(f"and {len(told) - _PROBLEMS} more")
    kind = request.headers.get("content-type", "")
    about = problems[0]["loc"][:2]
    if about == ("body", "files"):  # a field of uploads only
        said = ["The body must be a form (multipart/form-data) with files, each in a field called 'files'"]
    elif about == ("body", "dict[str,any]"):  # a record, or an array of them: what is wrong with each of the two
        said = ["A record is a JSON object; send one, or an array of them"]
    elif about == ("body",) and not kind.startswith("application/json"):
        said = ["The body must be JSON, with the header Content-Type: application/json"]
    return JSONResponse({"error": "; ".join(said), "type": "InvalidInputError"}, 422)


def _problem(item: dict[str, Any]) -> str:
    where = [str(part) for part in item["loc"][1:]]
    if item["type"] == "json_invalid":
        return f"The body is not valid JSON, at character {'.'.join(where)}: {item['ctx']['error']}"
    if item["type"] == "extra_forbidden":
        return f"{'.'.join(where)}: There is no such field, or it is given by another name, too; see /openapi.json"
    return f"{'.'.join(where) or 'body'}: {item['msg'].removeprefix('Value error, ')}"


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, OSError):  # an upload that cannot be kept; FastAPI takes it for one that is wrong
        return await _of_system(request, error.__cause__)
    message = str(error.detail)
    headers = dict(error.headers or {})
    if error.status_code in (404, 405):  # raised by the router only, which says no more than the name of the status
        called = _IN_DATABASE.search(request.scope["path"])
        taken = f", and a collection cannot be called {called[1]!r}" if called and called[1] in RESERVED else ""
        message = f"There is no route {request.method} {request.url.path[:200]}{taken}; /openapi.json lists all routes."
        if error.status_code == 405:
            headers["Allow"] = ", ".join(_methods_at(request))
    elif message == _UNREADABLE and (packed := request.headers.get("content-encoding")):
        message = f"The body is compressed (Content-Encoding: {packed[:200]}): send it as it is."
    elif message == _UNREADABLE:
        message = (
            "The body cannot be read as JSON in UTF-8: it has other bytes, is nested too deeply, or a number in it has"
            " thousands of digits."
        )
    return JSONResponse({"error": message}, error.status_code, headers)


def _methods_at(request: Request) -> list[str]:
    """The methods that there are for a path: the router names those of the first route that has it, and no others."""
    about = {name: request.scope[name] for name in ("type", "path", "root_path", "headers")}
    return [
        allowed
        for method in ("DELETE", "GET", "PATCH", "POST")
        if any(route.matches({**about, "method": method})[0] == Match.FULL for route in request.app.routes)
        for allowed in ((method, "HEAD") if method == "GET" else (method,))
    ]


async def _of_system(request: Request, error: Exception) -> JSONResponse:
    """A full disk for temporary files, where uploads, imports and exports are kept; what else is a bug is raised."""
    if not isinstance(error, OSError) or error.errno not in _NO_ROOM:
        raise error
    identifier = request_id(request)
    _logger.error("%s: %s (request %s); TMPDIR says where temporary files are.", request.method, error, identifier)
    return JSONResponse({"error": _NO_ROOM_TOLD, "request_id": identifier}, 507)


async def _gone(_: Request, __: Exception) -> Response:
    """Nobody is there to be told, and nothing is wrong; it is counted as other bodies of which the end is missing."""
    return Response(status_code=400)


async def _broken(request: Request, error: Exception) -> JSONResponse:
    """What is a bug, or a full memory; it is raised again behind this, and logged by the server."""
    identifier, kind = request_id(request), type(error).__name__
    _logger.error("%s: %s (request %s); what led to it follows.", request.method, kind, identifier)
    return JSONResponse({"error": FAILED, "request_id": identifier}, 500, {HEADER: identifier})
