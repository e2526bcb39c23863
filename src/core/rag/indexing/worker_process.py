"""A child process for :mod:`.worker`, and calls to it."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import subprocess
import threading
from collections import deque
from typing import Any

from core.rag.indexing.worker import UnsendableError
from libs.dataloader.child_process import end_child, receive, send, start_child

_PROGRAM = "from core.rag.indexing.worker import serve; serve()"


class WorkerGoneError(Exception):
    """The worker process could not be started, or has ended, for any reason."""


class WorkerProcess:
    """A process that answers one request after another. It belongs to the event loop that it was started in."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Talk to a process; see :meth:`start`."""
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._waiting: deque[asyncio.Future[bytes]] = deque()
        self._gone = False
        self._receiver = threading.Thread(target=self._receive, name="mgrag-worker", daemon=True)
        self._receiver.start()

    @classmethod
    def start(cls) -> WorkerProcess:
        """Start a process. Requests can be sent at once; they are answered when it is up.

        Raises:
            WorkerGoneError: if it cannot be started.
        """
        try:
            process = start_child(_PROGRAM)
        except OSError as error:
            raise WorkerGoneError(str(error)) from error
        return cls(process)

    @property
    def waiting(self) -> int:
        """Number of requests without a reply."""
        return len(self._waiting)

    async def call(self, name: str, *arguments: Any) -> Any:
        """Send a request, and wait for the reply.

        Args:
            name: A method of :class:`.worker.Worker`.
            arguments: Its arguments.

        Returns:
            What it returns.

        Raises:
            WorkerGoneError: if the process has ended.
            UnsendableError: if the arguments cannot be pickled here, or unpickled there.
            Exception: whatever the method raises.
        """
        request = await asyncio.to_thread(_pickled, (name, arguments))
        reply: asyncio.Future[bytes] = self._loop.create_future()
        async with self._sending:
            if self._gone:
                raise WorkerGoneError("the worker process has ended")
            self._waiting.append(reply)
            try:
                await asyncio.to_thread(self._send, request)
            except (OSError, ValueError) as error:  # a broken or closed pipe
                if not reply.cancel():
                    reply.exception()  # the same error, marked as seen
                raise WorkerGoneError(f"the worker process has ended: {error}") from error
            except asyncio.CancelledError:
                reply.cancel()  # nobody waits for it, and asyncio tells of errors that nobody has seen
                raise
        good, result = await asyncio.to_thread(pickle.loads, await reply)
        if not good:
            raise result
        return result

    async def close(self) -> None:
        """End the process. Closing it again does nothing."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        self._process.kill()
        self._receiver.join()
        end_child(self._process)

    def _send(self, request: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        send(pipe, request)

    def _receive(self) -> None:
        """Read replies in a thread and pass them to their callers, until there are no more."""
        pipe = self._process.stdout
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # closed: the pipe, or the loop
            while (reply := receive(pipe)) is not None:
                self._loop.call_soon_threadsafe(self._resolve, reply)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._end)

    def _resolve(self, reply: bytes) -> None:
        waiting = self._waiting.popleft()
        if not waiting.done():  # else it was cancelled
            waiting.set_result(reply)

    def _end(self) -> None:
        self._gone = True
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_exception(WorkerGoneError("the worker process has ended"))


def _pickled(request: Any) -> bytes:
    try:
        return pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # objects of the caller's own may raise anything
        raise UnsendableError(f"{type(error).__name__}: {error}") from error
