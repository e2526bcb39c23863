"""Recognises that sentences tell of a birth or a death in other words: "Ada Vane (12 May 1931 – 3 June 1990)"."""

from __future__ import annotations

from collections.abc import Set

from core.rag.analysis import analyze
from libs.regexes import regex

#: What the two are called, by language.
_BIRTH = {
    "english": "born birth birthday birthplace birthdate",
    "german": "geboren Geburt Geburtstag Geburtsort Geburtsdatum",
    "french": "né née naissance anniversaire",
    "spanish": "nacer nació nacido nacida nacimiento cumpleaños",
}
_DEATH = {
    "english": "die died dies death dead deceased",
    "german": "starb gestorben sterben Tod Todestag Sterbeort",
    "french": "mort morte mourut décès décédé décédée mourir",
    "spanish": "morir murió muerte falleció fallecimiento fallecer",
}
#: When somebody lived, behind the name.
_LIVED = regex(r"\([^()]*\b\d{3,4}\b[^()]*[–—-][^()\d]*(?:\d{1,2}\D[^()]*)?\b\d{3,4}\b[^()]*\)")

#: The same with a place: "(1911, Cork – 1979)".
_SOMEWHERE = regex(r"\([^()]*(?:,|\bin|\bat)\s+[^\W\d_a-z][^()]*[–—-][^()]*\)")


def _stems(names: dict[str, str]) -> frozenset[str]:
    return frozenset(stem for language, words in names.items() for stem in analyze(words, language))


_FAMILIES = (_stems(_BIRTH), _stems(_DEATH))


class Lives:
    """The words of a question for birth and death, that sentences may have in other words.

    Example:
        >>> Lives({"birthday"}, asks_when=True).terms("Ada Vane (12 May 1931 – 3 June 1990) was a director.", set())
        {'birthday'}
    """

    def __init__(self, wanted: Set[str], *, asks_when: bool) -> None:
        """Prepare.

        Args:
            wanted: The words of the question, analysed.
            asks_when: Whether it asks for a time; else years without a place say nothing.
        """
        self._asked = [(family, asked) for family in _FAMILIES if (asked := family & wanted)]
        self._asks_when = asks_when

    def terms(self, text: str, words: Set[str]) -> set[str]:
        """Return those of these words that a sentence has in other words.

        Args:
            text: The sentence.
            words: Its words, analysed.
        """
        if not self._asked:
            return set()
        lived = _LIVED.search(text) is not None and (self._asks_when or _SOMEWHERE.search(text) is not None)
        return {term for family, asked in self._asked if lived or not family.isdisjoint(words) for term in asked}
