"""Short words in other languages: "café" is found in French texts, whose words are stemmed (``caf``).

Stems of fewer than four letters are not looked for in general, because they are other words elsewhere: "care" is
``car`` in Italian. They are if nothing has the word as it was typed, so that it can only be one of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.analysis import short_stems
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient


async def short_words(client: MemGraphClient, query: str, label: Label = Label.CHUNK) -> list[str]:
    """Return the short stems to look for besides :func:`core.rag.analysis.query_terms`, for what nothing has otherwise.

    Args:
        client: The graph.
        query: The query as typed.
        label: The nodes that are searched.
    """
    stems = short_stems(query)
    if not stems:
        return []
    there = await client.known_terms(set(stems).union(*stems.values()), label)
    return [stem for stem, instead in stems.items() if stem in there and not instead & there]
