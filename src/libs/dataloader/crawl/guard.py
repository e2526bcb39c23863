"""Keeps a crawler that acts for others from reaching addresses inside its own machine or network."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpcore
import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: Given host and port, all addresses of the host.
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_FORMER_6TO4_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")  # RFC 6890; Python 3.12.3 and before take some of it for public
_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")  # RFC 9637, which Python 3.12 does not know


class BlockedAddressError(Exception):
    """The host is, or resolves to, an address that is not on the public internet."""


def is_public(address: str) -> bool:
    """Return whether an IP address leads to the same host from anywhere on the internet.

    Loopback, private, shared (carrier-grade NAT), link-local, multicast, documentation and reserved addresses do not,
    nor does an IPv6 address that stands for such an IPv4 address (mapped, 6to4, Teredo, NAT64).
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        special = ip.is_multicast or ip.is_reserved or ip in _FORMER_6TO4_RELAYS or ip in _PROTOCOLS
        return ip.is_global and not special
    embedded = ip.ipv4_mapped or ip.sixtofour
    if embedded is None and ip in _NAT64:
        embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if embedded is not None:
        return is_public(str(embedded))
    return ip in _GLOBAL_UNICAST and ip.is_global and ip.teredo is None and ip not in _DOCUMENTATION


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return all addresses of a host, as the system resolves it.

    Raises:
        OSError: if there are none (``socket.gaierror``).
    """
    import socket

    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to public addresses only.

    The name is resolved here, all its addresses are checked, and the connection is opened to the address that was
    checked, so a name that changes its address in between (DNS rebinding) has no effect. TLS still verifies the name.

    Args:
        inner: What opens the connections.
        resolver: What resolves names.
    """

    def __init__(self, inner: httpcore.AsyncNetworkBackend | None = None, resolver: Resolver = resolve) -> None:
        self._inner = httpcore.AnyIOBackend() if inner is None else inner
        self._resolver = resolver

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of the host that answers; see :class:`httpcore.AsyncNetworkBackend`.

        Raises:
            BlockedAddressError: if any of its addresses is not public.
        """
        try:
            addresses = await self._resolver(host, port)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        if not addresses or not all(map(is_public, addresses)):
            # The message does not name the address: it would reveal the local network to strangers.
            raise BlockedAddressError(f"{host} is not on the public internet, and only public addresses are allowed")
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait between connection attempts."""
        await self._inner.sleep(seconds)


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport that reaches public addresses only (:class:`GuardedBackend`) and uses no proxy.

    Args:
        ssl_context: Checks certificates.
        backend: What opens the connections.
        max_connections: Maximum number of connections at once.
    """

    def __init__(
        self, ssl_context: ssl.SSLContext, backend: GuardedBackend | None = None, max_connections: int = 100
    ) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl_context,
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=5.0,
            network_backend=backend or GuardedBackend(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; see :class:`httpx.AsyncBaseTransport`."""
        assert isinstance(request.stream, httpx.AsyncByteStream)
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        with _as_httpx_errors():
            response = await self._pool.handle_async_request(
                httpcore.Request(
                    request.method,
                    url,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        assert isinstance(response.stream, AsyncIterable)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Stream(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx_errors():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _as_httpx_errors() -> Iterator[None]:
    """Raise errors of httpcore as the errors of httpx with the same names."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        kind = getattr(httpx, type(error).__name__, httpx.TransportError)
        raise kind(str(error)) from error
