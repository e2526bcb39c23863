"""Pages whose canonical URL redirects, fails or is a page of its own: each is given once, under a name that stays."""

from __future__ import annotations

import pytest

from libs.dataloader import LoadFailure, WebLoader
from libs.dataloader.crawl import names
from tests.dataloader.webserver import Answer, Reply, WebServer, crawl, page, redirect


def called(canonical: str, text: str = "words", *links: str) -> Reply:
    """A page that says what it wants to be called."""
    body = page(*links, text=text, head=f'<link rel="canonical" href="{canonical}">')
    return Reply(body, etag=f'"{text}"')


def home(*links: str) -> Reply:
    return Reply(page(*links, text="home"), etag='"home"')


def called_by_header(link: str) -> Reply:
    return Reply("words", content_type="text/plain", headers={"Link": link}, etag='"words"')


# Pages, and under which URLs what is given; "/" is the start page and always given.
SITES: dict[str, tuple[dict[str, Answer], list[str]]] = {
    "the canonical URL redirects here": (
        {"/": home("/guide"), "/guide": redirect("/guide/", 301), "/guide/": called("/guide")},
        ["/", "/guide"],
    ),
    "a header says it": (
        {"/": home("/a?p=1"), "/a?p=1": called_by_header('</s.css>; rel=preload; as=style, </a>; rel="canonical"')},
        ["/", "/a"],
    ),
    "a header says something else": (
        {"/": home("/a"), "/a": called_by_header('</b>; rel="next"; title="canonical", </c>; rel=non-canonical')},
        ["/", "/a"],
    ),
    "over two redirects": (
        {"/": home("/a"), "/a": redirect("/b"), "/b": redirect("/c"), "/c": called("/a")},
        ["/", "/a"],
    ),
    "in the middle of the redirects": (
        {"/": home("/a"), "/a": redirect("/b"), "/b": redirect("/c"), "/c": called("/b")},
        ["/", "/b"],
    ),
    "both are linked": (
        {"/": home("/guide/", "/guide"), "/guide": redirect("/guide/", 301), "/guide/": called("/guide")},
        ["/", "/guide"],
    ),
    "both are linked, the redirect first": (
        {"/": home("/guide", "/guide/"), "/guide": redirect("/guide/", 301), "/guide/": called("/guide")},
        ["/", "/guide"],
    ),
    "only the page is linked": (
        {"/": home("/guide/"), "/guide": redirect("/guide/", 301), "/guide/": called("/guide")},
        ["/", "/guide"],
    ),
    "the canonical URL is gone": ({"/": home("/a", "/b"), "/a": called("/b"), "/b": Reply(status=410)}, ["/", "/a"]),
    "the canonical URL was gone before": ({"/": home("/b", "/a"), "/a": called("/b")}, ["/", "/a"]),
    "the canonical URL has no text": ({"/": home("/a", "/b"), "/a": called("/b"), "/b": "<p></p>"}, ["/", "/a"]),
    "the canonical URL may not be stored": (
        {"/": home("/a", "/b"), "/a": called("/b"), "/b": page(head='<meta name="robots" content="noindex">')},
        ["/", "/a"],
    ),
    "the canonical URL redirects to another page": (
        {"/": home("/a", "/b", "/c"), "/a": called("/b", "a"), "/b": redirect("/c"), "/c": called("/c", "c")},
        ["/", "/c"],
    ),
    "the canonical URL redirects to a page that is gone": (
        {"/": home("/a", "/b"), "/a": called("/b", "a"), "/b": redirect("/c")},
        ["/", "/a"],
    ),
    "the canonical URL has the same text": (
        {"/": home("/guide/", "/guide"), "/guide": called("/guide"), "/guide/": called("/guide")},
        ["/", "/guide"],
    ),
    "a session and the same without": (
        {"/": home("/p?id=1", "/p"), "/p?id=1": called("/p"), "/p": called("/p")},
        ["/", "/p"],
    ),
    "two that call each other canonical": (
        {"/": home("/a", "/b"), "/a": called("/b", "a"), "/b": called("/a", "b")},
        ["/", "/b"],
    ),
    "two that call each other canonical, over a redirect": (
        {"/": home("/a", "/b"), "/a": called("/b", "a"), "/b": redirect("/c"), "/c": called("/a", "c")},
        ["/", "/c"],
    ),
    "three in a circle": (
        {"/": home("/a", "/b", "/c"), "/a": called("/b", "a"), "/b": called("/c", "b"), "/c": called("/a", "c")},
        ["/", "/c"],
    ),
    "one after the other": (
        {"/": home("/a", "/b", "/c"), "/a": called("/b", "a"), "/b": called("/c", "b"), "/c": called("/c", "c")},
        ["/", "/c"],
    ),
    "nobody may visit the canonical URL": (
        {"/": home("/a", "/x/x/x/x/x"), "/a": called("/x/x/x/x/x")},
        ["/", "/x/x/x/x/x"],
    ),
}


@pytest.mark.parametrize("held", [8_000_000, 0])
@pytest.mark.parametrize("name", SITES)
async def test_every_page_is_given_once_under_a_name_that_stays(
    name: str, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MAX_WAITING_CHARS", held)
    pages, expected = SITES[name]
    async with WebServer(pages) as server:
        first = await crawl(WebLoader(server.url()))
        second = await crawl(WebLoader(server.url()), first.known())
    assert sorted(first.documents) == expected
    assert len([r for r in first.results if not isinstance(r, LoadFailure)]) == len(expected)
    assert sorted(second.unchanged) == expected and not second.documents
    assert second.failures == first.failures


@pytest.mark.parametrize("start", ["/docs", "/docs/"])
async def test_a_start_page_whose_canonical_url_redirects_to_it_is_given(start: str) -> None:
    pages: dict[str, Answer] = {
        "/docs": redirect("/docs/", 301),
        "/docs/": called("/docs", "text", "/docs/a"),
        "/docs/a": page(),
    }
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url(start)))
    assert list(found.documents) == ["/docs", "/docs/a"]


async def test_a_page_that_is_stored_under_what_redirects_to_it_is_not_transferred_again() -> None:
    pages: dict[str, Answer] = {
        "/": home("/guide"),
        "/guide": redirect("/guide/"),
        "/guide/": called("/guide", "v1", "/a"),
        "/a": page(),
    }
    async with WebServer(pages) as server:
        first = await crawl(WebLoader(server.url()))
        server.requests.clear()
        second = await crawl(WebLoader(server.url()), first.known())
        assert server.statuses("/guide/") == [304]
        assert second.unchanged == ["/", "/guide", "/a"]  # its links are followed, too
        server.pages["/guide/"] = called("/guide", "v2")
        third = await crawl(WebLoader(server.url()), first.known())
        assert list(third.documents) == ["/guide"] and "v2" in third.documents["/guide"].content
        server.pages["/guide/"] = Reply(status=404)
        fourth = await crawl(WebLoader(server.url()), first.known())
    failure = fourth.results[-1]  # what is stored is called /guide, so that is what is gone
    assert isinstance(failure, LoadFailure) and failure.gone
    assert failure.path == server.url("/guide") and server.url("/guide/") in failure.reason


async def test_a_canonical_page_that_fails_for_now_is_not_replaced_and_comes_back() -> None:
    failing = Reply(status=503)
    real = called("/b", "real")
    async with WebServer({"/": home("/a", "/b"), "/a": called("/b", "copy"), "/b": failing}) as server:
        first = await crawl(WebLoader(server.url(), retries=0))
        assert sorted(first.documents) == ["/", "/a"]  # better than nothing
        server.pages["/b"] = real
        second = await crawl(WebLoader(server.url()), first.known())
        assert list(second.documents) == ["/b"] and second.unchanged == ["/"]  # /a is a copy again
        stored = await crawl(WebLoader(server.url()))
        server.pages["/b"] = failing
        third = await crawl(WebLoader(server.url(), retries=0), stored.known())
    assert third.unchanged == ["/"] and not third.documents and list(third.failures) == ["/b"]


async def test_a_page_that_cannot_be_fetched_again_makes_the_crawl_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/": home("/a", "/b"), "/a": called("/b"), "/b": Reply(status=410)}
    async with WebServer(pages) as server:
        monkeypatch.setattr(names, "MAX_WAITING_CHARS", 0)
        loader = WebLoader(server.url(), max_urls=3)
        assert list((await crawl(loader)).documents) == ["/"] and not loader.complete
        assert server.targets.count("/a") == 1
        loader = WebLoader(server.url(), max_urls=4)
        assert list((await crawl(loader)).documents) == ["/", "/a"] and loader.complete
        monkeypatch.undo()
        loader = WebLoader(server.url(), max_urls=3)  # what fits into memory is not fetched twice
        assert list((await crawl(loader)).documents) == ["/", "/a"] and loader.complete
