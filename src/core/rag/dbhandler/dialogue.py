"""Conversation-aware search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.rag.dbhandler.checks import check_k, check_optional
from core.rag.dbhandler.rewriting import RewritingOperations
from core.rag.dbhandler.search import SearchOperations
from core.rag.ports import CONVERSATION_SEARCH


class DialogueSearchOperations(RewritingOperations, SearchOperations):
    """Searches that know the conversation."""

    async def conversation_aware_search_chunks(
        self, query_embedding: Sequence[float], conversation_id: str, limit: int = 5, query_text: str | None = None
    ) -> list[dict[str, Any]]:
        """Chunks for a question inside a conversation.

        Args:
            query_embedding: Vector of the question, as long as the vectors of the active store.
            conversation_id: The conversation.
            limit: Maximum number to return, 1 to 10,000.
            query_text: The question; ``None``: the last message of the conversation, if the user said it.

        Returns:
            Dicts as from :meth:`search_chunks`, with ``scores`` by leg, best first. Without anything said before: the
            same as :meth:`search_chunks`, or, with ``query_text``, the same as a hybrid search. Empty where nothing was
            embedded yet.

        Raises:
            NotFoundError: if there is no such conversation.
            InvalidVectorError: on a vector of another dimension, one that is not finite, or one of zeros.
            InvalidInputError: on a limit or question that is none.
        """
        limit = check_k(limit)
        check_optional(query_text=query_text)
        search = CONVERSATION_SEARCH.get()
        return await search(self, query_embedding, conversation_id, limit, query_text)

    async def conversation_aware_search(
        self, query_embedding: Sequence[float], conversation_id: str, limit: int = 5, query_text: str | None = None
    ) -> list[dict[str, Any]]:
        """Documents for a question inside a conversation, by their best chunk.

        Args:
            query_embedding: As for :meth:`conversation_aware_search_chunks`, and so the other arguments.
            conversation_id: The conversation.
            limit: Maximum number of documents.
            query_text: The question.

        Returns:
            Dicts as ``find_document`` gives them, with ``score`` and ``chunk_id`` of the best chunk.
        """
        return await self.documents_by_chunk(
            lambda wanted: self.conversation_aware_search_chunks(query_embedding, conversation_id, wanted, query_text),
            limit,
        )
