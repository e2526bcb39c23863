"""Maps the errors of Grafeo to this project's errors.

Facts about the engine that the code relies on are those of Grafeo 0.6.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from core.rag.dbhandler.misuse import closed
from core.rag.errors import (
    QueryError,
    StoreConflictError,
    StoreConstraintError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreTimeoutError,
    StoreUnavailableError,
)
from libs.regexes import regex

_CODE = regex(r"GRAFEO-([A-Z]\d{3})")
_NO_SPACE = regex(r"os error (28|122|27)\b|no space|disk (is )?full|quota", re.IGNORECASE)
_NO_PERMISSION = regex(r"os error (1|13|30)\b")  # not permitted, denied, a file system for reading only
_OF_SYSTEM = regex(r"os error (\d+)\b")


def map_error(error: BaseException, what: str) -> StoreError:
    """Translate an engine error by its code; its text may quote anything in the statement.

    Args:
        error: What the engine raised.
        what: What was being done, for the message.
    """
    text, line = str(error), first_line(error)
    match error_code(error):
        case "T001":
            return StoreConflictError(f"{what} met a concurrent write: {line}.")
        case "Q003":
            return StoreTimeoutError(
                f"{what} took longer than the engine allows: {line}. Ask for less at once, or repeat it when this"
                " machine has less to do."
            )
        case "Q006" if "the writer does not see it" in text:
            return StoreConflictError(f"{what} met a concurrent write: {line}.")
        case "T009" | "X003" | "S001" if _NO_SPACE.search(text):
            return StoreFullError(f"{what} failed: the disk is full. Nothing of it was stored; free space and repeat.")
        case "V001" if "unique" in text.lower():
            return StoreConstraintError(f"{what} would store a second node with the same id: {line}.")
        case "V001" if "maximum size" in text:
            return QueryError(
                f"{what} holds a text of more than 16 MiB, and an embedded graph keeps none that is longer. Split it,"
                " or put the graph on a server (bolt://)."
            )
        case "S001" | "S002" | "S003":
            return StoreDamagedError(
                f"{what} found the graph file damaged: {line}. Restore a backup (mgrag restore) or ingest again."
            )
        case "T003" | "T005" | "T006" if "read-only" in text:
            return StoreReadOnlyError(f"{what} was refused: the graph is open for reading only.")
        case "T007":
            return closed(what)
        case "T008" | "T009" | "T010" | "T011":
            return StoreUnavailableError(f"{what} failed: {line}. Close the graph and open it again.")
        case "X003":
            return StoreUnavailableError(f"{what} failed: {line}.")
        case _:
            return QueryError(f"{what} was refused by the engine: {line}.")


def not_opened(error: RuntimeError, file: Path) -> StoreError:
    """Return the error for a graph that could not be opened."""
    if error_code(error) == "X001" and "locked" in str(error):
        return StoreLockedError(
            f"{file} is in use by another process, or open in this one already. Wait until that has finished"
            " (MGRAG_LOCK_TIMEOUT says for how long), close it there, or put the graph on a Memgraph server (bolt://),"
            " which many processes can share."
        )
    if "not a Grafeo database" in str(error) or "not a database file" in str(error):
        return StoreUnavailableError(f"{file} is not a graph file; name another file.")
    if refused := _NO_PERMISSION.search(str(error)):
        return StoreReadOnlyError(_may_not_write(file, os.strerror(int(refused[1]))))
    mapped = map_error(error, f"Opening {file}")
    if isinstance(mapped, StoreFullError):
        return StoreFullError(
            f"{file} cannot be opened for writing: the disk has no room for the log beside it. Free some and repeat."
        )
    if isinstance(mapped, StoreDamagedError):
        return mapped
    return StoreUnavailableError(f"{file} cannot be opened: {first_line(error)}.")


def _may_not_write(file: Path, reason: str) -> str:
    """Return the message for when the operating system refuses to write the file, or files beside it."""
    if file.exists() and not os.access(file, os.R_OK | os.W_OK):
        what = f"this user may not {'write' if os.access(file, os.R_OK) else 'read or write'} the file"
    elif not os.access(file.parent, os.W_OK):
        what = f"this user may not write to its folder {file.parent}"
    else:
        what = "this user may not write the file, its log (.wal) or its folder"
    return (
        f"{file} cannot be opened for writing: {what} ({reason}). A graph needs both its file and its folder, for the"
        " log beside it. Permit it (chmod u+rw), copy the graph to a folder of your own, or name another one (--db)."
    )


def why_not_written(error: RuntimeError | OSError) -> str:
    """Return why a file could not be written, as the end of a sentence."""
    if isinstance(map_error(error, "Writing"), StoreFullError):
        return "the disk is full; free space"
    of_system = _OF_SYSTEM.search(str(error))
    return os.strerror(int(of_system[1])) if of_system else first_line(error)


def error_code(error: BaseException) -> str:
    """Return the code of an engine error, such as ``T001``; empty if it has none."""
    found = _CODE.match(str(error))
    return found[1] if found else ""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message without a full stop at the end; its type if there is no message."""
    text = str(error)
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__
