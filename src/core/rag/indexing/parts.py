"""The documents of a run on their way from loading to cutting."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.rag.indexing.cutting import Cutter
    from core.rag.indexing.state import StateReader
    from libs.dataloader import Document

#: Maximum number of parts that wait to be cut. What one says takes a few MB at most, and 60 MB in the graph.
_AHEAD = 32

#: Reading has this many seconds before the first part is cut. Most folders are read by then.
_READING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Tools:
    """The objects that depend on how documents are split."""

    state: StateReader
    cutter: Cutter


@dataclass(slots=True)
class Batch:
    """Documents that are loaded together: of one source, or of several that are one file each."""

    tools: Tools
    documents: list[Document] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)  # the id of each document, with that of its Source
    chars: int = 0
    begun: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Part:
    """Documents of a batch that changed, and are cut and written together."""

    cutter: Cutter
    documents: list[Document]
    sources: Mapping[str, str]


class PartsAhead:
    """The parts that wait to be cut.

    A chunk that was cut before a title was read has to be looked at again in the end. So reading runs ahead of cutting,
    and the first part is only handed out when all is read, when there is no more room, or after a second.
    """

    def __init__(self) -> None:
        """There are none at first."""
        self._parts: asyncio.Queue[Part | None] = asyncio.Queue(_AHEAD)
        self._enough = asyncio.Event()

    def all_known(self) -> None:
        """Take note that all titles are known: nothing is gained by waiting."""
        self._enough.set()

    async def put(self, part: Part | None) -> None:
        """Add a part, or ``None`` after the last one. Waits while there is no room."""
        if part is None or self._parts.qsize() >= _AHEAD - 1:
            self._enough.set()
        await self._parts.put(part)

    async def get(self) -> Part | None:
        """Wait for the next part; ``None`` after the last one."""
        if not self._enough.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), _READING_SECONDS)
            self._enough.set()
        return await self._parts.get()
