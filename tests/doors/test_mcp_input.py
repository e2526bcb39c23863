"""What the MCP server reads from standard input, and that it ends when it is told to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mgrag.mcp.input_lines import input_lines
from tests.cli.command import Command
from tests.doors.kit import endless_server
from tests.doors.test_mcp_unreadable import HELLO

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, the SDK reads standard input")

_BEGINNING = [
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}),
    json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
]
_STORING = {"name": "add_document", "arguments": {"path": "mill.md", "content": "The mill turns with the ebb."}}
_CALL = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": _STORING})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to_though_its_client_keeps_the_line_open(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "mgrag", "mcp", "--db", "g.grafeo"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin and server.stdout and server.stderr
        server.stdin.write("\n".join([*_BEGINNING, _CALL]) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        assert [answer["id"] for answer in answers] == [1, 2]
        server.send_signal(number)
        assert server.wait(120) == 130
        assert "Traceback" not in server.stderr.read()
    (document,) = Command(tmp_path)("list", "--db", "g.grafeo", "--json").json
    assert document["path"] == "mill.md"


def test_it_does_not_finish_what_nobody_waits_for(tmp_path: Path) -> None:
    with endless_server(tmp_path) as server:
        assert server.stdin and server.stderr
        server.stdin.write("\n".join([*_BEGINNING, _CALL]) + "\n")
        server.stdin.flush()
        assert "cutting" in server.stderr.readline()
        server.send_signal(signal.SIGTERM)
        try:
            assert server.wait(120) == 130
        finally:
            server.kill()


def test_messages_may_come_from_a_file(tmp_path: Path) -> None:
    messages = tmp_path / "messages.jsonl"
    messages.write_text(_BEGINNING[0])
    with messages.open() as file:
        done = subprocess.run(
            [sys.executable, "-m", "mgrag", "mcp"], cwd=tmp_path, stdin=file, capture_output=True, text=True
        )
    assert done.returncode == 0
    assert json.loads(done.stdout)["id"] == 1


def test_who_sends_all_at_once_and_hangs_up_has_every_answer(tmp_path: Path) -> None:
    pings = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}) for number in range(3, 20)]
    cancelled = json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
    messages = "\n".join([*_BEGINNING, _CALL, *pings, cancelled, '{"jsonrpc": "2.0", "id": 20, "method": "none"}'])
    done = subprocess.run(
        [sys.executable, "-m", "mgrag", "mcp"], cwd=tmp_path, input=messages, capture_output=True, text=True
    )
    assert done.returncode == 0
    answers = {message["id"]: message for message in map(json.loads, done.stdout.splitlines())}
    assert set(answers) | {5} == set(range(1, 21))
    assert not answers[2]["result"].get("isError")
    assert "error" in answers[20]


async def test_lines_are_what_was_written_however_it_arrives() -> None:
    lines = ["first", "", "Müller 😀" * 50_000, "\x80 is no UTF-8", "cut short"]
    written = "\n".join(lines).encode().replace(b"\xc2\x80", b"\x80")
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb", buffering=0) as pipe:
            for begin in range(0, len(written), 7_919):  # in the middle of characters, too
                pipe.write(written[begin : begin + 7_919])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert [line async for line in input_lines(reading)] == [
            line.replace("\x80", "\N{REPLACEMENT CHARACTER}") for line in lines
        ]
    finally:
        writer.join()
        os.close(reading)
