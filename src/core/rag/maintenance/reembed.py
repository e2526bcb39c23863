"""Embeds all stored chunks and messages with another model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.rag.arguments import check_flags
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.documents.rows import display_title
from core.rag.dbhandler.documents.writing import ChunkRow
from core.rag.dbhandler.json_texts import from_json
from core.rag.embedder.base import dimension_of, embed_long_texts, is_blank
from core.rag.errors import StoreConflictError
from core.rag.identity import content_hash, vector_id
from core.rag.indexing.stopping import check_callbacks
from core.rag.indexing.texts import embedding_text
from core.rag.keyed import Plain
from core.rag.schema import check_name
from libs.dataloader import ChunkMetadata, Document, DocumentChunk

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import Row
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder import EmbeddingService

_BATCH = 256

#: Maximum number of rounds over chunks without a vector, as other clients may write meanwhile.
_ROUNDS = 10


@dataclass(slots=True)
class ReembedReport(Plain):
    """The result of a reembedding.

    Attributes:
        model: The model of the new vectors.
        dimension: Their length.
        chunks: Number of chunks that got a vector.
        messages: Number of messages of conversations that got a vector.
        vectors: Number of vectors that were made; chunks with equal texts share one.
        dropped: Models whose vectors were removed.
        kept: Models whose vectors should be removed but are needed, and by what.
        interrupted: Whether it was stopped early; the old vectors are then still the active ones.
    """

    model: str
    dimension: int
    chunks: int = 0
    messages: int = 0
    vectors: int = 0
    dropped: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    interrupted: bool = False


async def reembed(
    client: MemGraphClient,
    embedder: EmbeddingService,
    *,
    drop_old: bool = False,
    stop: asyncio.Event | None = None,
    progress: Callable[[ReembedReport], None] | None = None,
) -> ReembedReport:
    """See :meth:`core.rag.KnowledgeBase.reembed`."""
    check_callbacks(stop, progress)
    check_flags(drop_old=drop_old)
    dimension = await dimension_of(embedder)
    report = ReembedReport(embedder.model, dimension)
    store = await client.prepare_vector_store(embedder.model, dimension)
    for _ in range(_ROUNDS):
        chunks, messages = await client.chunks_without_vector(store), await client.messages_without_vector(store)
        if not chunks and not messages:
            break
        await fill(client, embedder, store, chunks, report, stop=stop, progress=progress)
        await fill_messages(client, embedder, store, messages, report, stop=stop, progress=progress)
        if report.interrupted:
            return report
    else:
        raise StoreConflictError(
            f"Namespace {client.namespace!r} changes faster than it can be embedded: repeat this when nobody is"
            " ingesting."
        )
    await client.activate_vector_store(store)
    if drop_old:
        for other in await client.vector_stores():
            if other.id == store.id:
                continue
            if await client.drop_vector_store(other):
                report.dropped.append(other.model)
            else:
                report.kept.append(f"{other.model} (it has vectors of entities or concepts)")
    return report


async def chunks_of_other_text(client: MemGraphClient, embedder: EmbeddingService, store: VectorStoreInfo) -> list[str]:
    """Return the ids of ingested chunks whose vector is of another text than would be embedded of them now.

    Vectors that a caller has given are those of the caller's text.
    """
    label = check_name(store.index().label)
    rows = await client.read_lists(
        f"MATCH (v:{label})-[:EMBEDDING_OF]->(c:DocumentChunk) WHERE c.namespace = $namespace", ("c.id", "v.id"), None
    )
    vectors: dict[str, str] = dict(rows)
    own = await client.read_lists(
        "MATCH (c:DocumentChunk)-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace AND d.pipeline <> ''",
        ("c.id",),
        None,
    )
    found: list[str] = []
    for part in batches(sorted({chunk for (chunk,) in own} & vectors.keys())):
        chunks = await client.embeddable_chunks(part)
        expected = await asyncio.to_thread(_vector_ids, chunks, embedder, store)
        found += [key for key, vector in expected.items() if vectors[key] != vector]
    return sorted(found)


async def fill(
    client: MemGraphClient,
    embedder: EmbeddingService,
    store: VectorStoreInfo,
    chunks: Sequence[str],
    report: ReembedReport,
    *,
    stop: asyncio.Event | None = None,
    progress: Callable[[ReembedReport], None] | None = None,
) -> None:
    """Embed chunks that have no vector in a vector store, or one of another text, which this one replaces.

    Args:
        client: The graph.
        embedder: Of the model of ``store``.
        store: The vector store.
        chunks: Ids of the chunks.
        report: Receives the counts.
        stop: When set, the batch in flight is finished and no further one is started.
        progress: Called after each batch.
    """
    for start in range(0, len(chunks), _BATCH):
        if stop is not None and stop.is_set():
            report.interrupted = True
            return
        rows = await client.embeddable_chunks(chunks[start : start + _BATCH])
        texts = {row["id"]: _text(row, embedder) for row in rows}
        wanted = [
            ChunkRow(row["id"], {}, vector_id=vector_id(store.id, content_hash(texts[row["id"]]))) for row in rows
        ]
        there = await client.existing_vectors(list({chunk.vector_id or "" for chunk in wanted}))
        fresh = {chunk.vector_id: texts[chunk.id] for chunk in wanted if chunk.vector_id not in there}
        names = {row["id"]: f"{row['path']} (chunk {row['chunk_index']})" for row in rows}
        labels = {chunk.vector_id: names[chunk.id] for chunk in wanted}
        vectors = await embed_long_texts(embedder, list(fresh.values()), [labels[key] for key in fresh])
        made = {key: memoryview(vector) for key, vector in zip(fresh, vectors, strict=True)}
        for chunk in wanted:
            chunk.embedding = made.get(chunk.vector_id)
        await client.attach_vectors(wanted, store)
        report.chunks += len(wanted)
        report.vectors += len(made)
        if progress is not None:
            progress(report)


async def fill_messages(
    client: MemGraphClient,
    embedder: EmbeddingService,
    store: VectorStoreInfo,
    messages: Sequence[str],
    report: ReembedReport,
    *,
    stop: asyncio.Event | None = None,
    progress: Callable[[ReembedReport], None] | None = None,
) -> None:
    """Embed messages that have no vector in a vector store; see :func:`fill` for the arguments."""
    for start in range(0, len(messages), _BATCH):
        if stop is not None and stop.is_set():
            report.interrupted = True
            return
        found = await client.messages_by_id(messages[start : start + _BATCH])
        texts = {key: message["content"] for key, message in found.items() if not is_blank(message["content"])}
        names = [f"message {key}" for key in texts]
        vectors = await embed_long_texts(embedder, list(texts.values()), names)
        made = dict(zip(texts, vectors.tolist(), strict=True))
        revised = {key: message["revised_at"] for key, message in found.items()}
        report.messages += await client.attach_vectors_of_messages(made, store, revised)
        report.vectors += len(texts)
        if progress is not None:
            progress(report)


def _vector_ids(rows: Sequence[Row], embedder: EmbeddingService, store: VectorStoreInfo) -> dict[str, str]:
    """Return the ids of the vectors that chunks should have, by id of the chunk."""
    return {row["id"]: vector_id(store.id, content_hash(_text(row, embedder))) for row in rows}


def _text(row: Row, embedder: EmbeddingService) -> str:
    """Return the text to embed for a chunk, the same as :mod:`core.rag.indexing.prepare` makes from the document."""
    untitled = display_title(Document(path=row["path"], content=""))
    title = None if row["title"] == untitled else row["title"]
    metadata = ChunkMetadata(from_json(row["metadata"]))
    chunk = DocumentChunk(path=row["path"], content=row["content"], heading=row["heading"], metadata=metadata)
    return embedding_text(title, chunk, embedder.title_weight, words_only=embedder.words_only)
