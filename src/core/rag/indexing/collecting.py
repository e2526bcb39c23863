"""Lets Python look for cycles of garbage less often while documents are ingested.

By default it looks after every 700 objects that are new and still in use. An ingest makes millions that stay until they
are written, and hardly a cycle among them.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from typing import Final

#: After how many new objects the youngest are looked at, and after how many such looks the older ones.
_SELDOM: Final = (100_000, 20, 100)

_lock = threading.Lock()
_ingests = 0
_usual = _SELDOM


@contextlib.contextmanager
def collected_seldom() -> Iterator[None]:
    """Do it until the last of the ingests that overlap has ended, unless the program has turned it off or down itself.

    It is a setting of the whole process. What is not part of a cycle is released at once, as always.
    """
    global _ingests, _usual
    with _lock:
        _ingests += 1
        if _ingests == 1:
            _usual = gc.get_threshold()
            if gc.isenabled() and 0 < _usual[0] < _SELDOM[0]:
                gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        with _lock:
            _ingests -= 1
            if not _ingests and gc.get_threshold() == _SELDOM:
                gc.set_threshold(*_usual)
