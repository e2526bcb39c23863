"""Checks the arguments of a crawl; what is wrong is told with its start URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from libs.dataloader.errors import InvalidSourceError
from libs.regexes import regex

if TYPE_CHECKING:
    from libs.dataloader.crawl.pattern import UrlPattern

_SHOWN = 200  # characters of a pattern in an error
_HEADER_NAME = regex(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = regex(r"[\t\x20-\x7e]*")


def compiled_pattern(url: str, text: str) -> UrlPattern:
    """Compile a pattern.

    Raises:
        InvalidSourceError: if it is none.
    """
    from libs.dataloader.crawl.pattern import UrlPattern

    try:
        return UrlPattern(text)
    except TypeError as error:
        raise InvalidSourceError(url, f"url_pattern must be text, not {type(text).__name__}") from error
    except ValueError as error:
        hint = "; it looks like a glob: in a regular expression .* stands for any characters" if "*" in text else ""
        shown = repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
        raise InvalidSourceError(url, f"url_pattern {shown} is not a regular expression ({error}){hint}") from error


def check_number(url: str, name: str, value: float, least: float) -> None:
    """Raise an ``InvalidSourceError`` if this is no finite number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
        raise InvalidSourceError(url, f"{name} must be a number of at least {least:g}, not {value!r}")


def check_flag(url: str, name: str, value: bool) -> None:
    """Raise an ``InvalidSourceError`` if this is neither True nor False: the text "false" would count as true."""
    if not isinstance(value, bool):
        raise InvalidSourceError(url, f"{name} must be True or False, not {value!r:.100}")


def checked_headers(url: str, headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return headers.

    Raises:
        InvalidSourceError: if one cannot be sent.
    """
    if not isinstance(headers, Mapping | None):
        raise InvalidSourceError(url, f"headers must be a mapping of names to values, not {headers!r:.100}")
    return {name: checked_header(url, name, value) for name, value in (headers or {}).items()}


def checked_header(url: str, name: str, value: str) -> str:
    """Return the value of a header.

    Raises:
        InvalidSourceError: if it cannot be sent.
    """
    if not isinstance(name, str) or not isinstance(value, str):
        raise InvalidSourceError(url, f"the header {name!r} and its value must be text, not {value!r:.100}")
    if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise InvalidSourceError(url, f"the header {name!r} has a name or value that cannot be sent")
    return value


def checked_hosts(url: str, hosts: Iterable[str]) -> tuple[str, ...]:
    """Return hosts, of which ``hosts`` may be a single one.

    Raises:
        InvalidSourceError: if one is not written as a host.
    """
    checked = (hosts,) if isinstance(hosts, str) else tuple(hosts)
    for host in checked:
        if not isinstance(host, str) or not host.strip() or "/" in host or "*" in host.removeprefix("*."):
            raise InvalidSourceError(
                url, f"allowed_hosts has {host!r}; write docs.example.org, example.org:8080 or *.example.org"
            )
    return checked
