"""What can only be seen of a process: what it imports, pipes, signals, encodings."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core.rag.dbhandler.embedded.digest import digest_of_file

MGRAG = Path(sys.executable).with_name("mgrag")
HEAVY = {
    "asyncio",
    "core",
    "grafeo",
    "httpx",
    "libs.dataloader",
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


def test_the_package_is_the_command(tmp_path: Path) -> None:
    for arguments, code in ((["--version"], 0), (["list"], 4), (["--unknown"], 2)):
        same = [
            subprocess.run([*how, *arguments], cwd=tmp_path, capture_output=True, env=environment(), check=False)
            for how in ([MGRAG], [sys.executable, "-m", "mgrag"])
        ]
        assert {(done.returncode, done.stdout, done.stderr) for done in same} == {
            (code, same[0].stdout, same[0].stderr)
        }


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = ['mgrag', '--help']\n"
        "from mgrag.cli import main\n"
        "try: main()\n"
        "except SystemExit as ending: assert not ending.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=environment(), check=True
    )
    assert "Exit codes" in done.stdout
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_what_searches_nothing_loads_no_numpy(ingested: Path) -> None:
    program = (
        "import sys\n"
        "from mgrag.cli import main\n"
        "try: main()\n"
        "except SystemExit as ending: assert not ending.code\n"
        "assert 'grafeo' in sys.modules and 'numpy' not in sys.modules\n"
    )
    for command in ("list", "status"):
        subprocess.run(
            [sys.executable, "-c", program, command, "--db", "graph.grafeo"],
            cwd=ingested,
            env=environment(),
            timeout=120,
            check=True,
        )


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("list", "--json"), ("list",), ("--help",)], ids=" ".join)
def test_output_that_cannot_be_written_is_told(arguments: tuple[str, ...], unbuffered: str, ingested: Path) -> None:
    where = ("--db", "graph.grafeo") if arguments[0] == "list" else ()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [MGRAG, *arguments, *where],
            cwd=ingested,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(PYTHONUNBUFFERED=unbuffered),
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    expected = "mgrag: The output could not be written: No space left on device. Write it to a place with free space.\n"
    assert done.stderr.decode() == expected


def test_warnings_that_are_logged_look_like_other_lines_of_the_command(ingested: Path, tmp_path: Path) -> None:
    graph = shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    done = subprocess.run(  # a limit of the size of files, which is like a full disk
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", MGRAG, "list", "--db", graph],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout
    assert [line.partition(": ")[:1] for line in done.stderr.decode().splitlines()] == [("mgrag",)]
    assert b"the disk has no room for the log" in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("document", "code"), [("corpus/diary.txt", 0), ("nowhere.txt", 4)])
def test_streams_may_be_closed(closed: str, document: str, code: int, ingested: Path, tmp_path: Path) -> None:
    graph = shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", MGRAG, "show", document, "--db", graph],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"should not have happened" not in done.stderr
    assert digest_of_file(graph) == digest_of_file(ingested / "graph.grafeo"), "no file took the place of a stream"


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
        "from core.rag import KnowledgeBase\n"
        "def broken(*_, **__): raise ZeroDivisionError('oops')\n"
        "KnowledgeBase.open = broken\n"
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


def test_a_working_directory_that_was_removed_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", MGRAG, "ingest", "docs", "--db", tmp_path.parent / "none.grafeo"],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == b"mgrag: The working directory was removed. Change to one that exists (cd), and repeat.\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("delete", "--prefix", "corpus/", "--yes"), "Deleting …"),
        (("namespaces", "delete", "default", "--yes"), "Deleting …"),
        (("graph", "resolve"), "Comparing names …"),
    ],
)
def test_a_terminal_shows_what_may_take_long(
    arguments: tuple[str, ...], shown: str, ingested: Path, tmp_path: Path
) -> None:
    graph = shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    reading, terminal = os.openpty()
    done = subprocess.run(
        [MGRAG, *arguments, "--db", graph],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=environment(TERM="xterm"),
        timeout=120,
        check=True,
    )
    assert shown in os.read(reading, 100_000).decode()
    os.close(terminal)
    os.close(reading)
    assert shown.encode() not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_ctrl_c_at_a_question_is_an_interruption(ingested: Path, tmp_path: Path) -> None:
    graph = shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    ours, terminal = os.openpty()
    asking = subprocess.Popen(
        [MGRAG, "delete", "--prefix", "corpus/", "--db", graph],
        cwd=tmp_path,
        stdin=terminal,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert asking.stderr is not None
    told = b""
    while not told.endswith(b"[y/N]:"):
        byte = asking.stderr.read(1)
        assert byte, told
        told += byte
    asking.send_signal(signal.SIGINT)
    assert asking.stderr.read() == b"\nmgrag: Nothing was done.\n"
    assert asking.wait(60) == 130
    asking.stderr.close()
    os.close(terminal)
    os.close(ours)


def test_completion(tmp_path: Path) -> None:
    def complete(words: str) -> list[str]:
        more = {"_MGRAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return run(folder=tmp_path, **more).stdout.decode().split()

    assert complete("mgrag re") == ["records", "record", "restore", "reembed"]
    assert complete("mgrag search --mode ") == ["auto", "graph", "hybrid", "vector", "keyword", "fuzzy"]
    assert "--expand" in complete("mgrag search --")


@pytest.mark.parametrize(
    ("number", "background"),
    [
        (signal.SIGINT, False),
        (signal.SIGTERM, False),
        (signal.SIGTERM, True),  # where Ctrl-C is ignored
        (signal.SIGHUP, False),  # of a terminal that was closed
    ],
)
def test_an_export_that_is_ended_leaves_nothing(
    number: signal.Signals, background: bool, ingested: Path, tmp_path: Path
) -> None:
    shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    program = (
        "import asyncio, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # the tests may run below nohup
        f"if {background}: signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from core.rag.dbhandler.transfer.operations import TransferOperations\n"
        "async def waits(*_): print('there', flush=True); await asyncio.sleep(100)\n"
        "TransferOperations._write_edges = waits\n"
        "sys.argv = ['mgrag', '--db', 'graph.grafeo', 'export', 'out.jsonl']\n"
        "from mgrag.cli import main\n"
        "main()\n"
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    with process:
        assert process.stdout is not None and process.stdout.readline() == b"there\n"
        assert [path.suffix for path in tmp_path.glob(".out.jsonl.*")] == [".part"]
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith(b"mgrag: Interrupted.")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert run("doctor", "--db", "graph.grafeo", folder=tmp_path).returncode == 0


READ = 5  # pages that are answered at once


class Endless(ThreadingHTTPServer):
    """A site in which every page leads to another; one that is asked for later has to wait for ``go_on``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.asked = threading.Event()
        self.go_on = threading.Event()


class Page(BaseHTTPRequestHandler):
    server: Endless

    def do_GET(self) -> None:
        number = self.path.strip("/")
        if not number.isdigit():
            self.send_error(404)
            return
        if int(number) > READ:
            self.server.asked.set()
            self.server.go_on.wait()
        text = f"<h1>Page {number}</h1><p>The mill turned {number} times.</p><a href='/{int(number) + 1}'>More</a>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def endless() -> Iterator[Endless]:
    with Endless() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.go_on.set()
        server.shutdown()


def interrupted(server: Endless, folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """An ingest that has read some pages, waits for one, and was sent Ctrl-C."""
    process = subprocess.Popen(
        [MGRAG, "ingest", f"http://127.0.0.1:{server.server_port}/1", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert server.asked.wait(120)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    line = b""
    while b"press Ctrl-C again" not in line:
        line = process.stderr.readline()
        assert line, "it ended without a word"
    return process


def test_ctrl_c_finishes_what_is_in_flight(endless: Endless, tmp_path: Path) -> None:
    with interrupted(endless, tmp_path, "--json") as process:
        endless.go_on.set()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in err
    report = json.loads(out)
    assert report["interrupted"]
    assert report["documents"]["added"] in (READ, READ + 1)
    status = json.loads(run("status", "--json", folder=tmp_path).stdout)
    assert status["nodes"]["Document"] == report["documents"]["added"]


def test_an_interrupted_ingest_says_that_more_is_to_be_done(endless: Endless, tmp_path: Path) -> None:
    with interrupted(endless, tmp_path) as process:
        endless.go_on.set()
        out, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    first, last = out.decode().splitlines()[-2:]
    assert first.startswith("Documents: ")
    assert last == "note    Interrupted before the end; the same command does the rest."


def test_ctrl_c_twice_stops_at_once_and_nothing_is_torn(endless: Endless, tmp_path: Path) -> None:
    with interrupted(endless, tmp_path, "--json") as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Stopped." in err
    assert b"Traceback" not in err
    assert out == b""
    assert run("doctor", folder=tmp_path).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", ["SIGHUP", "SIGTERM"])
def test_a_conversation_whose_terminal_is_closed_closes_the_graph(number: str, ingested: Path, tmp_path: Path) -> None:
    graph = shutil.copyfile(ingested / "graph.grafeo", tmp_path / "graph.grafeo")
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # the tests may run below nohup
        "from mgrag.cli import main\n"
        "sys.exit(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "chat", "--db", graph],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"Who owns the mill?\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(getattr(signal, number))
        assert process.wait(120) == 0
    assert not list(tmp_path.glob("*.wal"))  # with which the graph could not be opened for reading only
