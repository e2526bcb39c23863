"""How large a document may be: it is written in one transaction, which has to fit into the memory.

The embedded engine is killed by the system otherwise, and so is every later run, at the same file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

#: Memory that writing a document takes for each of its chunks, with their rows and entities: 50,000 to 66,000 bytes for
#: tables, 62,000 for running text (docs/adr/0016-ingest-worker.md). A third is Python's, the rest the engine's.
BYTES_PER_CHUNK: Final = 60_000

#: The share of the memory that writing one document may take.
_SHARE: Final = 0.75


def most_chunks(memory: int | None) -> int | None:
    """Return the maximum number of chunks of a document.

    Args:
        memory: How many bytes of memory there are; ``None``: that is not known.

    Returns:
        The number; ``None``: any.
    """
    return None if memory is None else max(int(memory * _SHARE) // BYTES_PER_CHUNK, 1)


def memory_limit(root: Path = Path("/")) -> int | None:
    """Return how many bytes of memory this process can have: of the machine, the container, or by ``ulimit -v``.

    Args:
        root: Where the file systems of Linux are mounted.

    Returns:
        The number; ``None`` where the system does not tell (Windows).
    """
    return min([*_of_machine(), *_of_user(), *_of_groups(root)], default=None)


def _of_machine() -> Iterator[int]:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    if pages > 0 and size > 0:
        yield pages * size


def _of_user() -> Iterator[int]:
    try:
        import resource
    except ImportError:
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        yield most


def _of_groups(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups that the process is in, as those of a container."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        kinds, _, name = rest.partition(":")
        if kinds and "memory" not in kinds.split(","):
            continue
        top, file = ("sys/fs/cgroup/memory", "memory.limit_in_bytes") if kinds else ("sys/fs/cgroup", "memory.max")
        group = Path(name.strip("/"))
        # In a container, the group may have a name outside that is not there inside.
        for folder in (group, *group.parents):
            limit = _text(root / top / folder / file).strip()
            if limit.isdecimal():  # else "max"
                yield int(limit)


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
