"""The words of a query, and which of them occur in a text."""

from __future__ import annotations

from collections.abc import Collection

from core.rag.analysis import analyze, query_terms
from core.rag.extraction.words import is_unspaced

#: More words than this in a query do not make it clearer.
MAX_WORDS = 64


class QueryWords:
    """The words of a query that carry meaning, in all forms in which a text of any language may have them.

    Attributes:
        words: As they stand in the query, lower-case, without repetitions.
    """

    def __init__(self, query: str) -> None:
        """Analyse a query."""
        own = set(analyze(query))
        pool = set(query_terms(query))
        forms: dict[str, set[str]] = {}
        seen: set[frozenset[str]] = set()
        for token in query.split():
            stems = set(analyze(token))
            if not stems & (own | pool):
                continue
            if len(stems) > 1 and is_unspaced(token):
                forms.update((stem, {stem}) for stem in sorted(stems)[: MAX_WORDS - len(forms)])
                continue
            group = frozenset((set(query_terms(token)) & pool) | (stems & (own | pool)))
            if group in seen or len(forms) == MAX_WORDS:
                continue
            seen.add(group)
            forms.setdefault(token.strip(".,;:!?()[]{}\"'¿¡？。").lower() or token, set()).update(group)
        self._masks: dict[str, int] = {}
        for position, group_of_word in enumerate(forms.values()):
            for form in group_of_word:
                self._masks[form] = self._masks.get(form, 0) | 1 << position
        self.words = tuple(forms)

    def mask(self, terms: Collection[str]) -> int:
        """Return which of the words are among analysed words (:func:`core.rag.analysis.analyze`), one bit for each."""
        found = 0
        for form in self._masks.keys() & set(terms):
            found |= self._masks[form]
        return found

    def named(self, mask: int) -> frozenset[str]:
        """Return the words that a mask stands for."""
        return frozenset(word for position, word in enumerate(self.words) if mask >> position & 1)

    def covered(self, terms: Collection[str]) -> frozenset[str]:
        """Return those of the words that are among analysed words."""
        return self.named(self.mask(terms))

    def relevance(self, covered: Collection[str]) -> float:
        """Return the share of the words that these are, 0 to 1; 0 for a query without words."""
        return len(covered) / len(self.words) if self.words else 0.0
