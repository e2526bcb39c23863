"""``mgrag memory``, as a process would call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mgrag.cli.app import app


def call(place: Path, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["--db", f"embedded:{place / 'g.grafeo'}", "memory", *arguments])
    return result.exit_code, result.output


def test_remember_recall_list_and_forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(tmp_path, "remember", "s", "Bob leads Platform Core.", "--tag", "team", "--user", "bob")[0] == 0
    assert call(tmp_path, "remember", "s", "Bob leads Platform Core.", "--user", "bob")[0] == 0
    code, output = call(tmp_path, "recall", "platform core", "--session", "s", "--json")
    assert code == 0
    [memory] = json.loads(output)["memories"]
    assert (memory["content"], memory["count"], memory["tags"]) == ("Bob leads Platform Core.", 2, ["team"])
    assert 0.5 < memory["relevance"] <= 1
    assert "x2" in call(tmp_path, "list", "s")[1]
    forgotten = json.loads(call(tmp_path, "forget", "--user", "bob", "--json")[1])
    assert forgotten == {"memories": 1, "sessions": 1, "users": 1}
    assert call(tmp_path, "list", "s")[1].strip() == "Nothing found."
    assert call(tmp_path, "forget")[0] == 2
