"""What of a conversation is worth remembering: what people say of themselves, with names and numbers."""

from __future__ import annotations

import re
from typing import Final

from core.rag.extraction.names import names_in
from libs.regexes import regex

#: Who is told things, and says nothing of a person. Words of earlier summaries were worth it before.
ASSISTANTS: Final = frozenset(("assistant", "ai", "agent", "bot", "model", "system", "tool"))

#: What each of these adds: that a person says it and asks nothing, that it is about them, and that it has a name or a
#: number. Words of preferences, decisions and habits tell less of what is asked for later than these do.
_STATED: Final = 0.3
_OF_ONESELF: Final = 0.5
_EXACT: Final = 0.4
#: A sentence of fewer words says nothing by itself.
_FEWEST: Final = 3

_ASKS: Final = regex(r"[?？؟]\W*\Z")
_ONESELF: Final = regex(
    r"\b(?:i|i['’](?:m|ve|d|ll)|my|mine|me|we|we['’](?:re|ve|d|ll)|our|us"
    r"|ich|mein\w*|mir|mich|wir|uns|unser\w*"
    r"|je|j['’]\w+|mon|ma|mes|moi|nous|notre|nos"
    r"|yo|mi|mis|soy|estoy|tengo|vivo|trabajo|prefiero|nosotros|nuestr\w+)\b",
    re.IGNORECASE,
)
#: What is only of the talk: "I think that would be nice", "I have another question".
_OF_THE_TALK: Final = regex(
    r"\b(?:i|we) (?:(?:just|really|still|also|would|['’]d) )*(?:think|thought|guess|see|wonder|mean|understand|know"
    r"|don['’]t know"
    r"|was (?:thinking|wondering)|want to (?:know|ask|see|learn)|like to (?:know|ask)"
    r"|need to know|have (?:a|another|one more) question|read that)\b",
    re.IGNORECASE,
)
_NUMBER: Final = regex(r"\d")


def worth_keeping(sentence: str, role: str) -> float:
    """Return how much a sentence is worth to be remembered, from 0 to 1.2, whatever the conversation is about.

    Example:
        >>> worth_keeping("I am allergic to nuts.", "user") > worth_keeping("I was thinking of a trip.", "user")
        True

    Args:
        sentence: It.
        role: Of whoever said it; what assistants say is worth nothing by itself.
    """
    if _ASKS.search(sentence) is not None or len(sentence.split()) < _FEWEST:
        return 0.0
    if role.casefold() in ASSISTANTS or _OF_THE_TALK.search(sentence) is not None:
        return 0.0
    worth = _STATED
    if _ONESELF.search(sentence) is not None:
        worth += _OF_ONESELF
    if _NUMBER.search(sentence) is not None or names_in(sentence):
        worth += _EXACT
    return worth
