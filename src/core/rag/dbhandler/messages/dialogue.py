"""Conversation-aware search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.rag.arguments import check_optional
from core.rag.dbhandler.checks import check_k
from core.rag.dbhandler.messages.revising import RevisingOperations
from core.rag.dbhandler.search import SearchOperations
from core.rag.ports import CONVERSATION_SEARCH


class DialogueSearchOperations(RevisingOperations, SearchOperations):
    """Searches that take a conversation into account."""

    async def conversation_aware_search_chunks(
        self, query_embedding: Sequence[float], conversation_id: str, limit: int = 5, query_text: str | None = None
    ) -> list[dict[str, Any]]:
        """Search for chunks for a question inside a conversation.

        Args:
            query_embedding: Vector of the question, with the dimension of the active store.
            conversation_id: The conversation.
            limit: Maximum number to return, 1 to 10,000.
            query_text: The question; ``None``: the last message of the conversation, if the user said it.

        Returns:
            Dicts as from :meth:`search_chunks`, with ``scores`` by leg, best first. Without earlier messages the
            results are those of :meth:`search_chunks`, or, with ``query_text``, of a hybrid search. Empty if nothing
            has been embedded yet.

        Raises:
            NotFoundError: if there is no such conversation.
            InvalidVectorError: if the vector has another dimension, is not finite, or is all zeros.
            InvalidInputError: if the limit or the question is invalid.
        """
        limit = check_k(limit)
        check_optional(query_text=query_text)
        search = CONVERSATION_SEARCH.get()
        return await search(self, query_embedding, conversation_id, limit, query_text)

    async def conversation_aware_search(
        self, query_embedding: Sequence[float], conversation_id: str, limit: int = 5, query_text: str | None = None
    ) -> list[dict[str, Any]]:
        """Search for documents for a question inside a conversation, by their best chunk.

        Args:
            query_embedding: See :meth:`conversation_aware_search_chunks`, also for the other arguments.
            conversation_id: The conversation.
            limit: Maximum number of documents.
            query_text: The question.

        Returns:
            Dicts as from ``find_document``, with ``score`` and ``chunk_id`` of the best chunk.
        """
        return await self.documents_by_chunk(
            lambda wanted: self.conversation_aware_search_chunks(query_embedding, conversation_id, wanted, query_text),
            limit,
        )
