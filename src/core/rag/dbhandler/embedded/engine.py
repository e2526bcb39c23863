"""Calls into Grafeo: opening, running statements and closing. Contains no Cypher.

Facts about the engine that the code relies on are those of Grafeo 0.6.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from core.rag.dbhandler.checks import check_characters
from core.rag.dbhandler.embedded.commitlog import discard, log_folder, sync_file, sync_folder
from core.rag.dbhandler.embedded.errors import error_code, first_line, map_error, not_opened, why_not_written
from core.rag.dbhandler.embedded.header import check_header
from core.rag.dbhandler.embedded.log import check_log
from core.rag.dbhandler.store import Parameters, Row
from core.rag.errors import (
    BackupError,
    InvalidInputError,
    MGRagError,
    StoreDamagedError,
    StoreError,
    StoreUnavailableError,
)
from core.rag.file_status import status_of

# Without this the engine makes no checkpoints, and its log would grow forever. By the clock it would make them while
# nobody writes, too, when there may be another graph at the path of this one, whose log it would take away.
CHECKPOINT_LOG_BYTES = 64 << 20

#: Suffix, followed by a date, of the graph that a restore replaced and keeps.
KEPT = ".before-restore-"


def graph_file(path: str) -> Path:
    """Return the absolute path of a graph file. A link is resolved, because the log is beside the file itself.

    Raises:
        StoreUnavailableError: if the name is impossible.
    """
    try:
        file = Path(path).expanduser().absolute()
        status = status_of(file)
        link = file.is_symlink()
        str(file).encode()  # the engine takes UTF-8 only
    except PermissionError as error:
        raise StoreUnavailableError(
            f"{file} cannot be accessed: this user may not enter its folder {file.parent}. Ask its owner for that"
            " (chmod), or name a graph elsewhere (--db)."
        ) from error
    except UnicodeEncodeError as error:
        raise StoreUnavailableError(
            f"{error.object[:500]!r} cannot be the path of a graph: it holds a byte that is not UTF-8. Rename the"
            " folder or the file, or name another one (--db)."
        ) from error
    except (RuntimeError, OSError) as error:  # no such home, too long
        raise StoreUnavailableError(f"{path[:200]!r} cannot be the path of a graph: {first_line(error)}.") from error
    if not path or "\0" in path:
        raise StoreUnavailableError(f"{path[:200]!r} is not a file name: name a file, such as graph.grafeo.")
    if link and status is None:
        raise StoreUnavailableError(
            f"{file} is a link to {file.readlink()}, which does not exist: restore that file, or name a graph elsewhere"
            " (--db)."
        )
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise StoreUnavailableError(f"{file} is a folder; name a file, such as {file / 'graph.grafeo'}.")
    if not link:
        return file
    target = file.resolve()
    if (log := log_folder(file)).exists():  # the file was moved without it, and the link put in its place
        raise StoreUnavailableError(
            f"{file} is a link to {target}, but {log} lies beside the link: it may hold commits of a process that was"
            f" killed. Move it to where the graph is ({log_folder(target)}), and repeat."
        )
    return target


def open_engine(file: Path | None) -> Any:
    """Open or create a graph; its folder is created if missing.

    Args:
        file: The graph file; ``None``: in memory.

    Returns:
        A ``grafeo.GrafeoDB``.

    Raises:
        StoreLockedError: if it is open already.
        StoreDamagedError: if it is damaged.
        StoreReadOnlyError: if this user may not write to it, or beside it.
        StoreFullError: if there is no room for its log.
        StoreUnavailableError: if it is no graph, or cannot be opened for another reason.
    """
    from grafeo import GrafeoDB

    if file is None:
        return GrafeoDB()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _remove_kept_name(file)
        _check_names(file)
        _check_contents(file)
        db = GrafeoDB(str(file))
    except OSError as error:
        raise StoreUnavailableError(
            f"{file} cannot be opened, because its folder {file.parent} cannot be made: {error.strerror or error}. Make"
            " it, or name a graph elsewhere (--db)."
        ) from error
    except RuntimeError as error:
        raise not_opened(error, file) from error
    return db


def _check_names(file: Path) -> None:
    """Refuse a file that has a second name (a hard link).

    The log is beside the name by which the file was opened. Opened by another name, the graph lacks what is in that
    log, and writing to it makes the log useless.

    Raises:
        StoreUnavailableError: if it has a second name.
    """
    others = _other_names(file)
    if others is None or _is_kept(file, others):
        return
    elsewhere = ", ".join(map(str, others)) or f"find / -samefile {file} lists them"
    raise StoreUnavailableError(
        f"{file} has other names (hard links: {elsewhere}), and a graph under two names would have two logs, each with"
        " some of what was committed. Keep the name that it was used by, and remove the others; where another graph is"
        " wanted, make a backup (mgrag backup)."
    )


def _remove_kept_name(file: Path) -> None:
    """Remove the second name that a restore gave to the graph before it was killed.

    This is only done while the graph is not open: a restore that is running still needs the name.
    """
    others = _other_names(file)
    if others is None or not _is_kept(file, others):
        return
    with suppress(OSError), lock_file(file) as free:
        if free:
            others[0].unlink()


def _other_names(file: Path) -> list[Path] | None:
    """Return the other names of a file in its folder; ``None`` if it has no other name anywhere."""
    if not file.exists() or file.stat().st_nlink == 1:
        return None
    return [other for other in file.parent.iterdir() if other != file and other.is_file() and other.samefile(file)]


def _is_kept(file: Path, others: Sequence[Path]) -> bool:
    """Return whether the only other name is that of a copy kept by a restore, without its own log."""
    return (
        file.stat().st_nlink == 2
        and len(others) == 1
        and others[0].name.startswith(f"{file.name}{KEPT}")
        and not log_folder(others[0]).exists()
    )


def _check_contents(file: Path) -> None:
    """Check header and log, except of a graph that is open elsewhere or cannot be read: the engine reports that."""
    if not file.exists():
        return
    with suppress(OSError), lock_file(file) as free:
        if free:
            if (folder := log_folder(file)).is_dir():
                check_log(folder)
            check_header(file)


@contextmanager
def lock_file(file: Path) -> Iterator[bool]:
    """Lock a graph against being opened, as the engine does; yield whether it was not open elsewhere."""
    if os.name == "nt":
        yield True
        return
    import fcntl

    with file.open("rb") as raw:
        try:
            fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def open_for_reading(file: Path) -> Any:
    """Open a graph without writing to it or beside it, as any number of processes may at once.

    Returns:
        A ``grafeo.GrafeoDB``.

    Raises:
        StoreLockedError: if it is open for writing.
        StoreDamagedError: if it is damaged.
        StoreUnavailableError: if there is none, it may not be read, or its log has commits that are not in the file
            yet: these are only moved there when it is opened for writing.
    """
    from grafeo import GrafeoDB

    try:
        if not file.is_file():
            raise StoreUnavailableError(f"There is no graph at {file}.")
        _check_names(file)
        db = GrafeoDB.open_read_only(str(file))
        try:
            check_header(file)
        except StoreDamagedError:
            db.close()
            raise
        log = log_folder(file)
        if log.is_dir() and any(part.stat().st_size for part in log.iterdir()):
            db.close()
            raise StoreUnavailableError(
                f"{file} cannot be opened for reading only: the log beside it holds commits of a process that was"
                " killed. Open it once for writing (mgrag status), which takes them in."
            )
    except OSError as error:
        raise StoreUnavailableError(f"{file} cannot be read: {error.strerror or error}.") from error
    except RuntimeError as error:
        raise not_opened(error, file) from error
    return db


def start_checkpoints(db: Any) -> None:
    """Start automatic checkpoints. They make closing 0.1 s slower, so this is only called at the first write."""
    db.set_checkpoint_triggers(wal_bytes=CHECKPOINT_LOG_BYTES)


def close_engine(handles: list[Any]) -> None:
    """Write a checkpoint and release the file.

    Args:
        handles: The engine; the list is emptied, so that it keeps nothing alive.

    Raises:
        StoreError: if the checkpoint could not be written. All commits are in the log beside the file, which stays
            locked until nothing refers to the engine any more.
    """
    db = handles.pop()
    try:
        db.close()
    except RuntimeError as error:
        raise type(map_error(error, "Closing"))(
            f"The graph file could not be written on closing: {why_not_written(error)}. What was committed"
            " is in the log beside it, and there when it is opened again."
        ) from error
    finally:
        del db


def never_close(db: Any) -> None:
    """Keep a handle from being closed, as it is when nothing refers to it: the engine then removes the log beside it.

    Its file stays locked until the process ends.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))


def abandon_engine(handles: list[Any]) -> None:
    """Leave a graph as it is at whose path there is another file by now: the log there may be that of the other one.

    Args:
        handles: The engine; the list is emptied.
    """
    db = handles.pop()
    never_close(db)
    db.set_checkpoint_triggers(interval_secs=None, wal_bytes=None)


def rows(runner: Any, statement: str, parameters: Parameters | None) -> list[Row]:
    """Run a statement.

    Args:
        runner: The engine, or a transaction of it.
        statement: The Cypher text.
        parameters: Checked parameters.

    Raises:
        InvalidInputError: if a text in them has a lone surrogate.
    """
    try:
        return list(runner.execute_cypher(statement, dict(parameters or {})))
    except ValueError:
        check_characters(parameters or {})
        raise


def roll_back(handle: Any) -> None:
    """Roll back a transaction, unless the engine has ended it already (after a conflict or a full disk)."""
    try:
        if handle.is_active:
            handle.rollback()
    except RuntimeError as error:
        if error_code(error) != "T004":
            raise


def save(db: Any, destination: Path, name: Path | None = None) -> None:
    """Write a copy of the graph to a new file, durably.

    Args:
        db: The engine.
        destination: The file.
        name: What the file is going to be called, for the message; ``None``: ``destination``.

    Raises:
        BackupError: if it cannot be written; nothing of it is left then.
    """
    try:
        db.save(str(destination))
        sync_file(destination)
        sync_folder(destination.parent)
    except (RuntimeError, OSError) as error:
        for ending in ("", ".partial", ".partial.creating"):
            discard(destination.with_name(destination.name + ending))
        raise BackupError(
            f"The backup to {name or destination} could not be written: {why_not_written(error)}."
        ) from error


def call[T](function: Callable[[Any], T], db: Any, what: str) -> T:
    """Call ``function(db)``, with the engine's errors turned into this project's.

    Args:
        function: What to call.
        db: The engine.
        what: What is being done, for the message.

    Raises:
        InvalidInputError: if a value cannot be passed on to the engine.
        StoreError: with the engine's error as its cause.
    """
    try:
        return function(db)
    except MGRagError:
        raise
    except RuntimeError as error:
        raise map_error(error, what) from error
    except ValueError as error:
        raise InvalidInputError(f"{what} was given something that the engine does not take: {error}.") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise StoreError(f"{what} crashed inside the engine: {first_line(error)}. Open the graph again.") from error
