"""Embeds texts that a model would not read to their end: messages, and nodes of callers.

Chunks are cut so that they fit. A message or a node is one text with one vector, whatever its length, and nobody can be
asked to say less: its vector is the mean of those of its pieces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from core.rag.errors import EmbeddingInputError

if TYPE_CHECKING:
    from core.rag.embedder.base import Vectors

#: A shorter piece is not refused for its length.
_SHORTEST: Final = 40

#: Embeds texts with their names.
type Embed = Callable[[Sequence[str], Sequence[str] | None], Awaitable[Vectors]]


async def in_pieces(embed: Embed, texts: Sequence[str], names: Sequence[str] | None) -> Vectors:
    """Embed texts, those that are too long in as many pieces as it takes.

    Args:
        embed: Embeds texts that are short enough.
        texts: The texts.
        names: What each is called in an error message.

    Raises:
        EmbeddingInputError: if a short piece is refused, too.
    """
    pieces = [[text] for text in texts]
    while True:
        flat = [piece for parts in pieces for piece in parts]
        called = None if names is None else [n for n, parts in zip(names, pieces, strict=True) for _ in parts]
        try:
            vectors = await embed(flat, called)
        except EmbeddingInputError as error:
            known = error.index is not None and 0 <= error.index < len(flat)
            refused = len(flat[error.index]) if known and error.index is not None else max(map(len, flat), default=0)
            if refused < 2 * _SHORTEST:
                raise
            # All that are as long, so that a text of any length takes a few rounds.
            pieces = [
                [half for piece in parts for half in (_halves(piece) if len(piece) >= refused else (piece,))]
                for parts in pieces
            ]
        else:
            return vectors if len(flat) == len(texts) else _means(vectors, [len(parts) for parts in pieces])


def _halves(text: str) -> tuple[str, str]:
    """Return the halves of a text, cut between words if there are any."""
    middle = len(text) // 2
    cut = max(text.rfind(mark, middle // 2, middle) for mark in " \n")
    return (text[:cut], text[cut:]) if cut > 0 else (text[:middle], text[middle:])


def _means(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """Return the vector of each text, from those of its pieces; that of a text of one piece as it is."""
    import numpy as np

    from core.rag.unit_vectors import unit_vectors

    rows, start = [], 0
    for count in counts:
        own = vectors[start : start + count]
        mean = unit_vectors(own).mean(axis=0) if count > 1 else own[0]
        rows.append(mean if mean.any() else own[0])
        start += count
    return np.stack(rows).astype(np.float32)
