"""Embeddings from OpenAI, Azure OpenAI, or any server with the same protocol."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.rag.embedder.base import (
    EmbeddingService,
    EmbeddingUsage,
    blank_vector,
    clean_texts,
    is_blank,
    too_long,
    usable_rows,
    utf8_length,
)
from core.rag.embedder.openai_tokens import LONGEST_TOKEN_BYTES, offline_counter
from core.rag.embedder.prefixes import prefixes_of
from core.rag.encodable import encodable
from core.rag.errors import ConfigurationError, EmbeddingAuthError, EmbeddingError, EmbeddingInputError
from core.rag.openai_api import ApiClient, Served, Timing
from core.rag.openai_endpoint import find_endpoint
from core.rag.openai_events import MalformedAnswerError
from core.rag.openai_failures import ApiFailure, FailureKind, Purpose, explain
from core.rag.settings import Settings, settings_for
from core.rag.together import all_together
from libs.dataloader.batches import in_batches
from libs.regexes import regex

if TYPE_CHECKING:
    from pydantic import SecretStr

    from core.rag.embedder.base import Vectors
    from core.rag.embedder.openai_tokens import Counter

# Limits of the OpenAI API (reference of "create embeddings").
MAX_INPUTS = 2_048
MAX_REQUEST_TOKENS = 300_000
MAX_INPUT_TOKENS = 8_191
# For servers of which nothing is known; many work through a request one input after the other.
UNKNOWN_BATCH = 256

_PURPOSE = Purpose("embed", "MGRAG_EMBEDDING", "the name of the model", "AZURE_OPENAI_EMBEDDING_DEPLOYMENT")
_TOO_MUCH = regex(r"context length|too (long|large|many|big)|maximum|exceed|limit|tokens|batch", re.IGNORECASE)
_WHICH_INPUT = regex(r"input\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What is known of a model without asking.

    Attributes:
        dimension: The length of its vectors.
        shortens: Whether it takes ``dimensions`` for shorter ones.
    """

    dimension: int
    shortens: bool


KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(1536, shortens=True),
    "text-embedding-3-large": KnownModel(3072, shortens=True),
    "text-embedding-ada-002": KnownModel(1536, shortens=False),
}


@dataclass(frozen=True, slots=True)
class _Input:
    """A text on its way; ``index`` and ``name`` say whose, for error messages."""

    text: str
    index: int
    name: str


class OpenAICompatibleEmbedding(Served, EmbeddingService):
    """Any embedding model behind the OpenAI protocol.

    The endpoint is ``base_url``, else MGRAG_EMBEDDING_BASE_URL, else OPENAI_BASE_URL, else Azure OpenAI
    (AZURE_OPENAI_API_KEY and AZURE_OPENAI_ENDPOINT), else OpenAI (OPENAI_API_KEY). A server on one's own machine needs
    no key.

    A text that occurs twice in one call is requested once, a blank one (``is_blank``) never. Requests carry at most
    2,048 texts and 300,000 tokens. A server that takes less at a time is sent less.

    Args:
        model: The name of the model, as the server calls it.
        base_url: The endpoint.
        api_key: The key.
        dimension: The length of vectors to ask for; needed only if the model offers several.
        settings: The environment; read if None.
        max_input_tokens: The most tokens that one text may have, if known.
        query_prefix: What the model wants to read before a question; ``None``: MGRAG_EMBEDDING_QUERY_PREFIX, else what
            is known of the model (``prefixes``).
        text_prefix: The same before a text; ``None``: MGRAG_EMBEDDING_TEXT_PREFIX, else what is known.

    Raises:
        ConfigurationError: No key and no endpoint, or a dimension that the model does not have; says what to set.
        MissingDependencyError: The ``openai`` package is not installed.
    """

    _azure_first = False

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        dimension: int | None = None,
        *,
        settings: Settings | None = None,
        max_input_tokens: int | None = None,
        query_prefix: str | None = None,
        text_prefix: str | None = None,
        _timing: Timing | None = None,
    ) -> None:
        settings = settings_for(settings)
        endpoint = find_endpoint(
            settings,
            f"The embedding model {model}",
            "embedding",
            base_url=base_url,
            api_key=api_key,
            azure_first=self._azure_first,
        )
        known = KNOWN_MODELS.get(model)
        if known is not None and dimension is not None:
            _check_dimension(model, known, dimension)
        self._model = model
        self._prefixes = prefixes_of(model, settings, query_prefix, text_prefix)
        self._settings = settings
        self._known = known is not None
        self._dimension = dimension or (known.dimension if known else None)
        # What is asked for beyond the protocol's core; dropped when a server says that it does not know it.
        self._options: dict[str, Any] = {"encoding_format": "base64"}
        if dimension is not None and (known is None or dimension != known.dimension):
            self._options["dimensions"] = dimension
        self._max_input_tokens = max_input_tokens or (MAX_INPUT_TOKENS if known else None)
        self._max_inputs = settings.embedding_batch_size or (MAX_INPUTS if known else UNKNOWN_BATCH)
        self._tokens = 0
        self._api = ApiClient(
            endpoint,
            timeout=settings.embedding_timeout,
            concurrency=settings.embedding_concurrency,
            deadline=settings.embedding_retry_deadline,
            azure_deployment=settings.azure_openai_embedding_deployment or model,
            timing=_timing,
        )

    @property
    def model(self) -> str:
        """The name of the model, with what is put before texts: ``nomic-embed-text [search_document: ]``."""
        return f"{self._model} [{self._prefixes.text}]" if self._prefixes.text else self._model

    @property
    def dimension(self) -> int:
        """The length of every vector; for a model that is not OpenAI's known after ``prepare``."""
        if self._dimension is None:
            raise EmbeddingError(
                f"The dimension of {self._model} is not known yet: await prepare(), or pass dimension=…"
            )
        return self._dimension

    @property
    def max_input_tokens(self) -> int | None:
        """How many tokens one text may have, if known."""
        return self._max_input_tokens

    @property
    def usage(self) -> EmbeddingUsage:
        """Tokens as the server counted them, requests, and retries among those."""
        return EmbeddingUsage(tokens=self._tokens, requests=self._api.requests, retries=self._api.retries)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text; the number of its bytes, an upper bound, if that cannot be done offline.

        The first call for an OpenAI model may take half a second.
        """
        count = self._counter()
        return count(encodable(text)) if count else utf8_length(text)

    async def prepare(self) -> None:
        """Learn the dimension, with one request, if it is not known."""
        if self._dimension is None:
            await self.get_embeddings(["dimension"], ["the word that its dimension is asked with"])

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed many texts; see ``EmbeddingService``.

        Raises:
            EmbeddingInputError: A text has too many tokens; names it, and nothing was requested if it can be told here.
            EmbeddingAuthError: The key was refused.
            EmbeddingError: The server failed, for longer than the deadline, or answered something else.
        """
        return await self._embed_all(texts, names, self._prefixes.text)

    async def get_query_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed questions; see ``EmbeddingService`` and ``get_embeddings``."""
        return await self._embed_all(texts, names, self._prefixes.query)

    async def _embed_all(self, texts: Sequence[str], names: Sequence[str] | None, prefix: str) -> Vectors:
        import numpy as np

        checked = clean_texts(texts, names)
        first: dict[str, int] = {}
        for index, text in enumerate(checked):
            if not is_blank(text):
                first.setdefault(text, index)
        inputs = [
            _Input(prefix + text, index, names[index] if names is not None else f"text number {index}")
            for text, index in first.items()
        ]
        await self._check_lengths(inputs)
        embedded = await all_together(self._embed(batch) for batch in self._batches(inputs))
        if checked:
            await self.prepare()
        # The blank vector stands last, where the row -1 of blank texts finds it.
        dimension = self._dimension or 0
        vectors = np.concatenate([*embedded, blank_vector(dimension)[np.newaxis]])
        rows = {text: row for row, text in enumerate(first)}
        return np.asarray(vectors[[rows.get(text, -1) for text in checked]])

    async def _check_lengths(self, inputs: list[_Input]) -> None:
        limit = self._max_input_tokens
        if limit is None:
            return
        for item in inputs:
            size = utf8_length(item.text)
            if size <= limit:
                continue
            if self._known and size > limit * LONGEST_TOKEN_BYTES:
                raise too_long(self._model, item.name, item.index, f"{size} bytes", limit)
            # Counting, and loading what it takes, is work for a thread. Without a counter the server has to tell.
            counter = await asyncio.to_thread(self._counter)
            tokens = await asyncio.to_thread(counter, item.text) if counter else 0
            if tokens > limit:
                raise too_long(self._model, item.name, item.index, f"{tokens} tokens", limit)

    def _counter(self) -> Counter | None:
        return offline_counter(self._settings) if self._known else None

    def _batches(self, inputs: list[_Input]) -> Iterator[list[_Input]]:
        """Fill requests up to the limits; bytes stand for tokens, of which there are never more."""
        sizes = (utf8_length(item.text) for item in inputs)
        return in_batches(inputs, sizes, self._max_inputs, MAX_REQUEST_TOKENS)

    async def _embed(self, batch: list[_Input]) -> Vectors:
        """Embed a batch, in halves if the server finds it too much, down to the text that is."""
        import numpy as np

        if len(batch) <= self._max_inputs:
            try:
                return await self._request(batch)
            except ApiFailure as failure:
                too_much = failure.status in (400, 422) and _TOO_MUCH.search(failure.message)
                if not too_much and failure.status != 413:
                    raise self._error(failure) from failure
                named = _WHICH_INPUT.search(failure.message)
                culprit = batch[int(named[1])] if named and int(named[1]) < len(batch) else batch[0]
                if named or len(batch) == 1:
                    raise EmbeddingInputError(
                        f"{self._model} cannot take {culprit.name}: {failure}. "
                        f"Split it into smaller chunks (MGRAG_CHUNK_SIZE)",
                        name=culprit.name,
                        index=culprit.index,
                    ) from failure
        half = len(batch) // 2
        vectors = np.concatenate([await self._embed(batch[:half]), await self._embed(batch[half:])])
        # Nothing in it was too long, so it was too much at a time: no more than this from now on.
        self._max_inputs = min(self._max_inputs, len(batch) - half)
        return vectors

    async def _request(self, batch: list[_Input]) -> Vectors:
        texts = [item.text for item in batch]
        while True:
            options = dict(self._options)
            try:
                return await self._api.call(
                    lambda client: client.embeddings.with_raw_response.create(
                        model=self._model,
                        input=texts,
                        **options,  # noqa: B023 - called before the next round
                    ),
                    lambda answer: self._read(answer, batch),
                )
            except ApiFailure as failure:
                unknown = next((name for name in options if name in failure.message), None)
                if failure.status not in (400, 422) or unknown is None or options[unknown] == "float":
                    raise
                # Every server speaks "float". Without ``dimensions`` the answer's own is checked all the same.
                if unknown == "encoding_format":
                    self._options[unknown] = "float"
                else:
                    self._options.pop(unknown, None)

    def _read(self, answer: Any, batch: list[_Input]) -> Vectors:
        """Check an answer and put its vectors in the order of the texts."""
        import numpy as np

        count = len(batch)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise MalformedAnswerError("the answer holds no list of embeddings")
        if len(data) != count:
            raise MalformedAnswerError(f"the answer holds {len(data)} embeddings for {count} texts")
        order = [item.get("index", place) for place, item in enumerate(data)]
        if not all(type(place) is int for place in order) or sorted(order) != list(range(count)):
            raise MalformedAnswerError("the answer does not say which embedding belongs to which text")
        rows = [_vector(item.get("embedding")) for item in data]
        expected = self._dimension or len(rows[0])
        wrong = next((len(row) for row in rows if len(row) != expected), None)
        if wrong is not None:
            raise EmbeddingError(
                f"{self._model} at {self._api.endpoint.url} returned a vector of dimension {wrong}, not {expected}: "
                f"it is another model, or does not support this dimension"
            )
        vectors = np.empty((count, expected), dtype=np.float32)
        vectors[order] = rows
        vectors = usable_rows(vectors, self._model, [item.name for item in batch])
        self._dimension = expected
        usage = answer.get("usage")
        used = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else None
        self._tokens += used if isinstance(used, int) else 0
        return vectors

    def _error(self, failure: ApiFailure) -> EmbeddingError:
        kind = EmbeddingAuthError if failure.kind is FailureKind.AUTH else EmbeddingError
        return kind(explain(failure, self._api.endpoint, self._model, _PURPOSE))


def _check_dimension(model: str, known: KnownModel, dimension: int) -> None:
    if dimension > known.dimension or (dimension != known.dimension and not known.shortens):
        offer = f"up to {known.dimension}" if known.shortens else f"{known.dimension}"
        raise ConfigurationError(f"{model} has {offer} dimensions, not {dimension} (MGRAG_EMBEDDING_DIMENSION)")


def _vector(embedding: object) -> Any:
    """Decode one embedding: little-endian float32 in base64, or a list of numbers."""
    import numpy as np

    try:
        if isinstance(embedding, str):
            vector = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        elif isinstance(embedding, list) and not any(isinstance(value, str | list) for value in embedding):
            vector = np.array(embedding, dtype=np.float32)
        else:
            raise MalformedAnswerError("an embedding is neither a list of numbers nor base64")
    except (binascii.Error, TypeError, OverflowError) as error:
        raise MalformedAnswerError(f"an embedding cannot be read ({error})") from error
    if not len(vector):
        raise MalformedAnswerError("an embedding is empty")
    return vector
