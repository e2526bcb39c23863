"""Counting tokens, in bulk and without tokenizing what need not be.

The default counter is the tokenizer of the default embedder (WordLlama, a SentencePiece BPE of 32,000 pieces). In that
vocabulary no piece reaches over the edge between a letter and a punctuation mark, into or out of a digit or a line
end, or from a character to a following space. So no merge does either, and the tokens of a text are exactly those of
its runs. Runs repeat: each is tokenized once and remembered. ``tests/indexing/test_tokens.py`` holds this against the
real tokenizer.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.rag.errors import ConfigurationError, InvalidInputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_RUN = re.compile(r"[\n0-9]| *(?:[^\W\d_²]+|(?:[^\w \n]|[_²]|(?![0-9])\d)+)| +")
_SPACE = "\u2581"  # how the vocabulary writes a space
_SPECIAL = ("<s>", "</s>", "<unk>", _SPACE)  # cut out of the text, or stand for a space, before anything is merged
_TOKENIZER_FILE = "l2_supercat_tokenizer_config.json"
_REMEMBERED_CHARACTERS = 8_000_000

#: Texts that tell counters apart (used for fingerprints only).
_PROBES = ("", "a", "The quick brown fox, 2026.", "def f(x):\n    return x\n", "ünïcödé 漢字かな 👩‍👩‍👧", "x" * 64)


class TokenCounter(Protocol):
    """What the splitter needs to know of a tokenizer."""

    @property
    def overhead(self) -> int:
        """By how much the count of a text may exceed the weights of its parts (a beginning-of-text mark, say)."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes when counts could change."""
        ...

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        ...

    def fits(self, text: str, limit: int) -> bool:
        """Whether a text has at most ``limit`` tokens; may be much cheaper than :meth:`count`.

        May answer no for a text too long to be worth counting; never answers yes wrongly.
        """
        ...

    def weights(self, texts: Sequence[str]) -> list[int]:
        """About how many tokens each text adds where the texts stand one after the other."""
        ...


class WordLlamaTokens:
    """Counts as WordLlama's tokenizer does, its beginning-of-text mark included. Safe to share between threads."""

    overhead = 2  # that mark, and a space at the end

    def __init__(self) -> None:
        self._tokenizer: Tokenizer | None = None
        self._seed: tuple[dict[str, int], dict[str, int]] = ({}, {})
        self._words: dict[str, int] = {}  # what stands after a space (or at the start), without that space
        self._runs: dict[str, int] = {}  # as _RUN finds them
        self._characters = 0

    @property
    def fingerprint(self) -> str:
        """Name and version of the tokenizer."""
        return f"wordllama-{importlib.metadata.version('wordllama')}"

    def count(self, text: str) -> int:
        """The number of tokens of a text, the beginning-of-text mark included."""
        if _is_plain(text):
            parts = text.split(" ")
            return 1 + sum(map(self._known_words((parts,)).__getitem__, parts))
        if not text or _has_special(text):
            return len(self._load().encode(text).ids)
        parts = _RUN.findall(" " + text)
        return 1 + sum(map(self._known_runs(parts).__getitem__, parts))

    def fits(self, text: str, limit: int) -> bool:
        """Whether a text has at most ``limit`` tokens. No text has more than its UTF-8 bytes and two."""
        if 4 * len(text) + 2 <= limit or utf8_length(text) + 2 <= limit:
            return True
        # Of the longest piece of the vocabulary (16 characters) even the densest text cannot make fewer tokens.
        return len(text) <= 16 * limit and self.count(text) <= limit

    def weights(self, texts: Sequence[str]) -> list[int]:
        """About how many tokens each text adds; a space at its end counts with the next word."""
        if all(map(_is_plain, texts)):
            lists = [text.split(" ") for text in texts]
            get = self._known_words(lists).__getitem__
            return [sum(map(get, parts)) - (not parts[-1]) for parts in lists]
        return [self.count(text) - 1 - text.endswith(" ") for text in texts]

    def _known_words(self, lists: Iterable[list[str]]) -> dict[str, int]:
        self._load()
        words = self._words
        missing = set(filterfalse(words.__contains__, chain.from_iterable(lists)))
        if missing:
            pieces = {word: _RUN.findall(" " + word) for word in missing}
            get = self._known_runs([run for parts in pieces.values() for run in parts]).__getitem__
            words = self._words  # as it is after learning the runs, which may have begun a new one
            words.update({word: sum(map(get, parts)) for word, parts in pieces.items()})
            self._characters += sum(map(len, missing))
        return words

    def _known_runs(self, parts: Sequence[str]) -> dict[str, int]:
        tokenizer = self._load()
        runs = self._runs
        missing = set(filterfalse(runs.__contains__, parts))
        if not missing:
            return runs
        tokenize = tokenizer.model.tokenize  # the merges alone; the steps before them are what _RUN makes needless
        runs.update({run: len(tokenize(run.replace(" ", _SPACE))) for run in missing})
        self._characters += sum(map(len, missing))
        return runs

    def _load(self) -> Tokenizer:
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(_tokenizer_file()))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            vocabulary = tokenizer.get_vocab(with_added_tokens=False)
            words = {piece[1:]: 1 for piece in vocabulary if piece[0] == _SPACE and piece[1:2] != _SPACE}
            runs = {" " + word: 1 for word in words}
            runs["\n"] = 1
            self._seed = (words, runs)
            self._words, self._runs = dict(words), dict(runs)
            self._tokenizer = tokenizer
        elif self._characters > _REMEMBERED_CHARACTERS:
            # Other threads keep the dictionaries they hold; these only stop growing.
            self._words, self._runs = dict(self._seed[0]), dict(self._seed[1])
            self._characters = 0
        return self._tokenizer


class FunctionTokens:
    """Any function from a text to a number, as a :class:`TokenCounter`."""

    overhead = 0

    def __init__(self, function: Callable[[str], int]) -> None:
        self._function = function

    @property
    def fingerprint(self) -> str:
        """What the function is called and how it counts a few texts."""
        own = getattr(self._function, "fingerprint", None)
        if isinstance(own, str):
            return own
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        counts = [self.count(probe) for probe in _PROBES]
        return f"{name}-{hashlib.sha256(repr(counts).encode()).hexdigest()[:12]}"

    def count(self, text: str) -> int:
        """What the function says.

        Raises:
            InvalidInputError: if that is no whole number >= 0.
        """
        number = self._function(text)
        if not isinstance(number, int) or number < 0:
            raise InvalidInputError(f"count_tokens must return a whole number >= 0, not {number!r}.")
        return number

    def fits(self, text: str, limit: int) -> bool:
        """Whether the function says at most ``limit``; no, without asking it, for a text that is much longer."""
        return len(text) <= 64 * limit and self.count(text) <= limit

    def weights(self, texts: Sequence[str]) -> list[int]:
        """What the function says of each."""
        return [self.count(text) for text in texts]


def utf8_length(text: str) -> int:
    """Length in UTF-8 bytes (three for a lone surrogate)."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _is_plain(text: str) -> bool:
    """Whether splitting at spaces gives the runs: single spaces only, none at the start, nothing special."""
    return "  " not in text and text[:1] not in {"", " "} and not _has_special(text)


def _has_special(text: str) -> bool:
    return any(special in text for special in _SPECIAL)


def _tokenizer_file() -> Path:
    # Found without importing the package, whose import configures logging.
    spec = importlib.util.find_spec("wordllama")
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        path = Path(folder) / "tokenizers" / _TOKENIZER_FILE
        if path.is_file():
            return path
    raise ConfigurationError(
        "The tokenizer of the default embedder was not found in the package wordllama: "
        "reinstall it (pip install --force-reinstall 'wordllama==0.4.*'), or give TextSplitter a count_tokens."
    )
