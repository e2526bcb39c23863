"""A complete search: :class:`.Retriever` together with the conversation so far and the ratings of users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_number
from core.rag.dbhandler.checks import check_k
from core.rag.retrieval.as_read import as_read
from core.rag.retrieval.retriever import Retriever
from core.rag.retrieval.wording.spelling import applied, corrections

#: The modes in which typing errors are corrected. The others show what one leg finds for the words as they are.
_CORRECTED = ("auto", "graph", "hybrid")

MAX_EXPAND = 20

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.llm.base import LanguageModel
    from core.rag.reranker import Reranker
    from core.rag.retrieval.dialogue import Dialogue
    from core.rag.retrieval.hits import Hit, SearchMode


async def corrected(
    client: MemGraphClient, query: str, mode: SearchMode, filters: str | Mapping[str, Any] | None
) -> dict[str, str]:
    """Return the typing errors in a query, with what a search in this mode looks for instead."""
    return await corrections(client, query, filters) if mode in _CORRECTED else {}


async def complete_search(
    client: MemGraphClient,
    embedder: EmbeddingService,
    query: str,
    k: int,
    mode: SearchMode,
    *,
    filters: str | Mapping[str, Any] | None,
    expand: int,
    conversation_id: str | None,
    user_id: str | None,
    model: LanguageModel | None,
    reranker: Reranker | None,
    candidates: int,
) -> list[Hit]:
    """Search; see :meth:`core.rag.KnowledgeBase.search`.

    In a conversation, ``model`` rewrites the question as one that can be understood alone, and both are searched for.
    ``reranker`` puts the best ``candidates`` in order.
    """
    from core.rag.retrieval.ordering.feedback import with_feedback

    query = as_read(query)
    expand = check_number("expand", expand, 0, MAX_EXPAND)
    k = check_k(k)  # here, because with ratings the search below is called with other numbers
    query = applied(query, await corrected(client, query, mode, filters))
    dialogue: Dialogue | None = None
    if conversation_id is not None:
        from core.rag.retrieval.conversation import read_dialogue

        store = await client.vector_store_for(embedder)
        dialogue, _ = await read_dialogue(client, conversation_id, query, store, embedder)
        if dialogue and model is not None and mode not in {"vector", "keyword", "fuzzy"}:
            from core.rag.retrieval.rewriting import standalone_question

            dialogue = replace(dialogue, rewritten=await standalone_question(model, dialogue, query))
    retriever = Retriever(client, embedder, dialogue=dialogue or None, reranker=reranker, candidates=candidates)

    async def search(wanted: int) -> list[Hit]:
        return await retriever.search(query, wanted, mode, filters=filters)

    hits = await with_feedback(client, search, query, k, user_id, each=mode == "fuzzy")
    return await retriever.expanded(hits, expand) if expand else hits
