"""Decides which URLs belong to a crawl."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from libs.dataloader.crawl.urls import host_and_port, host_of, looks_like_page, without_www
from libs.dataloader.errors import InvalidSourceError

if TYPE_CHECKING:
    from libs.dataloader.crawl.pattern import UrlPattern


class Scope:
    """Hosts and URL pattern of a crawl.

    Args:
        start: Normalised start URL. Its host is allowed with and without ``www.``.
        same_host: If false every host is allowed.
        allowed_hosts: Further hosts: ``example.org``, ``example.org:8080``, ``*.example.org`` (all below it). One
            without a port is allowed on every port.
        pattern: Searched in the normalised URL, and in its percent-decoded form.
    """

    def __init__(
        self, start: str, *, same_host: bool, allowed_hosts: Iterable[str], pattern: UrlPattern | None
    ) -> None:
        self._same_host = same_host
        hosts = [host.strip().lower().removesuffix(".") for host in allowed_hosts]
        self._further = frozenset(host for host in hosts if not host.startswith("*."))
        self._below = tuple(host[1:] for host in hosts if host.startswith("*."))
        self._pattern = pattern
        self._own = ""
        self.move_to(start)

    def move_to(self, url: str) -> None:
        """Make the host of this URL the host of the crawl, for a start URL that redirects there."""
        self._own = without_www(host_and_port(url))

    @property
    def pattern(self) -> str | None:
        """The URL pattern, if there is one."""
        return None if self._pattern is None else self._pattern.text

    def allows_host(self, url: str) -> bool:
        """Return whether the URL's host belongs to the crawl."""
        if not self._same_host:
            return True
        netloc, host = host_and_port(url), host_of(url)
        return (
            without_www(netloc) == self._own
            or netloc in self._further
            or host in self._further
            or host.endswith(self._below)
        )

    def matches(self, url: str) -> bool:
        """Return whether the URL matches the pattern.

        Raises:
            InvalidSourceError: if the pattern takes too long.
        """
        if self._pattern is None:
            return True
        try:
            return self._pattern.finds(url) or ("%" in url and self._pattern.finds(unquote(url)))
        except ValueError as error:
            raise InvalidSourceError(url, f"url_pattern {self._pattern.text!r}: {error}") from error

    def includes(self, url: str) -> bool:
        """Return whether a page with this URL is wanted, by host, pattern and file extension."""
        return self.allows_host(url) and looks_like_page(url) and self.matches(url)
