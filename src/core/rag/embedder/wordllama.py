"""WordLlama embeddings: the default, offline, with the weights that come with the ``wordllama`` package.

A vector is the mean of its tokens' weights, normalised: exactly wordllama's own ``embed(texts, norm=True)`` (tested
against it). The package ``wordllama`` itself is never imported: only its two data files are read, so that a query does
not wait for modules that it does not need. Nor is SciPy: its sparse product would save 0.01 ms of a text, and takes as
long to import as 20,000 of them.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from core.rag.embedder.base import (
    AVERAGING_WEIGHT,
    EmbeddingService,
    EmbeddingUsage,
    blank_vector,
    clean_texts,
    is_blank,
)
from core.rag.encodable import encodable
from core.rag.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from core.rag.embedder.base import Vectors
    from core.rag.embedder.wordllama_tokens import WordTokens

DEFAULT_DIMENSION = 256
# The model is trained so that the first n components of a vector are a vector themselves (Matryoshka).
DIMENSIONS = (64, 128, 256, 512, 1024)

_TOKENIZER = "l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
# One turn of the worker thread: little enough to be cancelled soon, and to hold the interpreter lock only for
# milliseconds at a time.
_TEXTS_PER_TURN = 1_024
_CHARACTERS_PER_TURN = 250_000
# Fewer texts than this are summed from the file, without the whole matrix in memory, at four times the cost.
_FEW = 32

# Up to so many words in capitals may be names: "NATO", "IBM DB2".
_ACRONYMS: Final = 2

_models: dict[tuple[Path, int], WordLlamaModel] = {}
_loading = threading.Lock()


class WordLlamaEmbedding(EmbeddingService):
    """WordLlama (l2_supercat) with 256 dimensions, or fewer; more if weights for them are installed.

    Args:
        dimension: 64, 128 or 256; 512 and 1024 need their weights in wordllama's cache folder.

    Raises:
        ConfigurationError: No such dimension, or wordllama or one of its data files is missing.
    """

    def __init__(self, dimension: int = DEFAULT_DIMENSION) -> None:
        self._files = _find_files(dimension)
        self._dimension = dimension
        self._tokens = 0

    @property
    def model(self) -> str:
        """``wordllama-256``, or with another dimension."""
        return f"wordllama-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        return self._dimension

    @property
    def title_weight(self) -> int:
        """Three: a vector is the mean of its words, and of all words those of the title say most."""
        return 3

    @property
    def vector_weight(self) -> float:
        """Nearly half: a mean of words is hardly better than the words."""
        return AVERAGING_WEIGHT

    @property
    def words_only(self) -> bool:
        """Yes: a table would mean its bars and rules, and a page of a PDF its blank lines, whatever they say."""
        return True

    @property
    def usage(self) -> EmbeddingUsage:
        """Tokens so far; nothing is ever requested from anywhere."""
        return EmbeddingUsage(tokens=self._tokens)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, exactly. The first call loads the model (about 0.2 s)."""
        return self._load().count_tokens(encodable(text))

    async def prepare(self) -> None:
        """Load the model in a thread, once per process."""
        await asyncio.to_thread(self._load)

    async def get_embeddings(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Vectors:
        """Embed many texts in a worker thread; see ``EmbeddingService``. There is no limit on their length."""
        import numpy as np

        checked = [_as_said(text) for text in clean_texts(texts, names)]
        await self.prepare()
        model = self._load()
        vectors = np.empty((len(checked), self._dimension), dtype=np.float32)
        for turn in _turns(checked):
            vectors[turn], tokens = await asyncio.to_thread(model.embed, checked[turn])
            self.count(tokens)
        return vectors

    def count(self, tokens: int) -> None:
        """Add tokens that were embedded on behalf of this embedder to its ``usage``."""
        self._tokens += tokens

    def _load(self) -> WordLlamaModel:
        weights, tokenizer = self._files
        key = (weights, self._dimension)
        model = _models.get(key)
        if model is None:
            with _loading:
                model = _models.get(key)
                if model is None:
                    model = _models[key] = WordLlamaModel(weights, tokenizer, self._dimension)
        return model

    def __repr__(self) -> str:
        return f"WordLlamaEmbedding(dimension={self._dimension})"


def _as_said(text: str) -> str:
    """Return a text in capitals in lower case, since the model hardly knows words in capitals except acronyms."""
    return text.lower() if text.isupper() and len(text.split()) > _ACRONYMS else text


class WordLlamaModel:
    """The weights and the tokenizer, loaded. Blocking; safe to use from several threads.

    Args:
        weights: The safetensors file.
        tokenizer: The tokenizer's JSON file.
        dimension: How many components of each weight are used.

    Raises:
        ConfigurationError: A file is damaged.
    """

    def __init__(self, weights: Path, tokenizer: Path, dimension: int) -> None:
        from core.rag.embedder.wordllama_tokens import WordTokens

        self._weights = _read_weights(weights)[:, :dimension]
        self._tokens: WordTokens = WordTokens(tokenizer)
        self._matrix: Vectors | None = None
        self._blank = blank_vector(dimension)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(self._tokens.encode([text])[0])

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Embed texts that hold no lone surrogates.

        Returns:
            A float32 array of shape (len(texts), dimension) with rows of length 1, and the number of tokens. A row does
            not depend, to the last bit, on the texts around it.
        """
        import numpy as np

        ids, offsets = self._tokens.encode(texts)
        sums = np.zeros((len(texts), self._weights.shape[1]), dtype=np.float32)
        weights = self._weights if len(texts) < _FEW else self._in_memory()
        for row, (start, end) in enumerate(pairwise(offsets.tolist())):
            np.add.reduce(weights[ids[start:end]], axis=0, dtype=np.float32, out=sums[row])
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        blank = np.array([length == 0 or is_blank(text) for length, text in zip(lengths, texts, strict=True)], bool)
        lengths[blank] = 1
        sums /= lengths[:, np.newaxis]
        sums[blank] = self._blank
        return sums, len(ids)

    def _in_memory(self) -> Vectors:
        import numpy as np

        if self._matrix is None:
            self._matrix = np.ascontiguousarray(self._weights, dtype=np.float32)
        return self._matrix


def _turns(texts: list[str]) -> Iterator[slice]:
    """Cut the work into turns of bounded size; a single text is never cut."""
    start = characters = 0
    for index, text in enumerate(texts):
        if index > start and (index - start >= _TEXTS_PER_TURN or characters + len(text) > _CHARACTERS_PER_TURN):
            yield slice(start, index)
            start, characters = index, 0
        characters += len(text)
    if start < len(texts):
        yield slice(start, len(texts))


def _find_files(dimension: int) -> tuple[Path, Path]:
    if dimension not in DIMENSIONS:
        raise ConfigurationError(f"wordllama has no {dimension} dimensions: choose one of {_listed(DIMENSIONS)}")
    spec = importlib.util.find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError("The default embedder needs the package wordllama: pip install 'wordllama==0.4.*'")
    package = Path(next(iter(spec.submodule_search_locations)))
    tokenizer = package / "tokenizers" / _TOKENIZER
    if not tokenizer.is_file():
        raise ConfigurationError(
            f"The installed wordllama lacks {tokenizer}: pip install --force-reinstall 'wordllama==0.4.*'"
        )
    folders = (package / "weights", Path.home() / ".cache" / "wordllama" / "weights")
    # 64 and 128 are the first components of 256, which the wheel carries.
    file = f"l2_supercat_{max(dimension, DEFAULT_DIMENSION)}.safetensors"
    for folder in folders:
        if (folder / file).is_file():
            return folder / file, tokenizer
    raise ConfigurationError(
        f"There are no weights for wordllama with {dimension} dimensions: {file} is in none of {_listed(folders)}. "
        f"The wordllama package itself brings those for 64, 128 and 256."
    )


def _read_weights(path: Path) -> NDArray[np.float16]:
    """Map a safetensors file: 8 bytes of header length, a JSON header, the numbers."""
    import numpy as np

    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            entry = json.loads(file.read(size))[_TENSOR]
            rows, columns = entry["shape"]
            offset = 8 + size + entry["data_offsets"][0]
        if entry["dtype"] != "F16" or path.stat().st_size < offset + 2 * rows * columns:
            raise ValueError(f"{entry['dtype']} {rows} x {columns}")
        return np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=(rows, columns))
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise ConfigurationError(
            f"The weights in {path} cannot be read ({error}): pip install --force-reinstall 'wordllama==0.4.*'"
        ) from error


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values))
