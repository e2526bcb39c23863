"""``mgrag ask --strategy drift``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Command


def test_the_command_answers_along_the_relations(tmp_path: Path) -> None:
    mgrag = Command(tmp_path)
    (tmp_path / "mill.md").write_text("# The tide mill\n\nThe tide mill was built by Edmund Harrow.\n")
    (tmp_path / "harrow.md").write_text("# Edmund Harrow\n\nEdmund Harrow was born in Saltmarsh.\n")
    assert mgrag("ingest", ".").code == 0
    question = "Where was the man born who built the tide mill?"
    shown = mgrag("ask", question, "--strategy", "drift")
    assert shown.code == 0
    assert "Saltmarsh" in shown.out
    answer = mgrag("ask", question, "--strategy", "drift", "--json").json
    assert answer["strategy"] == "drift"
    assert {cited["path"].rsplit("/", 1)[-1] for cited in answer["citations"]} == {"mill.md", "harrow.md"}
    assert answer["details"]["paths"]
    assert "Edmund Harrow" in answer["details"]["paths"][0]["text"]
