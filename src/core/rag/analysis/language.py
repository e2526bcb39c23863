"""Detects the European language of a text by its function words.

Cheap (a few set intersections) and enough for choosing a stemmer: the default is English, and another language must
show twice as many different function words of its own as English ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final

from core.rag.analysis.stopwords import LATIN_LANGUAGES, stop_words
from core.rag.analysis.words import fold
from libs.regexes import regex

DEFAULT_LANGUAGE: Final = "english"

#: Words at the beginning of a text by which its language is told.
SAMPLE_WORDS: Final = 150
_SAMPLE_CHARS: Final = 2_000
#: Scripts of one language that are written together: kana tells.
_KANA: Final = frozenset({"HIRAGANA", "KATAKANA"})
_SHORT: Final = 20
#: What stands around the words of a question: ``¿Cuántos hay?``
AROUND_WORDS: Final = ".,;:!?¿¡()[]\"'"
#: What joins words that have lost a letter, or have their subject behind them: ``c'est-à-dire``.
_JOINTS: Final = regex(r"['’-]")
_CODE: Final = regex(r"^[ \t]*(`{3,})[^`\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODES: Final = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "fi": "finnish",
    "ro": "romanian",
    "pl": "polish",
    "cs": "czech",
    "hu": "hungarian",
    "tr": "turkish",
}


def language_name(value: str | None) -> str | None:
    """Return the Snowball name of a language (``German``, ``de``, ``de-AT``); None if it is not supported.

    Scripts other than Latin need no name: the script of a word decides.
    """
    if not value:
        return None
    name = value.strip().lower()
    if name in LATIN_LANGUAGES:
        return name
    return _CODES.get(name.replace("_", "-").partition("-")[0])


@cache
def _votes(language: str) -> frozenset[str]:
    """Return the function words of ``language`` as typed with and without accents."""
    return frozenset(stop_words(language) | {fold(word) for word in stop_words(language)})


@cache
def _foreign() -> frozenset[str]:
    """Return the function words of all languages but English."""
    return frozenset().union(*(_votes(name) for name in LATIN_LANGUAGES if name != DEFAULT_LANGUAGE))


@cache
def _strange() -> frozenset[str]:
    """Function words that are not English as well."""
    return _foreign() - _votes(DEFAULT_LANGUAGE)


def detect_language(words: Iterable[str]) -> str:
    """Return the language of a text given as its words.

    Args:
        words: The words as they stand in the text; the first 150 count.

    Returns:
        A Snowball name from ``LATIN_LANGUAGES``. English, unless at least two different words, a tenth of all and
        twice as many as the English ones, are function words of other languages. So it is English for text in other
        scripts too, where the script chooses the stemmer.
    """
    first = list(islice(words, SAMPLE_WORDS))
    if len(first) > _SHORT and len(_strange().intersection(first)) < 2:
        return DEFAULT_LANGUAGE  # the quick answer for nearly all English text
    sample = set(map(str.lower, first))
    strange = len(sample & _strange())
    if strange < 2 or 10 * strange < len(sample) or strange < 2 * len(sample & _votes(DEFAULT_LANGUAGE)):
        return DEFAULT_LANGUAGE
    return max(LATIN_LANGUAGES, key=lambda name: len(sample & _votes(name)))


def passage_language(text: str, asked_in: str = DEFAULT_LANGUAGE) -> str:
    """Return the language of a passage, in which its blocks of code do not count.

    Args:
        text: The passage.
        asked_in: The language of the question. Beside code there may be too few words to tell another one than English;
            then it is this one, if the passage has more of its function words.

    Returns:
        As :func:`detect_language`.
    """
    words = (_CODE.sub(" ", text) if "```" in text else text).split()
    language = detect_language(words)
    if language == DEFAULT_LANGUAGE != asked_in:
        sample = set(map(str.lower, words[:SAMPLE_WORDS]))
        if len(sample & _votes(asked_in)) > len(sample & _votes(DEFAULT_LANGUAGE)):
            return asked_in
    return language


def question_language(words: Iterable[str]) -> str:
    """Return the language of a question given as its words.

    Args:
        words: The words as they stand in the question.

    Returns:
        As :func:`detect_language`; but in a question one function word tells, if it has none of English.
    """
    asked = list(islice(typed_words(words), SAMPLE_WORDS))
    language = detect_language(asked)
    sample = set(map(str.lower, asked))
    if language != DEFAULT_LANGUAGE or sample & _votes(DEFAULT_LANGUAGE) or not sample & _strange():
        return language
    return max(LATIN_LANGUAGES, key=lambda name: len(sample & _votes(name)))


def typed_words(tokens: Iterable[str]) -> Iterator[str]:
    """Return the words of a question as they tell its language: ``qu'est-ce`` is three.

    Args:
        tokens: What stands between spaces.

    Returns:
        The words. Letters by themselves, which are left of words in several languages, only where they have an accent.
    """
    for token in tokens:
        first, *others = _JOINTS.split(token.strip(AROUND_WORDS))
        if others:
            yield from (word for word in (first, *others) if len(word) > 1 or not word.isascii())
        else:
            yield first


def is_surely_english(words: Iterable[str]) -> bool:
    """Return whether a text shows a word that is English only, and no more than half as many of other languages."""
    sample = {word.strip(AROUND_WORDS).lower() for word in islice(words, SAMPLE_WORDS)}
    english = sample & _votes(DEFAULT_LANGUAGE)
    return not english <= _foreign() and len(english) >= 2 * len(sample & _strange())


def sure_language(text: str) -> str:
    """Return the language of a text in Latin letters, or the script of another one; empty if it is not sure.

    Example:
        >>> sure_language("Die Mühle wurde von Ada gebaut."), sure_language("Мельница"), sure_language("Ada Lane")
        ('german', 'CYRILLIC', '')
    """
    letters = [letter for letter in text[:_SAMPLE_CHARS] if letter.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters if not letter.isascii())
    scripts.pop("LATIN", None)
    if letters and 2 * scripts.total() > len(letters):
        return "KANA" if _KANA & scripts.keys() else max(scripts, key=lambda script: scripts[script])
    words = [word.strip(AROUND_WORDS) for word in text.split()]
    language = detect_language(words)
    return language if language != DEFAULT_LANGUAGE or is_surely_english(words) else ""
