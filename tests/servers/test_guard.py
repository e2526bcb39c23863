"""The guard: a server never outlives its owner, and its end is known."""

import signal
import subprocess
import sys

from tests.servers.neo4j import ROOT

# Says that it is there, then waits until somebody ends it; exits with 7 when asked to (SIGTERM, also one that comes
# before it waits).
PATIENT = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("here", flush=True)
signal.sigwait({signal.SIGTERM})
sys.exit(7)
"""


def guarded(*options: str) -> subprocess.Popen[bytes]:
    owner = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.guard", *options, sys.executable, "-c", PATIENT],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"here\n"
    return owner


def test_the_command_dies_when_its_owner_lets_go() -> None:
    with guarded() as guard:
        assert guard.stdin is not None
        guard.stdin.close()
        assert guard.wait(30) == 128 + signal.SIGKILL
        assert guard.stdout is not None
        assert guard.stdout.read() == b""  # the command held the other end: it is gone


def test_sigterm_reaches_the_command_and_its_exit_code_comes_back() -> None:
    with guarded() as guard:
        guard.terminate()
        assert guard.wait(30) == 7


def test_a_detached_command_lives_on_and_still_hears_sigterm() -> None:
    with guarded("--detached") as guard:
        assert guard.stdin is not None
        guard.stdin.close()
        guard.terminate()
        assert guard.wait(30) == 7
