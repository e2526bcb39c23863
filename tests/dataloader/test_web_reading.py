"""Pages that take long to read: what waits for them, and what does not."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from libs.dataloader import Document, WebLoader
from libs.dataloader.crawl import throttle, visit
from libs.dataloader.crawl.pages import read_page
from tests.dataloader.webserver import Answer, Reply, Request, WebServer, crawl, page, redirect

NAMES = [f"/{number}" for number in range(60)]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """All pages but the first are read when this is set, as if they were long PDFs."""
    may_read = threading.Event()

    def slowly(url: str, *arguments: Any, **named: Any) -> Any:
        if not url.endswith("/"):
            may_read.wait(30)
        return read_page(url, *arguments, **named)

    monkeypatch.setattr(visit, "read_page", slowly)
    yield may_read
    may_read.set()


async def test_pages_that_are_being_read_leave_the_threads_of_the_event_loop_free(reading: threading.Event) -> None:
    async with WebServer({"/": page(*NAMES)}, fallback=lambda request: page(title=request.path)) as server:
        crawling = asyncio.create_task(crawl(WebLoader(server.url())))
        async with asyncio.timeout(20):
            while len(server.targets) < 40:
                await asyncio.sleep(0.01)
            # The name of a host is resolved in one of them, and questions are answered in them.
            assert await asyncio.to_thread(lambda: "at once") == "at once"
        reading.set()
        assert len((await crawling).documents) == 61


async def test_pages_are_not_fetched_much_faster_than_they_are_read(
    reading: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "MAX_WAITING_BYTES", 1_000_000)
    text = "word " * 40_000
    async with WebServer({"/": page(*NAMES)}, fallback=lambda request: page(title=request.path, text=text)) as server:
        crawling = asyncio.create_task(crawl(WebLoader(server.url(), concurrency=4)))
        await asyncio.sleep(2)
        assert 5 <= len(server.targets) <= 1 + 5 + 4  # the first, a megabyte, and what was requested meanwhile
        reading.set()
        assert len((await crawling).documents) == 61


async def test_a_crawl_that_is_ended_while_pages_are_read_leaves_no_threads(reading: threading.Event) -> None:
    async with WebServer({"/": page(*NAMES)}, fallback=lambda request: page(title=request.path)) as server:
        crawling = asyncio.create_task(crawl(WebLoader(server.url())))
        while len(server.targets) < 20:
            await asyncio.sleep(0.01)
        crawling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await crawling
        reading.set()
        async with asyncio.timeout(10):
            while any(thread.name.startswith("page") for thread in threading.enumerate()):
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(page(text="word"), content_type="text/html; charset=" + " " * 20_000 + "!"),
        Reply(page(text="word"), headers={"Refresh": "9;url=/" + " " * 40_000 + "x"}),
    ],
)
async def test_headers_with_long_runs_of_blanks_are_read_at_once(reply: Reply) -> None:
    begun = time.process_time()
    async with WebServer({"/": reply}, fallback=page(title="Other")) as server:
        assert (await crawl(WebLoader(server.url()))).documents
    assert time.process_time() - begun < 3


async def test_pages_are_not_fetched_much_faster_than_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MAX_WAITING_BYTES", 1_000_000)
    text = "word " * 40_000
    async with WebServer({"/": page(*NAMES)}, fallback=lambda request: page(title=request.path, text=text)) as server:
        loading = WebLoader(server.url(), concurrency=4).load()
        assert isinstance(await anext(loading), Document)
        assert isinstance(await anext(loading), Document)
        await asyncio.sleep(2)
        assert len(server.targets) <= 1 + 1 + 5 + 2 * 4  # these two, a megabyte, what was requested or read meanwhile
        assert len([result async for result in loading]) == 59


async def test_what_the_others_wait_for_is_fetched_however_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MAX_WAITING_BYTES", 1)
    tries = 0

    async def late(_: Request) -> Reply | str:
        nonlocal tries
        tries += 1
        while tries == 1 and len(server.targets) < 5:
            await asyncio.sleep(0.01)
        return Reply(status=503) if tries < 3 else redirect("/moved")

    pages: dict[str, Answer] = {"/": page(*NAMES), "/0": late, "/moved": page(text="at last")}
    async with WebServer(pages, fallback=lambda request: page(title=request.path)) as server:
        assert len((await crawl(WebLoader(server.url(), concurrency=4))).documents) == 61
