"""Keeps the vectors of the embedded engine in memory as a matrix for each index, for processes that search repeatedly.

The engine compares 50,000 vectors in 25 ms, nearly all of it spent on looking at each node; a matrix product takes 5.
Reading the vectors takes a second or two, so it is done in the background, after a second search without a change to
them in between; where vectors were only added or deleted since, only the new ones are read. It never changes a result:
the matrix only proposes candidates, whose cosines the engine then computes.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import batched
from typing import TYPE_CHECKING, Any

from core.rag.dbhandler.checks import writing_clause
from core.rag.dbhandler.embedded import dialect
from core.rag.schema import VectorIndex
from core.rag.unit_vectors import unit_vectors
from libs.regexes import regex

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

_logger = logging.getLogger("mgrag")

#: Number of searches without a change in between after which a table is worth loading.
SEARCHES = 2

#: The engine compares fewer vectors than this quickly enough.
MIN_VECTORS = 4096

#: Tables take at most this much memory together.
MAX_BYTES = 256 << 20

#: Searches for more results than this are left to the engine.
MAX_K = 1000

# Number of nodes looked up, and of vectors read, at once: some milliseconds each, in which no other thread of Python
# runs.
_NODES = 2_500
_PART = 500

# How long it pauses after each of them, compared with what it took: searches come first. A graph that is closed
# meanwhile waits for the end of the pause.
_PAUSES = 3
_SHORTEST_PAUSE = 0.001
_LONGEST_PAUSE = 0.1

# Maximum difference between the cosines of a table and of the engine.
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Table:
    """The vectors of an index at one moment.

    Attributes:
        nodes: The engine's own number and the id of each; a number is never given to another node.
        matrix: The vectors, of length 1.
    """

    nodes: list[tuple[int, str]]
    matrix: NDArray[np.float32]

    def candidates(self, query: tuple[float, ...], k: int) -> tuple[list[str], float]:
        """Ids of all vectors that may be among the ``k`` nearest, and the cosine that these have at least."""
        import numpy as np

        # As fast as a product of both by one thread, and several would wait for each other on a busy machine.
        scores = np.vecdot(self.matrix, _unit(query))
        k = min(k, len(scores))
        bound = np.partition(scores, -k)[-k] - _TOLERANCE
        return [self.nodes[position][1] for position in np.flatnonzero(scores >= bound)], float(bound) - _TOLERANCE


class VectorTables:
    """The tables of one store. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._version = 0
        self._versions: Counter[str] = Counter()
        self._searches: dict[str, int] = {}
        self._due: set[str] = set()
        self._tables: dict[str, Table] = {}
        self._current: set[str] = set()  # the indexes whose tables have all vectors
        self._stopped = False

    def changed(self, statements: Iterable[str]) -> None:
        """Leave the tables whose vectors were changed. Call it after the commit, before its caller learns of that.

        Args:
            statements: What was run.
        """
        for labels, altered in {(changed_indexes(statement), may_alter(statement)) for statement in statements}:
            if labels is None:
                self._leave_all(altered=altered)
            else:
                self._leave(labels, altered=altered)

    def stop(self) -> None:
        """Discard all tables, and load none any more."""
        self._stopped = True
        self._leave_all(altered=True)

    def search(self, db: Any, index: VectorIndex, query: tuple[float, ...], k: int) -> list[tuple[str, float]]:
        """Return the nearest vectors, by the table if loaded; see :func:`.dialect.vector_search`."""
        with self._guard:
            table = self._tables[index.label] if index.label in self._current else None
            self._searches[index.label] = self._searches.get(index.label, 0) + 1
        if table is not None and k <= MAX_K:
            candidates, least = table.candidates(query, k)
            if len(candidates) <= k + MAX_K:  # else they are nearly all alike
                found = dialect.best_first(dialect.cosines(db, index, query, candidates))
                # Else some have just been deleted, or are so tiny that the engine takes them for nothing.
                if len(found) == len(candidates) and found[:k][-1][1] >= least:
                    return found[:k]
        return dialect.vector_search(db, index, query, k)

    def is_due(self, label: str) -> bool:
        """Return whether :meth:`load` should be called now; true only once."""
        with self._guard:
            due = self._searches.get(label, 0) >= SEARCHES and label not in self._due and not self._stopped
            if due:
                self._due.add(label)
            return due

    def load(self, db: Any, index: VectorIndex) -> None:
        """Load the table of an index, unless it is too small or too large, or changes meanwhile."""
        import numpy as np

        version = self._version_of(index.label)

        def is_in_vain() -> bool:
            return self._stopped or version != self._version_of(index.label)

        if not self._fits(db, index):
            return
        with self._guard:
            earlier = self._tables.get(index.label, Table([], np.empty((0, index.dimension), np.float32)))
        place_of = {node: place for place, (node, _) in enumerate(earlier.nodes)}
        kept: list[int] = []
        new: list[tuple[int, str]] = []
        parts: list[NDArray[np.float32]] = []
        number, nodes = 0, [(0, "")] * _NODES
        while len(nodes) == _NODES and not is_in_vain():
            started = time.perf_counter()
            nodes = dialect.vector_nodes(db, index, number, _NODES)
            _pause(started)
            number += len(nodes)
            kept += [place_of[node] for node, _ in nodes if node in place_of]
            for part in batched((pair for pair in nodes if pair[0] not in place_of), _PART):
                if is_in_vain():
                    return
                started = time.perf_counter()
                some, vectors = dialect.vectors_of(db, index, part)
                new += some
                parts.append(unit_vectors(vectors))
                _pause(started)
        found = [*(earlier.nodes[place] for place in kept), *new]
        if not found:
            return
        table = Table(found, np.concatenate([earlier.matrix[kept], *parts]))
        with self._guard:
            # Other tables may have taken the room meanwhile.
            if version == self._version_of(index.label) and table.matrix.nbytes <= self._room(index.label):
                self._tables[index.label] = table
                self._current.add(index.label)

    def _fits(self, db: Any, index: VectorIndex) -> bool:
        """Return whether an index is neither too small nor too large; outdated tables of others make room for it."""
        if dialect.has_more_than(db, index.label, MIN_VECTORS):
            for others_go in (False, True):
                with self._guard:
                    if others_go:
                        for label in self._tables.keys() - self._current - {index.label}:
                            del self._tables[label]
                    room = self._room(index.label)
                if not dialect.has_more_than(db, index.label, room // (4 * index.dimension)):
                    return True
        with self._guard:
            self._tables.pop(index.label, None)
            self._current.discard(index.label)
        return False

    def _room(self, label: str) -> int:
        """Return how many bytes the other tables leave to that of an index; call it while holding the guard."""
        return MAX_BYTES - sum(table.matrix.nbytes for other, table in self._tables.items() if other != label)

    def _version_of(self, label: str) -> tuple[int, int]:
        return self._version, self._versions[label]

    def _leave_all(self, *, altered: bool) -> None:
        with self._guard:
            self._version += 1
            self._searches.clear()
            self._due.clear()
            self._current.clear()
            if altered:
                self._tables.clear()

    def _leave(self, labels: Iterable[str], *, altered: bool) -> None:
        with self._guard:
            for label in labels:
                self._versions[label] += 1
                self._searches.pop(label, None)
                self._due.discard(label)
                self._current.discard(label)
                if altered:
                    self._tables.pop(label, None)


def _pause(started: float) -> None:
    """Let searches go first, for longer than what began at that time has kept them waiting."""
    time.sleep(min(max(_PAUSES * (time.perf_counter() - started), _SHORTEST_PAUSE), _LONGEST_PAUSE))


def _unit(vector: Sequence[float]) -> NDArray[np.float32]:
    import numpy as np

    exact = np.asarray(vector, dtype=np.float64)  # in 32 bits the squares of tiny and huge numbers are lost
    return unit_vectors(exact).astype(np.float32)


@lru_cache(maxsize=512)
def changed_indexes(statement: str) -> frozenset[str] | None:
    """Return the labels of the indexes whose vectors a statement may add, change or delete; ``None``: of any index.

    A statement may do so if it writes and names vectors, or nodes without their label. One that only creates vectors,
    such as that of a message, does not affect those of other indexes.
    """
    if not writing_clause(statement) or not any(pattern.search(statement) for pattern in _CHANGES):
        return frozenset()
    made = _MADE.findall(statement)
    return None if not made or _CHANGES_OTHERS.search(statement) else frozenset(made)


@lru_cache(maxsize=512)
def may_alter(statement: str) -> bool:
    """Return whether a statement may give another vector to a node that is there, rather than add or delete nodes."""
    return _ALTERS.search(statement) is not None


_CHANGES = (
    regex("vector|embedding", re.IGNORECASE),
    regex(r"\bMATCH\s*\(\s*\w*\s*[){]", re.IGNORECASE),
    regex(r"\b(?:MERGE|CREATE)\s*\(\s*\w*\s*\{", re.IGNORECASE),
    # Nodes at the far end of an edge, deleted.
    regex(r"\(\s*\w*\s*(?:\{[^}]*\}\s*)?\).*\bDELETE\b", re.IGNORECASE | re.DOTALL),
)

# A new vector with the label of its index.
_MADE = regex(r"\b(?:CREATE \(\w*:Vector:|ON CREATE SET \w+:)(Vector_\w+)")

# Whatever may change the properties of nodes that are there, and whatever may change or delete such nodes.
_ALTERS = regex(r"(?<!\bON CREATE )\bSET\b|\b(?:REMOVE|FOREACH|CALL)\b", re.IGNORECASE)
_CHANGES_OTHERS = regex(rf"{_ALTERS.pattern}|\bDELETE\b", re.IGNORECASE)


def log_failure(work: Future[None]) -> None:
    """Log why vectors were not loaded: nobody waits for it."""
    if not work.cancelled() and (error := work.exception()) is not None:
        _logger.warning("Vectors could not be kept in memory; searches read them from the graph: %s", error)
