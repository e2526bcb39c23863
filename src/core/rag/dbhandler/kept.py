"""Caches what is computed from a namespace for as long as its source data is unchanged.

A change is detected in two ways. If nobody else can write, the store's own commits are counted, which costs nothing: as
long as none of them names the labels, nothing has changed. Otherwise statements ask the graph how many nodes there are
and when the last one was changed, because a commit that names the labels need not have changed the source data, and
computing a value again may take a second.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.store import GraphStore, Row
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler.base import ClientBase

#: Maximum number of values that a cache keeps for an open graph: a server may have any number of namespaces.
MOST: Final = 100

#: Of the time on a server, at most this share goes into checking a value: it reads all entities, say, and a question
#: that takes longer than the patience would have it done twice, the slower the server, the more often.
_CHECKING: Final = 0.05
#: A value is checked again after so many seconds in any case, unless its own patience is longer.
_LONGEST: Final = 60.0


def microseconds(name: str) -> str:
    """An expression that changes whenever the ``updated_at`` of a node or edge does; for statements of :class:`Kept`.

    The latest time alone is not enough, since a change may have an earlier one: that of an import of an earlier
    version, of a client whose clock is slow, or of a transaction that took longer. So the microseconds of all are
    added.

    Args:
        name: The variable of the nodes or edges.
    """
    return f"sum(toInteger(substring({name}.updated_at, 20, 6)))"


@dataclass(frozen=True, slots=True)
class _Made[T]:
    """A cached value, and the state that it is valid for.

    Attributes:
        value: The value.
        state: The results of the statements before it was made.
        commits: Number of commits of the store before it was made.
        asked: When it was last found to be up to date, in seconds.
        took: How long it took to find that, in seconds.
    """

    value: T
    state: Any
    commits: int
    asked: float
    took: float


@dataclass(slots=True)
class _Slot[T]:
    """A place for a cached value; of several tasks that need it at the same time, one makes it."""

    making: WriterGate = field(default_factory=WriterGate)
    made: _Made[T] | None = None


class Kept[T]:
    """A cache of one kind of value, for each open graph and its most recently used namespaces."""

    def __init__(
        self,
        labels: Collection[Label],
        *statements: str,
        state: Callable[[list[Row]], Any] = list,
        patience: float = 0.0,
    ) -> None:
        """Create an empty cache.

        Args:
            labels: Labels of the nodes that values depend on, including edges between them.
            statements: Statements, of one row each, whose results show whether these have changed; none where that
                would take as long as computing the value.
            state: Returns the part of the rows that must stay equal; by default all of it.
            patience: On a server, where other clients write, too: seconds for which a value is not checked again, or
                more if checking takes long.
        """
        self._labels = frozenset(labels)
        self._statements = statements
        self._state = state
        self._patience = patience
        self._slots: WeakKeyDictionary[GraphStore, OrderedDict[tuple[Any, ...], _Slot[T]]] = WeakKeyDictionary()

    async def get(
        self,
        client: ClientBase,
        make: Callable[[], Awaitable[T]],
        *,
        renew: Callable[[T, Any, Any], Awaitable[T]] | None = None,
        **parameters: str,
    ) -> T:
        """Return the value for the client's namespace, computed if it is missing or outdated.

        Args:
            client: The graph.
            make: Computes it.
            renew: Computes it from the outdated value, which others may still be using, the state that this was valid
                for, and the present state; ``None``: ``make`` does.
            parameters: Parameters of the statements; values for different parameters are kept apart.
        """
        store = await client.connect()
        slots = self._slots.setdefault(store, OrderedDict())
        key = (client.namespace, *parameters.items())
        slot = slots.setdefault(key, _Slot())
        slots.move_to_end(key)
        if len(slots) > MOST:
            slots.popitem(last=False)
        called = time.monotonic()
        if not self._is_current(slot.made, store, called):
            async with slot.making.hold():
                made = slot.made
                if not self._is_current(made, store, called):  # not checked by another task meanwhile
                    commits, asked = store.commits(self._labels), time.monotonic()
                    state = await self._asked(client, parameters)
                    took = time.monotonic() - asked
                    if made is None or made.state != state:
                        value = await (
                            make() if made is None or renew is None else renew(made.value, made.state, state)
                        )
                        made = _Made(value, state, commits, asked, took)
                    slot.made = replace(made, commits=commits, asked=asked, took=took)
        assert slot.made is not None
        return slot.made.value

    def _is_current(self, made: _Made[T] | None, store: GraphStore, called: float) -> bool:
        """Return whether a value need not be checked for a caller who called at a given time.

        Of several concurrent callers only one or two check: a check made after a call is also valid for that call.
        """
        if made is None or store.commits(self._labels) != made.commits:
            return False
        if not store.capabilities.shared:
            return True
        patience = self._patience and max(self._patience, min(made.took / _CHECKING, _LONGEST))
        return made.asked >= min(called, time.monotonic() - patience)

    async def _asked(self, client: ClientBase, parameters: dict[str, str]) -> Any:
        if not self._statements:
            return object()  # equals no other state
        return self._state(
            [row for statement in self._statements for row in await client.read(statement, **parameters)]
        )
