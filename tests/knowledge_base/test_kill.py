"""``kill -9`` at any moment of an ingest: the next run completes it, and the graph is that of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.rag.dbhandler import MemGraphClient
from tests.graphs import orphans, snapshot

ROOT = Path(__file__).parents[2]
SEED = 20261121
KILLS = 10

WORDS = ["mill", "wheel", "tide", "pond", "sluice", "stone", "flour", "dam", "gate", "ebb", "flood", "sack", "ship"]


class Children:
    """The process that forks those that are killed."""

    def __init__(self, warm_up: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("killed.py")), str(warm_up)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        )

    def __call__(self, folder: Path, graph: Path, **how: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"folder": str(folder), "graph": str(graph), **how}) + "\n")
        self._process.stdin.flush()
        result = json.loads(self._process.stdout.readline())
        assert not result["failed"]
        return result

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    folder = tmp_path_factory.mktemp("warm")
    (folder / "a.md").write_text("# A\n\nThe mill.")
    running = Children(folder / "a.md")
    yield running
    running.close()


def corpus(folder: Path, seed: int, *, changed: bool = False) -> None:
    """Documents that name and link to one another and share paragraphs; ``changed``: some edited, gone or new."""
    chance = random.Random(seed)
    paragraphs = [" ".join(chance.choices(WORDS, k=25)) + "." for _ in range(60)]
    folder.mkdir(exist_ok=True)
    for number in range(40):
        parts = chance.choices(paragraphs, k=4)
        link = chance.randrange(44)
        file = folder / f"{number:02}.md"
        if changed and number % 7 == 3:
            file.unlink()
            continue
        if changed and number % 3 == 0:
            parts = [parts[0], f"Another text in number {number}.", *parts[2:], paragraphs[number]]
        text = (
            f"# Part {number}\n\n" + "\n\n".join(parts) + f"\n\nMore is in part {39 - number}.\n\n"
            f"[see]({link:02}.md) [web](https://example.org/{link})\n"
        )
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    if changed:
        for number in range(40, 44):
            (folder / f"{number}.md").write_text(f"# New {number}\n\n{paragraphs[number]}\n")


async def looked_at(graph: Path) -> tuple[list[str], dict[str, int]]:
    async with MemGraphClient(f"embedded:{graph}") as client:
        return await snapshot(client), await orphans(client)


def copy(graph: Path, target: Path) -> None:
    shutil.copyfile(graph, target)
    assert not graph.with_name(graph.name + ".wal").exists()


@pytest.mark.parametrize("changing", [False, True], ids=["first ingest", "update"])
async def test_a_killed_ingest_is_completed_by_the_next(changing: bool, children: Children, tmp_path: Path) -> None:
    chance = random.Random(SEED + changing)
    folder, start, whole = tmp_path / "docs", tmp_path / "start.grafeo", tmp_path / "whole.grafeo"
    corpus(folder, SEED)
    if changing:
        children(folder, start)
        corpus(folder, SEED, changed=True)
        copy(start, whole)
        copy(start, tmp_path / "counted.grafeo")
    calls = children(folder, tmp_path / "counted.grafeo", calls=0)["calls"]
    undisturbed = children(folder, whole)
    assert undisturbed["report"]["documents"]["failed"] == []
    expected, loose = await looked_at(whole)
    assert not any(loose.values())
    assert len(expected) > 300

    struck = 0
    attempts = 0
    while struck < KILLS // 2:
        attempts += 1
        assert attempts < 5 * KILLS, "the process is too fast to be killed"
        graph = tmp_path / f"{attempts}.grafeo"
        if changing:
            copy(start, graph)
        if attempts % 2:
            how: dict[str, float] = {"calls": chance.randrange(1, calls)}
        else:
            how = {"seconds": chance.uniform(0, undisturbed["seconds"])}
        struck += children(folder, graph, **how)["killed"]
        completed = children(folder, graph)
        assert completed["report"]["documents"]["failed"] == []

        found, loose = await looked_at(graph)
        assert not any(loose.values()), (how, loose)
        assert found == expected, how
        again = children(folder, graph)["report"]
        assert (again["documents"]["added"], again["documents"]["updated"], again["documents"]["deleted"]) == (0, 0, 0)
        graph.unlink()


async def test_a_graph_survives_many_kills_in_a_row(children: Children, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    folder, whole, graph = tmp_path / "docs", tmp_path / "whole.grafeo", tmp_path / "graph.grafeo"
    corpus(folder, SEED)
    calls = children(folder, whole, calls=0)["calls"]
    expected, _ = await looked_at(whole)
    for _ in range(6):  # each gets a little further, or dies while recovering from the one before
        children(folder, graph, calls=chance.randrange(1, calls // 2))
    children(folder, graph)
    found, loose = await looked_at(graph)
    assert found == expected
    assert not any(loose.values())


async def test_the_command_itself_may_be_killed(tmp_path: Path) -> None:
    folder, graph, whole = tmp_path / "docs", tmp_path / "graph.grafeo", tmp_path / "whole.grafeo"
    folder.mkdir()
    for number in range(160):
        (folder / f"{number}.md").write_text(f"# Number {number}\n\nThe mill turned {number} times, says the diary.\n")
    command = [str(Path(sys.executable).with_name("mgrag")), "ingest", str(folder), "--db"]
    log = graph.with_name(graph.name + ".wal")
    for _ in range(2):
        with subprocess.Popen([*command, str(graph)], stdout=subprocess.DEVNULL) as process:
            begun = sum(file.stat().st_size for file in log.iterdir()) if log.is_dir() else 0
            while process.poll() is None:
                try:
                    written = sum(file.stat().st_size for file in log.iterdir())
                except FileNotFoundError:
                    written = 0
                if written > begun + 10_000:
                    process.send_signal(signal.SIGKILL)
                    break
                time.sleep(0.002)
    for target in (graph, whole):
        subprocess.run([*command, str(target)], check=True, capture_output=True)
    (found, loose), (expected, _) = await looked_at(graph), await looked_at(whole)
    assert found == expected
    assert not any(loose.values())
