"""What a crawl fetches, what it gives, and under which names."""

from __future__ import annotations

import asyncio
import gzip
import json
import warnings
from collections.abc import Iterator

import pytest
from webserver import FakeClock, Reply, Request, WebServer, crawl, page, redirect

from libs.dataloader import (
    Document,
    InvalidSourceError,
    Loader,
    LoadError,
    NothingMatchedError,
    SourceNotFoundError,
    WebLoader,
)
from libs.dataloader.web import DEFAULT_USER_AGENT


def robots(text: str) -> Reply:
    return Reply(text, "text/plain")


def sitemap(*urls: str, index: bool = False) -> Reply:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "".join(f"<{inner}><loc>{url}</loc><lastmod>2026-01-01</lastmod></{inner}>" for url in urls)
    xml = f'<?xml version="1.0"?><{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{outer}>'
    return Reply(xml, "application/xml")


# -- following links ---------------------------------------------------------------------------------------------------


async def test_a_site_is_loaded_page_by_page_in_order_of_discovery() -> None:
    pages = {"/": page("/b", "/a", title="Home"), "/a": page("/c", title="A"), "/b": page("/a", "/"), "/c": page()}
    async with WebServer(pages) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert isinstance(loader, Loader)
    assert list(found.documents) == ["/", "/b", "/a", "/c"]
    assert len(server.targets) == 4
    assert loader.complete
    home = found.documents["/"]
    assert home.path == home.uri == server.url("/")
    assert (home.title, home.format, home.mime_type) == ("Home", "markdown", "text/html")
    assert home.content.startswith("# Home")
    assert [link.target for link in home.links] == [server.url("/b"), server.url("/a")]
    assert home.metadata["url"] == server.url("/")
    assert json.dumps(home.metadata)
    assert set(home.fingerprint) >= {"sha256"}


async def test_the_same_site_gives_the_same_documents_whatever_the_concurrency() -> None:
    numbers = range(60)
    pages = {
        f"/{n}": page(*(f"/{m}" for m in (2 * n + 1, 2 * n + 2) if m < 60), text=f"words {n * n}") for n in numbers
    }
    pages["/"] = page("/0", "/5")
    async with WebServer(pages) as server:
        one = await crawl(WebLoader(server.url(), concurrency=1))
        many = await crawl(WebLoader(server.url(), concurrency=16))
    assert len(one.documents) == 61
    assert one.results == many.results


async def test_other_hosts_are_linked_to_but_not_fetched() -> None:
    async with WebServer({"/": page("/x")}) as other, WebServer() as server:
        server.pages["/"] = page("/a", other.url("/"), f"http://localhost:{server.port}/a", "https://example.org/far")
        server.pages["/a"] = page()
        found = await crawl(WebLoader(server.url()))
        assert list(found.documents) == ["/", "/a"]
        assert other.requests == []
        targets = [link.target for link in found.documents["/"].links]
        assert "https://example.org/far" in targets and other.url("/") in targets


async def test_further_hosts_can_be_allowed() -> None:
    async with WebServer({"/": page("/x"), "/x": page()}) as other, WebServer() as server:
        server.pages["/"] = page(other.url("/"))
        named = await crawl(WebLoader(server.url(), allowed_hosts=[f"127.0.0.1:{other.port}"]))
        free = await crawl(WebLoader(server.url(), same_host=False))
        assert [r.path for r in named.results] == [r.path for r in free.results]
        assert [r.path for r in named.results] == [server.url("/"), other.url("/"), other.url("/x")]
        assert [r.path for r in other.requests].count("/robots.txt") == 2  # once for each crawl


async def test_every_spelling_of_a_page_is_fetched_once() -> None:
    async with WebServer({"/a": page(), "/ü": page()}) as server:
        links = [
            "/a#x",
            "/a?",
            "/./a",
            "/b/../a",
            "/%61",
            "/a?utm_source=mail&fbclid=1",
            f"http://127.0.0.1:{server.port}/a",
        ]
        server.pages["/"] = page(*links, "/ü", "/%c3%bc", "/a?x=1", "/a?x=2")
        server.pages["/a?x=1"], server.pages["/a?x=2"] = page(text="one"), page(text="two")
        server.pages["/%C3%BC"] = page(text="umlaut")
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/a", "/%C3%BC", "/a?x=1", "/a?x=2"]
    assert len(server.targets) == 5


async def test_base_href_counts() -> None:
    pages = {
        "/": page("one", "?q=2", head='<base href="/deep/er/">'),
        "/deep/er/one": page(text="1"),
        "/deep/er/": page(),
    }
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/deep/er/one", "/deep/er/?q=2"]


async def test_navigation_is_followed_though_it_is_no_part_of_the_text() -> None:
    home = '<html><body><nav><a href="/n">Nav</a></nav><main><p>Long text. <a href="/t">T</a></p></main></body></html>'
    async with WebServer({"/": home, "/n": page(), "/t": page(text="t")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert set(found.documents) == {"/", "/n", "/t"}
    assert [link.target for link in found.documents["/"].links] == [server.url("/t")]


async def test_assets_are_never_fetched() -> None:
    home = """<html><head><link rel="stylesheet" href="/s.css"><script src="/s.js"></script></head><body>
        <img src="/i.png"><a href="/big.jpg">photo</a><a href="/a.zip">zip</a><a href="/app.js">js</a>
        <p>Text</p></body></html>"""
    async with WebServer({"/": home}) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert list(found.documents) == ["/"] and not found.failures
    assert server.targets == ["/"]


async def test_max_depth() -> None:
    pages = {"/": page("/1"), "/1": page("/2"), "/2": page("/3"), "/3": page()}
    async with WebServer(pages) as server:
        assert list((await crawl(WebLoader(server.url(), max_depth=0))).documents) == ["/"]
        assert [r.path for r in server.requests] == ["/robots.txt", "/"]
        assert list((await crawl(WebLoader(server.url(), max_depth=2))).documents) == ["/", "/1", "/2"]


async def test_max_urls_ends_a_crawl_and_says_so() -> None:
    pages = {f"/{n}": page(text=f"number {n}") for n in range(30)}
    async with WebServer({"/": page(*pages), **pages}) as server:
        short = WebLoader(server.url(), max_urls=7)
        assert list((await crawl(short)).documents) == ["/", "/0", "/1", "/2", "/3", "/4", "/5"]
        assert not short.complete
        exact = WebLoader(server.url(), max_urls=31)
        assert len((await crawl(exact)).documents) == 31
        assert exact.complete


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


@pytest.mark.parametrize("pattern", ["*.html", "(", "[a"])
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidSourceError, match="is not a regular expression") as error:
        WebLoader("http://example.org/", pattern)
    assert ("glob" in str(error.value)) is ("*" in pattern)


# -- arguments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org/", "", "http://", "http://exa mple.org/", "http://[::1/"]
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
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidSourceError):
        WebLoader("http://example.org/", **arguments)  # type: ignore[arg-type]


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


# -- names of pages ----------------------------------------------------------------------------------------------------


async def test_a_page_is_known_by_its_canonical_url() -> None:
    head = '<link rel="canonical" href="/real?id=1&utm_source=x">'
    async with WebServer({"/": page("/print/1", "/real?id=1"), "/print/1": page(head=head, text="same")}) as server:
        server.pages["/real?id=1"] = page(head=head, text="same")
        server.pages["/"] = page("/print/1", "/mobile/1")
        server.pages["/mobile/1"] = page("/more", head=head, text="same but mobile")
        server.pages["/more"] = page(text="more")
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/real?id=1", "/more"]
    assert found.documents["/real?id=1"].uri == server.url("/real?id=1")
    assert found.documents["/real?id=1"].metadata["url"] == server.url("/real?id=1")
    assert "/real?id=1" not in server.targets  # its content was there already


async def test_a_canonical_url_that_is_linked_too_is_fetched_itself() -> None:
    head = '<link rel="canonical" href="/real">'
    pages = {"/": page("/copy", "/real"), "/copy": page(text="copy", head=head), "/real": page(text="real", head=head)}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/real"]
    assert "real" in found.documents["/real"].content


@pytest.mark.parametrize("canonical", ["http://elsewhere.example/a", "/", "mailto:x", "/picture.png"])
async def test_canonical_urls_that_cannot_be_meant_are_ignored(canonical: str) -> None:
    head = f'<link rel="canonical" href="{canonical}">'
    async with WebServer(
        {"/": page("/a", "/b"), "/a": page(text="a", head=head), "/b": page(text="b", head=head)}
    ) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/a", "/b"]


async def test_a_canonical_url_outside_of_the_pattern_does_not_hide_the_page() -> None:
    head = '<link rel="canonical" href="/a">'
    async with WebServer({"/": page("/a?page=2"), "/a?page=2": page(head=head)}) as server:
        found = await crawl(WebLoader(server.url(), r"page=\d"))
    assert list(found.documents) == ["/a?page=2"]


# -- redirects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirected_page_is_known_by_where_it_is(status: int) -> None:
    pages = {"/": page("/old", "/new"), "/old": redirect("/new#x", status), "/new": page(text="new")}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/new"] and not found.failures
    assert server.targets.count("/new") == 1


async def test_a_meta_refresh_is_a_redirect() -> None:
    head = '<meta http-equiv="refresh" content="0; URL=/new">'
    async with WebServer({"/": f"<html><head>{head}</head><body></body></html>", "/new": page(text="new")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/new"]


async def test_a_start_url_that_redirects_to_another_host_takes_the_crawl_there() -> None:
    async with WebServer({"/home": page("/a"), "/a": page(text="a")}) as new, WebServer() as old:
        new.pages["/home"] = page("/a", old.url("/elsewhere"))
        old.pages = {"/": redirect(new.url("/home")), "/elsewhere": page()}
        found = await crawl(WebLoader(old.url()))
        assert [r.path for r in found.results] == [new.url("/home"), new.url("/a")]
        assert old.targets == ["/"]


async def test_a_link_that_redirects_to_another_host_is_left_alone() -> None:
    async with WebServer({"/": page()}) as other, WebServer() as server:
        server.pages = {"/": page("/out"), "/out": redirect(other.url("/"))}
        loader = WebLoader(server.url())
        found = await crawl(loader)
        assert list(found.documents) == ["/"] and not found.failures
        assert other.requests == []
        assert loader.skipped["scope"] == 1 and loader.complete


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ({"/r": redirect("/r")}, "in a circle"),
        ({"/r": redirect("/s"), "/s": redirect("/r")}, "in a circle"),
        ({"/r": redirect("javascript:alert(1)")}, "no web page"),
        ({"/r": lambda request: redirect(request.target + "x"), "longer": redirect("/")}, "more than 10 redirects"),
    ],
)
async def test_redirects_that_lead_nowhere_fail(pages: dict[str, Reply], reason: str) -> None:
    async with WebServer({"/": page("/r"), **pages}) as server:
        if callable(pages["/r"]):
            server.fallback = pages["/r"]
        found = await crawl(WebLoader(server.url()))
    assert reason in found.failures["/r"]
    assert list(found.documents) == ["/"]


async def test_a_page_that_sets_a_cookie_and_redirects_to_itself_is_had() -> None:
    def answer(request: Request) -> Reply | str:
        return (
            page(text="in")
            if "seen=1" in request.headers.get("cookie", "")
            else redirect("/", **{"Set-Cookie": "seen=1"})
        )

    async with WebServer({"/": answer}) as server:
        assert "in" in (await crawl(WebLoader(server.url()))).documents["/"].content


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
        with pytest.raises(LoadError, match="does not allow it; respect_robots=False"):
            await crawl(WebLoader(server.url()))
        assert server.targets == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_without_robots_txt_everything_is_allowed(status: int) -> None:
    async with WebServer({"/robots.txt": Reply("Disallow: /", status=status), "/": page()}) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/"]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_robots_txt_that_cannot_be_read_forbids_everything(status: int) -> None:
    async with WebServer({"/robots.txt": Reply(status=status), "/": page()}) as server:
        with pytest.raises(LoadError, match=f"could not be read, so nothing may be fetched: HTTP {status}"):
            await crawl(WebLoader(server.url(), retries=2))
        assert len(server.requests) == 3 and server.targets == []


async def test_a_redirected_or_huge_robots_txt_is_read() -> None:
    rules = "User-agent: *\nDisallow: /a\n" + "# padding\n" * 100_000
    pages = {"/robots.txt": redirect("/robots"), "/robots": robots(rules), "/": page("/a", "/b"), "/b": page()}
    async with WebServer(pages) as server:
        assert list((await crawl(WebLoader(server.url()))).documents) == ["/", "/b"]


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

    pages = {f"/{n}": answer for n in range(39)}
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
    pages = {"/": page("/a"), "/a": Reply(page("/b", head=head), headers=headers), "/b": page(text="b")}
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


# -- kinds of documents ------------------------------------------------------------------------------------------------


async def test_kinds_are_told_by_content_type_and_by_bytes() -> None:
    html = page(text="real html")
    async with WebServer() as server:
        server.pages = {
            "/text": Reply("just text", "text/plain"),
            "/readme": Reply("# Title\n\nMarkdown", "text/markdown; charset=utf-8"),
            "/notes.md": Reply("# Notes\n\nbody", "text/plain"),
            "/data": Reply('{"name": "value"}', "application/json"),
            "/api": Reply('{"name": "other"}', "text/html"),
            "/lies": Reply(html, "text/plain"),
            "/lies.pdf": Reply(html + "<p>2", "application/pdf"),
            "/untold": Reply(html + "<p>3", None),
            "/xhtml": Reply(
                '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>x</body></html>',
                "application/xhtml+xml",
            ),
        }
        server.pages["/"] = page(*server.pages)
        found = await crawl(WebLoader(server.url()))
    assert not found.failures
    kinds = {path: document.mime_type for path, document in found.documents.items()}
    assert kinds == {
        "/": "text/html",
        "/text": "text/plain",
        "/readme": "text/markdown",
        "/notes.md": "text/markdown",
        "/data": "application/json",
        "/api": "application/json",
        "/lies": "text/html",
        "/lies.pdf": "text/html",
        "/untold": "text/html",
        "/xhtml": "text/html",
    }
    assert found.documents["/text"].content == "just text"
    assert found.documents["/readme"].format == found.documents["/"].format == "markdown"
    assert "value" in found.documents["/data"].content


def pdf(text: str) -> bytes:
    """The smallest PDF that shows a line of text."""
    drawing = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


async def test_pdf_files_are_read_also_where_the_header_lies() -> None:
    async with WebServer() as server:
        server.pages = {
            "/paper.pdf": Reply(pdf("Rivers and stones"), "application/pdf"),
            "/download?id=1": Reply(pdf("Amber and copper"), "application/octet-stream"),
            "/lies": Reply(pdf("Winter candles"), "text/html"),
            "/broken.pdf": Reply(pdf("x")[:60], "application/pdf"),
        }
        server.pages["/"] = page(*server.pages)
        loader = WebLoader(server.url())
        found = await crawl(loader)
        for path, words in {"/paper.pdf": "Rivers", "/download?id=1": "Amber", "/lies": "Winter"}.items():
            document = found.documents[path]
            assert words in document.content and document.mime_type == "application/pdf"
            assert document.path == document.uri == document.metadata["url"] == server.url(path)
            assert document.locations["page"] == [(0, 1)]
        assert list(found.failures) == ["/broken.pdf"] and loader.complete


async def test_links_in_markdown_are_followed() -> None:
    async with WebServer({"/doc/a": page(text="a")}) as server:
        server.pages["/readme.md"] = Reply("# Title\n\nSee [a](doc/a) and [far](https://example.org/).", "text/plain")
        found = await crawl(WebLoader(server.url("/readme.md")))
        assert list(found.documents) == ["/readme.md", "/doc/a"]
        assert found.documents["/readme.md"].title == "Title"
        assert [link.target for link in found.documents["/readme.md"].links] == [
            server.url("/doc/a"),
            "https://example.org/",
        ]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\x89PNG\r\n\x1a\n", "text/html"),
        (b"PK\x03\x04rest", "application/octet-stream"),
        (b"\x00\x01\x02\x03" * 100, "application/octet-stream"),
        (b"body {}", "text/css"),
        (b"<rss></rss>", "application/rss+xml"),
        (b"whatever", "video/mp4"),
    ],
)
async def test_other_kinds_are_reported_where_a_page_was_promised(body: bytes, content_type: str) -> None:
    async with WebServer({"/": page("/thing", "/thing.xyz")}, fallback=Reply(body, content_type)) as server:
        server.pages |= {"/robots.txt": Reply(status=404), "/sitemap.xml": Reply(status=404)}
        loader = WebLoader(server.url())
        found = await crawl(loader)
        assert list(found.failures) == ["/thing"]
        assert "read from the web" in found.failures["/thing"] or "binary" in found.failures["/thing"]
        assert loader.skipped["type"] == 1 and loader.complete
        alone = await crawl(WebLoader(server.url("/thing.xyz")))
        assert list(alone.failures) == ["/thing.xyz"] and not alone.documents


async def test_a_start_url_that_is_no_html_page_is_all_that_is_loaded() -> None:
    async with WebServer({"/a.txt": Reply("text", "text/plain"), "/b": page()}) as server:
        server.pages["/sitemap.xml"] = sitemap(server.url("/b"))
        found = await crawl(WebLoader(server.url("/a.txt")))
        assert list(found.documents) == ["/a.txt"]
        again = await crawl(WebLoader(server.url("/a.txt")), found.known())
        assert again.unchanged == ["/a.txt"] and len(again.results) == 1


WORDS = "Größe, naïve façade, 10 € – “quoted”."


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (page(text=WORDS).encode("utf-8"), "text/html; charset=utf-8"),
        (page(text=WORDS).encode("cp1252"), "text/html; charset=windows-1252"),
        (page(text=WORDS).encode("cp1252"), "text/html; charset=ISO-8859-1"),
        (page(text=WORDS).encode("utf-8"), "text/html; charset=ISO-8859-1"),
        (page(text=WORDS).encode("utf-8"), 'text/html; charset="nonsense"'),
        (page(text=WORDS, head='<meta charset="windows-1252">').encode("cp1252"), "text/html"),
        (page(text=WORDS).encode("utf-16"), "text/html"),
        (b"\xef\xbb\xbf" + page(text=WORDS).encode("utf-8"), "text/html; charset=windows-1252"),
        (page(text=WORDS).encode("utf-8"), None),
    ],
)
async def test_text_is_decoded_whatever_the_header_says(body: bytes, content_type: str | None) -> None:
    async with WebServer({"/": Reply(body, content_type)}) as server:
        found = await crawl(WebLoader(server.url()))
    assert WORDS in found.documents["/"].content


# -- requests ----------------------------------------------------------------------------------------------------------


async def test_headers_and_credentials_go_only_where_the_caller_sent_them() -> None:
    async with WebServer({"/x": page()}) as other, WebServer() as server:
        server.pages = {"/": page("/a", other.url("/x")), "/a": page(text="a")}
        url = server.url().replace("http://", "http://me:p%40ss@")
        loader = WebLoader(url, same_host=False, headers={"X-Key": "k"})
        found = await crawl(loader)
        assert len(found.documents) == 3
        assert all(r.headers["x-key"] == "k" for r in server.requests)
        assert all(r.headers["authorization"] == "Basic bWU6cEBzcw==" for r in server.requests)
        assert other.targets == ["/x"]
        assert not any("x-key" in r.headers or "authorization" in r.headers for r in other.requests)
        assert "p%40ss" not in repr(found.results) and "p%40ss" not in repr(loader.source)


@pytest.fixture
def no_leaks() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


async def test_a_loader_can_be_used_again(no_leaks: None) -> None:
    async with WebServer({"/": page("/a"), "/a": page()}) as server:
        loader = WebLoader(server.url())
        first, second = await crawl(loader), await crawl(loader)
    assert first.results == second.results and loader.complete


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Reply(status=404), "HTTP 404"), (Reply(status=403), "HTTP 403"), (Reply(status=500), "HTTP 500")],
)
async def test_a_start_url_that_cannot_be_had_is_an_error(answer: Reply, reason: str) -> None:
    async with WebServer({"/": answer}) as server:
        loader = WebLoader(server.url())
        with pytest.raises(SourceNotFoundError, match=reason):
            await crawl(loader)
        assert not loader.complete


async def test_a_start_page_that_may_not_be_stored_is_reported() -> None:
    async with WebServer({"/": page(head='<meta name="robots" content="noindex">')}) as server:
        found = await crawl(WebLoader(server.url()))
    assert "noindex" in found.failures["/"]


async def test_documents_do_not_depend_on_the_time_of_the_crawl() -> None:
    async with WebServer({"/": page()}) as server:
        one, two = [await crawl(WebLoader(server.url())) for _ in range(2)]
    assert isinstance(one.results[0], Document)
    assert one.results == two.results
