"""A retriever for LlamaIndex: ``pip install 'memgraph-rag[llama-index]'``.

Example:
    >>> retriever = KnowledgeBaseRetriever(kb, k=5, filters="path:docs/")
    >>> nodes = await retriever.aretrieve("When does the mill turn?")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.rag.errors import MissingDependencyError
from core.rag.integrations.bridge import Bridge, Found, Retrieves, SearchOptions

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
except ImportError as error:
    raise MissingDependencyError("llama-index-core", "llama-index", "The retriever for LlamaIndex") from error

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase

#: Metadata that a model gets to read with the text; the rest is for programs.
SHOWN = ("path", "title", "heading", "page")


class KnowledgeBaseRetriever(Retrieves, BaseRetriever):
    """Passages of a knowledge base as nodes.

    A node has the id and the text of the chunk, where it stands in its document (``start_char_idx``, ``end_char_idx``),
    relationships to its document (``SOURCE``) and to the chunks around it (``PREVIOUS``, ``NEXT``), and as metadata
    ``path``, ``title``, ``heading``, ``chunk_index``, ``document_id``, the place that the loader found (``page`` …),
    the metadata of its document (what was given with it …), and the scores of each leg of the search. Of a query bundle
    only the text counts: the graph has its own embedding model.
    """

    def __init__(
        self,
        knowledge_base: KnowledgeBase,
        *,
        k: int = 5,
        mode: str | None = None,
        filters: str | Mapping[str, Any] | None = None,
        namespace: str | None = None,
        expand: int = 0,
        conversation_id: str | None = None,
        user_id: str | None = None,
        **options: Any,
    ) -> None:
        """Use a knowledge base that is open in the event loop that runs now; it is not closed with this.

        Args:
            knowledge_base: What is searched.
            k: Maximum number of nodes.
            mode: How to search; ``None``: the default of :meth:`core.rag.KnowledgeBase.search`.
            filters: Only passages of documents that pass.
            namespace: ``None``: that of the knowledge base.
            expand: So many neighbouring passages on either side are added to the text of each node.
            conversation_id: The conversation that questions belong to.
            user_id: Who asks.
            options: Of LlamaIndex's ``BaseRetriever``.
        """
        self._options = SearchOptions(k, mode, filters, namespace, expand, conversation_id, user_id)
        self._bridge = Bridge(knowledge_base)
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(found) for found in self._bridge.search(query_bundle.query_str, self._options)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(found) for found in await self._bridge.asearch(query_bundle.query_str, self._options)]


def _node(found: Found) -> NodeWithScore:
    hit = found.hit
    metadata = hit.document_metadata | hit.metadata
    metadata |= {"path": hit.path, "title": hit.title, "heading": hit.heading, "chunk_index": hit.chunk_index}
    metadata |= {"document_id": hit.document_id, "scores": dict(hit.scores)}
    shown = (*SHOWN, "table_header") if hit.table_header else SHOWN
    hidden = [name for name in metadata if name not in shown or not metadata[name]]
    document = RelatedNodeInfo(node_id=hit.document_id, metadata={"path": hit.path, "title": hit.title})
    relationships: dict[Any, Any] = {NodeRelationship.SOURCE: document}
    if found.previous is not None:
        relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id=found.previous)
    if found.next is not None:
        relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id=found.next)
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        metadata=metadata,
        start_char_idx=hit.start_char,
        end_char_idx=hit.end_char,
        relationships=relationships,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=hit.score)
