"""Blanks out what a text shouts: disclaimers in capitals, of which each word would be an acronym or a name.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED.
"""

from __future__ import annotations

from typing import Final

from core.rag.analysis.language import detect_language
from core.rag.analysis.stopwords import stop_words
from libs.regexes import regex

#: So many words in capitals, and so many function words among them, are a sentence; fewer may be names or acronyms.
_WORDS: Final = 6
_FUNCTION_WORDS: Final = 2
_WORD: Final = regex(r"[^\W\d_]+")
# Whatever has no small letters; what is short is looked at no further.
_RUN: Final = regex(r"(?<![^\W_])[^\W\d_a-zß-öø-ÿ][^a-zß-öø-ÿ]{18,}(?![^\W_])")


def without_shouts(text: str) -> str:
    """Return a text with its sentences in capitals blanked out, in the same length."""
    return _RUN.sub(lambda match: "\n" * len(match[0]) if _is_shouted(match[0]) else match[0], text)


def _is_shouted(run: str) -> bool:
    words = _WORD.findall(run)
    if len(words) < _WORDS or not all(map(str.isupper, words)):
        return False
    lowered = [word.lower() for word in words]
    common = stop_words(detect_language(lowered)) | stop_words("english")
    return sum(len(word) > 1 and word in common for word in lowered) >= max(_FUNCTION_WORDS, len(words) / 5)
