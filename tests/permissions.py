"""Folders that may not be entered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ROOT, _NOBODY = 0, 65534


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for whoever runs the tests; root, whom nothing keeps out, is somebody else meanwhile."""
    before = folder.stat().st_mode
    user = os.geteuid()
    folder.chmod(0)
    if user == _ROOT:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if user == _ROOT:
            os.seteuid(_ROOT)
        folder.chmod(before)
