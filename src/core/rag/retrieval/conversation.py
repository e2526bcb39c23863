"""Reads the conversation before a question, and searches with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from core.rag.dbhandler.vector_checks import check_vector
from core.rag.embedder.base import EmbeddingService, embed_queries, is_blank
from core.rag.retrieval.as_read import as_read
from core.rag.retrieval.dialogue import Dialogue, Turn
from core.rag.retrieval.hits import SearchMode
from core.rag.retrieval.referents import POINTED_AT, Referent, hangs_on, names_nothing, referents, stands_alone
from core.rag.retrieval.wording.spelling import is_corrected
from core.rag.together import together
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.vectors import VectorStoreInfo
    from core.rag.embedder.base import Vectors

#: How many earlier messages are read: older ones would have no weight.
MESSAGES: Final = 9
#: Weight of a passage of the last answer: 1 / (1 + RANK_DECAY x rank from 0); each earlier answer halves it.
RANK_DECAY: Final = 0.2
TURN_DECAY: Final = 0.5
_MOST_EARLIER: Final = 50
#: Stands for a question of which only the vector is known; no word is searched for.
_WORDLESS: Final = "?"


async def read_dialogue(
    client: MemGraphClient,
    conversation_id: str,
    question: str | None,
    store: VectorStoreInfo | None,
    embedder: EmbeddingService | None,
) -> tuple[Dialogue, str | None]:
    """Read the messages before a question.

    Args:
        client: The graph.
        conversation_id: The conversation.
        question: The question; ``None``: the last message, if it is the user's. If it has been added to the
            conversation already, it does not count as part of its own history.
        store: The vector store; ``None``: do not read vectors.
        embedder: Embeds what the question refers back to; of the same model as ``store``. ``None``: words only.

    Returns:
        The dialogue, and the question.

    Raises:
        NotFoundError: if there is no such conversation.
    """
    messages = await client.recent_messages(conversation_id, MESSAGES)
    if messages and messages[-1]["role"] == "user":
        last = messages[-1]["content"]
        if question is None or is_corrected(as_read(last), as_read(question)):
            question = last if question is None else question
            messages.pop()
    messages = [message for message in messages if message["content"].strip() and message["role"] != "system"]
    ids = [message["id"] for message in messages]
    plain = Dialogue.of([Turn(message["role"], message["content"]) for message in messages])
    if not plain:
        return plain, question
    asked = question or ""
    pointed = tuple(
        referents(asked, [turn.content for turn in plain.questions], [turn.content for turn in plain.answers])
    )
    vectors, earlier, referent = await together(
        _vectors(client, ids, store), _earlier(client, messages), _weighted_vector(pointed, embedder)
    )
    dialogue = Dialogue.of(
        [Turn(message["role"], message["content"], vectors.get(message["id"])) for message in messages]
    )
    alone = stands_alone(asked) and all(referent.weight < POINTED_AT / 2 for referent in pointed)
    return (
        replace(
            dialogue,
            referents=pointed,
            referent_vector=referent,
            nameless=names_nothing(asked),
            hanging=hangs_on(asked),
            alone=alone,
            earlier=earlier,
        ),
        question,
    )


async def _vectors(client: MemGraphClient, ids: Sequence[str], store: VectorStoreInfo | None) -> dict[str, list[float]]:
    return await client.message_vectors(ids, store) if store is not None else {}


async def _weighted_vector(pointed: Sequence[Referent], embedder: EmbeddingService | None) -> list[float] | None:
    wanted = [referent for referent in pointed if not is_blank(referent.text)]
    if embedder is None or not wanted:
        return None
    vectors = np.asarray(await embed_queries(embedder, [referent.text for referent in wanted]), dtype=np.float64)
    weights = np.array([referent.weight for referent in wanted])
    return [float(value) for value in weights @ unit_vectors(vectors)]


async def _earlier(client: MemGraphClient, messages: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the weight of each chunk that earlier messages referred to, or that was found for them."""
    age: dict[str, int] = {}
    exchanges = 0
    for message in reversed(messages):
        age[message["id"]] = exchanges
        exchanges += message["role"] == "user"
    found: dict[str, float] = {}
    for row in await client.chunks_of_messages(list(age)):
        weight = TURN_DECAY ** age[row["id"]] / (1 + RANK_DECAY * max(row["place"], 0))
        found[row["chunk"]] = max(found.get(row["chunk"], 0.0), weight)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST_EARLIER])


class _Given(EmbeddingService):
    """An embedder that returns the caller's vector of the question for every text."""

    def __init__(self, store: VectorStoreInfo, vector: Sequence[float], own: EmbeddingService | None) -> None:
        self._store = store
        self._vector = vector
        self._own = own

    @property
    def model(self) -> str:
        return self._store.model

    @property
    def dimension(self) -> int:
        return self._store.dimension

    @property
    def vector_weight(self) -> float:
        return self._own.vector_weight if self._own else super().vector_weight

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:  # noqa: ARG002
        return np.array([self._vector] * len(texts), dtype=np.float32)


async def search_chunks_in_conversation(
    client: MemGraphClient,
    query_embedding: Sequence[float],
    conversation_id: str,
    limit: int,
    query_text: str | None = None,
) -> list[dict[str, Any]]:
    """See ``MemGraphClient.conversation_aware_search_chunks``."""
    from core.rag.retrieval.retriever import Retriever

    stores = await client.vector_stores()
    store = stores[0] if stores else None
    own = client.embedder if store is not None and client.embedder and client.embedder.model == store.model else None
    dialogue, question = await read_dialogue(client, conversation_id, query_text, store, own)
    if store is None:
        return []
    vector = check_vector(query_embedding, store.dimension)
    if not dialogue and query_text is None:
        return await client.search_chunks(vector, limit)
    retriever = Retriever(client, _Given(store, vector, own), dialogue=dialogue or None)
    mode: SearchMode = "hybrid" if question and question.strip() else "vector"
    hits = await retriever.search(question if mode == "hybrid" and question else _WORDLESS, limit, mode)
    chunks = await client.chunks_by_id([hit.chunk_id for hit in hits])
    return [chunks[hit.chunk_id] | {"score": hit.score, "scores": hit.scores} for hit in hits if hit.chunk_id in chunks]
