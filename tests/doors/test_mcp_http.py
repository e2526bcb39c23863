"""MCP over HTTP, by the SDK's own client: the tools that the standard input has, for those whom the server lets in."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import httpx2
import jwt
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from core.rag import KnowledgeBase
from core.rag.errors import StoreUnavailableError
from core.rag.maintenance.upkeep import Upkeep
from mgrag.http.access import Access
from tests.dbhandler.kit import make_settings
from tests.doors.kit import ENDLESS, KEY, PATIENT, SECRET, access, serving
from tests.doors.test_http_command import command
from tests.doors.test_mcp import NOTES, READING, WRITING, Agent, text_of
from tests.doors.test_mcp import command as over_pipes

TEAM, READER = "t" * 16, "r" * 16
Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, Mode] = ("auto", "legacy")
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPTS = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def agent_at(address: object, path: str = "/mcp", key: str = KEY, mode: Mode = "auto") -> AsyncIterator[Agent]:
    """An agent with a key, in the way of the protocol of 2026, or in that of those before."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        transport = streamable_http_client(f"{str(address).rstrip('/')}{path}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)


async def test_agents_have_the_same_over_http_and_share_the_graph(tmp_path: Path) -> None:
    async with Client(over_pipes("--db", str(tmp_path / "other.grafeo"))) as client:
        there, instructions = await client.list_tools(), client.instructions
    with command("--db", str(tmp_path / "g.grafeo"), MGRAG_API_KEYS=KEY) as (process, address):
        async with agent_at(address) as one, agent_at(address, mode="legacy") as other:
            for agent in (one, other):
                listed = await agent.client.list_tools()
                assert [tool.model_dump() for tool in listed.tools] == [tool.model_dump() for tool in there.tools]
                assert agent.client.instructions == instructions
            stored = zip((one, other), NOTES.items(), strict=True)
            await asyncio.gather(*(agent("add_document", path=path, content=text) for agent, (path, text) in stored))
            for agent in (one, other):
                found = await agent("search", query="Where does the leader of Project Heron work?", k=2)
                assert {hit["path"] for hit in found["hits"]} == set(NOTES)
                assert "42,000" in (await agent("ask", question="What is the budget of Project Heron?"))["text"]
            await one("remember", session_id="s", content="The tide mill is closed.")
            assert len((await other("list_memories", session_id="s"))["memories"]) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


async def test_only_those_get_in_whom_the_server_lets_in() -> None:
    keys = access(api_keys=f"{KEY},team={TEAM}", api_read_keys=READER, jwt_key=SECRET)
    token = jwt.encode({"exp": 1 << 40, "namespaces": ["team"]}, SECRET, "HS256")

    async with serving(keys) as http:

        async def status(path: str, key: str | None) -> int:
            headers = ACCEPTS if key is None else {**ACCEPTS, "X-API-Key": key}
            return (await http.post(path, json=LIST, headers=headers)).status_code

        for path in ("/mcp", "/db/team/mcp"):
            assert await status(path, None) == await status(path, "x" * 16) == 401
            assert await status(path, KEY) == await status(path, READER) == 200
        for key in (TEAM, token):
            assert await status("/mcp", key) == await status("/db/other/mcp", key) == 403
            assert await status("/db/team/mcp", key) == 200
        with pytest.RaisesGroup(MCPError, flatten_subgroups=True):
            async with agent_at(http.base_url, key="x" * 16) as agent:
                await agent.tools()
        async with agent_at(http.base_url, "/db/team/mcp", TEAM) as agent:
            await agent("add_document", path="mill.md", content="The mill turns with the ebb.")
            assert (await agent("status"))["location"] is None
            async with agent_at(http.base_url) as other:  # calls at once do not get into each other's namespace
                found = await asyncio.gather(*(one("status") for one in (agent, other) * 5))
            assert [status["namespace"] for status in found] == ["team", "default"] * 5
        for path, key in (("/mcp", READER), ("/db/team/mcp", token)):
            async with agent_at(http.base_url, path, key) as reader:
                assert set(await reader.tools()) == READING
                for tool in WRITING:
                    assert "Unknown tool" in await reader.fails(tool, path="mill.md", content="x")
                team = path != "/mcp"
                assert len((await reader("list_documents"))["documents"]) == team
                asked = {"question": "When does the mill turn?", "conversation_id": "c"}
                assert "no conversation 'c'" in await reader.fails("ask", **asked)
        conversations = await http.get("/db/team/conversations", headers={"X-API-Key": KEY})
        assert conversations.json()["conversations"] == []


async def test_without_keys_no_web_page_and_no_other_name_gets_in() -> None:
    async with serving() as http:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            assert (await http.post("/mcp", json=LIST, headers={**ACCEPTS, **headers})).status_code == 403
        assert (await http.post("/mcp", json=LIST, headers=ACCEPTS)).status_code == 200


async def test_a_read_only_server_offers_nothing_that_changes_anything() -> None:
    async with serving(Access(make_settings(api_keys=KEY), writing=False)) as http:
        async with agent_at(http.base_url) as agent:
            assert set(await agent.tools()) == READING


async def test_a_server_for_one_namespace_has_agents_use_that_one() -> None:
    team = KnowledgeBase.open("embedded::memory:", namespace="team")
    async with serving(Access(make_settings(), only="team"), team) as http:
        async with agent_at(http.base_url) as agent:
            assert (await agent("status"))["namespace"] == "team"
        assert (await http.post("/db/default/mcp", json=LIST, headers=ACCEPTS)).status_code == 403


async def test_a_request_that_is_too_large_is_refused() -> None:
    async def pieces() -> AsyncIterator[bytes]:  # which do not say how many bytes they are
        for _ in range(3):
            yield b" " * 500_000

    async with serving(max_bytes=1) as http:
        headers = {**ACCEPTS, "Content-Type": "application/json"}
        for body in (b" " * 1_500_000, pieces()):
            refused = await http.post("/mcp", content=body, headers=headers)
            assert refused.status_code == 413 and "MGRAG_MAX_FILE_BYTES" in refused.json()["error"]


@pytest.mark.parametrize("mode", MODES)
async def test_agents_have_files_and_pages_read_as_callers_of_the_api_do(tmp_path: Path, mode: Mode) -> None:
    allowed, secret = tmp_path / "allowed", tmp_path / "secret.md"
    allowed.mkdir()
    secret.write_text("A secret.\n")
    for number in range(30):
        (allowed / f"{number}.md").write_text(f"# Mill {number}\n\nThe mill turns with the ebb.\n")
    async with serving(access(api_keys=KEY)) as http, agent_at(http.base_url, mode=mode) as agent:
        for place in (str(secret), f"file://{secret}", "/etc/passwd", "~", "."):
            assert "takes no files" in await agent.fails("ingest", source=place)
        for page in ("http://127.0.0.1:1/", "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/"):
            assert "only public addresses" in await agent.fails("ingest", source=page)
        await agent("add_document", path=str(secret), content="The path is a name.")
        assert (await agent("read_document", path=str(secret)))["content"] == "The path is a name."
    told: list[float] = []

    async def told_of(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with serving(access(api_keys=KEY), roots=[allowed]) as http, agent_at(http.base_url, mode=mode) as agent:
        assert "is not in a folder" in await agent.fails("ingest", source=str(secret))
        result = await agent.client.call_tool("ingest", {"source": str(allowed)}, progress_callback=told_of)
        assert json.loads(text_of(result))["documents"]["added"] == 30
    assert told and told == sorted(set(told)) and told[-1] <= 30


async def test_why_the_server_failed_is_for_its_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures: list[Exception] = [StoreUnavailableError("bolt://inside.example:7687 is gone."), KeyError("inside")]

    async def status(_: Upkeep) -> dict[str, Any]:
        raise failures.pop(0)

    monkeypatch.setattr(Upkeep, "status", status)
    handlers = list(logging.getLogger().handlers)
    async with serving(access(api_keys=KEY)) as http, agent_at(http.base_url) as agent:
        told = await agent.fails("status")
        assert "try again later" in told and "inside" not in told
        (line,) = (record.getMessage() for record in caplog.records if "inside.example" in record.getMessage())
        assert line.partition("(request ")[2] in f"{told})"
        assert "inside" not in await agent.fails("status")
    assert logging.getLogger().handlers == handlers


@pytest.mark.parametrize("left", [False, True], ids=["cancelled", "left"])
@pytest.mark.parametrize("mode", MODES)
async def test_a_call_ends_that_is_cancelled_or_whose_caller_is_gone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, mode: Mode, left: bool
) -> None:
    begun: asyncio.Queue[None] = asyncio.Queue()
    ended: asyncio.Queue[str] = asyncio.Queue()
    go = asyncio.Event()

    async def status(kb: Upkeep) -> dict[str, Any]:
        begun.put_nowait(None)
        try:
            await go.wait()
        except asyncio.CancelledError:
            ended.put_nowait("cancelled")
            raise
        return {"engine": {}, "answered": True}

    monkeypatch.setattr(Upkeep, "status", status)
    async with serving(access(api_keys=KEY)) as http, agent_at(http.base_url, mode=mode) as other:
        kept = asyncio.create_task(other("status"))  # its id is the same as that of the other client
        await begun.get()
        async with agent_at(http.base_url, mode=mode) as agent:
            call = asyncio.create_task(agent.client.call_tool("status", {}))
            await begun.get()
            if not left:
                call.cancel()
                assert await ended.get() == "cancelled"
                assert (await agent("list_documents"))["documents"] == []
        if left:
            assert await ended.get() == "cancelled"
        await asyncio.wait([call])
        go.set()
        assert (await kept)["answered"] and ended.empty()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_message_cancels_calls_of_its_own_client_only(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def status(_: Upkeep) -> dict[str, Any]:
        begun.set()
        await go.wait()
        return {"engine": {}, "answered": True}

    monkeypatch.setattr(Upkeep, "status", status)
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "status"}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
    async with serving() as http:
        names = {(await http.post("/mcp", json=LIST, headers=ACCEPTS)).headers["mcp-session-id"] for _ in range(2)}
        own, others = ({**ACCEPTS, "mcp-session-id": name} for name in names)
        called = asyncio.create_task(http.post("/mcp", json=call, headers=own))
        await begun.wait()
        for headers in (others, ACCEPTS):
            assert (await http.post("/mcp", json=cancel, headers=headers)).status_code == 202
        for wrong in ({"requestId": "x"}, {"requestId": [7]}, {}):
            assert (await http.post("/mcp", json={**cancel, "params": wrong}, headers=own)).status_code == 202
        go.set()
        assert "answered" in (await called).text
        go.clear()
        begun.clear()
        called = asyncio.create_task(http.post("/mcp", json=call, headers=own))
        await begun.wait()
        await http.post("/mcp", json=cancel, headers=own)
        assert "The call was cancelled" in (await called).text


async def test_a_server_that_is_told_to_end_answers_the_calls_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import asyncio, pathlib, sys\n"
        "import core.rag.maintenance.upkeep as upkeep\n"
        "async def status(_):\n"
        "    print('called', file=sys.stderr, flush=True)\n"
        f"    while not pathlib.Path({str(tmp_path / 'go')!r}).exists():\n"
        "        await asyncio.sleep(0.01)\n"
        "    return {'engine': {}, 'answered': True}\n"
        "upkeep.Upkeep.status = status\n"
    )
    with command("--db", str(tmp_path / "g"), MGRAG_API_KEYS=KEY, PYTHONPATH=str(tmp_path)) as (process, address):
        assert process.stderr is not None
        async with agent_at(address) as one, agent_at(address, mode="legacy") as other:
            for agent in (one, other):  # else the SDK asks for them after the call, of a server that has ended
                await agent.client.list_tools()
            calls = [asyncio.create_task(agent("status")) for agent in (one, other)]
            for _ in calls:
                assert "called" in await asyncio.to_thread(process.stderr.readline)
            process.send_signal(signal.SIGTERM)
            (tmp_path / "go").touch()
            assert [(await call)["answered"] for call in calls] == [True, True]
        assert await asyncio.to_thread(process.wait, 60) == 0
        assert "Traceback" not in process.stderr.read()


async def test_a_server_that_has_to_end_does_not_wait_for_a_call(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDLESS + PATIENT)
    with command("--db", str(tmp_path / "g"), MGRAG_API_KEYS=KEY, PYTHONPATH=str(tmp_path)) as (process, address):
        assert process.stderr is not None
        async with agent_at(address) as one, agent_at(address, mode="legacy") as other:
            calls = []
            for agent in (one, other):
                adding = agent("add_document", path="mill.md", content="The mill turns.")
                calls.append(asyncio.create_task(adding))
                assert "cutting" in await asyncio.to_thread(process.stderr.readline)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)  # at the second one, no request gets its time
            assert await asyncio.to_thread(process.wait, 120) == 0
            for call in calls:
                with pytest.raises(MCPError):
                    await call


def test_without_the_sdk_the_server_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ImportError('not installed')\n")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with command("--db", str(tmp_path / "g"), MGRAG_API_KEYS=KEY, PYTHONPATH=path) as (_, address):
        headers = {**ACCEPTS, "X-API-Key": KEY}
        answered = httpx.post(f"{address}/mcp", json=LIST, headers=headers, timeout=60)
        assert answered.status_code == 501
        assert "pip install 'memgraph-rag[http,mcp]'" in answered.json()["error"]
        assert httpx.post(f"{address}/mcp", json=LIST, headers=ACCEPTS, timeout=60).status_code == 401
        assert httpx.get(f"{address}/db/default/documents", headers=headers, timeout=60).status_code == 200
