"""What can go wrong with a request to an OpenAI-compatible server, as far as somebody can do something about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from libs.dataloader.network import retry_after, span

if TYPE_CHECKING:
    from core.rag.openai_endpoint import Endpoint

_RETRIED = {408, 409, 425, 429}
_NOT_RETRIED = {501, 505}


class FailureKind(Enum):
    """What went wrong, as far as the caller can do something about it."""

    AUTH = "auth"
    NOT_FOUND = "not found"
    REFUSED = "refused"
    LIMITED = "limited"
    UNAVAILABLE = "unavailable"
    MALFORMED = "malformed"


class ApiFailure(Exception):  # noqa: N818 - callers turn it into an error of theirs
    """A request failed for good.

    Attributes:
        kind: What went wrong.
        status: The HTTP status, if there was an answer.
        message: What the server said, without keys.
        retryable: Whether repeating it could have helped.
        retry_after: Seconds that the server asked to wait.
        unreached: Whether there was no connection at all: refused, or the name of the server is not known.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        unreached: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.unreached = unreached
        self.attempts = 1

    def __str__(self) -> str:
        status = f" (HTTP {self.status})" if self.status is not None else ""
        times = f", {self.attempts} times in a row" if self.attempts > 1 else ""
        wait = self.retry_after or 0.0
        back = f"; it asks to come back in {span(wait)}" if wait >= 1 else ""
        return f"{self.message.removesuffix('.')}{status}{times}{back}"


def failure_of_status(error: Any, redact: Callable[[str], str], now: float) -> ApiFailure:
    """Return the failure for an answer with a status of an error.

    Args:
        error: An ``openai.APIStatusError``.
        redact: Removes keys from the message.
        now: The time (``time.time``).
    """
    status: int = error.status_code
    headers: Mapping[str, str] = error.response.headers
    message = redact(_server_message(error))
    if status in (401, 403):
        return ApiFailure(FailureKind.AUTH, message, status=status)
    if status == 404:
        return ApiFailure(FailureKind.NOT_FOUND, message, status=status)
    retryable = status in _RETRIED or (status >= 500 and status not in _NOT_RETRIED)
    # No waiting helps against an empty account.
    if error.code == "insufficient_quota" or headers.get("x-should-retry") == "false":
        retryable = False
    kind = FailureKind.LIMITED if status == 429 else FailureKind.UNAVAILABLE
    return ApiFailure(
        kind if status in _RETRIED or status >= 500 else FailureKind.REFUSED,
        message,
        status=status,
        retryable=retryable,
        retry_after=_asked_wait(headers, now),
    )


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a server is asked to do, and which settings tell how.

    Attributes:
        verb: What it does: "answer".
        settings: How the names of the settings begin: ``MGRAG_LLM``.
        model: What names the model.
        deployment: The variable that names the deployment on Azure; empty where this is not done there.
    """

    verb: str
    settings: str
    model: str
    deployment: str = ""


def explain(failure: ApiFailure, endpoint: Endpoint, model: str, purpose: Purpose) -> str:
    """Say what happened to a request, and what to do next."""
    url, named = endpoint.url, purpose.settings
    if failure.kind is FailureKind.AUTH:
        return f"{url} rejected the key: {failure}. Check {endpoint.key_variable}"
    if failure.kind is FailureKind.NOT_FOUND:
        what = purpose.model if endpoint.azure_version is None else purpose.deployment
        return f"{url} does not know {model}: {failure}. Check {endpoint.url_variable} and {what}"
    if failure.kind is FailureKind.LIMITED and not failure.retryable:
        return f"{url} refuses to {purpose.verb} for this account: {failure}. Check its plan and quota"
    if failure.kind is FailureKind.LIMITED:
        return (
            f"{url} limits the rate: {failure}. Lower {named}_CONCURRENCY, or wait longer with {named}_RETRY_DEADLINE"
        )
    if failure.kind is FailureKind.UNAVAILABLE:
        return f"{url} cannot be reached or does not answer: {failure}. Check it, and {named}_TIMEOUT"
    return f"{model} at {url} did not {purpose.verb}: {failure}"


def _server_message(error: Any) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = message if isinstance(message, str) else str(body or error.message)
    return text if len(text) <= 500 else text[:500] + "…"


def _asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, by ``retry-after-ms`` or ``Retry-After``."""
    milliseconds = retry_after(headers.get("retry-after-ms", ""), now)
    return milliseconds / 1000 if milliseconds is not None else retry_after(headers.get("retry-after", ""), now)
