"""A server of the HTTP API in this process, and a client of it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from core.rag import KnowledgeBase
from mgrag.cli.serve import listening_socket
from mgrag.http.access import Access
from mgrag.http.app import build_app
from tests.dbhandler.kit import make_settings

NOTES = [
    {
        "path": "notes/heron.md",
        "content": "# Project Heron\n\nProject Heron is led by Maria Lindqvist. Its budget is 42,000 EUR.\n",
    },
    {
        "path": "notes/lindqvist.md",
        "content": "# Maria Lindqvist\n\nMaria Lindqvist works for the Kestrel Trust in Hull.\n",
    },
]
ALICE = {
    "name": "Alice Johnson",
    "title": "Senior Engineer",
    "company": "TechCorp",
    "team": "Backend",
    "manager": "Bob Smith",
}
#: A ``sitecustomize`` with which to cut a document never ends, as that of a long one seems to.
ENDLESS = """\
import sys
import threading

from core.rag.indexing.cutting import Cutter


def prepare(*_):
    print("cutting", file=sys.stderr, flush=True)
    threading.Event().wait()


Cutter.prepare = prepare
"""

#: Requests have more time when a server ends than a test waits for that: it must not give it to them.
PATIENT = "import mgrag.cli.serve as serve\nserve._GRACE_SECONDS = 600\n"


def endless_server(folder: Path) -> subprocess.Popen[str]:
    """An MCP server over pipes in a folder, with which no document is ever cut."""
    (folder / "sitecustomize.py").write_text(ENDLESS)
    return subprocess.Popen(
        [sys.executable, "-m", "mgrag", "mcp", "--db", "g.grafeo"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )


KEY = "k" * 16
SECRET = "s" * 32


def access(**settings: Any) -> Access:
    return Access(make_settings(**settings))


@asynccontextmanager
async def serving(
    access: Access | None = None, knowledge: KnowledgeBase | None = None, **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server, by default with an empty graph; without keys unless ``access`` has some."""
    async with knowledge or KnowledgeBase.open("embedded::memory:") as kb:
        app = build_app(kb, access or Access(make_settings()), **options)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        with listening_socket("127.0.0.1", 0) as listening:
            task = asyncio.create_task(server.serve([listening]))
            try:
                async with httpx.AsyncClient(
                    base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=60
                ) as client:
                    yield client
            finally:
                server.should_exit = True
                await task


async def ok(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


@asynccontextmanager
async def with_notes() -> AsyncIterator[httpx.AsyncClient]:
    async with serving() as client:
        report = await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        assert report["documents"]["added"] == 2
        yield client


def events(text: str) -> list[tuple[str, Any]]:
    """Name and data of the server-sent events of a response."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found
