"""The same ingest with LlamaIndex: IngestionPipeline and its simple vector store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode, TextNode, TransformComponent
from llama_index.core.schema import Document as LlamaDocument
from llama_index.core.vector_stores import SimpleVectorStore
from pydantic import PrivateAttr

from benchmarks.data import DataSet
from core.rag.embedder import EmbeddingService
from core.rag.indexing import TextSplitter
from libs.dataloader import Document


class OurSplitter(TransformComponent):
    """Our TextSplitter as a transformation."""

    _splitter: TextSplitter = PrivateAttr()

    def __init__(self, splitter: TextSplitter) -> None:
        super().__init__()
        self._splitter = splitter

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> list[BaseNode]:
        """Split every node."""
        found: list[BaseNode] = []
        for node in nodes:
            document = Document(path=node.node_id, content=node.get_content())
            chunks = self._splitter.split(document, parent_id=node.node_id)
            found.extend(TextNode(text=chunk.content, metadata=node.metadata) for chunk in chunks)
        return found


class OurEmbedding(BaseEmbedding):
    """Our EmbeddingService as a LlamaIndex embedding."""

    _service: EmbeddingService = PrivateAttr()

    def __init__(self, service: EmbeddingService) -> None:
        super().__init__(model_name=service.model, embed_batch_size=1024)
        self._service = service

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return list(asyncio.run(self._service.get_embeddings(texts)).tolist())

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class WordLlamaEmbedding(BaseEmbedding):
    """wordllama as its own documentation uses it."""

    _model: Any = PrivateAttr()

    def __init__(self) -> None:
        import wordllama

        super().__init__(model_name="wordllama", embed_batch_size=1024)
        self._model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return list(self._model.embed(texts, norm=True).tolist())

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def run_pipeline(
    data: DataSet, splitter: TextSplitter | None, embedder: EmbeddingService | None, folder: Path
) -> tuple[float, float]:
    """Ingest a corpus.

    Returns:
        Seconds until everything is in the store, and until the store is in a file as well.
    """
    parts: list[TransformComponent] = (
        [OurSplitter(splitter), OurEmbedding(embedder)]
        if splitter is not None and embedder is not None
        else [SentenceSplitter(chunk_size=1024, chunk_overlap=200), WordLlamaEmbedding()]
    )
    parts[-1](nodes=[TextNode(text="load the model")])
    store = SimpleVectorStore()
    pipeline = IngestionPipeline(transformations=parts, vector_store=store)
    documents = [
        LlamaDocument(text=document.content, id_=document.path, metadata={"title": document.title or ""})
        for document in data.documents()
    ]
    started = time.perf_counter()
    pipeline.run(documents=documents)
    built = time.perf_counter() - started
    store.persist(str(folder / "store.json"))
    return built, time.perf_counter() - started
