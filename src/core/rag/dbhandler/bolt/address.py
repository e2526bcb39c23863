"""Addresses of Bolt servers, and their credentials."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from core.rag.errors import ConfigurationError
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.settings import Settings

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")

#: The user of a password that comes without one: the one that docker-compose.yml has Memgraph make.
_DEFAULT_USERNAME = "memgraph"

_BARE = regex(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?")
_USER_INFO = regex(r"(?<=://).*@", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server.

    Attributes:
        uri: URI for the driver, without credentials.
        username: ``None``: no login.
        password: Never shown.
        database: Name of a database of the server; ``None``: its default.
    """

    uri: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None

    @property
    def scheme(self) -> str:
        """``bolt``, ``neo4j+s`` …"""
        return self.uri.partition("://")[0]

    @property
    def location(self) -> str:
        """The address as shown to people."""
        server = self.uri.partition("?")[0]
        return f"{server} (database {self.database})" if self.database else server

    def without_routing(self) -> Address:
        """Return the same server, without routing."""
        uri = self.uri.partition("?")[0].replace("neo4j", "bolt", 1)
        return Address(uri, self.username, self.password, self.database)

    @property
    def routed(self) -> bool:
        """Whether the driver asks the server for the members of its cluster."""
        return self.scheme.startswith("neo4j")


def bolt_address(
    uri: str, *, username: str | None, password: str | None, settings: Settings, from_settings: bool = False
) -> Address:
    """Return the address of the server that a URI or bare host denotes.

    Args:
        uri: ``bolt://host:7687`` …, ``bolt://user:password@host``, ``host`` or ``host:7688``.
        username: Takes precedence over the one in the URI, which takes precedence over ``MEMGRAPH_USERNAME``; a
            password without any is that of ``memgraph``. An empty one means no login.
        password: The same, with ``MEMGRAPH_PASSWORD``.
        settings: Settings for everything that the URI does not say.
        from_settings: Whether the URI comes from ``MEMGRAPH_URI``, not from the caller.

    Raises:
        ConfigurationError: if it is not such an address, or it is from the ``.env`` file and the password is not; the
            message never has a password.
    """
    uri = uri.strip()
    shown = hide_credentials(uri)
    if "://" not in uri:
        host, port = _bare(uri, settings.memgraph_port)
        parts = urlsplit(f"bolt://{host}:{port}")
    else:
        parts = _split(uri, shown)
    scheme = parts.scheme.lower()
    if scheme not in SCHEMES:
        raise _no_address(shown)
    if parts.path.strip("/"):
        raise ConfigurationError(
            f"{shown!r} has a path, which a graph server does not have: name its database in MEMGRAPH_DATABASE."
        )
    if parts.query and not scheme.startswith("neo4j"):
        raise ConfigurationError(f"{shown!r} has parameters, which only neo4j:// addresses can have.")
    found = _login(parts)
    stored = settings.memgraph_password.get_secret_value() if settings.memgraph_password is not None else None
    given = password
    username = username if username is not None else found[0] if found[0] is not None else settings.memgraph_username
    password = password if password is not None else found[1] if found[1] is not None else stored
    query = f"?{parts.query}" if parts.query else ""
    if username is None and password:
        username = _DEFAULT_USERNAME
    if not username:  # an empty one means no login, regardless of the environment
        username = password = None
    host = _host(parts, shown)
    if from_settings and password and password != found[1]:
        settings.check_recipient("MEMGRAPH_URI", host, None if given else "MEMGRAPH_PASSWORD")
    return Address(
        uri=f"{scheme}://{host}:{_port(parts) or settings.memgraph_port}{query}",
        username=username,
        password=password,
        database=settings.memgraph_database,
    )


def hide_credentials(uri: str) -> str:
    """Return a URI without user, password (with any characters) and parameters, so that it can be shown."""
    bare, mark, _ = _USER_INFO.sub("", uri).partition("?")
    return bare + mark + ("…" if mark else "")


def _bare(text: str, default_port: int) -> tuple[str, int]:
    found = _BARE.fullmatch(text)
    if found is not None:
        return found["host"], int(found["port"] or default_port)
    try:
        return f"[{ipaddress.IPv6Address(text)}]", default_port
    except ValueError:
        # Without the cause, which quotes the whole text and so perhaps a password.
        raise _no_address(hide_credentials("://" + text)[3:]) from None


def _no_address(shown: str) -> ConfigurationError:
    return ConfigurationError(
        f"{shown!r} is not a graph database address. Use embedded:PATH for a local file, or bolt://HOST:7687."
    )


def _split(uri: str, shown: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:  # without the cause, which quotes user and password
        raise ConfigurationError(f"{shown!r} is not a graph database address: write bolt://HOST:7687.") from None


def _login(parts: SplitResult) -> tuple[str | None, str | None]:
    names = (parts.username, parts.password)
    user, password = (unquote(name) if name else None for name in names)
    return user, password


def _host(parts: SplitResult, shown: str) -> str:
    if not parts.hostname:
        raise ConfigurationError(f"{shown!r} names no host: write bolt://HOST:7687.")
    return f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:  # neither message nor cause quotes the text: it may be a password with a missing @
        raise ConfigurationError(
            f"What follows the colon in {parts.scheme}://{parts.hostname}:… is not a port from 1 to 65535."
        ) from None
