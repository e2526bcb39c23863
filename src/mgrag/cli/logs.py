"""Prints the warnings that the library logs like every other line of the command."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from mgrag.cli.output import note


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(f"mgrag: {' '.join(record.getMessage().split())}")
        if record.levelno >= logging.ERROR and record.exc_info and (error := record.exc_info[1]) is not None:
            # A bug in what goes on running, such as a server. Indented, so that no line of it can look like a note.
            for line in "".join(traceback.format_exception(error)).splitlines():
                note(f"    {line}")


@contextmanager
def telling_warnings() -> Iterator[None]:
    """Print the warnings that no handler takes as notes; Python would print their bare text."""
    before, logging.lastResort = logging.lastResort, _Notes(logging.WARNING)
    try:
        yield
    finally:
        logging.lastResort = before
