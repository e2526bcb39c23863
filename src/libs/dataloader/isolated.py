"""Reads files in processes of their own, which a damaged or malicious file may crash, fill or keep busy.

The library that reads PDF files is written in C++: what goes wrong in it ends the process, and a file of 2 kB can make
it take gigabytes. Here that costs a child process, and the file is reported; everything else goes on. Several files
are read at once, where there are several cores.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import threading
from dataclasses import astuple, dataclass, replace
from typing import Final

from libs.dataloader.child_process import end_child, receive, send, start_child
from libs.dataloader.formats.base import Content, FileData, UnreadableError
from libs.dataloader.formats.registry import Format

#: How many files are read at once.
_MOST: Final = max(2, min(4, os.cpu_count() or 1))
#: Seconds after which processes that nobody needs are ended.
_IDLE_SECONDS: Final = 10.0
_PROGRAM: Final = "from libs.dataloader.isolated_child import serve; serve{}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may take.

    Attributes:
        bytes: Address space.
        seconds: Processor time for a file.
        seconds_per_megabyte: And for each megabyte of it.
    """

    bytes: int = 2 << 30
    seconds: int = 300
    seconds_per_megabyte: int = 15


class Readers:
    """Processes that read files. Its methods can be called by several threads at once."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Prepare; processes are started when files are read."""
        self._limits = limits or Limits()
        self._turns = threading.BoundedSemaphore(_MOST)
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def read(self, file: FileData, kind: Format) -> Content:
        """Convert a file.

        Raises:
            UnreadableError: as :func:`libs.dataloader.formats.convert`, or if the process ended while it read the file.
        """
        with self._turns:
            try:
                process = self._take()
            except OSError:  # this program is no Python interpreter, or there can be no more processes
                from libs.dataloader.formats import convert

                return convert(file, kind)
            try:
                reply = _ask(process, pickle.dumps((replace(file, notes=None), kind), pickle.HIGHEST_PROTOCOL))
            except BaseException:
                end_child(process)
                raise
            if reply is None:
                raise UnreadableError(self._why(end_child(process, kill=False)))
            self._give_back(process)
        content: Content | UnreadableError = pickle.loads(reply)  # noqa: S301 from a process of this program
        if isinstance(content, UnreadableError):
            raise content
        return content

    def close(self) -> None:
        """End the processes that read nothing now."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        for process in idle:
            end_child(process)

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.poll() is None:
                    return process
                end_child(process)
        return start_child(_PROGRAM.format(astuple(self._limits)))

    def _give_back(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._idle.append(process)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_IDLE_SECONDS, self.close)
            self._timer.daemon = True
            self._timer.start()

    def _why(self, code: int) -> str:
        if code == -getattr(signal, "SIGXCPU", 0):
            return f"reading it takes too long (more than {self._limits.seconds} seconds of processor time)"
        gigabytes = f"{self._limits.bytes / (1 << 30):.3g} GB"
        return f"it crashes what reads it, or that needs more than {gigabytes} of memory (exit code {code})"


def _ask(process: subprocess.Popen[bytes], request: bytes) -> bytes | None:
    """Return the reply to a request; ``None`` if the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        send(process.stdin, request)
    except OSError:
        return None
    return receive(process.stdout)


_readers = Readers()
atexit.register(lambda: _readers.close())


def _start_anew() -> None:
    """Leave the processes of the parent to it, after a fork."""
    global _readers
    _readers = Readers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def read_isolated(file: FileData, kind: Format) -> Content:
    """Convert a file in another process; see :meth:`Readers.read`."""
    return _readers.read(file, kind)
