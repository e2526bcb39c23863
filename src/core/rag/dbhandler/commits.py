"""How often a store has committed something, by what it may have changed: what is kept of a graph asks before use."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from core.rag.dbhandler.checks import writing_clause
from core.rag.schema import EdgeType, Label


class Commits:
    """Commits of one store, counted. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._counts: Counter[Label] = Counter()

    def note(self, statements: Iterable[str] | None) -> None:
        """Count a commit; to be called when it is done, or may be, and before that is answered.

        Args:
            statements: What was run; ``None``: anything.
        """
        labels = set(Label) if statements is None else {label for each in statements for label in may_change(each)}
        with self._guard:
            self._counts.update(labels)

    def of(self, labels: Collection[Label]) -> int:
        """A number that has grown if a commit since may have changed nodes of these labels, or edges between them."""
        with self._guard:
            return sum(self._counts[label] for label in labels)


_WORD = re.compile(r"\w+")

# A node in a pattern: its variable, and what follows.
_NODE = re.compile(r"(?<![\w`])\(\s*(\w+)\s*([:){])")


@lru_cache(maxsize=1024)
def may_change(statement: str) -> frozenset[Label]:
    """Labels of nodes that a statement may change: all that it names, or any where it leaves open which they are."""
    if not writing_clause(statement):
        return frozenset()
    words = set(_WORD.findall(statement))
    named = {label for label in Label if label.value in words}
    if EdgeType.RELATED.value in words:
        named.add(Label.ENTITY)
    nodes = _NODE.findall(statement)
    labelled = {variable for variable, follows in nodes if follows == ":"}
    is_open = not named or any(variable not in labelled for variable, _ in nodes)
    return frozenset(Label) if is_open else frozenset(named)
