"""Memories as an agent reads them: a memory may be as long as a log, and models pay for every character."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.rag.retrieval.excerpt import excerpt

if TYPE_CHECKING:
    from core.rag.memory.records import Memory

#: Characters of memories that are given at once, and at most of one of them.
PAGE_CHARS = 20_000
_LONGEST = 2_000

#: What an agent has no use for.
_OWN = frozenset({"type", "keywords", "lastAccessedAt"})


async def told(memories: Sequence[Memory], query: str = "") -> list[dict[str, Any]]:
    """Memories with what is known of each; ``length`` is that of one of which only a part is shown.

    Args:
        memories: The memories.
        query: What was asked: of a long one, the part that has most of its words is shown, else its beginning.
    """
    width = min(_LONGEST, PAGE_CHARS // max(len(memories), 1))
    return await asyncio.to_thread(lambda: [_told(memory, query, width) for memory in memories])


def _told(memory: Memory, query: str, width: int) -> dict[str, Any]:
    known = {name: value for name, value in memory.to_dict().items() if value and name not in _OWN}
    if memory.count == 1:
        del known["count"]
    if memory.last_said_at == memory.created_at:
        del known["lastSaidAt"]
    if memory.because is not None and not memory.because.memory_id:
        known["because"] = {"reason": memory.because.reason}
    if len(memory.content) > width:
        known["length"] = len(memory.content)
        known["content"] = excerpt(memory.content, query, width).text if query else f"{memory.content[:width]}…"
    return known
