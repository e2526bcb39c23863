"""Which European language a text is in, told by its function words.

Cheap (a few set intersections) and enough for choosing a stemmer: the default is English, and another language must
show twice as many different function words of its own as English ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Final

from core.rag.retrieval.stopwords import LATIN_LANGUAGES, stop_words
from core.rag.retrieval.words import fold

DEFAULT_LANGUAGE: Final = "english"

_SAMPLE_WORDS: Final = 150
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
    """The Snowball name of a language given by name or code (``German``, ``de``, ``de-AT``); None if it has none here.

    Scripts other than Latin need no name: the script of a word decides.
    """
    if not value:
        return None
    name = value.strip().lower()
    if name in LATIN_LANGUAGES:
        return name
    return _CODES.get(name.replace("_", "-").partition("-")[0])


@cache
def _votes() -> tuple[frozenset[str], frozenset[str], dict[str, frozenset[str]]]:
    """English function words, those of the others that are not English, and each language's; as typed and folded."""
    lists = {name: frozenset(stop_words(name) | {fold(word) for word in stop_words(name)}) for name in LATIN_LANGUAGES}
    english = lists[DEFAULT_LANGUAGE]
    return english, frozenset().union(*lists.values()) - english, lists


def detect_language(words: Iterable[str], minimum: int = 2) -> str:
    """The language of a text given as its words.

    Args:
        words: The words as they stand in the text; the first 150 count.
        minimum: How many different function words another language than English must show.

    Returns:
        A Snowball name from ``LATIN_LANGUAGES``; English where nothing says otherwise, which is also right for text
        in scripts other than Latin.
    """
    sample = set(map(str.lower, islice(words, _SAMPLE_WORDS)))
    english, foreign, lists = _votes()
    strange = len(sample & foreign)
    if strange < minimum or strange < 2 * len(sample & english):
        return DEFAULT_LANGUAGE
    return max(LATIN_LANGUAGES, key=lambda name: len(sample & lists[name]))
