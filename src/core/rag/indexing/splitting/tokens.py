"""Counts tokens in bulk, without tokenizing texts whose count is known otherwise.

The default counter is the tokenizer of the default embedder (WordLlama, a SentencePiece BPE of 32,000 pieces). In that
vocabulary no piece reaches over the edge between a letter and a punctuation mark, into or out of a digit or a line
end, or from a character to a following space. So no merge does either, and the tokens of a text are exactly those of
its runs. Runs repeat: each is tokenized once and remembered. ``tests/indexing/test_splitter_tokens.py`` holds this
against the real tokenizer.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.rag.embedder.base import utf8_length
from core.rag.errors import ConfigurationError, InvalidInputError
from libs.regexes import regex

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_RUN = regex(r"[\n0-9]| *(?:[^\W\d_²]+|(?:[^\w \n]|[_²]|(?![0-9])\d)+)| +")
#: Scripts whose vowels and other marks are no letters to ``\\w``: Indic ones, Thai, Lao, Tibetan, Burmese, Khmer; and
#: marks that stand with letters of any script.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u109f\u1780-\u17d3\u20d0-\u20ff"
)
_EVEN_RUN = regex(rf"[\n0-9]| *(?:(?:[^\W\d_²]|[{_MARKS}])+|(?:[^\w \n{_MARKS}]|[_²]|(?![0-9])\d)+)| +")
#: Characters that are words, or syllables, by themselves: Chinese, Japanese and Korean.
_SYLLABLES = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
#: How many letters of other scripts a token has, as in most words of English.
_LETTERS = 3
_SPACE = "\u2581"  # how the vocabulary writes a space
_SPECIAL = ("<s>", "</s>", "<unk>")  # cut out of the text before anything is merged
_DIGITS = "0123456789"
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
        """Return the number of tokens of a text."""
        ...

    def fits(self, text: str, limit: int) -> bool:
        """Return whether a text has at most ``limit`` tokens; may be much cheaper than :meth:`count`.

        May answer no for a text too long to be worth counting; never answers yes wrongly.
        """
        ...

    def weights(self, texts: Sequence[str]) -> list[int]:
        """About how many tokens each text adds where the texts stand one after the other."""
        ...


class _Runs(dict[str, int]):
    """Tokens by run; a new one is tokenized when it is asked for."""

    def __init__(self, known: Mapping[str, int], tokenize: Callable[[str], Sequence[object]]) -> None:
        super().__init__(known)
        self._tokenize = tokenize

    def __missing__(self, run: str) -> int:
        count = self[run] = len(self._tokenize(run.replace(" ", _SPACE)))
        return count


class _EvenRuns(_Runs):
    """Tokens by run, of which a run in another script, or with accents, has no more than it would have in English."""

    def __missing__(self, run: str) -> int:
        count = super().__missing__(run)
        if not run.isascii():
            letters = len(run.strip(" "))
            syllables = len(_SYLLABLES.findall(run))
            count = self[run] = min(count, syllables - (syllables - letters) // _LETTERS)
        return count


class _Words(dict[str, int]):
    """Tokens by what stands between two spaces (the first of them counts with it)."""

    def __init__(self, known: Mapping[str, int], runs: _Runs, run: re.Pattern[str]) -> None:
        super().__init__(known)
        self.runs = runs
        self.run = run
        self.characters = 0  # learnt

    def __missing__(self, word: str) -> int:
        self.characters += len(word)
        count = self[word] = sum(map(self.runs.__getitem__, self.run.findall(" " + word)))
        return count


class WordLlamaTokens:
    """Counts as WordLlama's tokenizer does, its beginning-of-text mark included. Safe to share between threads."""

    overhead = 2  # that mark, and a space at the end
    _runs: type[_Runs] = _Runs
    _run = _RUN

    def __init__(self) -> None:
        self._tokenizer: Tokenizer | None = None
        self._known: dict[str, int] = {}
        self._learnt: _Words | None = None

    @property
    def fingerprint(self) -> str:
        """Name and version of the tokenizer."""
        return f"wordllama-{importlib.metadata.version('wordllama')}"

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, the beginning-of-text mark included."""
        words = self._words()
        if _is_plain(text):
            return 1 + sum(map(words.__getitem__, text.split(" ")))
        if not text or _has_special(text):
            return len(self._load().encode(text).ids)
        parts = words.run.findall(" " + text)
        words.characters += len(text) // 8  # about what is new; only single spaces make words worth remembering
        return 1 + sum(map(words.runs.__getitem__, parts))

    def fits(self, text: str, limit: int) -> bool:
        """Return whether a text has at most ``limit`` tokens. No text has more than its UTF-8 bytes and two."""
        if 4 * len(text) + 2 <= limit or utf8_length(text) + 2 <= limit:
            return True
        if len(text) > 16 * limit:
            return False  # there is no longer piece in the vocabulary
        if not text.isprintable() or not _is_plain(text):
            return self.count(text) <= limit
        words = self._words()
        parts = text.split(" ")
        if len(parts) > limit:
            return False  # each is a token at least
        # Before new words are tokenized: one has no more tokens than UTF-8 bytes if its first character can be merged
        # with the space before it, which only digits and some characters beyond ASCII cannot; and one more if not.
        beyond = 2 * (utf8_length(text) - len(text)) + sum(map(text.count, _DIGITS))
        if 1 + sum(map(words.get, parts, map(len, parts))) + beyond <= limit:
            return True
        return 1 + sum(map(words.__getitem__, parts)) <= limit

    def weights(self, texts: Sequence[str]) -> list[int]:
        """About how many tokens each text adds; a space at its end counts with the next word."""
        get = self._words().__getitem__
        result: list[int] = []
        for text in texts:
            if _is_plain(text):
                words = text.split(" ")
                result.append(sum(map(get, words)) - (not words[-1]))
            else:
                result.append(self.count(text) - 1 - text.endswith(" "))
        return result

    def _words(self) -> _Words:
        words = self._learnt
        if words is None or words.characters > _REMEMBERED_CHARACTERS:
            # Other threads keep what they hold; that only stops growing.
            tokenizer = self._load()
            runs = self._runs({**{" " + word: 1 for word in self._known}, "\n": 1}, tokenizer.model.tokenize)
            words = self._learnt = _Words(self._known, runs, self._run)
        return words

    def _load(self) -> Tokenizer:
        if self._tokenizer is None:
            from core.rag.embedder.wordllama_tokens import load_tokenizer

            tokenizer = load_tokenizer(_tokenizer_file())
            vocabulary = tokenizer.get_vocab(with_added_tokens=False)
            self._known = {piece[1:]: 1 for piece in vocabulary if piece[0] == _SPACE and piece[1:2] != _SPACE}
            self._tokenizer = tokenizer
        return self._tokenizer


class EvenTokens(WordLlamaTokens):
    """Counts evenly in all scripts: as WordLlama's tokenizer in ASCII, and otherwise no more than is usual there.

    That tokenizer has pieces for English: of Greek, Arabic, Hindi or Thai it makes a token or more of each letter, so
    that 256 tokens are two sentences. Here it has three letters at least, or one Chinese or Japanese character.
    """

    _runs = _EvenRuns
    _run = _EVEN_RUN

    @property
    def fingerprint(self) -> str:
        """Name and version of the tokenizer, and how it is used."""
        return f"even-{super().fingerprint}"

    def __call__(self, text: str) -> int:
        """Return :meth:`count`."""
        return self.count(text)

    def __reduce__(self) -> str:
        """Be the one of the other process there."""
        return "even_tokens"


#: Shared, because it remembers what it has counted.
even_tokens = EvenTokens()


class FunctionTokens:
    """Any function from a text to a number, as a :class:`TokenCounter`."""

    overhead = 0

    def __init__(self, function: Callable[[str], int]) -> None:
        self.function = function

    @property
    def fingerprint(self) -> str:
        """What the function is called and how it counts a few texts."""
        own = getattr(self.function, "fingerprint", None)
        if isinstance(own, str):
            return own
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        counts = [self.count(probe) for probe in _PROBES]
        return f"{name}-{hashlib.sha256(repr(counts).encode()).hexdigest()[:12]}"

    def count(self, text: str) -> int:
        """Return the number of tokens by the given function.

        Raises:
            InvalidInputError: if that is no whole number >= 0.
        """
        number = self.function(text)
        if not isinstance(number, int) or number < 0:
            raise InvalidInputError(f"count_tokens must return a whole number >= 0, not {number!r}.")
        return number

    def fits(self, text: str, limit: int) -> bool:
        """Return whether the function says at most ``limit``; no, without asking it, for a text that is much longer."""
        return len(text) <= 64 * limit and self.count(text) <= limit

    def weights(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text by the given function."""
        return [self.count(text) for text in texts]


def _is_plain(text: str) -> bool:
    """Return whether splitting at spaces gives the runs: single spaces only, none at the start, nothing special."""
    return "  " not in text and text[:1] not in {"", " "} and not _has_special(text)


def _has_special(text: str) -> bool:
    return ("<" in text and any(special in text for special in _SPECIAL)) or _SPACE in text


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
