"""Requests that would have the HTTP API fail, hang, or leave something behind that it cannot read again."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from core.rag import KnowledgeBase
from core.rag.answering.events import Event
from core.rag.llm.openai_model import OpenAICompatibleModel
from tests.doors.kit import NOTES, SECRET, access, events, ok, serving, with_notes
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, fail

AS_JSON = {"Content-Type": "application/json"}


def nested(levels: int) -> Any:
    inner: Any = "deep"
    for _ in range(levels):
        inner = {"a": inner}
    return inner


async def test_what_is_nested_as_deeply_as_may_be_can_be_read_again() -> None:
    deep, message = nested(200), {"content": "hello", "userId": "ada", "metadata": nested(200)}
    async with serving() as client:
        document = {"path": "d", "content": "A text.", "metadata": deep}
        report = await ok(await client.post("/db/default/documents", json={"documents": [document]}))
        assert report["documents"]["added"] == 1
        assert (await ok(await client.get("/db/default/documents/d")))["metadata"] == deep
        await ok(await client.post("/db/default/memory/monday", json=message))
        await ok(await client.post("/db/default/notes", json=deep), 201)
        assert (await ok(await client.get("/db/default/memory/monday")))["memories"][0]["metadata"] == deep
        assert (await ok(await client.get("/db/default/notes")))["records"][0]["data"] == deep
        for path in ("conversations/monday", "users/ada/export", "documents"):
            await ok(await client.get(f"/db/default/{path}"))


@pytest.mark.parametrize("levels", [201, 900])
async def test_what_is_nested_more_deeply_is_refused(levels: int) -> None:
    deep = nested(levels)
    async with serving() as client:
        document = {"path": "d", "content": "A text.", "metadata": deep}
        report = await ok(await client.post("/db/default/documents", json={"documents": [document]}))
        assert "200 levels" in report["documents"]["failed"][0]["reason"]
        for path, body in (("memory/monday", {"content": "hello", "metadata": deep}), ("notes", deep)):
            assert "200 levels" in (await ok(await client.post(f"/db/default/{path}", json=body), 400))["error"]


@pytest.mark.parametrize(
    "body", [b"[" * 100_000 + b"]" * 100_000, b'{"query": "\xff"}', b'{"k": ' + b"9" * 5000 + b"}"], ids=len
)
async def test_json_that_cannot_be_read_is_told(body: bytes) -> None:
    async with serving() as client:
        told = await ok(await client.post("/db/default/chunks/search", content=body, headers=AS_JSON), 400)
        assert "UTF-8" in told["error"] and "digits" in told["error"]


async def test_a_body_of_another_kind_is_told_to_be_so() -> None:
    body, path = b'{"query": "mill"}', "/db/default/chunks/search"
    packed = {**AS_JSON, "Content-Encoding": "gzip"}
    async with serving() as client:
        told = await ok(await client.post(path, content=gzip.compress(body), headers=packed), 400)
        assert "compressed (Content-Encoding: gzip)" in told["error"]
        for kind in ("multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded"):
            told = await ok(await client.post(path, content=body, headers={"Content-Type": kind}), 422)
            assert "Content-Type: application/json" in told["error"], kind


@pytest.mark.parametrize("digits", [50, 5000])
async def test_a_position_of_more_digits_than_a_number_has_is_told(digits: int) -> None:
    async with serving() as client:
        await ok(await client.post("/db/default/conversations", json={"conversationId": "talk"}))
        told = await ok(await client.get(f"/db/default/conversations/talk?before={'9' * digits}"), 404)
        assert "There is no message '999" in told["error"]


@pytest.mark.parametrize(
    "source", ["~nobody-of-this-name/a.md", "~a\0b", "a\0b", "a" * 300, f"/{'a' * 300}", "circle/a"]
)
async def test_a_source_that_no_file_can_have_is_told(source: str, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    async with serving(roots=[tmp_path]) as client:
        await ok(await client.post("/db/default/ingest", json={"sources": [source]}), 400)


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 450 + ")" * 450, "a" * 1001])
async def test_a_pattern_that_is_too_large_is_told(pattern: str) -> None:
    body = {"sources": ["https://example.org/"], "urlPattern": pattern}
    async with serving() as client:
        response = await client.post("/db/default/ingest", json=body)
        assert response.status_code in (400, 422), response.text


async def test_fields_of_a_form_that_do_not_exist_or_are_there_twice_are_refused() -> None:
    files = {"files": ("a.txt", b"A text.")}
    async with serving() as client:
        misspelt = await ok(await client.post("/db/default/files", files=files, data={"prefx": "handbook/"}), 400)
        assert "'prefx'" in misspelt["error"]
        await ok(await client.post("/db/default/files", files=files, data={"prefix": ["a/", "b/"]}), 400)
        assert (await ok(await client.get("/db/default/documents")))["documents"] == []


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2024-01-31", "2024-01-31"),
        ("20240131T120000Z", "2024-01-31T12:00:00"),
        ("2024-01-31T12:00:00+02:00", "2024-01-31T10:00:00"),
        (1_706_702_400, "2024-01-31T12:00:00"),
    ],
)
async def test_a_time_is_what_the_library_takes_it_for(given: Any, stored: str) -> None:
    async with serving() as client:
        await ok(await client.post("/db/default/memory/monday", json={"content": "hello", "timestamp": given}))
        [memory] = (await ok(await client.get("/db/default/memory/monday")))["memories"]
        if given == stored:  # midnight of this machine
            async with KnowledgeBase.open("embedded::memory:") as kb:
                await kb.remember("monday", "user", "hello", timestamp=given)
                stored = (await kb.memories("monday"))[0].created_at
        assert memory["createdAt"].startswith(stored)
        year = {"content": "x", "timestamp": "2024"}
        told = await ok(await client.post("/db/default/memory/monday", json=year), 422)
        assert "ISO 8601" in told["error"]


async def test_who_may_only_read_is_told_so_before_an_answer_that_would_be_recorded_begins() -> None:
    token = jwt.encode({"exp": 9_999_999_999, "namespaces": "*", "scope": "read"}, SECRET)
    async with serving(access(jwt_key=SECRET)) as client:
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("answer", "answer/stream"):
            body = {"question": "What is Heron's budget?", "conversationId": "monday"}
            refused = await ok(await client.post(f"/db/default/{path}", json=body, headers=headers), 403)
            assert "reading only" in refused["error"]


async def test_a_bug_amid_events_is_the_last_of_them(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    true = KnowledgeBase.ask_stream

    async def broken(kb: KnowledgeBase, *arguments: Any, **options: Any) -> AsyncIterator[Event]:
        async for event in true(kb, *arguments, **options):
            yield event
            raise KeyError("a secret")

    async with with_notes() as client:
        monkeypatch.setattr(KnowledgeBase, "ask_stream", broken)
        said = await client.post("/db/default/answer/stream", json={"question": "What is Heron's budget?"})
        assert events(said.text)[-1][0] == "error"
        assert events(said.text)[-1][1]["request_id"] == said.headers["X-Request-ID"]
        assert "secret" not in said.text and "a secret" in caplog.text


async def test_sessions_and_people_may_have_slashes_in_their_names() -> None:
    user, session = "https%3A%2F%2Fid.example%2Fada", "team%2Fmonday"
    async with serving() as client:
        remembered = {"content": "The mill turns.", "userId": "https://id.example/ada"}
        await ok(await client.post(f"/db/default/memory/{session}", json=remembered))
        await ok(await client.post(f"/db/default/conversations/{session}/messages", json={"content": "With the ebb."}))
        recalled = await ok(await client.post(f"/db/default/memory/{session}/recall", json={"query": "mill"}))
        assert "The mill turns." in [memory["content"] for memory in recalled["memories"]]
        assert len((await ok(await client.get(f"/db/default/memory/{session}")))["memories"]) == 2
        assert len((await ok(await client.get(f"/db/default/conversations/{session}")))["messages"]) == 2
        assert "The mill turns." in json.dumps(await ok(await client.get(f"/db/default/users/{user}/export")))
        assert (await ok(await client.delete(f"/db/default/users/{user}")))["memories"] == 2
        told = await ok(await client.delete(f"/db/default/memory/{session}"), 404)
        assert "the session 'team/monday', so nothing" in told["error"]


async def test_a_document_whose_name_has_two_lines_can_be_removed() -> None:
    async with serving() as client:
        document = {"path": "two\nlines", "content": "A text."}
        await ok(await client.post("/db/default/documents", json={"documents": [document]}))
        assert (await ok(await client.get("/db/default/documents/two%0Alines")))["content"] == "A text."
        await ok(await client.delete("/db/default/documents/two%0Alines"))
        assert (await ok(await client.get("/db/default/documents")))["documents"] == []


async def test_a_model_that_takes_no_question_is_told_without_its_address() -> None:
    async with OpenAIServer() as server:
        Chat(server)
        server.always = fail(400, "the context is too long")
        model = OpenAICompatibleModel("talker", base_url=server.url, api_key="k" * 20)
        knowledge = KnowledgeBase.open("embedded::memory:", language_model=model)
        async with serving(knowledge=knowledge) as client:
            await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
            question = {"question": "What is Heron's budget?"}
            told = await ok(await client.post("/db/default/answer", json=question), 422)
            assert "the context is too long" in told["error"] and "127.0.0.1" not in told["error"]
