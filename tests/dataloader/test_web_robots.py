"""What sites ask of robots, and what they name themselves: robots.txt, robots tags, sitemaps."""

from __future__ import annotations

import asyncio
import gzip
import itertools

import pytest

from libs.dataloader import (
    LoadError,
    WebLoader,
)
from libs.dataloader.crawl.sitemaps import Sitemap, parse_sitemap
from libs.dataloader.web import DEFAULT_USER_AGENT
from tests.dataloader.webserver import Answer, FakeClock, Reply, Request, WebServer, crawl, page, redirect
from tests.growth import check_growth


def robots(text: str) -> Reply:
    return Reply(text, "text/plain")


def sitemap(*urls: str, index: bool = False) -> Reply:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{url}</loc><lastmod>2026-01-01</lastmod></{inner}>" for url in urls)
    xml = f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'
    return Reply(xml, "application/xml")


# -- robots ------------------------------------------------------------------------------------------------------------


async def test_robots_txt_is_fetched_once_and_obeyed() -> None:
    rules = "User-agent: *\nDisallow: /private\nAllow: /private/ok$\nDisallow: /*.cgi\n\nUser-agent: other\nDisallow: /"
    links = ["/private/1", "/private/ok", "/a.cgi?x", "/b"]
    async with WebServer(
        {"/robots.txt": robots(rules), "/": page(*links)}, fallback=lambda r: page(text=r.target)
    ) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
        assert list(found.documents) == ["/", "/private/ok", "/b"]
        assert [r.path for r in server.requests].count("/robots.txt") == 1
        assert server.requests[0].path == "/robots.txt"
        assert loader.skipped["robots"] == 2 and loader.complete
        server.requests.clear()
        everything = await crawl(WebLoader(server.url(), respect_robots=False))
        assert "/private/1" in everything.documents
        assert "/robots.txt" not in [r.path for r in server.requests]


async def test_rules_for_this_crawler_by_name_go_first() -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: Memgraph-RAG\nDisallow: /a"
    async with WebServer({"/robots.txt": robots(rules), "/": page("/a", "/b"), "/b": page()}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/b"]
        assert server.requests[0].headers["user-agent"] == DEFAULT_USER_AGENT
        with pytest.raises(LoadError, match=r"robots\.txt"):
            await crawl(WebLoader(server.url(), user_agent="somebot/2.0"))


async def test_a_start_url_that_robots_txt_forbids_is_an_error() -> None:
    async with WebServer({"/robots.txt": robots("User-agent: *\nDisallow: /"), "/": page()}) as server:
        hint = "does not allow it; ask .* from Python, with respect_robots=False .there is no command-line option"
        with pytest.raises(LoadError, match=hint):
            await crawl(WebLoader(server.url()))
        assert server.targets == []


@pytest.mark.parametrize("status", [204, 400, 401, 403, 404, 410])
async def test_without_robots_txt_everything_is_allowed(status: int) -> None:
    rules = "" if status == 204 else "Disallow: /"
    async with WebServer({"/robots.txt": Reply(rules, status=status), "/": page()}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/"]


async def test_of_a_huge_robots_txt_the_beginning_counts() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /closed/{number:06}/\n" for number in range(40_000))
    last = text[: 500 * 1024].count("\n") - 2  # the next rule is cut off, and would forbid more than it says
    async with WebServer(
        {
            "/robots.txt": robots(text),
            "/": page(f"/closed/{last:06}/", f"/closed/{last + 1:06}/", "/open"),
        },
        fallback=lambda r: page(text=r.target),
    ) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", f"/closed/{last + 1:06}/", "/open"]


async def test_a_robots_txt_that_is_not_modified_though_nobody_asked_forbids_everything() -> None:
    async with WebServer({"/robots.txt": Reply(status=304), "/": page()}) as server:
        with pytest.raises(LoadError, match="could not be read, so nothing may be fetched: HTTP 304 Not Modified"):
            await crawl(WebLoader(server.url()))


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_robots_txt_that_cannot_be_read_forbids_everything(status: int) -> None:
    async with WebServer({"/robots.txt": Reply(status=status), "/": page()}) as server:
        with pytest.raises(LoadError, match=f"could not be read, so nothing may be fetched: HTTP {status}"):
            await crawl(WebLoader(server.url(), retries=2))
        assert len(server.requests) == 3 and server.targets == []


async def test_a_redirected_or_huge_robots_txt_is_read() -> None:
    rules = "User-agent: *\nDisallow: /a\n" + "# padding\n" * 100_000
    pages: dict[str, Answer] = {
        "/robots.txt": redirect("/robots"),
        "/robots": robots(rules),
        "/": page("/a", "/b"),
        "/b": page(),
    }
    async with WebServer(pages) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/b"]


@pytest.mark.parametrize(
    ("redirects", "obeyed"),
    [(5, True), (6, False)],
    ids=["as many as RFC 9309 asks for", "one more: as if there were none"],
)
async def test_redirects_of_robots_txt_are_followed_five_times(redirects: int, obeyed: bool) -> None:
    steps = ["/robots.txt", *(f"/rules-{number}" for number in range(redirects))]
    pages: dict[str, Answer] = {step: redirect(target) for step, target in itertools.pairwise(steps)}
    pages[steps[-1]] = robots("User-agent: *\nDisallow: /closed")
    async with WebServer({**pages, "/": page("/closed"), "/closed": page()}) as server:
        assert ("/closed" in (await crawl(WebLoader(server.url()))).documents) is not obeyed


async def test_a_robots_txt_that_redirects_to_no_web_page_is_none() -> None:
    async with WebServer({"/robots.txt": redirect("mailto:admin@example.org"), "/": page()}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/"]


async def test_the_crawl_delay_is_kept() -> None:
    rules = robots("User-agent: *\nCrawl-delay: 2.5")
    async with WebServer({"/robots.txt": rules, "/": page("/a", "/b"), "/a": page(), "/b": page(text="b")}) as server:
        loader = WebLoader(server.url(), delay=1.0)
        loader._clock = clock = FakeClock()
        await crawl(loader)
        # robots.txt, then 1 s; the page, the sitemap and two more pages 2.5 s apart.
        assert sum(clock.sleeps) == pytest.approx(1.0 + 3 * 2.5)
        longer = WebLoader(server.url(), delay=4.0)
        longer._clock = clock = FakeClock()
        await crawl(longer)
        assert sum(clock.sleeps) == pytest.approx(4 * 4.0)


async def test_an_absurd_crawl_delay_is_capped() -> None:
    rules = robots("User-agent: *\nCrawl-delay: 86400")
    async with WebServer({"/robots.txt": rules, "/": page("/a"), "/a": page()}) as server:
        loader = WebLoader(server.url())
        loader._clock = clock = FakeClock()
        await crawl(loader)
    assert max(clock.sleeps) <= 30.0


async def test_no_more_and_no_fewer_requests_at_once_than_allowed() -> None:
    three = asyncio.Barrier(3)

    async def answer(request: Request) -> str:
        await three.wait()  # nobody gets an answer before three have asked
        return page(text=request.target)

    pages: dict[str, Answer] = {f"/{n}": answer for n in range(39)}
    async with WebServer({"/": page(*pages), **pages}) as server:
        found = await crawl(WebLoader(server.url(), concurrency=3))
    assert len(found.documents) == 40
    assert server.most_at_once == 3


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        ('<meta name="robots" content="noindex">', {}),
        ('<meta name="ROBOTS" content="NOINDEX, FOLLOW">', {}),
        ("", {"X-Robots-Tag": "noindex"}),
        ("", {"X-Robots-Tag": "memgraph-rag: noindex"}),
    ],
)
async def test_noindex_pages_are_followed_but_not_given(head: str, headers: dict[str, str]) -> None:
    pages: dict[str, Answer] = {
        "/": page("/a"),
        "/a": Reply(page("/b", head=head), headers=headers),
        "/b": page(text="b"),
    }
    async with WebServer(pages) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert list(found.documents) == ["/", "/b"]
    assert loader.skipped["noindex"] == 1


async def test_rules_for_other_crawlers_do_not_count() -> None:
    async with WebServer({"/": Reply(page(), headers={"X-Robots-Tag": "googlebot: noindex"})}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/"]


@pytest.mark.parametrize(
    "home",
    [
        page("/a", head='<meta name="robots" content="nofollow">'),
        page("/a", head='<meta name="robots" content="noindex, nofollow">'),
        '<main><p>Text <a rel="external nofollow" href="/a">a</a></p></main>',
    ],
)
async def test_nofollow_links_are_not_followed(home: str) -> None:
    async with WebServer({"/": home, "/a": page()}) as server:
        found = await crawl(WebLoader(server.url()))
        assert server.targets == ["/"]
        again = await crawl(WebLoader(server.url()), found.known())
        assert server.targets == ["/", "/"]
        assert again.unchanged == list(found.documents)


# -- sitemaps ----------------------------------------------------------------------------------------------------------


async def test_pages_of_the_sitemap_are_loaded() -> None:
    async with WebServer({"/": page("/linked"), "/linked": page(), "/orphan": page(text="o")}) as server:
        server.pages["/sitemap.xml"] = sitemap(
            server.url("/orphan"), server.url("/linked?utm_source=map"), "https://example.org/far"
        )
        found = await crawl(WebLoader(server.url()))
        assert list(found.documents) == ["/", "/linked", "/orphan"]
        assert list((await crawl(WebLoader(server.url(), use_sitemap=False))).documents) == ["/", "/linked"]


async def test_sitemaps_that_robots_txt_names_are_read_with_their_indexes() -> None:
    async with WebServer(
        {"/": page()}, fallback=lambda r: page(text=r.target) if r.path.startswith("/p") else Reply(status=404)
    ) as server:
        server.pages |= {
            "/robots.txt": robots(f"Sitemap: {server.url('/index.xml')}\nsitemap: /urls.txt"),
            "/index.xml": sitemap(
                server.url("/one.xml.gz"), "/two.xml", "/index.xml", "https://example.org/s.xml", index=True
            ),
            "/one.xml.gz": Reply(gzip.compress(sitemap(server.url("/p1")).body.encode()), "application/gzip"),  # type: ignore[union-attr]
            "/two.xml": sitemap("/p2", server.url("/p1"), server.url("/image.png")),
            "/urls.txt": Reply(f"{server.url('/p3')}\n\n{server.url('/p2')}\n", "text/plain"),
        }
        found = await crawl(WebLoader(server.url()))
        assert list(found.documents) == ["/", "/p3", "/p2", "/p1"]
        assert [r.path for r in server.requests].count("/index.xml") == 1
        assert "/sitemap.xml" not in [r.path for r in server.requests]
        assert list((await crawl(WebLoader(server.url(), "/p2"))).documents) == ["/p2"]


async def test_a_sitemap_can_be_the_start() -> None:
    async with WebServer(fallback=lambda r: page("/other", text=r.target)) as server:
        server.pages = {"/map.xml": sitemap(server.url("/p1"), server.url("/p2")), "/robots.txt": Reply(status=404)}
        found = await crawl(WebLoader(server.url("/map.xml"), r"/p\d"))
    assert list(found.documents) == ["/p1", "/p2"]


BOMB = (
    """<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">"""
    + "".join(f'<!ENTITY {chr(98 + n)} "{("&" + chr(97 + n) + ";") * 10}">' for n in range(9))
    + "]><urlset><url><loc>&j;</loc></url></urlset>"
)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(page(title="Not found, says a page with status 200")),
        Reply(status=404),
        Reply(status=403),
        Reply("", "application/xml"),
        Reply(BOMB, "application/xml"),
        Reply("no sitemap at all", "text/plain"),
        Reply("<rss><channel/></rss>", "application/xml"),
        Reply(
            "<urlset><url><loc>file:///etc/passwd</loc></url><url><loc>http://[</loc></url><url/></urlset>", "text/xml"
        ),
    ],
)
async def test_what_is_no_sitemap_names_nothing(reply: Reply) -> None:
    async with WebServer({"/": page(), "/sitemap.xml": reply}) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert list(found.documents) == ["/"] and not found.failures and loader.complete


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(gzip.compress(b"<urlset>" + b" " * 5000)[:40], "application/gzip"),
        redirect("/sitemap.xml"),
    ],
)
async def test_a_sitemap_that_fails_is_reported_and_the_crawl_is_not_complete(reply: Reply) -> None:
    async with WebServer({"/": page("/a"), "/a": page(), "/sitemap.xml": reply}) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert list(found.documents) == ["/", "/a"]
    assert found.failures["/sitemap.xml"].startswith("sitemap: ") and not loader.complete


async def test_a_broken_sitemap_gives_what_can_be_read() -> None:
    async with WebServer({"/": page(), "/a": page()}) as server:
        server.pages["/sitemap.xml"] = Reply(f"<urlset><url><loc>{server.url('/a')}</loc></url><url><lo", "text/xml")
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/a"]


@pytest.mark.parametrize(
    ("loc", "query"),
    [
        ("/q?a=1&b=2", "a=1&b=2"),
        ("/q?a=1&amp;b=2&c=3", "a=1&b=2&c=3"),
        ("/q?a=1&#38;b=2&#x26;c=3", "a=1&b=2&c=3"),
        ("/q?a=1&lt=2&copy=3", "a=1&lt=2&copy=3"),
        ("<![CDATA[/q?a=1&b=2]]>", "a=1&b=2"),
        ("/q?a=1&b=2<!-- no & yes <![CDATA[ -->", "a=1&b=2"),
    ],
)
async def test_ampersands_in_sitemaps_are_read_as_they_were_meant(loc: str, query: str) -> None:
    async with WebServer({"/": page(), "/q": page(text="found"), "/after": page(text="after")}) as server:
        server.pages["/sitemap.xml"] = sitemap(loc, "/after")
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", f"/q?{query}", "/after"]


def test_a_sitemap_in_utf_16_is_read() -> None:
    xml = '<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>https://example.org/\u2026?a=1&amp;b=2</loc></url></urlset>'
    assert parse_sitemap(xml.encode("utf-16")) == Sitemap(("https://example.org/\u2026?a=1&b=2",))


@pytest.mark.parametrize("opening", [b"<!--", b"<![CDATA["])
def test_what_a_sitemap_does_not_close_is_read_in_linear_time(opening: bytes) -> None:
    check_growth(lambda size: parse_sitemap(b"<urlset>" + opening * size), 100_000)
