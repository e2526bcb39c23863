"""Counts the commits of a store, by the labels that they may have changed.

Caches of what is computed from the graph compare these counts to see whether they are outdated.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from core.rag.dbhandler.checks import writing_clause
from core.rag.schema import EdgeType, Label
from libs.regexes import regex


class Commits:
    """The number of commits of one store, by label. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counts: Counter[Label] = Counter()

    def note(self, statements: Iterable[str] | None) -> None:
        """Count a commit.

        Call it when the commit has succeeded or may have succeeded, before the caller returns: a read after a write has
        to see that something changed.

        Args:
            statements: The statements of the transaction; ``None``: they are not known, so anything may have changed.
        """
        labels = set(Label) if statements is None else {label for each in statements for label in may_change(each)}
        with self._guard:
            self._counts.update(labels)

    def of(self, labels: Collection[Label]) -> int:
        """Return a number that grows with each commit that may have changed nodes of these labels, or their edges."""
        with self._guard:
            return sum(self._counts[label] for label in labels)


_WORD = regex(r"\w+")

# A node in a pattern: its variable, and what follows.
_NODE = regex(r"(?<![\w`])\(\s*(\w+)\s*([:){])")


@lru_cache(maxsize=1024)
def may_change(statement: str) -> frozenset[Label]:
    """Return the labels of the nodes that a statement may change.

    These are the labels that it names, or all labels if it has a node without one.
    """
    if not writing_clause(statement):
        return frozenset()
    words = set(_WORD.findall(statement))
    named = {label for label in Label if label.value in words}
    if EdgeType.RELATED.value in words:
        named.add(Label.ENTITY)
    return frozenset(named) if named and not has_unlabelled(statement) else frozenset(Label)


def has_unlabelled(statement: str) -> bool:
    """Return whether a statement has a node without a label that it could change, so one with a variable."""
    nodes = _NODE.findall(statement)
    labelled = {variable for variable, follows in nodes if follows == ":"}
    return any(variable not in labelled for variable, _ in nodes)
