"""Messages to the MCP server that its SDK cannot read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def call(number: int, arguments: str) -> str:
    call = f'"method": "tools/call", "params": {{"name": "add_document", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": {number}, {call}}}'


def test_a_request_that_cannot_be_read_is_answered_and_the_next_one_too(tmp_path: Path) -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    lines = (
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "no JSON",
        call(2, r'{"path": "a", "content": "cut in two: \ud83d"}'),
        call(3, f'{{"path": "a", "content": "deep", "metadata": {deep}}}'),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "ping"}),
    )
    answers: dict[Any, Any] = {}
    with subprocess.Popen(
        [sys.executable, "-m", "mgrag", "mcp"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        while 4 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer["id"]] = answer
        server.stdin.close()
    assert answers.keys() == {1, 2, 3, 4} and server.returncode == 0
    for number in (2, 3):
        assert "Half of a character" in answers[number]["error"]["message"]
    assert answers[4]["result"] == {}


def test_a_request_that_has_not_the_form_of_one_is_answered(tmp_path: Path) -> None:
    lines = (
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}),
        json.dumps({"id": 2, "method": "ping"}),
        json.dumps({"jsonrpc": "1.0", "id": "three", "method": "ping"}),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "ping", "params": ["a"]}),
        *("[]", "3", json.dumps({"jsonrpc": "2.0", "id": 5}), json.dumps({"method": "nobody waits"})),
        json.dumps({"jsonrpc": "2.0", "id": 6, "method": "ping"}),
    )
    done = subprocess.run(
        [sys.executable, "-m", "mgrag", "mcp"], cwd=tmp_path, input="\n".join(lines), capture_output=True, text=True
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() == {1, 2, "three", 4, 6} and done.returncode == 0
    for number in (2, "three", 4):
        assert answers[number]["error"]["code"] == -32600
        assert '"jsonrpc": "2.0"' in answers[number]["error"]["message"]
