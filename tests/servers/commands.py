"""The command `python -m tests.servers.neo4j start|stop|run`: parses, calls Neo4jServer, prints."""

import argparse
import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.servers.jars import FOLDER, ServerError
from tests.servers.neo4j import STOP_SECONDS, Neo4jServer, bolt_environment

STATE = FOLDER / "target" / "neo4j.json"


def main(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code (for `run`: the code of what was run)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "run" and options.port and options.servers != 1:
        parser.error("--port is for one server: each of several takes a free port")
    signal.signal(signal.SIGTERM, _leave)
    try:
        if options.command == "stop":
            return stop()
        one = {
            "port": options.port,
            "heap": options.heap,
            "settings": dict(line.split("=", 1) for line in options.set),
            "java_flags": options.java,
        }
        if options.command == "start":
            return start(Neo4jServer(**one, detached=True))
        password = secrets.token_urlsafe(12)
        return run([Neo4jServer(**one, password=password) for _ in range(options.servers)], options.cmd)
    except ServerError as exc:
        print(exc, file=sys.stderr)
        return 1


def start(server: Neo4jServer) -> int:
    """Start a server that outlives us, note where it is, and print its variables for a shell to `eval`."""
    if STATE.exists() and _command_of(json.loads(STATE.read_text())["pid"]):
        shutil.rmtree(server.home)
        raise ServerError(f"A test server is running already ({STATE} says which): stop it first.")
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    STATE.parent.mkdir(parents=True, exist_ok=True)
    STATE.write_text(json.dumps({"pid": server.pid, "home": str(server.home)}))
    for name, value in server.environment.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def stop() -> int:
    """Stop the server that `start` left running and remove its home; no server is no failure."""
    if not STATE.exists():
        print("No test server was started here.", file=sys.stderr)
        return 0
    noted = json.loads(STATE.read_text())
    pid, home = int(noted["pid"]), Path(noted["home"])
    deadline = time.monotonic() + STOP_SECONDS
    # A process id alone might belong to somebody else by now.
    if str(home) in _command_of(pid):
        os.kill(pid, signal.SIGTERM)
        while str(home) in _command_of(pid):
            if time.monotonic() > deadline:
                os.killpg(pid, signal.SIGKILL)
            time.sleep(0.1)
    shutil.rmtree(home, ignore_errors=True)
    STATE.unlink()
    return 0


def run(servers: Sequence[Neo4jServer], command: Sequence[str]) -> int:
    """Run a command with servers beside it and return its exit code (128 + signal where one ended it).

    All have one password; the command is told their URIs with a blank between.
    """
    with contextlib.ExitStack() as running:
        for server in servers:
            running.enter_context(server)
        uris = " ".join(server.uri for server in servers)
        environment = bolt_environment(uris, servers[0].user, servers[0].password)
        try:
            child = subprocess.Popen(command, env={**os.environ, **environment})
        except OSError as exc:
            print(f"Cannot run {command[0]}: {exc}", file=sys.stderr)
            return 127
        # The command decides what a signal means; we stay until it has ended, and then stop the server.
        signal.signal(signal.SIGTERM, lambda signum, frame: child.terminate())
        signal.signal(signal.SIGINT, lambda signum, frame: None)
        code = child.wait()
    return code if code >= 0 else 128 - code


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signum)


def _command_of(pid: int) -> str:
    """Return the command line of a living process, or "" where there is none (a zombie has none)."""
    said = subprocess.run(["ps", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "" if said.stdout.lstrip().startswith("Z") else said.stdout.strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.neo4j", description="A Neo4j server for tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("stop", help="stop the server that `start` left running")
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--port", type=int, help="the Bolt port (a free one)")
    options.add_argument("--heap", default="1g", help="the largest Java heap (%(default)s)")
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a line of neo4j.conf")
    options.add_argument("--java", action="append", default=[], metavar="FLAG", help="a flag for Java: --java=-XX:...")
    commands.add_parser("start", parents=[options], help="start a server and print its variables for `eval`")
    running = commands.add_parser("run", parents=[options], help="run a command with a server beside it")
    running.add_argument("--servers", type=int, default=1, help="how many, for as many processes (%(default)s)")
    running.add_argument("cmd", nargs="+", metavar="CMD", help="the command, after --")
    return parser
