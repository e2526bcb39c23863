"""Looks files up so that one that may not be looked at is not taken for one that is not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def status_of(file: Path) -> os.stat_result | None:
    """Return what the system says of a file, or of that which a link leads to; ``None`` if there is none.

    From Python 3.14 on, ``Path.exists`` and its like answer no whatever goes wrong.

    Raises:
        PermissionError: if this user may not enter its folder.
        OSError: if it cannot be looked up for another reason, such as a name that is too long.
    """
    try:
        return file.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    except ValueError:  # with a NUL there is none
        return None
