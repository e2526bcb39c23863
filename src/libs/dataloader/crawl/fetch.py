"""Sends single GET requests: throttled per host, limited in size and time, and retried if that may help."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx

from libs.dataloader.crawl.cache import AnswerCache
from libs.dataloader.crawl.clock import Clock
from libs.dataloader.crawl.decoding import ACCEPT_ENCODING, BadEncodingError, BodyDecoder, TooMuchError
from libs.dataloader.crawl.guard import BlockedAddressError
from libs.dataloader.crawl.throttle import Throttle
from libs.dataloader.crawl.urls import host_and_port, host_of, origin
from libs.dataloader.network import causes_of, retry_after, span

MAX_RETRY_AFTER = 120.0
MAX_BACKOFF = 30.0
FIRST_BACKOFF = 0.5
TIRED_AFTER = 10
SILENT_AFTER = 30
LEFT_ALONE_AFTER = 3
MOST_COOKIES = 100  # browsers keep 180 of a site; servers refuse requests with more than 8 kB of them

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PERMANENT_REDIRECTS = frozenset((301, 308))
_NO_CONTENT = frozenset((204, 205))
_RETRIED = frozenset((408, 425, 429, *range(500, 600))) - {501, 505, 511}

#: Said of an answer that only makes sense to a conditional request, where none was sent.
UNASKED_304 = "HTTP 304 Not Modified, although the request was not conditional"

#: Given the response's headers and the beginning of its body: why the rest is not wanted, or ``None``.
Check = Callable[[httpx.Headers, bytes], str | None]


class FetchError(Exception):
    """A URL could not be fetched.

    Attributes:
        reason: What happened, as text for people.
        status: HTTP status, if there was a response.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status

    @property
    def may_pass(self) -> bool:
        """Whether a later attempt may succeed; false if the server gave a definite answer."""
        return self.status is None or self.status in _RETRIED

    @property
    def is_absent(self) -> bool:
        """Whether a file that a site need not have is not there, or not for crawlers (RFC 9309, section 2.3.1.3)."""
        return self.status in _NO_CONTENT or (
            self.status is not None and 400 <= self.status < 500 and self.status != 429
        )

    @property
    def is_gone(self) -> bool:
        """Whether the server said that the page does not exist."""
        return self.status in (404, 410)


class UnreachableError(FetchError):
    """The server cannot be reached: unknown name, connection refused, no response."""


class BlockedError(FetchError):
    """Requests to this address are not allowed."""


class RedirectError(FetchError):
    """The redirects do not lead to a page."""

    @property
    def may_pass(self) -> bool:
        """Never, because the site is set up this way."""
        return False


class UnwantedError(FetchError):
    """The page exists, but is too large, of an unwanted kind, or damaged."""

    @property
    def may_pass(self) -> bool:
        """Never."""
        return False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response.

    Attributes:
        url: The requested URL.
        status: 2xx, 304, or that of a redirect.
        headers: Of the response.
        body: Decompressed; empty for 304 and redirects.
        location: Where a redirect leads, as the server wrote it.
    """

    url: str
    status: int
    headers: httpx.Headers
    body: bytes = b""
    location: str | None = None

    @property
    def moved(self) -> bool:
        """Whether it is a permanent redirect."""
        return self.location is not None and self.status in _PERMANENT_REDIRECTS


@dataclass(slots=True)
class _HostState:
    answered: bool = False
    failed_in_a_row: int = 0
    silent_in_a_row: int = 0
    sent_away_in_a_row: int = 0


@dataclass(slots=True)
class _Failure:
    """A failed attempt."""

    error: FetchError
    retry: bool
    wait: float | None = None  # as requested by the server
    dripped: bool = False  # the response had begun when the timeout ended it


async def keep_location(response: httpx.Response) -> None:
    """Keep httpx from parsing the target of a redirect; every client of a :class:`Fetcher` needs this response hook.

    httpx parses the target even if it does not follow redirects, and fails if it is not a URL.
    """
    if (location := response.headers.get("location")) is not None:
        response.extensions["location"] = location
        del response.headers["location"]


@dataclass(slots=True)
class Fetcher:
    """Fetches with retries.

    A request is repeated after 408, 425, 429 and 5xx answers, broken connections and timeouts, up to ``retries``
    times. Between two attempts it waits

    - as long as Retry-After says; meanwhile no request is sent to the host at all. If that is more than
      :data:`MAX_RETRY_AFTER` seconds, the request fails at once; after :data:`LEFT_ALONE_AFTER` such responses in a
      row, all further requests to the host fail;
    - without Retry-After, :data:`FIRST_BACKOFF` seconds, doubled each time up to :data:`MAX_BACKOFF`, minus a random
      part of up to a half.

    There are fewer attempts if more are unlikely to help: two if a response began but did not end in time, or if no
    connection to a host that never answered can be made; one if the host's name does not exist. After
    :data:`TIRED_AFTER` consecutive failures of a host, its pages are tried once each; after :data:`SILENT_AFTER`
    without any response, they fail without being tried.

    Args:
        client: Sends the requests; has :func:`keep_location` as a response hook.
        throttle: Decides when a request may be sent.
        clock: The time.
        retries: How often a request is repeated at most.
        timeout: Seconds for one attempt, from connecting to the last byte.
        max_bytes: Size limit of a body, compressed and decompressed.
        headers_for: Further headers for a URL (credentials go only where the caller sent them).
        cache: Responses to other crawls of the same run.
        sender: Tells crawls apart that may get other responses; see :class:`AnswerCache`.
    """

    client: httpx.AsyncClient
    throttle: Throttle
    clock: Clock
    retries: int
    timeout: float
    max_bytes: int
    headers_for: Callable[[str], Mapping[str, str]]
    cache: AnswerCache | None = None
    sender: tuple[str, bool] = ("", True)
    requests: int = 0
    _hosts: dict[str, _HostState] = field(default_factory=dict)

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        check: Check | None = None,
        max_bytes: int | None = None,
        truncate: bool = False,
        urgent: bool = False,
    ) -> Fetched:
        """Fetch a URL; a redirect is returned, not followed.

        Args:
            url: Normalised URL.
            headers: Further headers, such as If-None-Match.
            check: Looks at headers and first bytes before the rest is read.
            max_bytes: Size limit; ``None``: that of the fetcher.
            truncate: Return the beginning of a body that is over the limit instead of failing.
            urgent: Do not wait until what was fetched before is handled.

        Raises:
            FetchError: if there is no usable response; often a more specific subclass.
        """
        host = self._hosts.setdefault(origin(url), _HostState())
        limit = self.max_bytes if max_bytes is None else max_bytes
        key = (url, limit, self.sender, frozenset(self.headers_for(url).items()))
        if self.cache is not None and (kept := self.cache.get(key, headers or {})) is not None:
            if 200 <= kept.status < 300 and check is not None and (reason := check(kept.headers, kept.body[:1024])):
                raise UnwantedError(reason)
            return kept
        attempt = 0
        while True:
            if host.silent_in_a_row >= SILENT_AFTER:
                raise UnreachableError(f"not tried: {host_of(url)} gave no answer to {SILENT_AFTER} requests in a row")
            outcome = await self._attempt(url, headers or {}, check, limit, truncate=truncate, urgent=urgent)
            if isinstance(outcome, Fetched):
                host.answered = True
                host.failed_in_a_row = host.silent_in_a_row = host.sent_away_in_a_row = 0
                if self.cache is not None:
                    self.cache.put(key, headers or {}, outcome)
                return outcome
            error = outcome.error
            if error.status is not None or isinstance(error, UnwantedError):
                host.answered = True
                host.silent_in_a_row = 0
            if outcome.wait is not None and outcome.wait > MAX_RETRY_AFTER:
                host.sent_away_in_a_row += 1
                error.reason += f"; the site asks to come back in {span(outcome.wait)}"
                raise error
            if error.status is not None:
                host.sent_away_in_a_row = 0
            limit_of_tries = self._tries(host, outcome)
            attempt += 1
            if not outcome.retry or attempt >= limit_of_tries:
                if outcome.retry:
                    host.failed_in_a_row += 1
                    host.silent_in_a_row += error.status is None
                if attempt > 1:
                    error.reason += f" ({attempt} attempts)"
                raise error
            await self._wait(url, attempt, outcome.wait)

    def _tries(self, host: _HostState, failure: _Failure) -> int:
        if host.failed_in_a_row >= TIRED_AFTER:
            return 1
        if failure.dripped or (isinstance(failure.error, UnreachableError) and not host.answered):
            return min(self.retries, 1) + 1
        return self.retries + 1

    async def _wait(self, url: str, attempt: int, asked: float | None) -> None:
        if asked is not None:
            self.throttle.pause(host_and_port(url), asked)
            return  # the next turn comes when the pause is over
        backoff = min(FIRST_BACKOFF * 2 ** (attempt - 1), MAX_BACKOFF)
        await self.clock.sleep(backoff * (0.5 + self.clock.chance() / 2))

    async def _attempt(
        self, url: str, headers: Mapping[str, str], check: Check | None, limit: int, *, truncate: bool, urgent: bool
    ) -> Fetched | _Failure:
        async with self.throttle.slot(host_and_port(url), urgent=urgent):
            if self._hosts[origin(url)].sent_away_in_a_row >= LEFT_ALONE_AFTER:  # possibly while this request waited
                reason = f"not tried: {host_of(url)} asks to be left alone for longer than a crawl waits"
                return _Failure(FetchError(reason), retry=False)
            self.requests += 1
            sent = {**self.headers_for(url), **headers, "Accept-Encoding": ACCEPT_ENCODING}
            begun = False
            try:
                async with asyncio.timeout(self.timeout), self.client.stream("GET", url, headers=sent) as response:
                    begun = True
                    return await self._answer(url, response, check, limit, truncate=truncate)
            except (TimeoutError, httpx.TimeoutException):
                reason = f"no complete answer within {self.timeout:g} s"
                return _Failure(FetchError(reason), retry=True, dripped=begun)
            except BlockedAddressError as error:
                return _Failure(BlockedError(str(error)), retry=False)
            except BadEncodingError as error:
                return _Failure(FetchError(str(error)), retry="breaks off" in str(error))
            except TooMuchError:
                return _Failure(UnwantedError(f"larger than the limit of {limit:,} bytes"), retry=False)
            except (httpx.TransportError, httpx.InvalidURL) as error:
                return _transport_failure(url, error)

    async def _answer(
        self, url: str, response: httpx.Response, check: Check | None, limit: int, *, truncate: bool
    ) -> Fetched | _Failure:
        if len(self.client.cookies.jar) > MOST_COOKIES:  # a site may set one for each page
            self.client.cookies.clear()
        status = response.status_code
        if status in _REDIRECTS and (location := response.extensions.get("location")):
            return Fetched(url, status, response.headers, location=location)
        if status == HTTPStatus.NOT_MODIFIED:
            return Fetched(url, status, response.headers)
        if not 200 <= status < 300 or status in _NO_CONTENT:
            reason = f"HTTP {status} {response.reason_phrase}".rstrip()
            wait = retry_after(response.headers.get("retry-after", ""), self.clock.now())
            return _Failure(FetchError(reason, status), retry=status in _RETRIED, wait=wait)
        body = await _read(response, check, limit, truncate=truncate)
        return body if isinstance(body, _Failure) else Fetched(url, status, response.headers, body)


async def _read(response: httpx.Response, check: Check | None, limit: int, *, truncate: bool) -> bytes | _Failure:
    is_raw = not response.is_stream_consumed
    decoder = BodyDecoder(response.headers.get("content-encoding", "") if is_raw else "", limit)
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > limit and not truncate:
        return _Failure(UnwantedError(f"{int(declared):,} bytes, the limit is {limit:,}"), retry=False)
    received = 0
    unchecked = check is not None
    try:
        async for piece in _pieces(response):
            room = limit - received
            received += len(piece)
            if received > limit:
                if truncate:
                    decoder.feed(piece[:room])
                raise TooMuchError
            decoder.feed(piece)
            if unchecked and len(head := decoder.head(1024)) == 1024:
                unchecked = False
                if check is not None and (reason := check(response.headers, head)):
                    return _Failure(UnwantedError(reason), retry=False)
    except TooMuchError:
        if truncate:
            return decoder.head(limit)
        raise
    body = decoder.finish()
    if unchecked and check is not None and (reason := check(response.headers, body[:1024])):
        return _Failure(UnwantedError(reason), retry=False)
    return body


async def _pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    if response.is_stream_consumed:  # by a transport that gives the whole body at once, decoded
        yield response.content
        return
    async for piece in response.aiter_raw():
        yield piece


def _transport_failure(url: str, error: httpx.TransportError | httpx.InvalidURL) -> _Failure:
    host = host_of(url)
    for cause in causes_of(error):
        if isinstance(cause, socket.gaierror):
            again = cause.errno == socket.EAI_AGAIN
            return _Failure(UnreachableError(f"the host name {host} cannot be resolved: {cause.strerror}"), retry=again)
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = f"the TLS certificate of {host} is not valid: {cause.verify_message}"
            return _Failure(UnreachableError(reason), retry=False)
        if isinstance(cause, ssl.SSLError):
            return _Failure(UnreachableError(f"no TLS connection to {host}: {cause.reason or cause}"), retry=False)
        if isinstance(cause, ConnectionRefusedError):
            reason = f"{host_and_port(url)} refused the connection (is the server running?)"
            return _Failure(UnreachableError(reason), retry=True)
    if isinstance(error, httpx.ConnectError):
        return _Failure(UnreachableError(f"no connection to {host_and_port(url)}: {_words(error)}"), retry=True)
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
        return _Failure(FetchError(f"the connection broke off: {_words(error)}"), retry=True)
    return _Failure(FetchError(f"the request could not be sent: {_words(error)}"), retry=False)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
