"""Crawling a site again transfers only what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from libs.dataloader import Document, KnownDocument, LoadFailure, Unchanged, WebLoader
from libs.dataloader.reading import READERS_VERSION
from tests.dataloader.webserver import Answer, Crawled, Reply, Request, WebServer, crawl, page, redirect

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


def transferred(server: WebServer) -> list[str]:
    return [r.target for r in server.requests if r.status == 200 and r.body_bytes]


async def twice(server: WebServer, **arguments: object) -> tuple[Crawled, Crawled]:
    first = await crawl(WebLoader(server.url(), **arguments))  # type: ignore[arg-type]
    server.requests.clear()
    return first, await crawl(WebLoader(server.url(), **arguments), first.known())  # type: ignore[arg-type]


async def test_nothing_is_transferred_where_nothing_changed() -> None:
    nav = '<html><body><nav><a href="/n">n</a></nav><main><p>Some text. <a href="/c">c</a></p></main></body></html>'
    pages = {
        "/": Reply(nav, etag='"home"'),
        "/n": Reply(page("/deep/1"), last_modified=DATE),
        "/c": Reply(page("/old"), etag='W/"weak"', last_modified=DATE),
        "/deep/1": Reply(page("/deep/2", text="one"), etag='"1"'),
        "/deep/2": Reply(page(text="two"), etag='"2"'),
        "/old": redirect("/new"),
        "/new": Reply(page(text="new"), etag='"new"'),
    }
    async with WebServer(pages) as server:
        first, second = await twice(server)
        assert len(first.documents) == 6
        assert transferred(server) == []
    assert second.unchanged == list(first.documents)
    assert len(second.results) == 6


@pytest.mark.parametrize("reply", [Reply(page(), etag='"1"'), Reply(page())])
async def test_pages_are_read_again_by_readers_that_changed(reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    async with WebServer({"/": reply}) as server:
        first = await crawl(WebLoader(server.url()))
        assert (await crawl(WebLoader(server.url()), first.known())).unchanged == ["/"]
        monkeypatch.setattr("libs.dataloader.crawl.pages.READERS_VERSION", "next")
        second = await crawl(WebLoader(server.url()), first.known())
        assert list(second.documents) == ["/"]
        assert (await crawl(WebLoader(server.url()), second.known())).unchanged == ["/"]


async def test_only_what_changed_is_transferred_and_given() -> None:
    pages = {
        "/": Reply(page("/a", "/b"), etag='"1"'),
        "/a": Reply(page("/c"), etag='"1"'),
        "/b": Reply(page(), etag='"1"'),
    }
    async with WebServer({**pages, "/c": Reply(page(text="c"), etag='"1"')}) as server:
        first = await crawl(WebLoader(server.url()))
        server.requests.clear()
        server.pages["/a"] = Reply(page("/d", text="changed"), etag='"2"')
        server.pages["/d"] = page(text="added")
        loader = WebLoader(server.url())
        second = await crawl(loader, first.known())
        assert transferred(server) == ["/a", "/d"]
    assert list(second.documents) == ["/a", "/d"]
    assert second.unchanged == ["/", "/b"]  # nobody links to /c any more
    assert loader.complete


async def test_the_same_bytes_are_unchanged_without_etag_or_with_another() -> None:
    count = [0]

    def answer(request: Request) -> Reply:
        count[0] += 1
        return Reply(page("/a"), etag=f'"{count[0]}"')

    async with WebServer({"/": answer, "/a": page(text="no validators at all")}) as server:
        _, second = await twice(server)
    assert second.unchanged == ["/", "/a"] and not second.documents


async def test_fingerprints_hold_what_is_needed_next_time() -> None:
    async with WebServer({"/": Reply(page(), etag='"x"', last_modified=DATE)}) as server:
        first, _ = await twice(server)
        sent = server.requests[1].headers
        assert sent["if-none-match"] == '"x"' and sent["if-modified-since"] == DATE
    fingerprint = first.documents["/"].fingerprint
    assert fingerprint["etag"] == '"x"' and fingerprint["last_modified"] == DATE and len(fingerprint["sha256"]) == 64
    assert all(isinstance(value, str) for value in fingerprint.values())


async def test_the_links_that_are_known_serve_where_a_fingerprint_has_none() -> None:
    async with WebServer({"/": Reply(page("/a"), etag='"1"'), "/a": page()}) as server:
        known_links = (server.url("/a#part"), "https://example.org/far", "mailto:x")

        async def known(urls: Sequence[str]) -> Mapping[str, KnownDocument]:
            return {server.url("/"): KnownDocument({"etag": '"1"', "reader": READERS_VERSION}, known_links)}

        found = await crawl(WebLoader(server.url()), known)
    assert found.unchanged == ["/"] and list(found.documents) == ["/a"]


async def test_what_is_known_is_asked_in_batches_and_never_twice() -> None:
    asked: list[list[str]] = []

    async def known(urls: Sequence[str]) -> Mapping[str, KnownDocument]:
        asked.append(list(urls))
        return {}

    pages = {f"/{n}": page(text=f"n{n}") for n in range(20)}
    async with WebServer({"/": page(*pages), **pages}) as server:
        await crawl(WebLoader(server.url()), known)
    assert [len(urls) for urls in asked] == [1, 20]
    assert len({url for urls in asked for url in urls}) == 21


async def test_a_page_under_its_canonical_url_is_recognised() -> None:
    copy = page(text="copy", head='<link rel="canonical" href="/real">')
    async with WebServer({"/": page("/copy"), "/copy": Reply(copy, etag='"copy"')}) as server:
        first, second = await twice(server)
        assert list(first.documents) == ["/", "/real"]
        assert second.unchanged == ["/", "/real"] and not second.documents
        # The ETag is that of /copy: it says nothing about /real, should that be fetched one day.
        server.pages["/"] = page("/real")
        server.pages["/real"] = Reply(page(text="real"), etag='"copy"')
        third = await crawl(WebLoader(server.url()), first.known())
        assert "real" in third.documents["/real"].content


async def test_a_304_that_nobody_asked_for_is_a_failure() -> None:
    async with WebServer({"/": page("/a"), "/a": Reply(status=304)}) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert "304" in found.failures["/a"] and not loader.complete


@pytest.mark.parametrize("status", [404, 410, 500])
async def test_a_page_that_is_gone_is_no_longer_unchanged(status: int) -> None:
    async with WebServer({"/": page("/a", text="x"), "/a": Reply(page(), etag='"1"')}) as server:
        first = await crawl(WebLoader(server.url()))
        server.pages["/a"] = Reply(status=status)
        loader = WebLoader(server.url(), retries=0)
        second = await crawl(loader, first.known())
    assert second.unchanged == ["/"] and list(second.failures) == ["/a"]
    assert loader.complete is (status != 500)  # after a 500 the page may be there all the same
    failure = second.results[-1]
    assert isinstance(failure, LoadFailure) and failure.gone is (status != 500)


@pytest.mark.parametrize("status", [403, 500])
async def test_what_a_failing_page_led_to_is_not_lost(status: int) -> None:
    pages: dict[str, Answer] = {"/": page("/a", text="x"), "/a": page("/b"), "/b": Reply(page(text="b"), etag='"1"')}
    async with WebServer(pages) as server:
        first = await crawl(WebLoader(server.url()))
        server.pages["/a"] = Reply(status=status)
        second = await crawl(WebLoader(server.url(), retries=0), first.known())
    assert second.unchanged == ["/", "/b"] and list(second.failures) == ["/a"]


async def test_a_start_page_outside_of_the_pattern_is_never_given() -> None:
    async with WebServer({"/": Reply(page("/docs/1"), etag='"1"'), "/docs/1": Reply(page(), etag='"1"')}) as server:
        everything = await crawl(WebLoader(server.url()))
        found = await crawl(WebLoader(server.url(), "/docs/"), everything.known())
    assert [type(result) for result in found.results] == [Unchanged]
    assert found.unchanged == ["/docs/1"]


async def test_limits_act_on_a_second_crawl_as_on_the_first() -> None:
    def calendar(request: Request) -> Reply:
        month = int(request.target.partition("=")[2] or 0)
        return Reply(page(f"/cal?m={month + 1}", f"/cal?m={month + 2}", text=f"Month {month}"), etag=f'"{month}"')

    async with WebServer({"/": page("/cal?m=0"), "/cal": calendar}) as server:
        first, second = await twice(server)
        # What was under way when the calendar was given up had been dropped, and is fetched again.
        assert not {path for path in transferred(server) if path in first.documents} - {"/"}
    assert 90 < len(first.documents) < 120
    assert second.unchanged == list(first.documents)
    assert all(isinstance(result, Unchanged) for result in second.results)


async def test_failures_are_tried_again_next_time() -> None:
    async with WebServer({"/": page("/a"), "/a": Reply(status=503)}) as server:
        first = await crawl(WebLoader(server.url(), retries=0))
        server.pages["/a"] = page(text="back")
        second = await crawl(WebLoader(server.url()), first.known())
    assert list(second.documents) == ["/a"] and isinstance(second.documents["/a"], Document)


async def test_validators_that_cannot_be_sent_back_are_not() -> None:
    pages = {
        "/": Reply(page("/a"), etag='"é"'),
        "/a": Reply(page(text="dated"), headers={"Last-Modified": "Dönnerstag"}),
    }
    async with WebServer(pages) as server:
        first = await crawl(WebLoader(server.url()))
        again = await crawl(WebLoader(server.url()), first.known())
    assert again.unchanged == ["/", "/a"] and not again.failures
