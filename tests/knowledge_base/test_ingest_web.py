"""Ingesting web sites: what is counted, told and pruned."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from libs.dataloader import WebLoader
from tests.dataloader.webserver import Answer, Reply, Request, WebServer, page, redirect


def site(*names: str) -> dict[str, Reply | str]:
    return {"/": page(*names, title="Home"), **{name: page("/", title=f"About {name}") for name in names}}


async def paths(kb: KnowledgeBase) -> list[str]:
    return sorted("/" + document["path"].split("/", 3)[3] for document in await kb.documents())


async def test_what_is_certainly_gone_is_pruned_where_another_page_fails(kb: KnowledgeBase) -> None:
    async with WebServer(site("/a", "/broken", "/gone", "/lost", "/moved", "/borrowed", "/unlinked")) as server:
        await kb.ingest(WebLoader(server.url()))
        server.pages |= {
            "/": page("/a", "/broken", "/gone", "/lost", "/moved", "/borrowed", title="Home"),
            "/broken": Reply(status=500),
            "/gone": Reply(status=410),
            "/lost": Reply(status=404),
            "/moved": Reply(status=301, headers={"Location": "/new"}),
            "/borrowed": redirect("/other"),
            "/new": page(title="Moved here"),
            "/other": page(title="For now"),
        }
        report = await kb.ingest(WebLoader(server.url(), retries=0), prune=True)
        assert await paths(kb) == ["/", "/a", "/borrowed", "/broken", "/new", "/other", "/unlinked"]
        (warning,) = report.warnings
        assert warning.startswith(f"Of {server.url()} only what is certainly gone was pruned: {server.url('/broken')}")
        server.pages["/broken"] = page(title="Mended")
        report = await kb.ingest(WebLoader(server.url()), prune=True)
        assert await paths(kb) == ["/", "/a", "/broken", "/new", "/other"] and not report.warnings


async def test_a_site_that_answers_with_one_page_only_keeps_the_others(kb: KnowledgeBase) -> None:
    async with WebServer(site("/a", "/b", "/gone")) as server:
        await kb.ingest(WebLoader(server.url()))
        before = dict(server.pages)
        server.pages |= {"/": page(title="We will be back soon"), "/gone": Reply(status=410)}
        report = await kb.ingest(WebLoader(server.url()), prune=True)
        assert await paths(kb) == ["/", "/a", "/b", "/gone"] and report.documents.deleted == 0
        assert any("only one page was found, and 3 others are stored" in warning for warning in report.warnings)
        server.pages = {**before, "/": page("/b", title="Home")}
        report = await kb.ingest(WebLoader(server.url()), prune=True)
        assert await paths(kb) == ["/", "/b"] and not report.warnings


@pytest.mark.parametrize("shut", ["redirect", "same", "forbidden", "elsewhere"])
async def test_a_site_that_asks_for_a_login_keeps_its_pages(kb: KnowledgeBase, shut: str) -> None:
    names = ("/a", "/b", "/c", "/d", "/e", "/f", "/gone", "/moved")
    async with WebServer(site(*names)) as server, WebServer({"/login": page(title="Log in")}) as other:
        await kb.ingest(server.url())
        before = await paths(kb)
        login = Reply(page("/register", "/help", "/terms", title="Please log in"))
        wall: Reply | str = {
            "redirect": redirect("/login"),
            "same": login,
            "forbidden": Reply(status=403),
            "elsewhere": redirect(other.url("/login")),
        }[shut]
        extra = {name: page(title=f"About {name}") for name in ("/register", "/help", "/terms")}
        opened = dict(server.pages)
        server.pages = {**dict.fromkeys(names, wall), **extra, "/login": login}
        server.pages["/"] = wall if shut in ("redirect", "same") else login
        server.pages["/moved"] = Reply(status=301, headers={"Location": "/new"})
        for _ in range(2):  # the second time, the login page is stored
            report = await kb.ingest(server.url(), prune=True)
            assert set(before) <= set(await paths(kb)) and report.documents.deleted == 0
            (warning,) = report.warnings
            assert "stored pages were not found, and" in warning and "asks for a login" in warning
        server.pages = {**opened, "/": page("/a", "/b", "/c", title="Home")}
        report = await kb.ingest(server.url(), prune=True)
        assert await paths(kb) == ["/", "/a", "/b", "/c"] and not report.warnings


@pytest.mark.parametrize("reply", [Reply(status=404), Reply(status=301, headers={"Location": "/"}), page(title="Old")])
async def test_most_pages_of_a_site_may_be_gone(kb: KnowledgeBase, reply: Reply | str) -> None:
    names = ("/a", "/b", "/c", "/d", "/e", "/f")
    async with WebServer(site("/kept", *names)) as server:
        await kb.ingest(server.url())
        server.pages |= {"/": page("/kept", title="Home"), **dict.fromkeys(names, reply)}
        report = await kb.ingest(server.url(), prune=True)
        assert await paths(kb) == ["/", "/kept"] and report.documents.deleted == 6 and not report.warnings


async def test_a_page_that_has_got_another_address_is_not_kept_under_the_old_one(kb: KnowledgeBase) -> None:
    async with WebServer({"/latest": redirect("/1"), "/1": page(title="One"), "/2": page(title="Two")}) as server:
        await kb.ingest(WebLoader(server.url("/latest")))
        server.pages["/latest"] = redirect("/2")
        await kb.ingest(WebLoader(server.url("/latest")), prune=True)
        assert await paths(kb) == ["/2"]


async def test_a_page_that_is_known_by_the_address_that_redirects_to_it_stays(kb: KnowledgeBase) -> None:
    named = page(title="Guide", head='<link rel="canonical" href="/guide">')
    moved = Reply(status=301, headers={"Location": "/guide/"})
    pages: dict[str, Answer] = {
        "/": page("/guide", "/broken"),
        "/guide": moved,
        "/guide/": named,
        "/broken": Reply(status=500),
    }
    async with WebServer(pages) as server:
        for _ in range(2):
            await kb.ingest(WebLoader(server.url(), retries=0), prune=True)
            assert await paths(kb) == ["/", "/guide"]


async def test_a_crawl_that_was_cut_short_says_so_without_prune(kb: KnowledgeBase) -> None:
    async with WebServer(site("/a", "/b", "/c")) as server:
        report = await kb.ingest(WebLoader(server.url(), max_urls=2))
        assert report.documents.added == 2
        (warning,) = report.warnings
        assert "At least 2 pages were left out" in warning and server.url() in warning
        report = await kb.ingest([server.url(), server.url("/#top")], max_urls=2)
        assert report.warnings == [warning]  # once, though it is true of both


async def test_pages_deeper_than_a_crawl_went_are_not_pruned(kb: KnowledgeBase) -> None:
    pages = {"/": page("/a", "/b"), "/a": page("/a/1"), "/b": page(text="b"), "/a/1": page("/a/1/x", text="deep")}
    async with WebServer(pages | {"/a/1/x": page(text="deepest")}) as server:
        await kb.ingest(WebLoader(server.url()))
        there = await paths(kb)
        report = await kb.ingest(WebLoader(server.url(), max_depth=1), prune=True)
        assert (report.documents.deleted, await paths(kb)) == (0, there)
        (warning,) = report.warnings
        assert warning.endswith("only what is certainly gone was pruned: there are pages deeper than max_depth.")
        server.pages["/a"] = page("/b", title="No way down")
        report = await kb.ingest(WebLoader(server.url(), max_depth=1), prune=True)
        assert (report.documents.deleted, await paths(kb), report.warnings) == (2, ["/", "/a", "/b"], [])


async def test_pages_of_hosts_that_a_crawl_leaves_out_are_not_pruned(kb: KnowledgeBase) -> None:
    async with WebServer({"/there": page("/there/1", text="there"), "/there/1": page(text="1")}) as other:
        async with WebServer(site("/a", "/gone")) as server:
            server.pages["/"] = page("/a", "/gone", other.url("/there"))
            await kb.ingest(WebLoader(server.url(), allowed_hosts=[other.url().split("/")[2]]))
            assert await paths(kb) == ["/", "/a", "/gone", "/there", "/there/1"]
            server.pages["/"] = page("/a", other.url("/there"))
            report = await kb.ingest(WebLoader(server.url()), prune=True)
            assert (report.documents.deleted, await paths(kb)) == (1, ["/", "/a", "/there", "/there/1"])
            other.pages["/there"] = page(text="there")
            await kb.ingest(WebLoader(server.url(), same_host=False), prune=True)
            assert await paths(kb) == ["/", "/a", "/there"]


async def test_vanished_pages_of_the_host_that_a_start_page_redirects_to_are_pruned(kb: KnowledgeBase) -> None:
    async with WebServer(site("/a", "/gone")) as new, WebServer({"/": redirect(new.url())}) as old:
        await kb.ingest(WebLoader(old.url()))
        assert await paths(kb) == ["/", "/a", "/gone"]
        new.pages["/"] = page("/a")
        await kb.ingest(WebLoader(old.url()), prune=True)
        assert await paths(kb) == ["/", "/a"]


async def test_pages_that_robots_txt_newly_forbids_are_kept_with_what_they_lead_to_and_told(kb: KnowledgeBase) -> None:
    pages = {"/": page("/shut/", "/a"), "/shut/": page("/shut/1", "/open"), "/shut/1": page(text="1")}
    async with WebServer(pages | {"/a": page(text="a"), "/open": page(text="open")}) as server:
        await kb.ingest(WebLoader(server.url()))
        there = await paths(kb)
        server.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /shut/", "text/plain")
        server.pages["/"] = page("/shut/", "/shut/new", title="Home")
        report = await kb.ingest(WebLoader(server.url()), prune=True)
        assert await paths(kb) == [path for path in there if path != "/a"] and report.documents.deleted == 1
        assert {item.path for item in report.documents.failed} == {server.url("/shut/"), server.url("/shut/1")}
        assert all("robots.txt of the host does not allow it any" in item.reason for item in report.documents.failed)
        (warning,) = report.warnings
        assert f"1 page was left out ({server.url('/shut/new')}): forbidden by robots.txt" in warning


async def test_overlapping_sources_of_one_site_are_fetched_and_counted_once(kb: KnowledgeBase) -> None:
    def answer(request: Request) -> Reply:
        names = ["/docs/", "/blog/", "/docs/1", "/docs/2", "/blog/1"]
        version = "new" if edited and request.path == "/docs/1" else "old"
        body = page(*names, title=f"About {request.path}", text=version)
        return Reply(body, etag=f'"{version}"') if request.path in ("/", *names) else Reply(status=404)

    edited = False
    async with WebServer(fallback=answer) as server:
        sources = [server.url("/docs/"), server.url("/blog/"), server.url("/")]
        report = await kb.ingest(sources)
        assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (6, 0, 0)
        assert sorted(server.targets) == sorted({*server.targets}) and len(server.targets) == 6
        edited = True
        report = await kb.ingest(sources)
        assert (report.documents.added, report.documents.updated, report.documents.unchanged) == (0, 1, 5)
        assert len(server.targets) == 12
        # Each is a document of all three: it goes only when the last of them does not have it any more.
        report = await kb.ingest(sources, prune=True)
        assert report.documents.deleted == 0 and report.documents.unchanged == 6


async def test_a_part_of_a_site_keeps_what_the_site_itself_does_not_lead_to_any_more(kb: KnowledgeBase) -> None:
    news = [f"/news/{number}" for number in range(8)]
    pages = site(*news, "/guide/") | {"/guide/": page("/guide/x", "/guide/y"), "/guide/x": page(title="X")}
    async with WebServer(pages | {"/guide/y": page(title="Y")}) as server:
        guide = [server.url(), server.url("/guide/")]
        await kb.ingest(guide)
        there = await paths(kb)
        server.pages["/"] = page(*news, title="Home")
        for sources in (guide, server.url(), guide):
            report = await kb.ingest(sources, prune=True)
            assert (report.documents.deleted, await paths(kb)) == (0, there)
        server.pages["/"] = page(*news, "/guide/y", title="Home")
        await kb.ingest(guide)
        server.pages |= {"/guide/y": Reply(status=404), "/guide/": page(title="Guide")}
        await kb.ingest(server.url(), prune=True)
        assert await paths(kb) == [path for path in there if path != "/guide/y"], "it is gone from every part"
        await kb.ingest(guide, prune=True)
        assert await paths(kb) == [path for path in there if path not in ("/guide/x", "/guide/y")]


async def test_sources_that_overlap_fetch_no_page_for_ever_that_sets_a_cookie(kb: KnowledgeBase) -> None:
    def answer(request: Request) -> Reply:
        if "seen=1" in request.headers.get("cookie", ""):
            return Reply(page("/a", title=f"About {request.path}"))
        return Reply(status=302, headers={"Location": request.path, "Set-Cookie": "seen=1; Path=/"})

    async with WebServer(fallback=answer) as server:
        report = await kb.ingest([server.url(), server.url("/a")])
    assert report.documents.added == 2 and not report.documents.failed


async def test_a_failure_of_two_sources_is_told_once(kb: KnowledgeBase) -> None:
    async with WebServer(site("/a", "/lost") | {"/lost": Reply(status=404)}) as server:
        report = await kb.ingest([server.url(), server.url("/a")])
    assert [item.path for item in report.documents.failed] == [server.url("/lost")]
