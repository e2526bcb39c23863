"""Requests to OpenAI, Azure OpenAI and compatible servers: one client, retries, deadlines.

Nothing here knows what is asked; embedders and language models bring the request and the reading of its answer, and
turn an ``ApiFailure`` into an error of their own. The ``openai`` package is imported when the first request is sent.
Its own retries are off: here a request is repeated after 408, 409, 425, 429, 5xx, time-outs, lost connections and
answers that are not JSON, with jitter, not before the time that the server asks for, and only until a deadline.

Keys are kept out of every message, log line and ``repr``, also where a server sends them back in its own message.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import json
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.rag.errors import MissingDependencyError
from core.rag.openai_endpoint import PLACEHOLDER_KEY
from core.rag.openai_events import MalformedAnswerError, server_sent_events
from core.rag.openai_failures import ApiFailure, FailureKind, failure_of_status

if TYPE_CHECKING:
    from core.rag.openai_endpoint import Endpoint

_FIRST_DELAY = 0.5
_LONGEST_DELAY = 30.0
# People are told of the first wait of so many seconds.
_LONG_DELAY = 5.0
# Tries in a row where the server does not say when to come back; a rate limit is waited for until the deadline.
_ATTEMPTS = {"unavailable": 6, "malformed": 3}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock, so that tests need not wait."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    # Jitter spreads callers out; it has nothing to hide.
    jitter: Callable[[], float] = field(default=random.random)


@dataclass(slots=True)
class Tally:
    """What one call took: requests sent, and how many of them repeated one that failed."""

    requests: int = 0
    retries: int = 0


class ApiClient:
    """One client for one endpoint: bounded concurrency, retries, counts.

    Args:
        endpoint: Where to.
        timeout: Seconds for one request from sending to the last byte.
        concurrency: Requests at a time.
        deadline: Seconds that may pass between the first failure of a request and its last repetition.
        azure_deployment: The deployment to ask (Azure only).
        timing: The clock.

    Raises:
        MissingDependencyError: The ``openai`` package is not installed.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float,
        concurrency: int,
        deadline: float,
        azure_deployment: str | None = None,
        timing: Timing | None = None,
    ) -> None:
        if importlib.util.find_spec("openai") is None:
            raise MissingDependencyError("openai", "openai", f"The model at {endpoint.url}")
        self.endpoint = endpoint
        self.requests = 0
        self.retries = 0
        self.closed = False
        self._timeout = timeout
        self._concurrency = concurrency
        self._deadline = deadline
        self._deployment = azure_deployment
        self._timing = timing or Timing()
        self._not_before = 0.0
        self._told_of_waiting = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None
        self._slots = asyncio.Semaphore(concurrency)

    def __repr__(self) -> str:
        return f"ApiClient({self.endpoint.url!r})"

    async def call[T](
        self, send: Callable[[Any], Awaitable[Any]], read: Callable[[Any], T], tally: Tally | None = None
    ) -> T:
        """Send a request, again if need be, and read its answer.

        Args:
            send: Gets the ``openai`` client, sends the request with ``with_raw_response`` and returns its result.
            read: Gets the JSON of the answer; raises ``MalformedAnswerError`` if it is not what it should be.
            tally: Counts what this call took.

        Returns:
            What ``read`` returned.

        Raises:
            ApiFailure: It did not succeed, or not in time.
        """

        async def attempt(client: Any) -> T:
            # The client's own time-out is per read: a server that sends a byte now and then would never meet it.
            async with asyncio.timeout(self._timeout):
                answer = await send(client)
            return read(json.loads(answer.http_response.content))

        result, slots = await self._repeat(attempt, tally or Tally())
        slots.release()
        return result

    async def stream[T](
        self, send: Callable[[Any], Awaitable[Any]], whole: Callable[[Any], T], tally: Tally | None = None
    ) -> AsyncGenerator[str | T, None]:
        """Send a request whose answer are server-sent events; again if need be, but only until the first of them.

        Closing the generator, or cancelling the task that waits for it, closes the request.

        Args:
            send: As in :meth:`call`, with ``stream=True``.
            whole: Reads the JSON of an answer that a server without streams gives all the same, as ``read`` there.
            tally: Counts what this call took.

        Yields:
            The data of each event, as soon as it is there; or only what ``whole`` returned.

        Raises:
            ApiFailure: It did not succeed, or nothing came for as long as a whole request may take.
        """
        async with contextlib.AsyncExitStack() as stack:

            async def attempt(client: Any) -> tuple[str | T, AsyncGenerator[str, None] | None]:
                async with asyncio.timeout(self._timeout):
                    answer = (await send(client)).http_response
                    try:
                        parts = answer.aiter_bytes()
                        begins = await anext(parts, b"")
                        if begins.lstrip().startswith(b"{"):  # as no event does
                            result = whole(json.loads(begins + b"".join([part async for part in parts])))
                            await answer.aclose()
                            return result, None
                        events = server_sent_events(_joined(begins, parts))
                        first = await anext(events)
                    except StopAsyncIteration:
                        await answer.aclose()
                        raise MalformedAnswerError("the answer is not a stream of events") from None
                    except BaseException:
                        await answer.aclose()
                        raise
                stack.push_async_callback(answer.aclose)
                stack.push_async_callback(events.aclose)
                return first, events

            (event, events), slots = await self._repeat(attempt, tally or Tally())
            stack.callback(slots.release)
            yield event
            while events is not None:
                try:
                    with self._failures():
                        async with asyncio.timeout(self._timeout):
                            event = await anext(events)
                except StopAsyncIteration:
                    return
                yield event

    async def _repeat[T](self, attempt: Callable[[Any], Awaitable[T]], tally: Tally) -> tuple[T, asyncio.Semaphore]:
        """Try until it succeeds or cannot; the slot that the last attempt took is the caller's to release."""
        attempts = 0
        first_failure: float | None = None
        while True:
            client, slots = await self._open()
            await slots.acquire()
            try:
                await self._wait_for_rate_limit()
                self.requests += 1
                tally.requests += 1
                with self._failures():
                    return await attempt(client), slots
            except ApiFailure as error:
                failure = error
                slots.release()
            except BaseException:
                slots.release()
                raise
            attempts += 1
            failure.attempts = attempts
            now = self._timing.monotonic()
            first_failure = now if first_failure is None else first_failure
            delay = self._delay(failure, attempts)
            if (
                not failure.retryable
                or attempts >= _ATTEMPTS.get(failure.kind.value, attempts + 1)
                or now + delay > first_failure + self._deadline
            ):
                raise failure
            if failure.retry_after is not None:
                self._not_before = max(self._not_before, now + failure.retry_after)
            self.retries += 1
            tally.retries += 1
            told = logging.INFO if self._told_of_waiting or delay < _LONG_DELAY else logging.WARNING
            self._told_of_waiting |= told == logging.WARNING
            _log.log(told, "%s: %s. Asked again in %.1f s.", self.endpoint.url, failure, delay)
            await self._timing.sleep(delay)

    async def close(self) -> None:
        """Close the connections; requests after that are refused."""
        self.closed = True
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _open(self) -> tuple[Any, asyncio.Semaphore]:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # Connections belong to the loop that opened them: a second asyncio.run starts afresh.
            self._loop, self._client, self._slots = loop, None, asyncio.Semaphore(self._concurrency)
        if self._client is None:
            # Importing takes most of a second, in which other tasks can go on.
            module = await asyncio.to_thread(importlib.import_module, "openai")
            if self._client is None:
                self._client = self._make_client(module)
        if self.closed:
            raise ApiFailure(FailureKind.UNAVAILABLE, "the connection was closed by this program")
        return self._client, self._slots

    def _make_client(self, openai: Any) -> Any:
        options: dict[str, Any] = {
            "api_key": self.endpoint.key.get_secret_value(),
            "timeout": self._timeout,
            "max_retries": 0,
            # The client's own one tries to close itself when it is collected, in whatever event loop runs then.
            "http_client": openai.DefaultAsyncHttpxClient(timeout=self._timeout),
        }
        if self.endpoint.azure_version is None:
            return openai.AsyncOpenAI(base_url=self.endpoint.url, **options)
        return openai.AsyncAzureOpenAI(
            azure_endpoint=self.endpoint.url,
            azure_deployment=self._deployment,
            api_version=self.endpoint.azure_version,
            **options,
        )

    async def _wait_for_rate_limit(self) -> None:
        wait = self._not_before - self._timing.monotonic()
        if wait > 0:
            await self._timing.sleep(wait)

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn what a request raises into an ``ApiFailure``."""
        import openai

        # Which of its HTTP packages a version of the client uses is seen from its class.
        http: Any = importlib.import_module(openai.DefaultAsyncHttpxClient.__bases__[0].__module__.partition(".")[0])
        try:
            yield
        except openai.APIStatusError as error:
            raise failure_of_status(error, self.redact, self._timing.wall()) from self._cause(error)
        except (TimeoutError, openai.APITimeoutError, http.TimeoutException) as error:
            message = f"there was no answer within {self._timeout:g} s"
            raise ApiFailure(FailureKind.UNAVAILABLE, message, retryable=True) from self._cause(error)
        except (openai.APIConnectionError, http.HTTPError) as error:
            reason = self.redact(str(error.__cause__ or error)) or "the connection was lost"
            unreached = isinstance(error.__cause__ or error, http.ConnectError)
            failure = ApiFailure(FailureKind.UNAVAILABLE, reason, retryable=True, unreached=unreached)
            raise failure from self._cause(error)
        except openai.OpenAIError as error:
            raise ApiFailure(FailureKind.REFUSED, self.redact(str(error))) from self._cause(error)
        except ValueError as error:
            reason = str(error) if isinstance(error, MalformedAnswerError) else f"the answer is not JSON ({error})"
            raise ApiFailure(FailureKind.MALFORMED, self.redact(reason), retryable=True) from self._cause(error)

    def _delay(self, failure: ApiFailure, attempts: int) -> float:
        jitter = self._timing.jitter()
        # A server that asks for no wait, and goes on refusing, would be asked hundreds of times a second.
        if failure.retry_after:
            return failure.retry_after + jitter * min(1.0, 0.1 * failure.retry_after)
        longest = min(_LONGEST_DELAY, _FIRST_DELAY * 2.0 ** (attempts - 1))
        return longest * (0.5 + 0.5 * jitter)

    def redact(self, text: str) -> str:
        """Return a text with the API key replaced by ``***``."""
        key = self.endpoint.key.get_secret_value()
        return text if key == PLACEHOLDER_KEY else text.replace(key, "***")

    def _cause(self, error: BaseException) -> BaseException | None:
        # A traceback prints causes: one that repeats the key is dropped.
        shown = f"{error} {error!r} {error.__cause__}"
        return error if self.redact(shown) == shown else None


class Served:
    """What all models on a server have in common: a name there, and a client, which the model makes."""

    _model: str
    _api: ApiClient

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self._model!r}, endpoint={self._api.endpoint.url!r})"

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()


async def _joined(begins: bytes, rest: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    yield begins
    async for part in rest:
        yield part
