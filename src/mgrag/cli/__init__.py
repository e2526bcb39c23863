"""The command ``mgrag``. The modules of this package parse arguments, call KnowledgeBase, and print; nothing else."""

from __future__ import annotations

import errno
import os
import sys
from typing import NoReturn, TextIO

from mgrag.cli.output import OutputError, note

_EXIT_FAILED = 1
_EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def main() -> NoReturn:
    """Run the command with the arguments of this process, and exit with its code."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it reads what each installed package says of itself
    _stand_in()
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
    except OutputError as error:
        code = _tell_output(error.reason)
    except OSError as error:
        own = error.errno in _NO_ROOM and error.filename is None  # help, which Typer writes itself
        code = _tell_output(error.strerror or str(error)) if own else _report(error)
    except Exception as error:  # noqa: BLE001 - a bug, of which the user shall see one line, or with --debug all
        code = _report(error)
    if sys.stdout is not standard_output:  # Typer met a closed pipe
        code = _EXIT_BROKEN_PIPE
    _finish(code if isinstance(code, int) else 0 if code is None else _EXIT_FAILED)


def _stand_in() -> None:
    """Give streams that the caller has closed (``>&-``) to nobody, not to the next file that is opened: the graph."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nobody = os.open(os.devnull, os.O_RDWR)  # has the lowest number that is free: that of the stream
            setattr(sys, name, open(nobody, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115, PTH123


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
    elif _left_nowhere():
        note("mgrag: The working directory was removed. Change to one that exists (cd), and repeat.")
    elif isinstance(error, MemoryError):
        note(
            "mgrag: There was not enough memory. What was finished before is stored. Free some, or split large files,"
            " and repeat."
        )
    else:
        text = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        note(f"mgrag: Unexpected error ({text}). Run with --debug to see where, and please report it.")
    return _EXIT_FAILED


def _left_nowhere() -> bool:
    """Return whether the working directory was removed, so that no relative path leads anywhere."""
    try:
        os.getcwd()  # noqa: PTH109 - as os.path.abspath does, which is what fails
    except FileNotFoundError:
        return True
    return False


def _tell_output(reason: str) -> int:
    _drop(sys.stdout)
    note(f"mgrag: The output could not be written: {reason}. Write it to a place with free space.")
    return _EXIT_FAILED


def _drop(stream: TextIO) -> None:
    """Write what is left to nobody; at the end of the process it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _finish(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough, as head does
        _drop(sys.stdout)
        code = _EXIT_BROKEN_PIPE
    except OSError as error:
        failed = _tell_output(error.strerror or str(error))
        code = code or failed
    try:
        sys.stderr.flush()
    except OSError as error:  # nobody can be told
        _drop(sys.stderr)
        code = _EXIT_BROKEN_PIPE if isinstance(error, BrokenPipeError) else code
    if code in (_EXIT_INTERRUPTED, _EXIT_BROKEN_PIPE):
        os._exit(code)  # at once, not when the last thread has ended
    sys.exit(code)


__all__ = ["main"]
