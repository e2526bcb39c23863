"""Sites without end have an end; sites that are only large are loaded whole."""

from __future__ import annotations

import itertools
import random
from datetime import date, timedelta

import pytest

from libs.dataloader import WebLoader
from libs.dataloader.crawl.traps import Trace, TrapDetector, endless_shape, group_of, has_date
from tests.dataloader.webserver import Reply, Request, WebServer, crawl, page

WORDS = "river stone cloud amber forest copper violet harbor winter candle meadow thunder".split()


def prose(seed: str) -> str:
    """Text that differs from page to page in more than its numbers."""
    return " ".join(random.Random(seed).choices(WORDS, k=30))


def number(request: Request, key: str) -> int:
    return int(request.target.rpartition(key)[2] or 0)


async def end_of(answer: object, start: str = "/", **arguments: object) -> tuple[int, WebLoader]:
    """How many pages of a site are fetched; fails where there is no end."""
    async with WebServer({"/robots.txt": Reply(status=404), "/sitemap.xml": Reply(status=404)}, answer) as server:  # type: ignore[arg-type]
        loader = WebLoader(server.url(start), **arguments)  # type: ignore[arg-type]
        await crawl(loader)
        assert not loader.skipped["limit"], "only max_urls ended the crawl"
        assert loader.skipped["trap"] > 0 or loader.skipped["duplicate"] > 0
        assert loader.complete is (not loader.skipped["trap"])
        return len(server.targets), loader


async def test_a_calendar_with_months_in_its_query_ends() -> None:
    def answer(request: Request) -> str:
        year, month = divmod(number(request, "month="), 12)
        links = [f"/events?month={12 * year + month + step}" for step in (-1, 1, 12)]
        return page(*links, title=f"Events {2026 + year}-{month + 1:02}", text="No events this month.")

    fetched, _ = await end_of(answer, "/events?month=0")
    assert fetched < 150


async def test_a_calendar_that_says_little_more_than_the_date_ends() -> None:
    def answer(request: Request) -> str:
        at = date.fromordinal(number(request, "d="))
        links = [f"/diary?date={(at + timedelta(step)).isoformat()[:7]}&d={at.toordinal() + step}" for step in (-1, 1)]
        return page(*links, text=at.strftime("No events on %A, %d %B %Y."))

    fetched, loader = await end_of(answer, "/diary?date=2026-01&d=739617")
    assert fetched < 2 * (366 + 60) and loader.skipped["trap"] == 2


async def test_a_long_chain_of_dated_pages_is_loaded_whole() -> None:
    first = date(2026, 1, 1)

    def answer(request: Request) -> str:
        day = date.fromisoformat(request.path[5:15])
        before = f"/log/{day - timedelta(1)}.html"
        return page(*([before] if day > first else []), text=prose(request.target))

    async with WebServer({"/": page("/log/2026-07-19.html")}, answer) as server:
        loader = WebLoader(server.url())
        found = await crawl(loader)
    assert len(found.documents) == 201 and loader.complete and not loader.notes


async def test_what_looks_like_a_trap_is_told() -> None:
    def answer(request: Request) -> str:
        return page(f"/2026/01/{number(request, '/') + 1}", text="Nothing happens")

    async with WebServer(fallback=answer) as server:
        loader = WebLoader(server.url("/2026/01/1"))
        found = await crawl(loader)
    assert len(found.documents) == 61
    assert not loader.complete and "trap" in (loader.why_incomplete or "")
    assert len(loader.notes) == 1 and "At least 1 page was left out" in loader.notes[0]
    assert server.url("/2026/01/62") in loader.notes[0]


async def test_a_calendar_in_the_path_ends() -> None:
    def answer(request: Request) -> str:
        year, month = map(int, request.path.strip("/").split("/")[-2:])
        at = year * 12 + month - 1
        return page(f"/cal/{(at + 1) // 12}/{(at + 1) % 12 + 1:02}", f"/cal/{at // 12 + 1}/{month:02}", text="Nothing")

    fetched, _ = await end_of(answer, "/cal/2026/05")
    assert fetched < 1200


async def test_ever_longer_paths_end() -> None:
    async with WebServer(fallback=lambda r: page("a/", "b/", text=prose(r.target))) as server:
        loader = WebLoader(server.url(), max_urls=5000)
        found = await crawl(loader)
    assert not loader.skipped["limit"]
    paths = list(found.documents)
    assert max(path.count("a") for path in paths) == 3 and max(path.count("b") for path in paths) == 3
    # All words over a and b with at most three of each.
    assert len(paths) == sum(len(set(itertools.permutations("a" * a + "b" * b))) for a in range(4) for b in range(4))


async def test_ever_longer_paths_without_repetition_end() -> None:
    fetched, _ = await end_of(lambda r: page(f"{r.path}s{len(r.path)}/", text=prose(r.target)))
    assert fetched < 30


async def test_a_page_that_answers_to_every_path_does_not_multiply() -> None:
    # The same relative links everywhere, each leading one level deeper.
    async with WebServer(fallback=page("one/", "two/", "three/", text="the same page")) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/one/", "/two/", "/three/"]


async def test_ever_longer_queries_end() -> None:
    fetched, _ = await end_of(
        lambda r: page(f"{r.target}{'&' if '?' in r.target else '?'}f{len(r.target)}=1", text=prose(r.target))
    )
    assert fetched < 30


async def test_session_ids_do_not_multiply_a_site() -> None:
    sessions = itertools.count()

    def answer(request: Request) -> str:
        session = f"{next(sessions):08x}"
        links = "".join(f'<a href="/p{n}?sid={session}">Page {n}</a> ' for n in range(10))
        return f"<html><body><nav>{links}</nav><p>{prose(request.path)}</p></body></html>"

    fetched, loader = await end_of(answer)
    assert fetched <= 1 + 10 * 11
    assert loader.skipped["duplicate"] >= 10


async def test_known_session_parameters_cost_nothing() -> None:
    sessions = itertools.count()

    def answer(request: Request) -> str:
        session = f"{next(sessions):08x}"
        return page(*(f"/p{n};jsessionid={session}?PHPSESSID={session}" for n in range(5)), text=prose(request.path))

    async with WebServer(fallback=answer) as server:
        await crawl(WebLoader(server.url()))
        assert sorted(server.targets) == ["/", "/p0", "/p1", "/p2", "/p3", "/p4"]


async def test_infinite_numbered_pages_end() -> None:
    fetched, _ = await end_of(lambda r: page(f"/item/{number(r, '/') + 1}", text=f"Item {number(r, '/')}"), "/item/0")
    assert fetched < 1100


async def test_a_large_catalogue_behind_one_path_is_loaded_whole() -> None:
    def answer(request: Request) -> str:
        at = number(request, "id=")
        return page(*(f"/index.php?id={n}" for n in (2 * at + 1, 2 * at + 2) if n < 400), text=prose(request.target))

    async with WebServer(fallback=answer) as server:
        loader = WebLoader(server.url("/index.php?id=0"))
        found = await crawl(loader)
    assert len(found.documents) == 400 and loader.complete and not loader.skipped["trap"]


async def test_pages_that_differ_in_their_titles_alone_are_loaded_whole() -> None:
    def answer(request: Request) -> str:
        at = number(request, "id=")
        following = f'<a href="/item?id={at + 1}">Next</a>' if at < 150 else ""
        return f"<title>{prose(request.target)}</title><main><p>Nothing is said of this yet.</p>{following}</main>"

    async with WebServer(fallback=answer) as server:
        found = await crawl(WebLoader(server.url("/item?id=0"), use_sitemap=False))
    assert len(found.documents) == 151


async def test_a_long_chain_of_chapters_is_loaded_whole() -> None:
    def answer(request: Request) -> str:
        at = number(request, "/")
        return page(*([f"/chapter/{at + 1}"] if at < 300 else []), text=prose(request.target))

    async with WebServer(fallback=answer) as server:
        found = await crawl(WebLoader(server.url("/chapter/1"), use_sitemap=False))
    assert len(found.documents) == 300


async def test_the_same_page_with_another_query_is_given_once() -> None:
    pages = {"/": page("/a?view=1", "/a?view=2", "/a", "/b")}
    async with WebServer(pages, fallback=lambda r: page(text="always the same" if r.path == "/a" else "b")) as server:
        found = await crawl(WebLoader(server.url(), use_sitemap=False, respect_robots=False))
    assert list(found.documents) == ["/", "/a", "/b"]


@pytest.mark.parametrize("links", [("/a?sort=1", "/b", "/a"), ("/a", "/a?sort=1", "/b"), ("/b", "/a?sort=1")])
async def test_the_url_without_a_query_names_the_page(links: tuple[str, ...]) -> None:
    pages = {"/": page(*links), "/a": page("/a?sort=1", "/a?sort=2", "/a"), "/b": page("/a", text="b")}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert sorted(found.documents) == ["/", "/a" if "/a" in links else "/a?sort=1", "/b"]


async def test_the_home_page_is_one_document_whichever_way_it_is_linked() -> None:
    home = page("/", "/index.html", "/a", text="home")
    async with WebServer({"/": home, "/index.html": home, "/a": page("/index.html", text="a")}) as server:
        found = await crawl(WebLoader(server.url()))
        again = await crawl(WebLoader(server.url()), found.known())
    assert list(found.documents) == ["/", "/a"] and again.unchanged == ["/", "/a"]


async def test_an_index_file_is_the_page_of_its_folder() -> None:
    docs = page("/", text="docs")
    pages = {"/": page("/docs/", "/docs/index.html", "/docs"), "/docs/": docs, "/docs/index.html": docs, "/docs": docs}
    async with WebServer(pages) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/docs/"]


async def test_the_same_text_under_other_paths_is_given_each_time() -> None:
    async with WebServer({"/": page("/a", "/b"), "/a": page(text="same"), "/b": page(text="same")}) as server:
        found = await crawl(WebLoader(server.url()))
    assert list(found.documents) == ["/", "/a", "/b"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/a/b/c", None),
        ("/2026/01/01/01", None),
        ("/a/a/a", None),
        ("/a/a/a/a", "repeats"),
        ("/x/a/y/a/z/a/w/a", "repeats"),
        ("/" + "/".join(map(str, range(24))), None),
        ("/" + "/".join(map(str, range(25))), "deep"),
        ("/" + "x" * 2100, "long"),
        ("/?" + "&".join(f"a{n}=1" for n in range(16)), None),
        ("/?" + "&".join(f"a{n}=1" for n in range(17)), "parameters"),
    ],
)
def test_shapes_of_traps(path: str, reason: str | None) -> None:
    found = endless_shape("http://example.org" + path)
    assert found is None if reason is None else found is not None and reason in found


def test_groups() -> None:
    assert group_of("http://h1/a/12/b34") == group_of("http://h1/a/7/b8") == "http://h1/a/0/b0"
    assert group_of("http://h1/a?x=1") == group_of("http://h1/a?y=2") != group_of("http://h1/a")
    assert group_of("http://h1/a/1") != group_of("http://h2/a/1")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h/cal/2031/05", True),
        ("http://h/?m=2031-5", True),
        ("http://h/?month=5", True),
        ("http://h/203105", True),
        ("http://h/article/4711", False),
        ("http://h/12345678", False),
        ("http://h/v2/page", False),
    ],
)
def test_dates_in_urls(url: str, expected: bool) -> None:
    assert has_date(url) is expected


def test_a_trace_survives_being_stored() -> None:
    trace = Trace("a1", "b2")
    assert Trace.parse(str(trace)) == trace
    assert Trace.parse("") is None and Trace.parse("x") is None and Trace.parse(":") is None


def test_a_closed_group_stays_closed_and_others_are_not_affected() -> None:
    traps = TrapDetector()
    for n in range(200):
        traps.record(f"http://h/a?n={n}", Trace(f"t{n}", "s"))
    assert traps.is_closed("http://h/a?n=999")
    traps.record("http://h/a?n=1000", Trace("new", "new"))
    assert traps.is_closed("http://h/a?n=1001")
    assert not traps.is_closed("http://h/b?n=1") and not traps.is_closed("http://h/a")
