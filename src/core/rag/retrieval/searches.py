"""What a KnowledgeBase offers for searching; each method hands on to a module of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_flags, check_optional, check_text

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.llm import LanguageModel
    from core.rag.reranker import Reranker
    from core.rag.retrieval.hits import Hit, SearchMode
    from core.rag.settings import Settings


class Searches:
    """The part of :class:`core.rag.KnowledgeBase` that searches chunks."""

    _client: MemGraphClient
    _settings: Settings

    if TYPE_CHECKING:

        @property
        def embedder(self) -> EmbeddingService: ...

        @property
        def language_model(self) -> LanguageModel | None: ...

        @property
        def reranker(self) -> Reranker | None: ...

    async def search(
        self,
        query: str,
        k: int = 5,
        mode: SearchMode = "auto",
        *,
        filters: str | Mapping[str, Any] | None = None,
        namespace: str | None = None,
        expand: int = 0,
        conversation_id: str | None = None,
        user_id: str | None = None,
        rewrite: bool = False,
        rerank: bool = True,
    ) -> list[Hit]:
        """Search for chunks.

        Args:
            query: The search text; any words and characters, of which the first 20,000 count. Typing errors are
                corrected, see :meth:`corrections`.
            k: Maximum number of hits, 1 to 10,000.
            mode: ``auto`` (graph, hybrid or both, chosen by the question and the corpus), ``graph`` (starts from words
                and meaning, and follows the entities named there), ``hybrid`` (words and meaning), ``vector``
                (meaning), ``keyword`` (words, BM25) or ``fuzzy`` (titles, headings and names, tolerant of typos).
            filters: Only chunks of documents that pass; see :func:`core.rag.retrieval.filters.parse_filter`.
            namespace: Search this namespace instead.
            expand: How many neighbouring chunks on either side to add to the content of each hit.
            conversation_id: The conversation that the question belongs to. Earlier messages help to find what the
                question refers to, unless it changes the subject. The question may already be its last message.
            user_id: Who asks; this user's own feedback takes precedence over that of others.
            rewrite: In a conversation, have the language model (if there is one) rewrite the question so that it can
                be understood alone, and search for that too; a hybrid search then takes as long as the model.
            rerank: Have the reranker (if there is one) put the hits of the modes ``auto``, ``graph`` and ``hybrid`` in
                order, except those that the graph led to; in a conversation, only those of a question that can be
                understood alone.

        Returns:
            Hits, best first; empty if nothing matches or nothing was ingested. Of passages with the same text, only
            the best is a hit if there are others (not in mode ``fuzzy``).

        Raises:
            InvalidInputError: if the query, ``k``, mode, filter or user is invalid.
            NotFoundError: if there is no such conversation.
            EmbeddingError: if the embedding provider fails.
            RerankerError: if the reranker fails.
            StoreError: if the graph does.
        """
        from core.rag.retrieval.complete_search import complete_search

        check_text("A query", query)
        check_optional(user_id=user_id)
        check_flags(rewrite=rewrite, rerank=rerank)
        client = self._client if namespace is None else self._client.in_namespace(namespace)
        return await complete_search(
            client,
            self.embedder,
            query,
            k,
            mode,
            filters=filters,
            expand=expand,
            conversation_id=conversation_id,
            user_id=user_id,
            model=self.language_model if rewrite else None,
            reranker=self.reranker if rerank else None,
            candidates=self._settings.rerank_candidates,
        )

    async def explain_filter(self, filters: str | Mapping[str, Any] | None) -> str:
        """Return a message about metadata in a filter that no document has, naming what is near.

        It is for a search that found nothing; empty if the documents have all of it.

        Args:
            filters: See :func:`core.rag.retrieval.filters.parse_filter`.

        Raises:
            FilterError: if it does not parse.
            StoreError: if the graph fails.
        """
        from core.rag.retrieval.filter_keys import unknown_keys

        return await unknown_keys(self._client, filters)

    async def corrections(
        self,
        query: str,
        mode: SearchMode = "auto",
        *,
        filters: str | Mapping[str, Any] | None = None,
        namespace: str | None = None,
    ) -> dict[str, str]:
        """Return the words of a query that a search takes for typing errors, each with the word that it looks for.

        That is a word of at least five letters (a name: six) that no document, record, name or dictionary has, if
        documents have one that differs in one letter. What stands in quotation marks is searched for as it is, and so
        is everything in the modes ``keyword``, ``vector`` and ``fuzzy``.

        Args:
            query: As for :meth:`core.rag.KnowledgeBase.search`; :meth:`ask` corrects questions in the same way.
            mode: The mode of the search.
            filters: Those of the search: only words of documents that pass are looked for instead.
            namespace: Ask this namespace instead.

        Raises:
            InvalidInputError: if the query is not text, or the filter is none.
            StoreError: if the graph fails.
        """
        from core.rag.retrieval.complete_search import corrected

        check_text("A query", query)
        client = self._client if namespace is None else self._client.in_namespace(namespace)
        return await corrected(client, query, mode, filters)
