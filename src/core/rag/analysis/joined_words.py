"""Matches compounds that are written as one word or as two: "backup" and "back up", "database" and "data base"."""

from __future__ import annotations

import re
from collections.abc import Set

from core.rag.analysis.analyzer import analyze, joined_terms
from core.rag.analysis.language import detect_language
from libs.regexes import regex

#: Shorter words are no two words, and longer ones no words.
_SHORTEST, _LONGEST = 5, 64
_MOST_WORDS = 50
_WORD = regex(r"[^\W\d_]+")


class Together:
    """The words of a question that may be written otherwise in a text."""

    def __init__(self, question: str) -> None:
        """Words of a question."""
        language = detect_language(question.split())
        self._joined = joined_terms(question, language)
        words = [word for word in _WORD.findall(question)[:_MOST_WORDS] if _SHORTEST <= len(word) <= _LONGEST]
        own = set(analyze(question, language))
        self._apart = {word.lower(): own.intersection(analyze(word, language)) for word in words}
        # A blank may stand anywhere in them, but not behind the first letter or before the last.
        spaced = (f"{word[:2]}{''.join(f' ?{letter}' for letter in word[2:-1])}{word[-1]}" for word in self._apart)
        self._pattern = re.compile(rf"\b(?:{'|'.join(spaced)})\b", re.IGNORECASE) if self._apart else None

    def terms(self, text: str, words: Set[str]) -> set[str]:
        """Return the words of the question that a text has in another spelling.

        Args:
            text: The text.
            words: Its words, analysed.
        """
        found = {part for joined, parts in self._joined.items() if joined in words for part in parts}
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                if match[0].count(" ") == 1:
                    found |= self._apart.get(match[0].replace(" ", "").lower(), set())
        return found
