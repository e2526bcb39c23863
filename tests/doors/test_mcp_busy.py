"""The MCP server while much is asked of it, the graph is in use, or its client goes away."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import StoreLockedError
from core.rag.indexing.report import DocumentCounts, IngestReport
from mgrag.mcp.lease import Lease
from mgrag.mcp.progress import progress_of_ingest, telling
from tests.doors.kit import endless_server
from tests.doors.test_mcp import serving, text_of
from tests.doors.test_mcp_unreadable import HELLO


async def test_calls_at_once_wait_together_for_a_graph_that_is_in_use(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path / 'g.grafeo'}"
    opened: list[bool] = []

    def opener(create: bool) -> KnowledgeBase:
        opened.append(create)
        return KnowledgeBase.open(uri, create=create)

    async def documents(lease: Lease) -> int:
        async with lease.use() as kb:
            return len(await kb.documents())

    lease = Lease(opener, hold=3600)
    async with KnowledgeBase.open(uri):
        results = await asyncio.gather(*(documents(lease) for _ in range(8)), return_exceptions=True)
        assert [type(result) for result in results] == [StoreLockedError] * 8
        assert len(opened) == 1
        with pytest.raises(StoreLockedError):  # who comes later tries again
            await documents(lease)
        assert len(opened) == 2
    assert await asyncio.gather(*(documents(lease) for _ in range(8))) == [0] * 8
    assert len(opened) == 3
    await lease.close()


async def test_an_ingest_tells_how_far_it_is(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number}.md").write_text(f"# Mill {number}\n\nThe mill turns with the ebb.\n")
    told: list[tuple[float, str | None]] = []

    async def told_of(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        told.append((progress, message))

    async with serving("embedded::memory:", roots=[tmp_path]) as agent:
        result = await agent.client.call_tool("ingest", {"source": str(tmp_path)}, progress_callback=told_of)
        assert json.loads(text_of(result))["documents"]["added"] == 40
        assert (await agent("ingest", source=str(tmp_path)))["documents"]["unchanged"] == 40  # without asking for it
    counts = [done for done, _ in told]
    assert counts and counts == sorted(set(counts)) and 0 < counts[0] <= counts[-1] <= 40
    assert told[0][1] is not None and told[0][1].startswith(f"Documents: {counts[0]:.0f}, chunks: ")


async def test_progress_grows_and_a_client_that_is_gone_does_not_end_an_ingest() -> None:
    told: asyncio.Queue[float] = asyncio.Queue()

    async def tell(done: float, total: float | None, message: str) -> None:
        told.put_nowait(done)
        raise OSError(message)

    with telling(tell):
        async with progress_of_ingest() as progress:
            progress(IngestReport())  # nothing is done yet
            progress(IngestReport(documents=DocumentCounts(added=2, unchanged=1)))
            assert await told.get() == 3
            progress(IngestReport(documents=DocumentCounts(added=2, unchanged=2)))
    assert told.empty()


@pytest.mark.skipif(sys.platform != "linux", reason="seen on Linux only that a pipe tells of its other end")
def test_it_ends_when_its_client_has_gone_without_a_word(tmp_path: Path) -> None:
    def call(number: int, method: str, **parameters: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})

    storing = {"path": "mill.md", "content": "The mill turns with the ebb."}
    with endless_server(tmp_path) as server:
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write(call(1, "initialize", **HELLO) + "\n")
        server.stdin.write(call(2, "tools/call", name="add_document", arguments=storing) + "\n")
        server.stdin.flush()
        try:
            assert "cutting" in server.stderr.readline()
            server.stdin.close()
            server.stdout.close()
            assert server.wait(120) == 141  # as any command whose output nobody reads
            told = server.stderr.read()
            assert "Traceback" not in told and "report it" not in told
        finally:
            server.kill()
