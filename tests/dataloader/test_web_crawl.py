"""What a crawl fetches, what it gives, and under which names."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator

import pytest

from libs.dataloader import (
    Document,
    InvalidSourceError,
    Loader,
    SourceNotFoundError,
    WebLoader,
)
from libs.dataloader.crawl.cache import AnswerCache
from tests.dataloader.webserver import Answer, Reply, Request, WebServer, crawl, page, redirect

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
    pages: dict[str, Answer] = {"/": page("/old", "/new"), "/old": redirect("/new#x", status), "/new": page(text="new")}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/new"] and not found.failures
    assert server.targets.count("/new") == 1


async def test_a_meta_refresh_is_a_redirect() -> None:
    head = '<meta http-equiv="refresh" content="0; URL=/new">'
    async with WebServer({"/": f"<html><head>{head}</head><body></body></html>", "/new": page(text="new")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/new"]


@pytest.mark.parametrize("value", ["0; url=/new", "0;URL='new'", "5, /new", "0; url=http://127.0.0.1:PORT/new"])
async def test_a_refresh_in_the_header_is_a_redirect(value: str) -> None:
    async with WebServer({"/new": page(text="new")}) as server:
        header = value.replace("PORT", server.url().split(":")[2].strip("/"))
        server.pages["/"] = Reply("<html><body>Moved.</body></html>", headers={"Refresh": header})
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/new"] and not found.failures


@pytest.mark.parametrize("value", ["30", "30; url=/", "0; url=mailto:ann@example.org", ""])
async def test_a_page_that_refreshes_itself_stays(value: str) -> None:
    async with WebServer({"/": Reply(page(text="now"), headers={"Refresh": value})}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/"] and not found.failures


async def test_a_page_of_frames_is_what_its_frames_show() -> None:
    frames = '<html><frameset cols="20%,80%"><frame src="menu.html"><frame src="/text"></frameset></html>'
    pages = {"/": frames, "/menu.html": page("/text", text="Menu"), "/text": page(text="text")}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert sorted(found.documents) == ["/menu.html", "/text"] and not found.failures


APACHE = """<html><head><title>Index of /docs</title></head><body><h1>Index of /docs</h1><table>
<tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
<tr><td><a href="/">Parent Directory</a></td></tr><tr><td><a href="a.html">a.html</a></td><td>2024-01-01</td></tr>
<tr><td><a href="old/">old/</a></td><td>2024-01-01</td></tr></table><address>Apache/2.4</address></body></html>"""
NGINX = """<html><head><title>Index of /docs/old/</title></head><body><h1>Index of /docs/old/</h1><hr><pre>
<a href="../">../</a>\n<a href="b.html">b.html</a>   01-Jan-2024 10:00   1234\n</pre><hr></body></html>"""


async def test_lists_of_the_files_in_a_folder_lead_on_but_are_no_documents() -> None:
    book = '<title>Index of /docs terms</title><p>See <a href="/docs/">these</a> and <a href="/other">others</a>.</p>'
    pages = {
        "/docs/": APACHE,
        "/docs/a.html": page(text="First"),
        "/docs/old/": NGINX,
        "/docs/old/b.html": book,
    }
    async with WebServer(pages) as server:
        loader = WebLoader(server.url("/docs/"), url_pattern="/docs/")
        found = await crawl(loader)
        assert sorted(found.documents) == ["/docs/a.html", "/docs/old/b.html"]
        assert not [target for target in server.targets if "?" in target]
    assert loader.skipped["listing"] == 2 and loader.complete


@pytest.mark.parametrize(
    ("title", "is_listing"),
    [
        ("Directory Listing For [/docs/] - Up To [/]", True),  # Tomcat
        ("Directory: /docs/", True),  # Jetty
        ("localhost - /docs/", True),  # IIS
        ("Unix - /dev/null and its uses", False),
    ],
)
async def test_lists_of_other_servers(title: str, is_listing: bool) -> None:
    listing = (
        f'<title>{title}</title><h1>{title}</h1><pre><a href="/">Up</a> 1/1/2024 20 <a href="a.html">a.html</a></pre>'
    )
    async with WebServer({"/docs/": listing, "/docs/a.html": page(text="First")}) as server:
        found = await crawl(WebLoader(server.url("/docs/"), url_pattern="/docs/"))
    assert ("/docs/" not in found.documents) is is_listing and "/docs/a.html" in found.documents


async def test_a_page_whose_frames_are_elsewhere_has_no_text() -> None:
    frames = '<html><frameset><frame src="http://other.example/"></frameset></html>'
    async with WebServer({"/": page("/a"), "/a": frames}) as server:
        found = await crawl(WebLoader(server.url()))
    assert "it has no text" in found.failures["/a"]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Open on Sundays only.", "/"),
        ("Loading …", "/nojs"),
        ("", "/nojs"),
    ],
)
async def test_a_refresh_for_readers_without_scripts_replaces_no_text(text: str, given: str) -> None:
    head = '<noscript><meta http-equiv="refresh" content="0; URL=/nojs"></noscript>'
    home = f"<html><head><title>Home</title>{head}</head><body><p>{text}</p></body></html>"
    async with WebServer({"/": home, "/nojs": page(text="This browser runs no scripts.")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == [given] and not found.failures


async def test_a_page_whose_only_link_is_where_its_script_leads_is_no_page() -> None:
    home = """<html><head><title>Redirecting</title><noscript><meta http-equiv="refresh" content="1; url=2.0/">
        </noscript><script>window.location.replace("2.0/" + window.location.hash);</script></head>
        <body>Redirecting to <a href="2.0/">the current version</a>...</body></html>"""
    async with WebServer({"/": home, "/2.0/": page(text="The manual.")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/2.0/"] and not found.failures


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
        ({"/r": redirect("javascript:alert(1)")}, "not a web page"),
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
            else Reply(status=302, headers={"Location": "/", "Set-Cookie": "seen=1"})
        )

    async with WebServer({"/": answer}) as server:
        assert "in" in (await crawl(WebLoader(server.url()))).documents["/"].content


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


async def test_crawls_that_share_answers_share_only_what_either_may_get() -> None:
    def answer(request: Request) -> Reply:
        return Reply(page(text=f"for {request.headers['user-agent']}"))

    async with WebServer(fallback=answer) as server:
        cache = AnswerCache()
        for agent in ("one/1", "one/1", "other/1"):
            found = await crawl(WebLoader(server.url(), user_agent=agent, respect_robots=False, cache=cache))
            assert f"for {agent}" in found.documents["/"].content
        assert server.targets == ["/", "/"]
        with pytest.raises(InvalidSourceError, match="not on the public internet"):
            await crawl(WebLoader(server.url(), user_agent="one/1", allow_private=False, cache=cache))
