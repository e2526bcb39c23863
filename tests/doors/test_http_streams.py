"""Answers and ingests as server-sent events: what is refused before they begin, and who leaves before they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.rag import KnowledgeBase
from core.rag.answering.events import Event, TokenEvent
from core.rag.indexing.report import IngestReport
from mgrag.http.app import build_app
from tests.answering.models import Talking, talking
from tests.doors.kit import KEY, NOTES, access, ok, serving, with_notes
from tests.fakes.openai_chat import Said, Stream

ANALYSIS = json.dumps({"entities": ["Project Heron"], "intent": "factual"})


@asynccontextmanager
async def answering(*answers: Said) -> AsyncIterator[tuple[Talking, httpx.AsyncClient]]:
    """A server whose graph has notes, with a model that gives answers."""
    async with talking() as said:
        knowledge = KnowledgeBase.open("embedded::memory:", language_model=said.model)
        async with serving(knowledge=knowledge) as client:
            await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
            said.chat.then(*answers)
            yield said, client


@pytest.mark.parametrize(
    "asked, told",
    [
        ({"question": " "}, "empty"),
        ({"question": "x" * 20_001}, "20000 at most"),
        ({"question": "Who?", "filters": "colour:red and"}, "colour"),
        ({"question": "Who?", "conversationId": " "}, "conversation"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused_before_the_stream_begins(
    asked: dict[str, Any], told: str
) -> None:
    async with with_notes() as client:
        for path in ("answer", "answer/stream"):
            refused = await ok(await client.post(f"/db/default/{path}", json=asked), 400)
            assert told in refused["error"]


async def test_sources_that_the_server_does_not_take_are_refused_before_the_stream_begins(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# S\n")
    async with serving() as client:
        for path in ("ingest", "ingest/stream"):
            body = {"sources": [str(tmp_path / "secret.md")]}
            assert "--root" in (await ok(await client.post(f"/db/default/{path}", json=body), 400))["error"]


async def test_a_model_is_told_the_instructions_of_the_caller() -> None:
    async with answering() as (said, client):
        asked = {"question": "Who leads Project Heron?", "instructions": "Answer in German."}
        for path in ("answer", "answer/stream"):
            said.chat.then(ANALYSIS, Stream(["Maria leads it [1]."]))
            assert (await client.post(f"/db/default/{path}", json=asked)).status_code == 200
        wrong = await client.post("/db/default/answer", json={**asked, "instructions": ["x"]})
        await ok(wrong, 422)
    told = [body["messages"][0]["content"] for body in said.chat.bodies]
    assert ["Answer in German." in system for system in told] == [False, True] * 2


@pytest.mark.parametrize("path", ["answer", "answer/stream"])
async def test_of_an_answer_that_the_model_breaks_off_what_there_is_comes_with_the_error(path: str) -> None:
    async with answering(ANALYSIS, Stream(["Maria leads ", "it [1]. It "], silent=True)) as (_, client):
        told = await client.post(f"/db/default/{path}", json={"question": "Who leads Project Heron?"})
    last = told.json() if path == "answer" else json.loads(told.text.strip().splitlines()[-1].removeprefix("data: "))
    assert (last["type"], last["received"]) == ("StreamCutError", "Maria leads it [1]. It ")
    assert told.status_code == (502 if path == "answer" else 200)


async def test_who_goes_away_finds_what_was_told_in_the_conversation() -> None:
    async with answering(ANALYSIS, Stream(["Maria ", "leads it [1]."], proceed=asyncio.Event())) as (said, client):
        asked = {"question": "Who leads Project Heron?", "conversationId": "monday"}
        async with client.stream("POST", "/db/default/answer/stream", json=asked) as response:
            async for line in response.aiter_lines():
                if line == "event: token":
                    break
        await asyncio.wait_for(said.server.gone.wait(), 30)
        async with asyncio.timeout(30):
            while len(found := await recorded(client)) < 2:
                await asyncio.sleep(0.01)
    assert [(message["role"], message["content"]) for message in found] == [
        ("user", "Who leads Project Heron?"),
        ("assistant", "Maria"),
    ]
    assert found[1]["metadata"] == {"cut": "stopped"}


async def given_up(client: httpx.AsyncClient, route: str) -> None:
    """Wait until a request is counted as one whose caller has left."""
    async with asyncio.timeout(30):
        while f'{route}",status="499"' not in (await client.get("/metrics")).text:
            await asyncio.sleep(0.01)


async def test_a_model_does_not_answer_who_went_away_before_the_answer_began() -> None:
    async with answering(ANALYSIS, Stream(["Maria ", "leads it [1]."], proceed=asyncio.Event())) as (said, client):
        asked = {"question": "Who leads Project Heron?"}
        asking = asyncio.create_task(client.post("/db/default/answer", json=asked, timeout=None))
        async with asyncio.timeout(30):
            while len(said.chat.bodies) < 2:
                await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait_for(said.server.gone.wait(), 30)
        await given_up(client, "/answer")


async def test_what_waits_for_its_turn_when_its_caller_goes_away_is_not_stored() -> None:
    knowledge = KnowledgeBase.open("embedded::memory:")
    async with serving(knowledge=knowledge) as client:
        said = {"role": "user", "content": "I live in Ulm.", "sessionId": "monday"}
        async with (await knowledge.client.connect()).undisturbed():  # as while a large document is written
            saying = asyncio.create_task(client.post("/db/default/memory/remember", json=said, timeout=None))
            async with asyncio.timeout(30):
                while "in_progress 2.0" not in (await client.get("/metrics")).text:  # that and this one
                    await asyncio.sleep(0.01)
            saying.cancel()
            await given_up(client, "/memory/remember")
        assert await knowledge.client.find_conversation("monday") is None
        await ok(await client.post("/db/default/memory/remember", json=said))


async def left_while_events_wait(path: str, body: bytes, waiting: asyncio.Event, **options: Any) -> None:
    """Ask for a stream, read one event of it, and go away when it is full."""
    sent: list[Any] = []
    incoming = [{"type": "http.request", "body": body}]

    async def receive() -> Any:
        if incoming:
            return incoming.pop()
        await asyncio.wait_for(waiting.wait(), 60)
        for _ in range(20):  # until nothing moves any more
            await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and not sent:
            sent.append(message)
            await asyncio.Event().wait()

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await build_app(kb, access(), **options)(scope, receive, send)


async def test_who_goes_away_while_the_next_events_wait_is_no_failure_and_ends_the_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waiting, ended = asyncio.Event(), []

    async def hurried(*_: Any, **__: Any) -> AsyncIterator[Event]:
        try:
            for number in range(50):
                if number == 4:  # as many as are kept on the way to somebody who does not read them
                    waiting.set()
                yield TokenEvent(str(number))
        finally:
            await asyncio.sleep(0)  # as recording what was told does
            ended.append(True)

    monkeypatch.setattr(KnowledgeBase, "ask_stream", hurried)
    await left_while_events_wait("/db/default/answer/stream", b'{"question": "Who leads it?"}', waiting)
    assert ended and not caplog.records


async def test_who_goes_away_while_the_next_events_wait_ends_the_ingest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    waiting, ended = asyncio.Event(), []

    async def endless(*_: Any, progress: Callable[[IngestReport], None], **__: Any) -> None:
        try:
            for number in range(50):
                if number == 10:
                    waiting.set()
                progress(IngestReport())
                await asyncio.sleep(0.01)
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    monkeypatch.setattr(KnowledgeBase, "ingest", endless)
    body = json.dumps({"sources": [str(tmp_path)]}).encode()
    await left_while_events_wait("/db/default/ingest/stream", body, waiting, roots=[tmp_path])
    assert ended


async def test_who_goes_away_amid_a_copy_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as client:
        _, caller = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        caller.write(b"POST /db/default/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nbegun")
        await caller.drain()
        caller.close()
        async with asyncio.timeout(30):
            while 'import",status="400"' not in (await client.get("/metrics")).text:
                await asyncio.sleep(0.01)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_who_may_only_read_may_ask_in_a_conversation_that_nothing_is_recorded_in() -> None:
    async with serving(access(api_keys=KEY, api_read_keys="r" * 16)) as client:
        writer, reader = {"X-API-Key": KEY}, {"X-API-Key": "r" * 16}
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}, headers=writer))
        first = {"question": "What is the budget of Project Heron?", "conversationId": "monday"}
        await ok(await client.post("/db/default/answer", json=first, headers=writer))
        asked = {"question": "And who leads it?", "k": 1, "conversationId": "monday"}
        await ok(await client.post("/db/default/answer", json=asked, headers=reader), 403)
        answer = await ok(await client.post("/db/default/answer", json={**asked, "record": False}, headers=reader))
        assert "Maria Lindqvist" in answer["text"] and not answer["message_id"]
        other = {**asked, "record": False, "conversationId": "tuesday"}
        await ok(await client.post("/db/default/answer", json=other, headers=reader), 404)
        kept = await ok(await client.get("/db/default/conversations/monday", headers=reader))
        assert len(kept["messages"]) == 2
        assert len((await ok(await client.get("/db/default/conversations", headers=reader)))["conversations"]) == 1


async def recorded(client: Any) -> Any:
    return (await ok(await client.get("/db/default/conversations/monday")))["messages"]
