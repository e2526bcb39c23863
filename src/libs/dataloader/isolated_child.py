"""The process that reads files for :mod:`.isolated`."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import threading
import time
from typing import BinaryIO

from libs.dataloader.child_process import own_pipes, receive, send
from libs.dataloader.formats import Content, FileData, Format, UnreadableError, convert


def serve(most_bytes: int, seconds: int, seconds_per_megabyte: int) -> None:
    """Read files until the input ends; then end at once, also in the middle of a file.

    Args:
        most_bytes: Maximum address space; where it ends, libraries in C++ end the process.
        seconds: Maximum processor time for a file, which ends the process.
        seconds_per_megabyte: And for each megabyte of it.
    """
    source, replies = own_pipes()
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_receive, args=(source, requests), daemon=True).start()
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_AS", most_bytes)
    while True:
        request = requests.get()
        megabytes = len(request) // 1_000_000
        _limit("RLIMIT_CPU", int(time.process_time()) + 1 + seconds + seconds_per_megabyte * megabytes)
        send(replies, pickle.dumps(_read(*pickle.loads(request)), pickle.HIGHEST_PROTOCOL))  # noqa: S301 from the parent


def _read(file: FileData, kind: Format) -> Content | UnreadableError:
    try:
        return convert(file, kind)
    except UnreadableError as error:
        return error


def _receive(source: BinaryIO, requests: queue.Queue[bytes]) -> None:
    while (request := receive(source)) is not None:
        requests.put(request)
    os._exit(0)


def _limit(name: str, value: int) -> None:
    """Set a limit of this process, where the system has it."""
    with contextlib.suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
