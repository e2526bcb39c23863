"""A cache of the paths of repeated queries, used only while everything they depend on is unchanged.

A traversal is a function of what it reads. So the cache keeps what was read along with the paths, reads all of it again
in one round (instead of several rounds per level), and gives the paths back only if every edge and every node is the
same. Where something differs, the traversal runs anew on what was just read. So it does not matter who changed the
graph: this process, another one, or somebody at a console.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from core.rag.answering.drift.paths import Path, TraversalStats
from core.rag.answering.drift.reader import Reads

# Limits of a cache: the number of traversals, and of nodes and edges of all of them.
_MAX_ENTRIES = 32
_MAX_SIZE = 15_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished traversal.

    Attributes:
        reads: Everything that it read.
        paths: The paths that it found.
        stats: Its statistics.
    """

    reads: Reads
    paths: list[Path]
    stats: TraversalStats


class PathCache:
    """The latest traversals, bounded by number and size."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable) -> Entry | None:
        """Return the entry stored under a key; the caller compares it with the graph before using it."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: Hashable, entry: Entry) -> None:
        """Store a traversal, and drop the oldest ones if there are too many."""
        self.drop(key)
        if entry.reads.size > _MAX_SIZE:
            return
        self._entries[key] = entry
        self._size += entry.reads.size
        while len(self._entries) > _MAX_ENTRIES or self._size > _MAX_SIZE:
            _, oldest = self._entries.popitem(last=False)
            self._size -= oldest.reads.size

    def drop(self, key: Hashable) -> None:
        """Drop a traversal."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry.reads.size
