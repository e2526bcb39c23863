"""What lower floors need from upper ones: interfaces that ``core.rag`` implements, since imports only go down.

``MemGraphClient`` can search with a conversation in mind, which is retrieval, a floor above the graph database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class ConversationSearch(Protocol):
    """Chunks for a question inside a conversation; see ``MemGraphClient.conversation_aware_search_chunks``."""

    async def __call__(
        self,
        client: Any,
        query_embedding: Sequence[float],
        conversation_id: str,
        limit: int,
        query_text: str | None = None,
    ) -> list[dict[str, Any]]:
        """Search; ``client`` is the MemGraphClient."""
        ...


class Port[Service]:
    """A place for something that is made above and used below, loaded when it is first used."""

    def __init__(self) -> None:
        self._load: Callable[[], Service] | None = None

    def provide(self, load: Callable[[], Service]) -> None:
        """Say what imports it."""
        self._load = load

    def get(self) -> Service:
        """Return what was provided.

        Raises:
            LookupError: if nothing was; importing ``core.rag`` provides everything.
        """
        if self._load is None:
            raise LookupError("Nothing was provided here; import core.rag first.")
        return self._load()


CONVERSATION_SEARCH: Port[ConversationSearch] = Port()
