"""The search for a Python that ``make`` begins with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "find-python"


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize("home", [False, True])
def test_where_there_is_no_python_it_says_what_to_install(home: bool, tmp_path: Path) -> None:
    (tmp_path / "cat").symlink_to(str(shutil.which("cat")))
    environment = {"PATH": str(tmp_path)} | ({"HOME": str(tmp_path)} if home else {})
    done = subprocess.run(["/bin/sh", SCRIPT], env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode == 0:  # in a folder where this machine has one, whatever PATH is
        assert Path(done.stdout.strip()).is_file()
    else:
        assert done.stderr.startswith("No Python 3.12 or newer was found")
