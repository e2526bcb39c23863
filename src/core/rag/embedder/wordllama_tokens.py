"""Produces the same token ids as WordLlama's tokenizer, in a fraction of the time.

The tokenizer is a byte-pair encoding over whole texts, without a pre-tokenizer. It writes a space as ``▁``, and none of
its tokens holds a ``▁`` after another character, nor a line break beside anything. So no merge ever crosses the place
before a run of spaces or around a line break, and the tokens of a text are those of the pieces between such places, one
after the other. Words repeat: looking pieces up in a dictionary leaves only new ones to the tokenizer.

``tests/embedder/test_wordllama_tokens.py`` holds this against the tokenizer itself.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from core.rag.errors import EmbeddingError
from libs.regexes import regex

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    type Flat = tuple[NDArray[np.int32], NDArray[np.int64]]

# A space as the tokenizer writes it; text that already holds it means the same as a space.
_SPACE = "▁"
# Stands between pieces on their way to the tokenizer: a single token that merges with nothing.
_SEPARATOR = "\x00"
# The tokenizer takes these for tokens of their own, so texts with them go there whole; so do those with the separator.
_ODD = regex("<unk>|</?s>")
_PIECES = regex(r"\n[^ \n]*| +[^ \n]*")
# Below this many characters in all, pieces do not repeat enough to be worth looking up.
_SMALL = 4_096
_PIECES_PER_CALL = 64
_BYTES_PER_ENTRY = 150


@cache
def load_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer of a JSON file, without padding and truncation; loaded once per process (0.15 s)."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class WordTokens:
    """A tokenizer with a memory for words. Safe to use from several threads.

    Args:
        path: The tokenizer's JSON file.
        memory: About how many bytes the remembered pieces may take; beyond that they are forgotten, and learned anew.
    """

    def __init__(self, path: Path, memory: int = 64_000_000) -> None:
        self._tokenizer: Any = load_tokenizer(path)
        self._memory = memory
        self._lock = threading.Lock()
        self._separator_id: int = self._ids([_SEPARATOR])[0][-1]
        # Which piece is which; piece i has the ids tokens[starts[i] : starts[i + 1]].
        self._known: dict[str, int] = {}
        self._tokens: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._starts: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self._held = 0

    def encode(self, texts: Sequence[str]) -> Flat:
        """Tokenize.

        Args:
            texts: Strings without lone surrogates.

        Returns:
            The ids of all texts after each other, and n + 1 offsets: text i has ``ids[offsets[i]:offsets[i + 1]]``.
        """
        if sum(map(len, texts)) <= _SMALL:
            return _flatten(self._ids(texts))
        pieces = [_split(text) for text in texts]
        whole = [index for index, words in enumerate(pieces) if words is None]
        flat, offsets = self._encode_pieces([words or [] for words in pieces])
        if not whole:
            return flat, offsets
        rows = np.split(flat, offsets[1:-1])
        for index, ids in zip(whole, self._ids([texts[index] for index in whole]), strict=True):
            rows[index] = np.array(ids, dtype=np.int32)
        return _flatten(rows)

    def _encode_pieces(self, texts: list[list[str]]) -> Flat:
        words = list(chain.from_iterable(texts))
        with self._lock:
            try:
                found = list(map(self._known.__getitem__, words))
            except KeyError:
                self._learn([word for word in dict.fromkeys(words) if word not in self._known])
                found = list(map(self._known.__getitem__, words))
            tokens, starts = self._tokens, self._starts
            if self._held > self._memory:
                self._forget()
        at = np.array(found, dtype=np.int64)
        lengths = starts[at + 1] - starts[at]
        ends = np.concatenate(([0], np.cumsum(lengths)))
        # Position of every token in `tokens`: its piece's start plus its place within the piece.
        positions = np.arange(ends[-1]) + np.repeat(starts[at] - ends[:-1], lengths)
        words_before = np.concatenate(([0], np.cumsum([len(text) for text in texts])))
        return tokens[positions], ends[words_before]

    def _learn(self, words: list[str]) -> None:
        pieces = [word if word[:1] == "\n" else " " + word for word in words]
        calls = [
            _SEPARATOR + _SEPARATOR.join(pieces[start : start + _PIECES_PER_CALL])
            for start in range(0, len(pieces), _PIECES_PER_CALL)
        ]
        # The tokenizer puts one space before each call: the first token, which belongs to no piece.
        ids = np.array(list(chain.from_iterable(row[1:] for row in self._ids(calls))), dtype=np.int32)
        separators = np.flatnonzero(ids == self._separator_id)
        if len(separators) != len(pieces):
            raise EmbeddingError(
                "The tokenizer of the installed wordllama is not the one this package knows: "
                "pip install 'wordllama==0.4.*'"
            )
        lengths = np.diff(separators, append=len(ids)) - 1
        first = len(self._starts) - 1
        self._starts = np.concatenate((self._starts, self._starts[-1] + np.cumsum(lengths)))
        self._tokens = np.concatenate((self._tokens, np.delete(ids, separators)))
        self._known.update(zip(words, range(first, first + len(words)), strict=True))
        self._held += sum(map(len, words)) + _BYTES_PER_ENTRY * len(words)

    def _forget(self) -> None:
        self._known = {}
        self._tokens = np.empty(0, dtype=np.int32)
        self._starts = np.zeros(1, dtype=np.int64)
        self._held = 0

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]


def _split(text: str) -> list[str] | None:
    """Cut a text into pieces; None if the tokenizer has to see it whole.

    A piece that begins with a line break stands for itself, any other for itself with a space before it.
    """
    if not text or _SEPARATOR in text or ("<" in text and _ODD.search(text)):
        return None
    text = text.replace(_SPACE, " ")
    if text[0] == " " or "  " in text:
        return [piece[1:] if piece[0] == " " else piece for piece in _PIECES.findall(" " + text)]
    return text.replace("\n", " \n").split(" ")


def _flatten(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> Flat:
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    ids = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=int(offsets[-1]))
    return ids, offsets
