"""The command ``mgrag serve``."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from mgrag.cli.serve import listening_socket
from tests.cli.command import Command
from tests.doors.kit import ENDLESS, KEY, NOTES, PATIENT

#: A ``sitecustomize`` with which a module is never imported to its end, as it seems on a busy machine.
IMPORTING = """\
import sys
import threading


class Finder:
    def find_spec(self, name, *_):
        if name == "{module}":
            print("importing", file=sys.stderr, flush=True)
            threading.Event().wait()


sys.meta_path.insert(0, Finder())
"""


@contextmanager
def command(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """``mgrag serve`` on a free port, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mgrag", "serve", "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "Listening on" in line, line + process.stderr.read()
        yield process, line.split()[3]
    finally:
        process.kill()
        process.communicate()


def test_the_command_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    graph = str(tmp_path / "g.grafeo")
    with command("--db", graph) as (process, address):
        assert "No keys are set" in process.stderr.readline()  # type: ignore[union-attr]
        added = httpx.post(f"{address}/db/default/documents", json={"documents": NOTES}, timeout=60)
        assert added.json()["documents"]["added"] == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    with command("--db", graph, "--read-only", MGRAG_API_KEYS=KEY) as (process, address):
        with httpx.Client(base_url=address, headers={"X-API-Key": KEY}, timeout=60) as client:
            assert len(client.get("/db/default/documents").json()["documents"]) == 2
            assert client.post("/db/default/documents", json={"documents": NOTES}).status_code == 403
            assert client.post("/db/default/memory/recall", json={"query": "x"}).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0


def test_the_command_behind_a_proxy_describes_where_it_is_and_shows_its_numbers_to_all(tmp_path: Path) -> None:
    options = ("--db", str(tmp_path / "g.grafeo"), "--base-path", "/kb/", "--open-metrics")
    with command(*options, MGRAG_API_KEYS=KEY) as (_, address):
        assert httpx.get(f"{address}/health").status_code == 200
        with httpx.Client(base_url=address, headers={"X-API-Key": KEY}, timeout=60) as client:
            assert client.get("/db/default/documents").json()["documents"] == []
            assert client.get("/openapi.json").json()["servers"] == [{"url": "/kb"}]
        assert "mgrag_http_request_seconds" in httpx.get(f"{address}/metrics").text
        assert httpx.get(f"{address}/db").status_code == 401


def test_the_command_does_not_open_itself_to_others_without_keys(tmp_path: Path) -> None:
    done = Command(tmp_path)("serve", "--host", "0.0.0.0")
    assert done.code == 2
    assert "MGRAG_API_KEYS" in done.err and "0.0.0.0" in done.err


@pytest.mark.parametrize("model", ["MGRAG_LLM_MODEL", "MGRAG_RERANK_MODEL"])
def test_a_model_without_a_server_is_told_at_the_start(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(model, "judge")
    done = Command(tmp_path)("serve", "--port", "0")
    assert done.code == 2
    assert "judge needs a" in done.err


@pytest.mark.parametrize("package", ["fastapi", "jwt", "prometheus_client"])
def test_a_package_that_is_missing_is_named(package: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("raise ImportError('not installed')\n")
    done = subprocess.run(
        [sys.executable, "-m", "mgrag", "serve", "--port", "0", "--db", str(tmp_path / "g.grafeo")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
    )
    assert done.returncode == 2
    assert "pip install 'memgraph-rag[http]'" in done.stderr


def test_a_server_of_http_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = Command(tmp_path)("serve", "--port", "0")
    assert done.code == 2
    assert "pip install 'memgraph-rag[http]'" in done.err and "Listening" not in done.err


async def test_responses_do_not_wait_for_acknowledgements() -> None:
    without_delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        without_delay.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listening_socket("127.0.0.1", 0) as listening:
        async with await asyncio.start_server(connected, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            assert await without_delay
            writer.close()


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with listening_socket("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        done = Command(tmp_path)("serve", "--port", port)
    assert done.code == 2
    assert port in done.err and "Traceback" not in done.err
    assert not list(tmp_path.iterdir())  # told before a graph is made


def test_the_log_says_why_the_server_failed(tmp_path: Path) -> None:
    graph = tmp_path / "g.grafeo"
    broken = tmp_path / "sitecustomize.py"  # a bug in what the server imports
    broken.write_text(
        "import core.rag.maintenance.upkeep as upkeep\n"
        "async def status(_):\n    raise KeyError('line\\nmgrag: all is well')\n"
        "upkeep.Upkeep.status = status\n"
    )
    with command("--db", str(graph), MGRAG_API_KEYS=KEY, PYTHONPATH=str(tmp_path)) as (process, address):
        failed = httpx.get(f"{address}/db/default/status", headers={"X-API-Key": KEY}, timeout=60)
        assert failed.status_code == 500
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)
    assert failed.json()["request_id"] in log
    assert "    KeyError: " in log and "in status" in log
    assert "\nmgrag: all is well" not in log


def test_a_server_that_is_told_to_end_does_not_finish_what_nobody_waits_for(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDLESS + PATIENT)
    with command("--db", str(tmp_path / "g.grafeo"), PYTHONPATH=str(tmp_path)) as (process, address):
        assert process.stderr is not None and "No keys" in process.stderr.readline()
        with ThreadPoolExecutor() as threads:
            sent = threads.submit(
                httpx.post, f"{address}/db/default/documents", json={"documents": NOTES}, timeout=None
            )
            assert "cutting" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGINT)  # at the second one, no request gets its time
            assert process.wait(120) == 0
            assert isinstance(sent.exception(), httpx.HTTPError) or sent.result().status_code == 503
    with command("--db", str(tmp_path / "g.grafeo")) as (_, address):
        assert httpx.get(f"{address}/db/default/documents", timeout=60).json()["documents"] == []


@pytest.mark.parametrize("module", ["mgrag.http.app", "core.rag.answering.recording"])
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_server_that_is_told_to_end_before_it_serves_does_so(number: str, module: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(IMPORTING.format(module=module))
    with subprocess.Popen(
        [sys.executable, "-m", "mgrag", "serve", "--port", "0", "--db", str(tmp_path / "g.grafeo")],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ) as process:
        try:
            assert process.stderr is not None and "importing" in process.stderr.readline()
            process.send_signal(getattr(signal, number))
            assert process.wait(60) == 130
            assert process.stderr.read().endswith("stored; the same command can be run again.\n")
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit")
def test_a_server_takes_as_many_callers_as_the_system_allows(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))  # as a shell has it, only less
    try:
        with command("--db", str(tmp_path / "g.grafeo")) as (process, _):
            soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert soft == hard == before[1]
