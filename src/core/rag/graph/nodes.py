"""The nodes of a :class:`core.rag.KnowledgeGraph`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_text
from core.rag.dbhandler.knowledge.concepts import ConceptRow
from core.rag.encodable import encodable
from core.rag.errors import InvalidInputError, InvalidVectorError
from core.rag.identity import knowledge_key

if TYPE_CHECKING:
    from core.rag.dbhandler.store import Row
    from core.rag.embedder import EmbeddingService

TRUNK_SIZE = 1000

#: Every engine takes properties of this size.
MAX_CONTENT_BYTES = 8_000_000

_MAX_KEY_CHARS = 500


class UndirectedNode:
    """A node of a knowledge graph.

    Two nodes are equal when their ids are. Edges are not part of a node but of the graph:
    :meth:`core.rag.KnowledgeGraph.get_neighbors` reads them.

    Attributes:
        content: Its text.
        label: Its kind: ``concept``, ``document`` … any text.
        id: By default ``uuid3(NAMESPACE_DNS, content)``: the same content gives the same id.
        appendix: Additional data: any JSON-serialisable value.
        embedding: Its vector, if loaded; ``None`` does not mean that the graph has none.
        trunks: The content in overlapping pieces, after :meth:`split_into_trunk`. Each is searched separately.
        trunks_embedding: The vectors of the trunks, after :meth:`create_embedding`.
        similarity: Similarity to the search text, -1 to 1; ``None`` if it was not found by a semantic search.

    Example:
        >>> UndirectedNode("Embeddings are vectors", "concept") == UndirectedNode("Embeddings are vectors")
        True
    """

    def __init__(
        self,
        content: str = "",
        label: str = "",
        embedding: Sequence[float] | None = None,
        appendix: Any = None,
        *,
        id: str | None = None,  # noqa: A002 - the name that the design gives it
    ) -> None:
        """Make a node; nothing is stored before it is added to a graph.

        Raises:
            InvalidInputError: if the content is blank or too large, or the id or label is invalid.
            InvalidVectorError: if the embedding is not a sequence of numbers.
        """
        self.content = _text(content, "The content of a node", MAX_CONTENT_BYTES)
        if not self.content.strip():
            raise InvalidInputError("The content of a node is empty.")
        self.label = _text(label, "The label of a node", _MAX_KEY_CHARS)
        self.id = knowledge_key(self.content) if id is None else _text(id, "The id of a node", _MAX_KEY_CHARS)
        if not self.id:
            raise InvalidInputError("The id of a node is empty; leave it out to have one derived from the content.")
        self.appendix = appendix
        self.embedding: list[float] | None = None if embedding is None else _numbers(embedding)
        self.trunks: list[str] = []
        self.trunks_embedding: list[list[float]] = []
        self.similarity: float | None = None

    def split_into_trunk(self, size: int = TRUNK_SIZE, overlap: int | None = None) -> list[str]:
        """Split the content into overlapping pieces, each of which is searched separately once the node is added.

        Args:
            size: Maximum number of characters in a piece.
            overlap: Characters that two neighbouring pieces share; less than ``size``. ``None``: a tenth of it.

        Returns:
            The pieces, in order; together they cover the whole content. Also kept in ``trunks``.

        Raises:
            InvalidInputError: if a size is invalid.
        """
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise InvalidInputError(f"size is {size!r}, but has to be a whole number of characters from 1 up.")
        overlap = size // 10 if overlap is None else overlap
        if isinstance(overlap, bool) or not isinstance(overlap, int) or not 0 <= overlap < size:
            raise InvalidInputError(f"overlap is {overlap!r}, but has to be from 0 to less than size ({size}).")
        step = size - overlap
        last = max(len(self.content) - overlap, 1)
        self.trunks = [self.content[start : start + size] for start in range(0, last, step)]
        self.trunks_embedding = []
        return self.trunks

    async def create_embedding(self, embedder: EmbeddingService) -> list[float]:
        """Return the vector of the content, embedding it and the trunks if that has not been done.

        Returns:
            A vector with the dimension of the embedder.
        """
        from core.rag.embedder.base import embed_long_texts

        trunks = [] if len(self.trunks_embedding) == len(self.trunks) else self.trunks
        texts = [*([] if self.embedding is not None else [self.content]), *trunks]
        made = (await embed_long_texts(embedder, texts)).tolist() if texts else []
        if self.embedding is None:
            self.embedding = made.pop(0)
        if trunks:
            self.trunks_embedding = made
        return self.embedding

    def to_row(self) -> ConceptRow:
        """Return the row that is stored.

        Raises:
            InvalidInputError: if the appendix is not JSON.
        """
        return ConceptRow(
            key=self.id,
            label=self.label,
            content=self.content,
            properties={
                "appendix": _json(self.appendix),
                "trunks": _json(self.trunks) if self.trunks else "",
            },
        )

    @classmethod
    def from_row(cls, row: Row, similarity: float | None = None) -> UndirectedNode:
        """Make a node from a stored row."""
        node = cls(row["content"], row["label"] or "", appendix=_parsed(row["appendix"]), id=row["key"])
        node.trunks = _parsed(row["trunks"]) or []
        node.similarity = similarity
        return node

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {
            "id": self.id,
            "content": self.content,
            "label": self.label,
            "appendix": self.appendix,
            "trunks": list(self.trunks),
            "similarity": self.similarity,
        }

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, UndirectedNode) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        text = self.content if len(self.content) <= 100 else self.content[:99] + "…"
        return f"UndirectedNode({text!r}, {self.label!r}, id={self.id!r})"


class Nodes(list[UndirectedNode]):
    """Nodes in order.

    Attributes:
        truncated: Whether the traversal stopped at its limit, so that these are only the first nodes.
    """

    def __init__(self, nodes: Iterable[UndirectedNode] = (), *, truncated: bool = False) -> None:
        super().__init__(nodes)
        self.truncated = truncated


def _numbers(embedding: Sequence[float]) -> list[float]:
    try:
        return [float(value) for value in embedding]
    except (TypeError, ValueError) as error:
        raise InvalidVectorError(f"The embedding of a node is not a sequence of numbers: {error}.") from error


def _text(value: Any, what: str, longest: int) -> str:
    text = encodable(check_text(what, value)).replace("\0", "")
    if len(text) > longest or (len(text) > longest // 4 and len(text.encode()) > longest):
        raise InvalidInputError(f"{what} is too long: at most {longest:,} bytes are allowed.")
    return text


def _json(value: Any) -> str:
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"The appendix of a node cannot be stored as JSON: {error}.") from error


def _parsed(text: str | None) -> Any:
    return json.loads(text) if text else None
