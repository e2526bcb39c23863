"""What can only be seen of a process: what it imports, pipes, signals, encodings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MGRAG = Path(sys.executable).with_name("mgrag")
HEAVY = {
    "asyncio",
    "bs4",
    "core",
    "grafeo",
    "httpx",
    "libs",
    "lxml",
    "neo4j",
    "numpy",
    "openai",
    "pydantic",
    "rapidfuzz",
    "rich",
    "scipy",
    "tokenizers",
    "wordllama",
}


def environment(**more: str) -> dict[str, str]:
    names = ("MEMGRAPH_", "MGRAG_", "OPENAI_", "AZURE_OPENAI_", "PYTHONIOENCODING", "PYTHONUTF8")
    return {**{key: value for key, value in os.environ.items() if not key.startswith(names)}, **more}


def run(*arguments: str, folder: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [MGRAG, *arguments], cwd=folder, capture_output=True, env=environment(**more), timeout=120, check=False
    )


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = ['mgrag', '--help']\n"
        "from mgrag.cli import main\n"
        "try: main()\n"
        "except SystemExit as ending: assert not ending.code\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=environment(), check=True
    )
    assert "Exit codes" in done.stdout
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize("arguments", [("list", "--json"), ("list",), ("--help",)], ids=" ".join)
def test_who_stops_reading_is_no_error(arguments: tuple[str, ...], ingested: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    where = ("--db", "graph.grafeo") if arguments[0] == "list" else ()
    done = subprocess.run(
        [MGRAG, *arguments, *where],
        cwd=ingested,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        timeout=120,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_output_is_utf_8_whatever_the_locale(locale: dict[str, str], ingested: Path) -> None:
    done = run("search", "La Ferté-sous-Jouarre", "-k", "1", "--db", "graph.grafeo", folder=ingested, **locale)
    assert done.returncode == 0, done.stderr
    assert "La Ferté-sous-Jouarre" in done.stdout.decode()
    assert b"\x1b" not in done.stdout


def test_names_that_are_no_utf_8_are_printed_as_json(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb") as file:
        file.write(b"# The mill\n\nIt turns.")
    done = run("ingest", ".", "--json", folder=tmp_path)
    assert done.returncode in (0, 1)
    json.loads(done.stdout)
    done = run("list", "--json", folder=tmp_path)
    assert done.returncode == 0
    json.loads(done.stdout)


def test_an_unexpected_error_is_one_line_or_with_debug_all(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = {arguments}\n"
        "import mgrag.cli.search\n"
        "async def broken(*_): raise ZeroDivisionError('oops')\n"
        "mgrag.cli.search._search = broken\n"
        "from mgrag.cli import main\n"
        "main()\n"
    )
    for arguments, trace in ((["mgrag", "search", "x"], False), (["mgrag", "--debug", "search", "x"], True)):
        done = subprocess.run(
            [sys.executable, "-c", program.format(arguments=arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        assert done.returncode == 1
        assert done.stdout == ""
        assert ("Traceback" in done.stderr) == trace
        assert "oops" in done.stderr


def test_completion(tmp_path: Path) -> None:
    def complete(words: str) -> list[str]:
        more = {"_MGRAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return run(folder=tmp_path, **more).stdout.decode().split()

    assert complete("mgrag re") == ["restore", "reembed"]
    assert complete("mgrag search --mode ") == ["auto", "graph", "hybrid", "vector", "keyword", "fuzzy"]
    assert "--expand" in complete("mgrag search --")


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(2500):
        (folder / f"{number}.md").write_text(f"# Number {number}\n\n" + f"The mill turned {number} times. " * 40)
    return tmp_path


def begun(folder: Path) -> subprocess.Popen[bytes]:
    """An ingest that has written its first documents."""
    process = subprocess.Popen(
        [MGRAG, "ingest", "docs", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    log = folder / ".mgrag" / "graph.grafeo.wal"
    while process.poll() is None:
        try:
            if sum(file.stat().st_size for file in log.iterdir()) > 50_000:
                break
        except FileNotFoundError:
            pass
        time.sleep(0.005)
    return process


def test_ctrl_c_finishes_what_is_in_flight(crowded: Path) -> None:
    with begun(crowded) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"press Ctrl-C again" in err
    assert b"Traceback" not in err
    report = json.loads(out)
    assert report["interrupted"]
    assert 0 < report["documents"]["added"] < 2500
    status = json.loads(run("status", "--json", folder=crowded).stdout)
    assert status["nodes"]["Document"] == report["documents"]["added"]


def test_ctrl_c_twice_stops_at_once_and_nothing_is_torn(crowded: Path) -> None:
    with begun(crowded) as process:
        process.send_signal(signal.SIGINT)
        line = process.stderr.readline() if process.stderr else b""
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"press Ctrl-C again" in line
    assert b"Stopped." in err
    assert b"Traceback" not in err
    assert out == b""
    assert run("doctor", folder=crowded).returncode == 0
