"""The interface of embedders, and the rules that all of them follow.

**Blank texts.** A text in which nothing is visible (empty, only white space, only control or invisible formatting
characters) has no meaning to embed, and an all-zero vector is refused by vector indexes. Such a text gets
``blank_vector(dimension)``: one fixed unit vector, close to orthogonal to every real one. So it can be stored like any
other, and it comes far behind what is about something. A query for which ``is_blank`` is true has no nearest
neighbours; searching code returns no vector hits for it instead of asking an index.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from core.rag.embedder.long_texts import in_pieces
from core.rag.encodable import encodable
from core.rag.errors import EmbeddingError, EmbeddingInputError, InvalidInputError

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    type Vectors = NDArray[np.float32]

_log = logging.getLogger(__name__)

#: A question of fewer characters is not refused for its length.
_SHORT_QUESTION: Final = 64

#: The share of meaning in a hybrid search with an embedder that averages the words of a text: nearly half, so that
#: words decide between otherwise equal chunks.
AVERAGING_WEIGHT: Final = 0.48
#: The same with one that reads the text.
_READING_WEIGHT: Final = 0.85


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """What an embedder has used since it was made.

    Attributes:
        tokens: Tokens embedded, as the provider counts them.
        requests: Requests sent to a provider, repeated ones included; 0 for a local model.
        retries: How many of those were repetitions after a failure.
    """

    tokens: int = 0
    requests: int = 0
    retries: int = 0


class EmbeddingService(ABC):
    """Turns texts into vectors.

    An own embedder defines ``model``, ``dimension`` and ``get_embeddings``; the rest has defaults::

        class MyEmbedding(EmbeddingService):
            @property
            def model(self) -> str:
                return "my-model"

            @property
            def dimension(self) -> int:
                return 384

            async def get_embeddings(self, texts, names=None):
                return numpy.asarray(await my_model(texts), dtype="float32")
    """

    @property
    @abstractmethod
    def model(self) -> str:
        """The identity that is stored in the graph; vectors of one identity and dimension can be compared."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The length of every vector.

        Raises:
            EmbeddingError: It is not known before ``prepare`` (an unknown model of a remote provider).
        """

    @abstractmethod
    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed many texts.

        Args:
            texts: Any sequence of strings (a list serves), but not one string.
            names: What each text is called in an error message, for example the path and number of the chunk.

        Returns:
            A float32 array of shape (len(texts), dimension); row i belongs to text i.

        Raises:
            EmbeddingInputError: A text is too long; names it.
            EmbeddingError: The provider failed.
            InvalidInputError: Not a sequence of strings.
        """

    async def get_embedding(self, text: str) -> list[float]:
        """Embed one text.

        Returns:
            ``dimension`` floats.

        Raises:
            EmbeddingError: As ``get_embeddings``.
        """
        rows = await self.get_embeddings([text])
        return [float(value) for value in rows[0]]

    async def get_query_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed questions, to be compared with the vectors of texts.

        They are embedded like texts unless a subclass knows a model that wants to be told which is which.

        Args:
            texts: The questions.
            names: As for ``get_embeddings``.

        Returns:
            As ``get_embeddings``.

        Raises:
            EmbeddingError: As ``get_embeddings``.
        """
        return await _called(self.get_embeddings, texts, names)

    async def get_query_embedding(self, text: str) -> list[float]:
        """Embed one question.

        Returns:
            ``dimension`` floats.

        Raises:
            EmbeddingError: As ``get_embeddings``.
        """
        rows = await self.get_query_embeddings([text])
        return [float(value) for value in rows[0]]

    @property
    def title_weight(self) -> int:
        """How often the title of a document is put before the text of each of its chunks.

        Once is right for models that read a text; one that only averages its words forgets a title that stands there
        once.
        """
        return 1

    @property
    def vector_weight(self) -> float:
        """The share of meaning in a hybrid search, from 0 to 1; the rest is that of the question's words.

        It is large for models that read a text (docs/adr/0008-fusion.md); one that only averages its words knows
        little more than they say.
        """
        return _READING_WEIGHT

    @property
    def words_only(self) -> bool:
        """Whether a chunk is embedded without its line breaks, runs of blanks, and signs that stand alone.

        A model that reads a text sees its form in them. To one that averages its tokens they are words like others.
        """
        return False

    @property
    def max_input_tokens(self) -> int | None:
        """How many tokens one text may have; None if there is no limit, or none is known."""
        return None

    @property
    def usage(self) -> EmbeddingUsage:
        """Tokens, requests and retries so far."""
        return EmbeddingUsage()

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, or give an upper bound.

        Returns:
            The number of UTF-8 bytes unless a subclass knows better: no byte-level tokenizer makes more tokens.
        """
        return utf8_length(text)

    async def prepare(self) -> None:
        """Do now what the first embedding would wait for: load weights, learn the dimension. May be called again."""
        return

    async def close(self) -> None:
        """Release connections. The embedder cannot be used afterwards; closing it again does nothing."""
        return

    async def __aenter__(self) -> Self:
        await self.prepare()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def is_blank(text: str) -> bool:
    """Tell whether nothing in a text is visible: white space, control and invisible formatting characters only."""
    # The first visible character ends this, so that it costs nothing for ordinary text.
    return all(char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in text)


def blank_vector(dimension: int) -> Vectors:
    """Give the vector of blank texts: every component plus or minus 1/sqrt(dimension), signs from a fixed hash.

    Returns:
        A float32 array of shape (dimension,), of length 1. The same for ever: vectors in existing graphs depend on it.
    """
    import numpy as np

    stream = hashlib.shake_256(b"memgraph-rag blank text").digest((dimension + 7) // 8)
    signs = np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[:dimension].astype(np.float32) * 2 - 1
    return np.asarray(signs / np.sqrt(np.float32(dimension)), dtype=np.float32)


def too_long(model: str, name: str, index: int, has: str, limit: int) -> EmbeddingInputError:
    """Return the error about a text that is too long for a model.

    Args:
        model: The model.
        name: What the text is called.
        index: Its place among the texts of the call.
        has: How long it is: "600 tokens".
        limit: How many tokens the model takes.
    """
    return EmbeddingInputError(
        f"{name} has {has}; {model} takes {limit} tokens at most. Split it into smaller chunks (MGRAG_CHUNK_SIZE)",
        name=name,
        index=index,
    )


def utf8_length(text: str) -> int:
    """Count the bytes of a text in UTF-8, lone surrogates as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def clean_texts(texts: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Check the arguments of ``get_embeddings``, and clean the texts.

    Returns:
        The texts, clean, with composed accents: names of files on macOS and texts of some PDFs have them apart from
        their letters, which models take for other words.

    Raises:
        InvalidInputError: One string instead of a sequence, an item that is not a string, or not one name per text.
    """
    if isinstance(texts, str | bytes):
        raise InvalidInputError("get_embeddings takes a sequence of texts, not one text: use get_embedding for that")
    if not isinstance(texts, Iterable):
        raise InvalidInputError(f"get_embeddings takes a sequence of texts, not {type(texts).__name__}")
    texts = list(texts)  # an iterator would be empty after the checks
    if names is not None and len(names) != len(texts):
        raise InvalidInputError(f"{len(texts)} texts came with {len(names)} names: give one name per text")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInputError(f"Text number {position} is {type(text).__name__}, not a string")
    return [encodable(text) if text.isascii() else unicodedata.normalize("NFC", encodable(text)) for text in texts]


async def dimension_of(embedder: EmbeddingService) -> int:
    """Return the dimension of an embedder; a provider is asked if it is unknown."""
    try:
        return embedder.dimension
    except EmbeddingError:
        await embedder.prepare()
        return embedder.dimension


def known_dimension(embedder: EmbeddingService) -> int | None:
    """Return the dimension of an embedder; ``None`` if it is not known before ``prepare``."""
    try:
        return embedder.dimension
    except EmbeddingError:
        return None


async def embed_texts(service: EmbeddingService, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
    """Embed with any embedder, one brought by the user included, and make sure of the result.

    A row of zeros (which no index takes) is replaced by ``blank_vector``. An embedder whose ``get_embeddings`` knows no
    names is called without them.

    Args:
        service: The embedder.
        texts: The texts.
        names: What each text is called in an error message.

    Returns:
        A float32 array of shape (len(texts), service.dimension), finite, no row all zero.

    Raises:
        EmbeddingError: No numbers, wrong shape, or not finite; says which embedder, and which text.
    """
    return await _checked(service, service.get_embeddings, texts, names)


async def embed_queries(service: EmbeddingService, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
    """Embed questions with any embedder, as ``embed_texts`` does texts.

    Of a question that is too long for the model, such as a log that was pasted, the beginning is embedded: nobody can
    be asked to split it, as a text.
    """
    asked = texts
    while True:
        try:
            return await _checked(service, service.get_query_embeddings, asked, names)
        except EmbeddingInputError as error:
            place = 0 if error.index is None else error.index
            if not 0 <= place < len(asked) or len(asked[place]) < _SHORT_QUESTION:
                raise
            _log.warning("Only the beginning of a question is compared by meaning, as it is too long: %s", error)
            half = asked[place][: len(asked[place]) // 2]
            asked = [*asked[:place], half.rpartition(" ")[0].strip() or half, *asked[place + 1 :]]


async def embed_long_texts(
    service: EmbeddingService, texts: Sequence[str], names: Sequence[str] | None = None, *, as_queries: bool = False
) -> Vectors:
    """Embed texts as ``embed_texts`` does, or as questions; they may be longer than the model reads."""
    method = service.get_query_embeddings if as_queries else service.get_embeddings
    return await in_pieces(partial(_checked, service, method), texts, names)


async def _checked(
    service: EmbeddingService,
    method: Callable[..., Awaitable[Vectors]],
    texts: Sequence[str],
    names: Sequence[str] | None,
) -> Vectors:
    import numpy as np

    if not texts:
        return np.empty((0, service.dimension), dtype=np.float32)
    result = await _called(method, texts, names)
    try:
        vectors = np.asarray(result, dtype=np.float32)
    except (TypeError, ValueError) as error:  # rows of different lengths, texts, an iterator …
        raise EmbeddingError(f"The embedder {service.model} did not return an array of numbers: {error}") from error
    if vectors.shape != (len(texts), service.dimension):
        raise EmbeddingError(
            f"The embedder {service.model} returned an array of shape {vectors.shape} "
            f"for {len(texts)} texts of dimension {service.dimension}"
        )
    return usable_rows(vectors, service.model, names)


async def _called(
    method: Callable[..., Awaitable[Vectors]], texts: Sequence[str], names: Sequence[str] | None
) -> Vectors:
    """Call ``get_embeddings`` of an embedder that may know no names."""
    if names is not None and "names" in inspect.signature(method).parameters:
        return await method(texts, names=names)
    return await method(texts)


def usable_rows(vectors: Vectors, model: str, names: Sequence[str] | None) -> Vectors:
    """Refuse vectors that are not finite, and replace rows of zeros by ``blank_vector``.

    Raises:
        EmbeddingError: Names the first text whose vector is not finite.
    """
    import numpy as np

    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(squares))
    if wrong.size:
        which = f"{names[wrong[0]]}" if names is not None else f"text number {wrong[0]}"
        raise EmbeddingError(f"The embedder {model} returned a vector that is not finite for {which}")
    zero = np.flatnonzero(squares == 0)
    if zero.size:
        vectors = vectors.copy()
        vectors[zero] = blank_vector(vectors.shape[1])
    return vectors
