"""Running the command in this process."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from mgrag.cli.app import app


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

    def __call__(self, *arguments: str, stdin: str | None = None) -> Done:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            result = CliRunner().invoke(app, list(arguments), input=stdin, prog_name="mgrag")
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"mgrag {' '.join(arguments)[:500]} crashed") from result.exception
        return Done(result.exit_code, result.stdout, result.stderr)
