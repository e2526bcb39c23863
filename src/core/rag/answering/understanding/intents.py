"""Classifies the intent of a question by rules."""

from __future__ import annotations

import re

from core.rag.analysis.filler_phrases import without_asking
from core.rag.analysis.language import detect_language
from core.rag.analysis.words import fold, is_stop_word
from core.rag.answering.types import Intent
from core.rag.extraction.words import normalized_words
from core.rag.retrieval.referents import names_nothing
from libs.regexes import regex

_PHRASES: dict[Intent, tuple[str, ...]] = {
    # The first that matches counts.
    "exploration": (
        r"(what|anything|something|who) else",
        r"should i (also )?(know|read|look)",
        r"(explor|discover(?!y\b))\w*",
        r"what .*\bnext",
        r"(similar|related) (topics?|things?|documents?|subjects?|projects?|ideas?)",
        r"other (topics?|things?|aspects?)",
        r"was (noch|sonst)",
        r"quoi d'autre",
        r"qué más",
    ),
    "relationship": (
        r"(dis|inter)?connect(ed|s|ion|ions)?",
        r"relat(ed|es|ion|ions|ionship|ionships)",
        r"link(s|ed)? (to|with|between)",
        r"in common",
        r"associat(ed|ion)",
        r"ties? (to|between|with)",
        r"between\b.+\band",
        r"how (do|does|did) .+ know",
        r"(beziehung|verbindung|zusammenhang|verbunden)",
        r"relation entre",
        r"relación",
    ),
    "summary": (
        r"tell me (more )?about",
        r"summar(y|i[sz]e|ies)",
        r"(overview|describe|explain|background|biography|outline)",
        r"history of",
        r"what (do|does) .+ know about",
        r"what is .+ about",
        r"introduc(e|tion)",
        r"(zusammenfassung|überblick|beschreibe?|résume[rz]?|resumen)",
    ),
}
_RULES = {intent: regex(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE) for intent, phrases in _PHRASES.items()}

#: Phrases that have nothing of the subject of a question.
_FRAMES = regex(
    rf"\b(?:{'|'.join(phrase for phrases in _PHRASES.values() for phrase in phrases if '.' not in phrase)})\b",
    re.IGNORECASE,
)

#: Who asks how to connect something wants to do it, not to know how things are related.
_HOW_TO = regex(
    r"\b(?:how (?:(?:do|can|could|should|would|must) (?:i|we|you|one)|to)|(?:can|may|should) (?:i|we|you|one))\s+"
    r"(?:(?!the\b|an?\b)\w+\s+){0,2}?(?:dis|inter|re)?(?:connect|link|associate)\b"
    r"|\bwie \w+ (?:ich|wir|man)\b.*\b(?:verbindung|verbunden|verbinde)",
    re.IGNORECASE,
)

_NEXT_PART = regex(r"\w\?\s+\w|\w,?\s+(and|then) (who|what|where|when|which|how|why)\b", re.IGNORECASE)


def intent_of(question: str) -> Intent:
    """Return the intent of a question: in English, and for simple ones in German, French and Spanish.

    Example:
        >>> intent_of("How is Alice connected to Bob?")
        'relationship'
    """
    for intent, pattern in _RULES.items():
        if pattern.search(question) and not (intent == "relationship" and _HOW_TO.search(question)):
            return intent
    return "factual"


def subject_of(question: str) -> str:
    """Return a question without phrases that only say what kind of answer is wanted; all of it if nothing is left.

    Example:
        >>> subject_of("What else should I know about this project?")
        '  about this project?'
    """
    subject = question if _HOW_TO.search(question) else without_asking(_FRAMES.sub("", question))
    return subject if re.search(r"\w", subject) else question


def has_words(question: str) -> bool:
    """Return whether a question has words of its own: "And when?" and "Tell me more" have none.

    Example:
        >>> has_words("And when?"), has_words("Tell me more"), has_words("And when does it open?")
        (False, False, True)
    """
    if names_nothing(question):
        return False
    words = normalized_words(question)
    language = detect_language(words)
    return any(not is_stop_word(fold(word), language) for word in words)


def has_parts(question: str) -> bool:
    """Return whether a question asks several things, one of which may depend on the answer to another."""
    return _NEXT_PART.search(question) is not None
