"""Opens the file of an embedded graph: waits until it is free, and falls back to reading where it cannot be written."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.rag.dbhandler.embedded.commitlog import log_folder
from core.rag.dbhandler.embedded.engine import open_engine, open_for_reading
from core.rag.dbhandler.store import READING_ONLY
from core.rag.errors import NotFoundError, StoreError, StoreFullError, StoreLockedError, StoreReadOnlyError

_LOCK_POLL_SECONDS = 0.05

_logger = logging.getLogger("mgrag")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open graph.

    Attributes:
        db: The handle of the engine.
        read_only: Why nothing can be stored in it; empty if it can be written.
    """

    db: Any
    read_only: str = ""


def is_there(file: Path) -> bool:
    """Return whether there is a graph, or a remainder of one, at a path."""
    return file.exists() or log_folder(file).exists()


async def open_file(
    file: Path, patience: float, *, reading: bool, create: bool, is_open_here: Callable[[Path], bool]
) -> Opened:
    """Open or create a graph. One that cannot be written, for want of permission or room, is opened for reading.

    Args:
        file: The graph file.
        patience: Seconds to wait for other processes to close it.
        reading: Whether it is only to be read.
        create: Whether it may be created.
        is_open_here: Tells whether this process has a file open, so that waiting is in vain.

    Raises:
        StoreError: as :meth:`.EmbeddedStore.open`.
        NotFoundError: if there is none and it must not be created, saying how to create one.
    """
    if not create and not is_there(file):
        raise NotFoundError(
            f"There is no graph at {file}: nothing has been ingested yet. Ingest something (mgrag ingest"
            " PATH_OR_URL), or name another graph (--db)."
        )
    deadline = time.monotonic() + patience
    if reading:
        return Opened(await _open_when_free(open_for_reading, file, deadline, is_open_here), READING_ONLY)
    try:
        return Opened(await _open_when_free(open_engine, file, deadline, is_open_here))
    except (StoreReadOnlyError, StoreFullError) as error:
        return await _open_instead(file, deadline, is_open_here, error)


async def _open_when_free(
    function: Callable[[Path], Any], file: Path, deadline: float, is_open_here: Callable[[Path], bool]
) -> Any:
    """Open a graph, waiting for other processes to close it: most commands have it open for a moment only."""
    collected = False
    while True:
        try:
            return await asyncio.to_thread(function, file)
        except StoreLockedError as error:
            if collected and is_open_here(file):
                raise StoreLockedError(
                    f"{file} is open in this process already. Use the same client or knowledge base everywhere"
                    " (in_namespace makes one for another namespace), or close the other one first."
                ) from error
            if collected and time.monotonic() > deadline:
                raise
        # What was dropped without being closed keeps the lock until it is collected, as where a cell of a notebook runs
        # again; so does an engine that could not be closed, until the error that refers to it is gone.
        if not collected:
            gc.collect()
            collected = True
            continue
        await asyncio.sleep(_LOCK_POLL_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311


async def _open_instead(
    file: Path, deadline: float, is_open_here: Callable[[Path], bool], why: StoreReadOnlyError | StoreFullError
) -> Opened:
    """Open a graph for reading that cannot be written.

    Raises:
        StoreError: ``why``, when it cannot be read either.
    """
    try:
        db = await _open_when_free(open_for_reading, file, deadline, is_open_here)
    except StoreError as error:
        raise why from error
    full = isinstance(why, StoreFullError)
    _logger.log(logging.WARNING if full else logging.INFO, "Nothing can be stored: %s", why)
    return Opened(db, f"Nothing can be stored: {why}")
