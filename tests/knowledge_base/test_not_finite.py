"""A vector that is not finite is told by what it was to be the vector of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.rag import KnowledgeBase
from core.rag.errors import EmbeddingError
from libs.dataloader import Document, DocumentChunk
from tests.embedders import HashEmbedder


class Faulty(HashEmbedder):
    """Gives no number for texts with grain in them."""

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> NDArray[np.float32]:
        vectors = await super().get_embeddings(texts)
        vectors[["grain" in text for text in texts]] = np.nan
        return vectors


async def said(kb: Any) -> None:
    await kb.client.add_message(await kb.client.create_conversation(), "Is there grain?", "user")


CALLS: dict[str, Callable[[Any], Awaitable[object]]] = {
    r"grain\.md \(chunk 0\)": lambda kb: kb.ingest(Document(path="grain.md", content="The mill grinds grain.")),
    r"note \(chunk 1 of those given\)": lambda kb: kb.client.process_chunks(
        [DocumentChunk(path="note", content="flour"), DocumentChunk(path="note", content="grain")]
    ),
    "the query": lambda kb: kb.search("grain"),
    r"the message 'Is there grain\?'": said,
}


@pytest.mark.parametrize("name", CALLS)
async def test_what_has_no_vector_is_named(name: str) -> None:
    async with KnowledgeBase.open("embedded::memory:", embedder=Faulty()) as kb:
        await kb.ingest(Document(path="note", content="The mill grinds with the ebb."))
        with pytest.raises(EmbeddingError, match=f"words returned a vector that is not finite for {name}"):
            await CALLS[name](kb)
        assert [row["path"] for row in await kb.documents()] == ["note"]
