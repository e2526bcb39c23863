"""Running the command in this process."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from mgrag.cli.app import app

#: With the commands that it has made: Typer's own ``invoke`` makes them again each time, as long as many of them run.
MGRAG = get_command(app)


@dataclass(frozen=True)
class Done:
    """What a command did.

    Attributes:
        code: Its exit code.
        out: Standard output.
        err: Standard error.
    """

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Command:
    """``mgrag`` in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> Done:
        before = Path.cwd()
        os.chdir(self.folder)
        code: object = 0
        try:
            with CliRunner().isolation(input=stdin) as (*streams, _):
                try:
                    MGRAG.main(arguments, prog_name="mgrag")
                except SystemExit as ending:
                    code = ending.code
                except Exception as error:
                    raise AssertionError(f"mgrag {' '.join(arguments)[:500]} crashed") from error
                sys.stdout.flush()
                sys.stderr.flush()
                out, err = (stream.getvalue().decode().replace("\r\n", "\n") for stream in streams)
        finally:
            os.chdir(before)
        assert isinstance(code, int)
        return Done(code, out, err)
