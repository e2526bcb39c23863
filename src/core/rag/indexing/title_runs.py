"""The runs of this process that write to one graph, so that each title is looked for once.

A title that a run brings is looked for in the chunks of all others at the end of the run. Runs that overlap, as those
of many requests to a server do, leave the titles of each other alone, and those that end together look for theirs
together. Runs of other processes are told from the marks that they leave in the graph.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from core.rag.dbhandler.store import GraphStore

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.indexing.title_finder import TitleFinder


@dataclass(eq=False, slots=True)
class TitleRun:
    """What is known of a run.

    Attributes:
        titles: The normalised titles of the documents that it has cut. It looks for these itself.
        finder: At its end, what its chunks mention; ``None`` if it has cut nothing, or this was lost.
        lost: Whether this was lost, so that every chunk has to be read.
        removed: How many documents it has removed.
        linked: Whether its titles were looked for.
    """

    titles: set[str] = field(default_factory=set)
    finder: TitleFinder | None = None
    lost: bool = False
    removed: int = 0
    linked: bool = False


class TitleRuns:
    """The runs on one namespace of an open graph."""

    def __init__(self) -> None:
        """There are none at first."""
        self._running: set[TitleRun] = set()
        self._waiting: list[TitleRun] = []
        self._turn = asyncio.Lock()
        self._searched: set[str] = set()
        #: Titles of runs that failed before they looked for them.
        self.left: set[str] = set()

    def begin(self, run: TitleRun) -> None:
        """Take note of a run, before it writes anything."""
        self._running.add(run)

    def end(self, run: TitleRun) -> None:
        """Forget a run that has ended or failed."""
        if run in self._running:
            self._running.remove(run)
            if not run.linked:
                self.left |= run.titles

    def others(self, runs: Collection[TitleRun] = ()) -> list[TitleRun]:
        """Return the runs that have yet to look for titles, without some of them."""
        return [run for run in self._running if run.titles and not run.linked and run not in runs]

    def seen_to(self, runs: Collection[TitleRun] = ()) -> set[str]:
        """Return titles that were looked for while their sources are still marked, or that other runs will look for."""
        return self._searched.union(*(run.titles for run in self.others(runs)))

    @contextlib.asynccontextmanager
    async def together(self, run: TitleRun) -> AsyncIterator[list[TitleRun]]:
        """Wait for a turn to look for titles.

        Yields:
            All runs that wait for it, which count as done afterwards; none if another run has included this one.
        """
        self._waiting.append(run)
        try:
            async with self._turn:
                group = [] if run.linked else list(self._waiting)
                yield group
                for one in group:
                    one.linked = True
                self._waiting = [one for one in self._waiting if not one.linked]
        finally:
            if run in self._waiting:
                self._waiting.remove(run)

    def forget(self, titles: Collection[str]) -> None:
        """Forget titles that the graph does not have (any more)."""
        self.left.difference_update(titles)
        self._searched.difference_update(titles)

    def known(self) -> set[str]:
        """Return the titles that are known from runs that have ended."""
        return self.left | self._searched

    def looked_for(self, titles: Collection[str], group: Collection[TitleRun]) -> bool:
        """Take note that titles were looked for in all chunks.

        Returns:
            Whether no others are left, so that the marks of sources can go.
        """
        self.left.difference_update(titles)
        if self.left or self.others(group):
            self._searched.update(titles)
            return False
        self._searched.clear()
        return True


_runs: WeakKeyDictionary[GraphStore, WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, TitleRuns]]]
_runs = WeakKeyDictionary()


async def title_runs(client: MemGraphClient) -> TitleRuns:
    """Return the runs on the graph and namespace of a client."""
    of_loops = _runs.setdefault(await client.connect(), WeakKeyDictionary())
    return of_loops.setdefault(asyncio.get_running_loop(), {}).setdefault(client.namespace, TitleRuns())
