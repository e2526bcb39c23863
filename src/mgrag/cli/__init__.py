"""The command ``mgrag``. Modules of this package parse, call KnowledgeBase, and print; nothing else."""

from __future__ import annotations

import os
import sys
from typing import NoReturn, TextIO

_EXIT_FAILED = 1
_EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141


def main() -> NoReturn:
    """Run the command with the arguments of this process, and exit with its code."""
    _prepare(sys.stdout)
    _prepare(sys.stderr)
    standard_output = sys.stdout
    try:
        from mgrag.cli.app import app

        app(prog_name="mgrag")
        code: object = 0
    except SystemExit as ending:
        code = ending.code
    except KeyboardInterrupt:
        code = _EXIT_INTERRUPTED
    except BrokenPipeError:
        code = _EXIT_BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - a bug, of which the user shall see one line, or with --debug all
        code = _report(error)
    if sys.stdout is not standard_output:  # Typer met a closed pipe
        code = _EXIT_BROKEN_PIPE
    _finish(code if isinstance(code, int) else 0 if code is None else _EXIT_FAILED)


def _prepare(stream: TextIO) -> None:
    """UTF-8 wherever a program reads; on a terminal its own encoding, and never an error over a character."""
    if hasattr(stream, "reconfigure"):
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _report(error: Exception) -> int:
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exception(error)
    else:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        sys.stderr.write(f"mgrag: This should not have happened ({text}). --debug shows where; please report it.\n")
    return _EXIT_FAILED


def _finish(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:  # whoever read has seen enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = _EXIT_BROKEN_PIPE
    if code == _EXIT_INTERRUPTED:
        os._exit(code)  # at once, not when the last thread has ended
    sys.exit(code)


__all__ = ["main"]
