"""Messages that ask something and say something besides: "I read about the mill. When was it built? Thanks a lot!"

What is said besides may be needed to understand the question, or have nothing to do with it. So it counts half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.rag.indexing.splitting.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: What is said besides, compared with what is asked.
SHARE: Final = 0.5

#: A longer text is no message.
_LONGEST: Final = 4_000
_ASKING: Final = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}", "\N{GREEK QUESTION MARK}")
_BEHIND: Final = " \n\"'”’»)]}*_"


def taken_apart(text: str) -> tuple[str, str]:
    """Return the questions of a message, and what it says besides; the text and nothing if it has only one of these."""
    if len(text) > _LONGEST or not any(sign in text for sign in _ASKING):
        return text, ""
    asked: list[str] = []
    besides: list[str] = []
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        (asked if sentence.rstrip(_BEHIND).endswith(_ASKING) else besides).append(sentence)
    return (" ".join(asked), " ".join(besides)) if asked and besides else (text, "")


def weighed(text: str, terms: Callable[[str], Mapping[str, float]]) -> dict[str, float]:
    """Return the words of a message with their weights.

    Args:
        text: The message.
        terms: Returns the words of a text with their weights.
    """
    asked, besides = taken_apart(text)
    words = dict(terms(asked))
    if besides:
        for term, weight in terms(besides).items():
            words.setdefault(term, SHARE * weight)
    return words


def added(asked: Sequence[float], besides: Sequence[float]) -> list[float]:
    """Return the vector of a message from those of its questions and of what it says besides; of length 1."""
    import numpy as np

    total = np.asarray(asked) + SHARE * np.asarray(besides)
    length = float(np.linalg.norm(total))
    return (total / length).tolist() if length else list(asked)
