"""What a question wants measured: "How long is the field?" asks for its length, which is seldom called long."""

from __future__ import annotations

import re
from typing import Final

from core.rag.analysis.analyzer import analyze
from core.rag.analysis.language import DEFAULT_LANGUAGE
from libs.regexes import regex

_MEASURES: Final = {
    "long": "length",
    "large": "size",
    "big": "size",
    "high": "height",
    "tall": "height",
    "deep": "depth",
    "wide": "width",
    "far": "distance",
    "fast": "speed",
    "old": "age",
    "heavy": "weight",
}
#: Of what is, or may be, so long; "How long have you been painting?" asks for a time, and in the words of who is asked.
_ASKED: Final = regex(
    rf"\bhow ({'|'.join(_MEASURES)}) (?:(?:is|are|was|were)\b"
    r"|(?:may|can|must|should|could|might|shall|will|would)\b[^?.!\n]{1,100} be\b)",
    re.IGNORECASE,
)


def measured(question: str) -> dict[str, str]:
    """Return the index words of what a question wants measured, by those of the adjectives that ask for it.

    Example:
        >>> measured("How long may a name be?"), measured("How long did it take?")
        ({'long': 'length'}, {})
    """
    asked = dict.fromkeys(found.lower() for found in _ASKED.findall(question))
    return {
        word: noun
        for adjective in asked
        for word, noun in zip(
            analyze(adjective, DEFAULT_LANGUAGE), analyze(_MEASURES[adjective], DEFAULT_LANGUAGE), strict=True
        )
    }
