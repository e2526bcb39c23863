"""Arguments of a loader, and patterns among them."""

from __future__ import annotations

import pytest

from libs.dataloader import (
    InvalidSourceError,
    NothingMatchedError,
    WebLoader,
)
from tests.dataloader.webserver import WebServer, crawl, page

# -- patterns ----------------------------------------------------------------------------------------------------------


async def test_only_what_matches_the_pattern_is_fetched_and_given() -> None:
    pages = {"/": page("/docs/1", "/blog/1"), "/docs/1": page("/docs/2", "/blog/2"), "/docs/2": page(text="2")}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url(), r"/docs/\d"))
        assert list(found.documents) == ["/docs/1", "/docs/2"]
        assert server.targets == ["/", "/docs/1", "/docs/2"]
        start_matches = await crawl(WebLoader(server.url("/docs/1"), "/docs/"))
        assert list(start_matches.documents) == ["/docs/1", "/docs/2"]


async def test_a_pattern_may_be_written_without_percent_encoding() -> None:
    async with WebServer({"/": page("/über/1", "/unter/1"), "/%C3%BCber/1": page()}) as server:
        found = await crawl(WebLoader(server.url(), "/über/"))
    assert list(found.documents) == ["/%C3%BCber/1"]


async def test_a_pattern_that_matches_nothing_is_an_error() -> None:
    async with WebServer({"/": page("/a"), "/a": page()}) as server:
        loader = WebLoader(server.url(), "/nowhere/")
        with pytest.raises(NothingMatchedError, match="nothing matched the URL pattern '/nowhere/'"):
            await crawl(loader)
        assert server.targets == ["/"]


async def test_a_pattern_that_takes_forever_ends_the_crawl() -> None:
    trap = f"/{'a' * 60}!"
    async with WebServer({"/": page(trap), trap: page()}) as server:
        loader = WebLoader(server.url(), "/(a|aa)+$")
        with pytest.raises(InvalidSourceError, match="takes more than 1 s"):
            await crawl(loader)
        assert not loader.covers(server.url(trap))


@pytest.mark.parametrize("pattern", ["*.html", "(", "[a", "a{99999999999}"])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidSourceError, match="is not a regular expression") as error:
        WebLoader("http://example.org/", pattern)
    assert ("glob" in str(error.value)) is ("*" in pattern)


# -- arguments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org/", "", "http://", "http://exa mple.org/", "http://[::1/", "http://xn--/"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidSourceError, match=r"https://example\.org/page"):
        WebLoader(url)


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_urls": 0},
        {"concurrency": 0},
        {"delay": -1},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"max_depth": -1},
        {"max_bytes": 0},
        {"retries": -1},
        {"headers": {"X-A": "a\r\nX-B: b"}},
        {"headers": {"X A": "a"}},
        {"user_agent": "a\nb"},
        {"user_agent": "größe"},
        {"allowed_hosts": ["http://example.org/"]},
        {"allowed_hosts": ["ex*mple.org"]},
        {"allowed_hosts": [3]},
        {"url_pattern": 3},
        {"headers": ["X-A"]},
        {"headers": {"X-A": 3}},
        {"user_agent": None},
        {"max_urls": True},
        {"chunk_size": 0},
        {"chunk_size": "64"},
        {"chunk_overlap": -1},
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidSourceError):
        WebLoader("http://example.org/", **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("url", [None, 3, b"http://example.org/", ["http://example.org/"]])
def test_a_url_is_text(url: object) -> None:
    with pytest.raises(InvalidSourceError, match=f"a URL must be text, not {type(url).__name__}"):
        WebLoader(url)  # type: ignore[arg-type]


def test_chunk_sizes_given_are_told_from_defaults() -> None:
    plain = WebLoader("http://example.org/")
    assert (plain.chunk_size, plain.chunk_overlap) == (1024, 200)
    assert (plain.explicit_chunk_size, plain.explicit_chunk_overlap) == (None, None)
    given = WebLoader("http://example.org/", None, 10, 1024, 0)
    assert (given.chunk_size, given.explicit_chunk_size) == (1024, 1024)
    assert (given.chunk_overlap, given.explicit_chunk_overlap) == (0, 0)


def test_the_source_is_the_start_url_without_secrets() -> None:
    source = WebLoader("http://me:secret@Example.org/docs/?utm_source=x#y").source
    assert (source.type, source.uri, source.name) == ("web", "http://example.org/docs/", "example.org/docs")


@pytest.mark.parametrize("password", ["secret", "p/secret", "secret/p", "a secret", "secret\n"])
def test_an_address_that_cannot_be_is_told_without_its_password(password: str) -> None:
    with pytest.raises(InvalidSourceError) as caught:
        WebLoader(f"http://me:{password}@example.org:x/")
    assert "secret" not in str(caught.value)
