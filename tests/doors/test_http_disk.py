"""A server without room for files: what is uploaded, imported or exported lies in a temporary one meanwhile."""

from __future__ import annotations

import errno
import random
import sys
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from tests.disk import full_disk
from tests.doors.kit import ok, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, the size of files cannot be limited")

_BYTES = 50_000


async def test_a_full_disk_is_told_as_such_and_what_is_stored_stays(caplog: pytest.LogCaptureFixture) -> None:
    # Long enough that the form lies in a file, and that a copy of it is longer than files may be.
    words = " ".join(f"{number:x}" for number in random.Random(7).choices(range(1 << 40), k=20_000))
    files = {"files": ("long.txt", f"{words}\n" * 6)}
    async with serving() as client:
        await ok(await client.post("/db/default/documents", json={"documents": [{"path": "a", "content": words}]}))
        copy = (await client.get("/db/default/export")).content
        with full_disk(_BYTES):
            responses = [
                await client.post("/db/default/files", files=files),
                await client.get("/db/default/export"),
                await client.post("/db/default/import", content=copy),
            ]
            found = await ok(await client.get("/db/default/documents"))
        for response in responses:
            told = await ok(response, 507)
            assert "no room" in told["error"] and told["request_id"] == response.headers["X-Request-ID"]
            assert told["request_id"] in caplog.text
        assert [document["path"] for document in found["documents"]] == ["a"]
        assert "TMPDIR" in caplog.text and "Traceback" not in caplog.text
        await ok(await client.post("/db/default/import", content=copy))
        assert (await ok(await client.post("/db/default/files", files=files)))["documents"]["added"] == 1


async def test_where_a_graph_is_that_cannot_be_written_is_for_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    graph = f"embedded:{tmp_path / 'graph'}"
    async with KnowledgeBase.open(graph) as kb:
        await kb.remember("s", "user", "It is wet.")
    with full_disk(100):
        kb = await KnowledgeBase.open(graph).connect()
    async with serving(knowledge=kb) as client:
        told = await ok(await client.post("/db/default/memory/s", json={"content": "It is dry."}), 403)
        assert told["error"].startswith("Nothing can be stored") and str(tmp_path) not in str(told)
        assert told["request_id"] in caplog.text and "no room for the log" in caplog.text
        assert (await ok(await client.get("/db/default/memory/s")))["memories"]


async def test_another_failure_of_the_system_is_not_a_fault_of_who_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/secret/folder")

    monkeypatch.setattr("tempfile.SpooledTemporaryFile.write", refused)
    async with serving() as client:
        response = await client.post("/db/default/files", files={"files": ("a.txt", b"A text.")})
        told = await ok(response, 500)
        assert "its log says why" in told["error"] and "secret" not in response.text
