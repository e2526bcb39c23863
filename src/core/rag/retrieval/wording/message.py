"""Messages of several sentences: "I read about the mill. When was it built? Thanks a lot!"

What is said besides what is asked may be needed to understand it, or have nothing to do with it. So it counts half. And
what several sentences name is what the message is about, so a word counts for each that has it. Within one sentence it
counts once, since there grammar repeats it: "the county that borders the county".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.rag.indexing.splitting.sentences import sentences
from libs.regexes import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: What is said besides, compared with what is asked.
SHARE: Final = 0.5

#: A longer text is no message.
_LONGEST: Final = 4_000
_ASKING: Final = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}", "\N{GREEK QUESTION MARK}")
_BEHIND: Final = " \n\"'”’»)]}*_"
#: How a sentence begins that asks without a question mark: "Describe the mill.", and "Who wrote Oh!" of "Oh! Susanna".
_ASKS: Final = regex(
    r"\W*(?:(?:and|but|or|so|then|also|please|(?:can|could|would) you(?: please)?)\W+)*"
    r"(?:who|whom|whose|what(?! an?\b)|which|why|how|(?:when|where) (?:is|are|was|were|do|does|did|will|can)"
    r"|is|are|was|were|does|did"
    r"|describe|explain|tell|show|list|name|define|compare|discuss|summari[sz]e|outline"
    r"|erkläre?|beschreibe?|nenne|zeige?|vergleiche?|expliquez?|décris|décrivez|comparez?|résumez?|explica|compara)\s",
    re.IGNORECASE,
)


def taken_apart(text: str) -> tuple[str, str]:
    """Return the questions of a message, and what it says besides; the text and nothing if it has only one of these."""
    asked, besides = _sentences(text)
    return (" ".join(asked), " ".join(besides)) if besides else (text, "")


def weighed(text: str, terms: Callable[[str], Mapping[str, float]]) -> dict[str, float]:
    """Return the words of a message with their weights, which add up over its sentences.

    Args:
        text: The message.
        terms: Returns the words of a text with their weights.
    """
    parts = _sentences(text)
    if sum(map(len, parts)) < 2:
        return dict(terms(text))
    words: dict[str, float] = {}
    counts: defaultdict[str, float] = defaultdict(float)
    for whole, part, share in zip(taken_apart(text), parts, (1.0, SHARE), strict=True):
        for sentence in part:
            for word in terms(sentence):
                counts[word] += share
        # Of all sentences together, since a question of one name only is for its definition.
        for word, weight in terms(whole).items() if part else ():
            words.setdefault(word, weight)
            counts[word] = counts[word] or share
    return {word: weight * counts[word] for word, weight in words.items()}


def added(asked: Sequence[float], besides: Sequence[float]) -> list[float]:
    """Return the vector of a message from those of its questions and of what it says besides; of length 1."""
    import numpy as np

    total = np.asarray(asked) + SHARE * np.asarray(besides)
    length = float(np.linalg.norm(total))
    return (total / length).tolist() if length else list(asked)


def _sentences(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a message that ask, and those besides; without a question mark, all as one kind."""
    if len(text) > _LONGEST:
        return [text], []
    parts = sentences(text)
    if not any(sign in text for sign in _ASKING):
        return parts, []
    asked: list[str] = []
    besides: list[str] = []
    for part in parts:
        (asked if part.rstrip(_BEHIND).endswith(_ASKING) or _ASKS.match(part) else besides).append(part)
    return (asked, besides) if asked else (parts, [])
