"""A retriever for LangChain: ``pip install 'memgraph-rag[langchain]'``.

Example:
    >>> retriever = KnowledgeBaseRetriever(knowledge_base=kb, k=5)
    >>> documents = await retriever.ainvoke("When does the mill turn?")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from core.rag.errors import InvalidInputError, MissingDependencyError
from core.rag.integrations.bridge import Bridge, Found, Retrieves, SearchOptions

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, PrivateAttr
except ImportError as error:
    raise MissingDependencyError("langchain-core", "langchain", "The retriever for LangChain") from error


class KnowledgeBaseRetriever(Retrieves, BaseRetriever):
    """Passages of a knowledge base as documents.

    A document has the id and the text of the chunk (later rows of a table below the names of its columns), and as
    metadata ``source`` (the path), ``title``, ``heading``, ``chunk_index``, ``document_id``, ``start_char``,
    ``end_char``, ``score``, ``scores`` of each leg of the search, ``previous`` and ``next`` (ids of the chunks around
    it), the place that the loader found (``page`` …), and the metadata of its document (what was given with it …).

    Attributes:
        knowledge_base: What is searched; open in the event loop that runs now, and not closed with this.
        k: Maximum number of documents.
        mode: How to search; ``None``: the default of :meth:`core.rag.KnowledgeBase.search`.
        filters: Only passages of documents that pass.
        namespace: ``None``: that of the knowledge base.
        expand: So many neighbouring passages on either side are added to the text of each document.
        conversation_id: The conversation that questions belong to.
        user_id: Who asks.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    knowledge_base: Any
    k: int = 5
    mode: str | None = None
    filters: str | Mapping[str, Any] | None = None
    namespace: str | None = None
    expand: int = 0
    conversation_id: str | None = None
    user_id: str | None = None

    _bridge: Bridge = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Prepare the search."""
        super().model_post_init(context)
        self._bridge = Bridge.to(self.knowledge_base)

    def _options(self, changes: Mapping[str, Any]) -> SearchOptions:
        names = [field.name for field in fields(SearchOptions)]
        if unknown := sorted(set(changes) - set(names)):
            raise InvalidInputError(f"There is no option {unknown[0]!r} of a search. There are: {', '.join(names)}.")
        return SearchOptions(**{**{name: getattr(self, name) for name in names}, **changes})

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the framework passes it
        **options: Any,
    ) -> list[Document]:
        return [_document(found) for found in self._bridge.search(query, self._options(options))]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - the framework passes it
        **options: Any,
    ) -> list[Document]:
        return [_document(found) for found in await self._bridge.asearch(query, self._options(options))]


def _document(found: Found) -> Document:
    hit = found.hit
    metadata = (
        hit.document_metadata
        | hit.metadata
        | {
            "source": hit.path,
            "title": hit.title,
            "heading": hit.heading,
            "chunk_index": hit.chunk_index,
            "document_id": hit.document_id,
            "start_char": hit.start_char,
            "end_char": hit.end_char,
            "score": hit.score,
            "scores": dict(hit.scores),
            "previous": found.previous,
            "next": found.next,
        }
    )
    return Document(page_content=hit.readable, id=hit.chunk_id, metadata=metadata)
