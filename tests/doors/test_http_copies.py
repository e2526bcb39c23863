"""Copies of a namespace over HTTP: made, checked and loaded while the server runs."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import httpx

from core.rag import KnowledgeBase
from mgrag.http.access import Access
from tests.dbhandler.kit import make_settings
from tests.doors.kit import KEY, NOTES, access, ok, serving, with_notes

OTHER = {"path": "notes/owl.md", "content": "# The owl\n\nThe owl of Hull is white.\n"}


async def test_a_namespace_is_copied_while_the_server_runs(tmp_path: Path) -> None:
    async with with_notes() as client:
        await ok(await client.post("/db/team/documents", json={"documents": NOTES[:1]}))
        response = await client.get("/db/default/export")
        assert (response.status_code, response.headers["content-type"]) == (200, "application/octet-stream")
        assert response.headers["content-disposition"] == "attachment; filename*=UTF-8''default.jsonl.gz"
        assert int(response.headers["content-length"]) == len(response.content)
        missing = await ok(await client.get("/db/nowhere/export"), 404)
        assert "nowhere" in missing["error"] and "team" not in missing["error"]
    copy = tmp_path / "default.jsonl.gz"
    copy.write_bytes(response.content)
    async with KnowledgeBase.open(f"embedded:{tmp_path / 'copy.grafeo'}") as kb:
        await kb.import_(copy)
        assert list(await kb.namespaces()) == ["default"]
        assert [document["path"] for document in await kb.documents()] == sorted(note["path"] for note in NOTES)
        assert (await kb.search("Where does Maria Lindqvist work?", 1))[0].path == "notes/lindqvist.md"


async def copy_of_notes() -> bytes:
    async with with_notes() as client:
        await ok(await client.post("/db/default/memory/monday", json={"content": "Ada prefers tea.", "userId": "ada"}))
        return (await client.get("/db/default/export")).content


async def load(
    client: httpx.AsyncClient, copy: bytes, status: int = 200, namespace: str = "default", key: str = ""
) -> Any:
    headers = {"X-API-Key": key} if key else {}
    return await ok(await client.post(f"/db/{namespace}/import", content=copy, headers=headers), status)


async def test_a_copy_is_loaded_into_a_server_that_runs() -> None:
    copy = await copy_of_notes()
    async with serving() as client:

        async def found(query: str) -> list[str]:
            body = {"query": query, "k": 5, "mode": "keyword"}
            return [
                hit["path"] for hit in (await ok(await client.post("/db/default/chunks/search", json=body)))["hits"]
            ]

        await ok(await client.post("/db/default/documents", json={"documents": [OTHER]}))
        assert await found("Lindqvist") == []
        report = await load(client, copy)
        assert report["nodes"]["Document"] == 2 and report["edges"]["CHUNK_OF"] == report["nodes"]["DocumentChunk"]
        assert "notes/lindqvist.md" in await found("Lindqvist") and await found("owl") == ["notes/owl.md"]
        recalled = await ok(await client.post("/db/default/memory/recall", json={"query": "tea", "userId": "ada"}))
        assert [memory["content"] for memory in recalled["memories"]] == ["Ada prefers tea."]
        assert await load(client, gzip.decompress(copy)) == report, "it can be repeated, also uncompressed"
        assert len((await ok(await client.get("/db/default/documents")))["documents"]) == 3


async def test_what_is_no_whole_copy_of_this_namespace_is_refused_and_nothing_is_changed() -> None:
    copy = await copy_of_notes()
    text = gzip.decompress(copy)
    async with serving() as client:
        for body, told in (
            (b"", "not an export"),
            (b"GRAF", "graph file"),
            (b"{}", "not an export"),
            (copy[:-20], "cannot be read"),
            (gzip.compress(text[: len(text) // 2]), "damaged"),
            (text.replace(b"Ada prefers tea.", b"Ada prefers rum."), "damaged"),
        ):
            refused = await load(client, body, 400)
            assert told in refused["error"] and "Nothing was imported" in refused["error"]
            assert "/" not in refused["error"] and "--" not in refused["error"]
        assert "'default'" in (await load(client, copy, 400, "team"))["error"]
        assert (await ok(await client.get("/db")))["databases"] == []


async def test_who_may_not_change_all_namespaces_imports_nothing() -> None:
    copy = await copy_of_notes()
    keys = access(MGRAG_API_KEYS=f"{KEY},default={KEY}d", MGRAG_API_READ_KEYS="r" * 16)
    async with serving(keys) as client:
        for key in (f"{KEY}d", "r" * 16):
            await load(client, copy, 403, key=key)
        assert (await load(client, copy, key=KEY))["nodes"]["Document"] == 2
    async with serving(Access(make_settings(), only="default")) as client:
        assert "all namespaces" in (await load(client, copy, 403))["error"]


async def test_a_copy_that_is_too_large_is_refused() -> None:
    async with serving(max_bytes=1000) as client:
        await load(client, b"{" * 1_100_000, 413)
