"""Questions for what somebody said or wrote."""

from __future__ import annotations

from typing import Final

from libs.regexes import regex

_IGNORECASE: Final = 2
_SAYING: Final = (
    r"sa(?:y|id)|comment(?:ed)?|wr(?:ite|ote|itten)|answer(?:ed)?|repl(?:y|ied)|respon(?:d|ded|se)|suggest(?:ed)?"
    r"|propos(?:e|ed|al)|recommend(?:ed)?|ask(?:ed)?|mention(?:ed)?|think|thought|report(?:ed)?|announced?|explain(?:ed)?"
    r"|complain(?:ed)?|object(?:ed)?|warn(?:ed)?|promised?|tell|told"
)
#: "What did Ada say about …?", "Was hat Ida zu … geschrieben?", "Qu'a répondu Léa ?", "¿Qué dijo Inés?"
_ASKED: Final = regex(
    rf"\b(?:what|how|where|why|when)\b[^?]{{0,20}}\b(?:did|does|do|has|have|had|is|was|were)\b[^?]{{2,80}}\b(?:{_SAYING})\b"
    r"|\bwas\b[^?]{0,80}\b(?:sag\w+|gesagt|schr(?:ei|ie)b\w*|geschrieben|antwort\w+|geantwortet|vorgeschlagen|gefragt"
    r"|mein(?:t|te)|gemeint)\b|\bqu['’]a(?:-t-(?:il|elle))?\b[^?]{0,80}\b(?:dit|écrit|répondu|proposé|demandé)\b"
    r"|\bqué (?:dijo|dice|escribió|respondió|contestó|propuso|preguntó)\b",
    _IGNORECASE,
)
_OF: Final = regex(
    r"\b(?:about|regarding|concerning|on|über|zu[mr]?|sur|à propos|au sujet|sobre|acerca|respecto)\b", _IGNORECASE
)


def asks_what_was_said(question: str) -> bool:
    """Return whether a question asks what somebody said or wrote: "What did Ada say?"."""
    return _ASKED.search(question) is not None


def asks_what_was_said_of(question: str) -> bool:
    """Return whether a question asks what somebody said or wrote of something: not "What did Ada write?"."""
    asked = _ASKED.search(question)
    return asked is not None and _OF.search(question, asked.start()) is not None
