"""The Python of the README runs as it stands there, on the examples that come with the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from tests.pages.blocks import ROOT, blocks_of, run

BLOCKS = blocks_of("README.md")


def sections() -> list[str]:
    """The parts of a program that begins with a knowledge base at hand; not the whole program of the beginning."""
    return [block for block in BLOCKS if "asyncio.run(" not in block]


def test_the_program_of_the_readme_ingests_and_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "examples" / "corpus")
    monkeypatch.chdir(tmp_path)
    programs = [block for block in BLOCKS if "asyncio.run(" in block]
    assert len(programs) == 1
    exec(compile(programs[0], "README.md", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert "'failed': []" in printed
    assert "note/1" in printed


async def test_the_parts_of_the_readme_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([ROOT / "examples" / "corpus"])
        names: dict[str, Any] = {"kb": kb}
        seen: list[dict[str, Any]] = []
        for block in sections():
            seen.append(await run(block, names))
            names |= seen[-1]
    everything = {name: value for left in seen for name, value in left.items()}
    assert len(seen) >= 4
    assert everything["piece"].nodes and everything["path"] and everything["context"].context_chunks
    assert {"name": "Kestrel Bay"} in everything["names"]
    assert everything["answer"].citations
    assert everything["memory"].content == "Ada prefers answers with dates."
    assert everything["hits"] and everything["paths"]
    assert "retrieval" in capsys.readouterr().out
