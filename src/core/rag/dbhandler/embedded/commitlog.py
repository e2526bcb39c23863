"""Makes the commits of the embedded engine durable.

Grafeo writes a commit to its log and leaves it to the operating system to store it; it synchronizes only at a later
commit. An acknowledged commit has to survive a power cut, so the log is synchronized after every commit or, if the
settings allow it, at least once a second.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from pathlib import Path

from core.rag.dbhandler.embedded.endmark import note_end
from core.rag.dbhandler.embedded.log import HEADER_BYTES
from core.rag.errors import StoreError, StoreFullError, StoreUnavailableError

#: In group mode, a power cut may lose the commits of this many seconds.
GROUP_SECONDS = 1.0

_TRIES = 3

#: With these, each log of a graph begins: what it is, and the id of the graph.
_SAME_BYTES = 32


def log_folder(graph: Path) -> Path:
    """Return the folder with the write-ahead log of a graph file, which holds what is not in the file yet."""
    return graph.with_name(graph.name + ".wal")


class CommitLog:
    """The write-ahead log beside a graph file."""

    def __init__(self, graph: Path, *, every_commit: bool) -> None:
        """Find the log of an open graph.

        Args:
            graph: The graph file.
            every_commit: Whether a commit is acknowledged only when it is on the disk; else within ``GROUP_SECONDS``.
        """
        self._graph = graph
        self._file = _identity(graph)
        self._folder = log_folder(graph)
        self._every_commit = every_commit
        self._start = b""  # of the log
        self._named = False  # whether the name of the folder is synchronized
        self._stopped = False
        self._guard = threading.Lock()  # of the numbers
        self._syncing = threading.Lock()
        self._written = 0
        self._synced = 0
        self._end = 0  # of the last commit, as a position in the log; 0 if it is not known
        self._timer: threading.Timer | None = None
        self._failure: OSError | None = None

    def written(self) -> int:
        """Record that the engine has written a commit, and return its number; nobody else writes meanwhile."""
        with self._guard:
            self._written += 1
            self._end = self._position()
            return self._written

    def acknowledge(self, number: int) -> None:
        """Return once the commit counts as durable: when it is on the disk, or at once in group mode.

        Raises:
            StoreError: if the disk refuses; then the graph has to be opened again.
        """
        if self._every_commit or self._failure is not None:
            self._sync_up_to(number)
            return
        with self._guard:
            if self._timer is None:
                self._timer = threading.Timer(GROUP_SECONDS, self._sync_group)
                self._timer.daemon = True
                self._timer.start()

    def check(self) -> None:
        """Refuse to continue if commits would not be durable.

        Raises:
            StoreError: if a synchronization has failed, so that the state of the log on the disk is unknown, or if the
                graph file or its log is no longer where it was opened.
        """
        if self._failure is not None:
            raise _store_error(self._failure, self._folder) from self._failure
        if fault := self.fault():
            raise StoreUnavailableError(
                f"{fault}, so nothing more is stored in it. Close the graph, put back what was there, or name another"
                " one (--db), and open it again."
            )

    def fault(self) -> str:
        """Return what has happened to the graph file or its log since they were opened; empty if nothing."""
        if self._file is None or _identity(self._graph) != self._file:
            return f"{self._graph} was moved, replaced or deleted while it was open here"
        if not self._folder.is_dir() and not self._stopped:
            return f"{self._folder}, the log of the graph, was moved or deleted while it was open here"
        return ""

    def is_replaced(self) -> bool:
        """Return whether there is another file at the path of the graph, so that the log there may be of that one."""
        return _identity(self._graph) not in (None, self._file)

    def stop(self) -> None:
        """Cancel pending synchronizations before closing the graph, which writes everything to its file."""
        with self._guard:
            self._stopped = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _sync_group(self) -> None:
        with self._guard:
            self._timer = None
            number = self._written
        try:
            self._sync_up_to(number)
        except StoreError:
            return  # kept, and raised at the next transaction

    def _sync_up_to(self, number: int) -> None:
        with self._syncing:
            self.check()
            if self._synced >= number:  # another commit's synchronization has covered this one
                return
            with self._guard:
                covered, end = self._written, self._end
            try:
                self._sync()
            except OSError as error:
                self._failure = error
                raise _store_error(error, self._folder) from error
            self._synced = covered
            if end:
                note_end(self._graph, self._file, end)

    def _sync(self) -> None:
        # When the engine begins another log or a checkpoint, it synchronizes the previous log itself.
        descriptor = self._open_log()
        if descriptor is None:
            return
        try:
            start = os.read(descriptor, _SAME_BYTES)
            self._start = self._start or start
            if start != self._start:
                raise OSError(errno.ENOENT, "its log was cut short or replaced")
            if hasattr(os, "fdatasync"):
                os.fdatasync(descriptor)
            else:  # macOS
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if not self._named:  # the engine creates the folder at each opening, without synchronizing its name
            sync_folder(self._folder.parent)
            self._named = True

    def _position(self) -> int:
        try:
            last = max(entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".log"))
            return int(last[4:-4]) + max(0, (self._folder / last).stat().st_size - HEADER_BYTES)
        except (OSError, ValueError):  # a checkpoint has just begun another one
            return 0

    def _open_log(self) -> int | None:
        """Open the last log; ``None`` if closing the graph has moved everything into its file.

        Raises:
            OSError: if there is none.
        """
        gone = FileNotFoundError(errno.ENOENT, "its log was removed")
        for _ in range(_TRIES):
            try:
                logs = [entry.name for entry in os.scandir(self._folder) if entry.name.endswith(".log")]
                if logs:
                    return os.open(self._folder / max(logs), os.O_RDWR)
            except FileNotFoundError as error:  # a checkpoint has just begun another one
                gone = error
            if self._stopped:
                return None
        raise gone


def sync_file(file: Path) -> None:
    """Synchronize a file to the disk."""
    descriptor = os.open(file, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Synchronize the names in a folder to the disk."""
    if os.name != "nt":  # which opens no folder
        sync_file(folder)


def discard(file: Path) -> None:
    """Remove an unfinished file, if possible.

    If this fails (read-only file system, name too long), usually nothing was created, and the caller already has the
    error that matters.
    """
    with contextlib.suppress(OSError):
        file.unlink()


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from any other of the same name; ``None`` if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _store_error(error: OSError, folder: Path) -> StoreError:
    advice = "Close the graph and open it again."
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFullError(f"The disk is full, so a commit could not be stored in {folder}. Free space. {advice}")
    return StoreUnavailableError(f"A commit could not be stored in {folder}: {error.strerror or error}. {advice}")
