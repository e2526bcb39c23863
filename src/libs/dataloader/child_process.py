"""Child processes of this program: how they are started, and how messages are sent through their pipes.

Not ``multiprocessing``: its children run the caller's main module again, which may be a script or notebook, and survive
if their parent is killed. These see only what they are sent, and end with their input.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import IO, BinaryIO, Final

#: Number of bytes of the length before each message, big-endian.
_LENGTH_BYTES: Final = 8

#: The largest that Linux allows every user, so that a message arrives in one or two parts and not in sixteen.
_PIPE_BYTES: Final = 1 << 20


def start_child(statement: str) -> subprocess.Popen[bytes]:
    """Start a Python process with the same import path, whose standard input and output are pipes.

    Args:
        statement: What it runs.

    Raises:
        OSError: if it cannot be started.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this program is no Python interpreter")
    process = subprocess.Popen(  # noqa: S603 this interpreter
        [sys.executable, "-I", "-c", f"import sys; sys.path[:] = sys.argv[1:]; {statement}", *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # The library beneath NumPy would start threads that wait busily; here it is not used.
        env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
        process_group=0,  # Ctrl-C is for the process that asks, which decides what to finish
    )
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(ImportError, AttributeError, OSError):  # not Linux, or no more is allowed
            import fcntl

            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # type: ignore[arg-type]
    return process


def end_child(process: subprocess.Popen[bytes], *, kill: bool = True) -> int:
    """End a process at once, if it has not ended, and return its exit code.

    Args:
        process: The process.
        kill: ``False``: it ends by itself, and its exit code tells why.
    """
    if kill:
        process.kill()
    code = process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # what was not sent cannot be flushed
            if pipe is not None:
                pipe.close()
    return code


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes that a child reads requests from and writes replies to; what is printed goes to its errors."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the replies
    return sys.stdin.buffer, replies


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message.

    Raises:
        OSError: if nobody reads it.
    """
    pipe.write(len(message).to_bytes(_LENGTH_BYTES) + message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Wait for a message; return ``None`` if there are no more."""
    header = pipe.read(_LENGTH_BYTES)
    if len(header) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(header)
    message = pipe.read(size)
    return message if len(message) == size else None
