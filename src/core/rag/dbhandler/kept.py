"""Caches what is computed from a namespace for as long as its source data is unchanged.

Two things tell. Where nobody else can write, a count of this store's own commits, which costs nothing: as long as none
of them names the labels, all is as it was. Otherwise statements that ask the graph how many there are and when the last
one was changed: a commit that names the labels need not have changed what is kept, which may take a second to make.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from core.rag.dbhandler.gate import WriterGate
from core.rag.dbhandler.store import GraphStore, Row
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


@dataclass(frozen=True, slots=True)
class _Made[T]:
    """What was made, and when.

    Attributes:
        value: What was made.
        state: What the statements said before.
        commits: How often the store had committed before that.
        asked: When it was found to be up to date, in seconds.
    """

    value: T
    state: Any
    commits: int
    asked: float


@dataclass(slots=True)
class _Slot[T]:
    """Where it is kept; of several that need it at once, one makes it."""

    making: WriterGate = field(default_factory=WriterGate)
    made: _Made[T] | None = None


class Kept[T]:
    """One kind of thing that is kept, for each open graph and namespace."""

    def __init__(
        self,
        labels: Collection[Label],
        *statements: str,
        state: Callable[[list[Row]], Any] = list,
        patience: float = 0.0,
    ) -> None:
        """Prepare; nothing is kept yet.

        Args:
            labels: Labels of the nodes that it is made of; edges between them count as well.
            statements: What tells whether these have changed, one row each.
            state: What of these rows has to stay equal; all of it, unless a little change does not matter.
            patience: On a server, to which others write, too: for so many seconds after an answer nobody asks again.
        """
        self._labels = frozenset(labels)
        self._statements = statements
        self._state = state
        self._patience = patience
        self._slots: WeakKeyDictionary[GraphStore, dict[tuple[Any, ...], _Slot[T]]] = WeakKeyDictionary()

    async def get(
        self,
        client: MemGraphClient,
        make: Callable[[], Awaitable[T]],
        *,
        renew: Callable[[T], Awaitable[T]] | None = None,
        **parameters: str,
    ) -> T:
        """What is kept for the client's namespace, made where it is not there or not up to date.

        Args:
            client: The graph.
            make: Makes it.
            renew: Makes it out of what was kept and is not up to date any more, which others may still be using;
                ``None``: ``make`` does.
            parameters: For the statements; what was made with others is another thing.
        """
        store = await client.connect()
        slot = self._slots.setdefault(store, {}).setdefault((client.namespace, *parameters.items()), _Slot())
        called = time.monotonic()
        if not self._is_current(slot.made, store, called):
            async with slot.making.hold():
                made = slot.made
                if not self._is_current(made, store, called):  # nobody looked while this one waited
                    commits, asked = store.commits(self._labels), time.monotonic()
                    state = await self._asked(client, parameters)
                    if made is None or made.state != state:
                        value = await (make() if made is None or renew is None else renew(made.value))
                        made = _Made(value, state, commits, asked)
                    slot.made = replace(made, commits=commits, asked=asked)
        assert slot.made is not None
        return slot.made.value

    def _is_current(self, made: _Made[T] | None, store: GraphStore, called: float) -> bool:
        """Whether nobody has to ask if what was made is outdated, on behalf of one who called at a time.

        Of several who call at once one asks, or two: what was asked after they had called is true of then, too.
        """
        if made is None or store.commits(self._labels) != made.commits:
            return False
        return not store.capabilities.shared or made.asked >= min(called, time.monotonic() - self._patience)

    async def _asked(self, client: MemGraphClient, parameters: dict[str, str]) -> Any:
        return self._state(
            [row for statement in self._statements for row in await client.read(statement, **parameters)]
        )
