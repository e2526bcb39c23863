"""A child process for :mod:`.worker`, and calls to it.

Not ``multiprocessing``: its children run the caller's main module again, which may be a script or notebook, and survive
if their parent is killed. This one sees only what it is sent, and ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from typing import Any

from core.rag.indexing.worker import LENGTH_BYTES, UnsendableError

#: The largest that Linux allows every user, so that a reply arrives in one or two parts and not in sixteen.
_PIPE_BYTES = 1 << 20

_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from core.rag.indexing.worker import serve; serve()"


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
        if not sys.executable or getattr(sys, "frozen", False):
            raise WorkerGoneError("this program is no Python interpreter")
        try:
            process = subprocess.Popen(  # noqa: S603 this interpreter
                [sys.executable, "-I", "-c", _PROGRAM, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # The library beneath NumPy would start threads that wait busily; here it is not used.
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
                process_group=0,  # Ctrl-C is for the process that asks, which decides what to finish
            )
        except OSError as error:
            raise WorkerGoneError(str(error)) from error
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(ImportError, AttributeError, OSError):  # not Linux, or no more is allowed
                import fcntl

                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # type: ignore[arg-type]
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
        self._process.wait()
        self._receiver.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what was not sent cannot be flushed
                if pipe is not None:
                    pipe.close()

    def _send(self, request: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        pipe.write(len(request).to_bytes(LENGTH_BYTES) + request)
        pipe.flush()

    def _receive(self) -> None:
        """Read replies in a thread and pass them to their callers, until there are no more."""
        pipe = self._process.stdout
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # closed: the pipe, or the loop
            while len(header := pipe.read(LENGTH_BYTES)) == LENGTH_BYTES:
                size = int.from_bytes(header)
                reply = pipe.read(size)
                if len(reply) < size:
                    break
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
