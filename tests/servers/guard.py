"""Runs one command and never lets it outlive its owner: `python -m tests.servers.guard [--detached] COMMAND…`.

The owner holds the other end of our standard input. When that closes, because the owner closed it or died in whatever
way, the command is killed (not so with `--detached`). SIGTERM is passed on to the command. Our exit means that the
command is gone and reaped.
"""

import os
import signal
import subprocess
import sys
import threading


def main(arguments: list[str]) -> int:
    """Run the command and return its exit code (negative: the signal that ended it)."""
    detached = arguments[:1] == ["--detached"]
    command = arguments[1:] if detached else arguments
    # Blocked in every thread but taken by the one that waits for it: a handler, which Python calls between two of its
    # own steps, would miss a SIGTERM that comes just before the wait for the command begins.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_unblock)

    def pass_on() -> None:
        while signal.sigwait({signal.SIGTERM}):
            server.terminate()

    def watch() -> None:
        # Not sys.stdin: its lock, held by a daemon thread, would abort the interpreter on its way out.
        while os.read(0, 1024):
            pass
        server.kill()

    threading.Thread(target=pass_on, daemon=True).start()
    if not detached:
        threading.Thread(target=watch, daemon=True).start()
    return server.wait()


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
