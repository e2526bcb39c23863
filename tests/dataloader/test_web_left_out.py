"""What a crawl left out is told: how much, why, and what to do about it."""

from __future__ import annotations

import pytest

from libs.dataloader import WebLoader
from tests.dataloader.webserver import Answer, Reply, WebServer, crawl, page

ROBOTS = Reply("User-agent: *\nDisallow: /private", content_type="text/plain")


async def test_pages_beyond_the_limit_are_counted() -> None:
    pages: dict[str, Answer] = {f"/{n}": page(text=f"number {n}") for n in range(30)}
    async with WebServer({"/": page(*pages), **pages}) as server:
        loader = WebLoader(server.url(), max_urls=7)
        await crawl(loader)
        assert loader.skipped["limit"] == 24
        assert "limit" in (loader.why_incomplete or "")
        (note,) = loader.notes
        assert "At least 24 pages were left out" in note and "--max-urls" in note and server.url("/6") in note
        enough = WebLoader(server.url(), max_urls=31)
        await crawl(enough)
    assert not enough.notes and not enough.skipped["limit"] and enough.why_incomplete is None


async def test_pages_that_may_not_be_read_are_counted() -> None:
    pages: dict[str, Answer] = {
        "/robots.txt": ROBOTS,
        "/": page("/private/1", "/private/2", "/hidden", "/a"),
        "/hidden": page(head='<meta name="robots" content="noindex">'),
        "/a": page(text="a"),
    }
    async with WebServer(pages) as server:
        loader = WebLoader(server.url())
        await crawl(loader)
        robots, noindex = loader.notes
        assert robots.startswith(f"{server.url()}: 2 pages were left out (such as {server.url('/private/1')})")
        assert noindex.startswith(f"{server.url()}: 1 page was left out ({server.url('/hidden')})")
    assert "robots.txt" in robots and "noindex" in noindex and loader.complete


async def test_pages_that_failed_are_named_where_the_crawl_is_not_complete() -> None:
    pages: dict[str, Answer] = {"/": page("/a", "/b"), "/a": Reply(status=500), "/b": Reply(status=502)}
    async with WebServer(pages) as server:
        loader = WebLoader(server.url(), retries=0)
        await crawl(loader)
        assert (loader.why_incomplete or "").startswith(f"{server.url('/a')} (and 1 more) could not be read")
    assert not loader.notes  # failures are told one by one


async def test_a_site_that_scripts_put_together_is_told_from_one_that_has_only_one_page() -> None:
    lonely = page("https://elsewhere.example/", "#top", "/logo.png", text="Welcome")
    sitemap = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/a</loc></url></urlset>'
    async with WebServer({"/": lonely, "/a": page(text="a"), "/b": page("/b/c")}) as server:
        loader = WebLoader(server.url())
        await crawl(loader)
        (note,) = loader.notes
        assert note.startswith(f"{server.url()}: only this page was found") and loader.complete
        for other in (WebLoader(server.url(), max_depth=0), WebLoader(server.url("/b"))):
            await crawl(other)
            assert not other.notes
        server.pages["/sitemap.xml"] = Reply(sitemap, content_type="application/xml")
        await crawl(loader)
        assert not loader.notes


@pytest.mark.parametrize(("status", "moved"), [(301, ["/old"]), (308, ["/old"]), (302, []), (307, [])])
async def test_what_moved_for_good_is_known(status: int, moved: list[str]) -> None:
    pages: dict[str, Answer] = {
        "/": page("/old"),
        "/old": Reply(status=status, headers={"Location": "/new"}),
        "/new": page(text="new"),
    }
    async with WebServer(pages) as server:
        loader = WebLoader(server.url())
        await crawl(loader)
        assert loader.moved == {server.url(url) for url in moved}


async def test_what_moved_to_a_page_that_fails_is_not_taken_for_gone() -> None:
    pages: dict[str, Answer] = {
        "/": page("/new", "/old", "/older"),
        "/older": Reply(status=301, headers={"Location": "/old"}),
        "/old": Reply(status=301, headers={"Location": "/new"}),
        "/new": Reply(status=500),
    }
    async with WebServer(pages) as server:
        loader = WebLoader(server.url(), retries=0)
        await crawl(loader)
    assert not loader.moved and not loader.complete


async def test_links_in_the_head_lead_on() -> None:
    head = (
        '<link rel="next" href="/2"><link rel="alternate" hreflang="de" href="/de/">'
        '<link rel="alternate" hreflang="en" type="application/rss+xml" href="/feed">'
        '<link rel="alternate" hreflang="fr" href="https://elsewhere.example/fr"><link rel="stylesheet" href="/s">'
    )
    pages: dict[str, Answer] = {
        "/": page(head=head),
        "/2": page(text="two"),
        "/de/": page(text="zwei"),
        "/feed": "<rss/>",
        "/s": "p {}",
    }
    async with WebServer(pages) as server:
        found = await crawl(loader := WebLoader(server.url()))
        assert server.targets == ["/", "/2", "/de/"]
    assert list(found.documents) == ["/", "/2", "/de/"] and not loader.notes
