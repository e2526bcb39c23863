"""Splits a question with several parts, by rules and without a model."""

from __future__ import annotations

import re

from core.rag.answering.drift.words import QueryWords
from libs.regexes import regex

#: Maximum number of parts of a question.
MAX_PARTS = 4

_SENTENCE = regex(r"(?<=[?？؟;；])\s*")
_ASKING = (
    r"who|whom|whose|what|which|when|where|why|how|is|are|was|were|does|do|did|can|"
    r"wer|wen|wem|was|welche[rsnm]?|wann|wo|warum|wieso|wie|"
    r"qui|que|quoi|quel(?:le)?s?|quand|où|pourquoi|comment|"
    r"quién|qué|cuál(?:es)?|cuándo|dónde|cómo"
)
_JOINED = regex(rf"(?:,|(?<!\s))\s+(?:and|und|et|y)\s+(?={_ASKING}\b)(?=\S+\s)", re.IGNORECASE)
_PRONOUN = regex(r"\b(?:he|she|it|they|him|her|them|his|its|their|er|sie|ihn|ihm|il|elle|él|ella)\b", re.IGNORECASE)


def split_question(query: str) -> list[str]:
    """Split a question into the questions that it contains.

    Parts are sentences that end in a question mark, and clauses that begin with a question word after "and" (in
    English, German, French and Spanish). A part that refers back to the part before ("when was he born?") includes it.

    Args:
        query: Any text.

    Returns:
        One to ``MAX_PARTS`` parts, each with a word that can be searched for; the query itself if there is only one.

    Example:
        >>> split_question("Who built the mill and when did it burn down?")
        ['Who built the mill', 'Who built the mill when did it burn down?']
    """
    parts: list[str] = []
    for sentence in _SENTENCE.split(query):
        for clause in _JOINED.split(sentence):
            text = clause.strip(" ,;；")
            if not QueryWords(text).words:
                continue
            if parts and _PRONOUN.search(text):
                text = f"{parts[0]} {text}"
            if text not in parts:
                parts.append(text)
    return parts if 1 < len(parts) <= MAX_PARTS else [query]
