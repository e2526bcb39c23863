"""The words of a query, and which of them a text contains."""

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
        self._words_of: dict[str, set[str]] = {}
        for word, group_of_word in forms.items():
            for form in group_of_word:
                self._words_of.setdefault(form, set()).add(word)
        self.words = tuple(forms)

    def covered(self, terms: Collection[str]) -> frozenset[str]:
        """Those of the words that are among analysed words (see :func:`core.rag.analysis.analyze`)."""
        found: set[str] = set()
        for form in self._words_of.keys() & set(terms):
            found |= self._words_of[form]
        return frozenset(found)

    def relevance(self, covered: Collection[str]) -> float:
        """The share of the words that these are, 0 to 1; 0 for a query without words."""
        return len(covered) / len(self.words) if self.words else 0.0
