"""Whether anything that was found has to do with the question.

The thresholds are those at which no question of mtrag_un_dev and 2wiki_train500 whose passages a search finds is turned
away (extracts), or 1 % of them (a model, which does better without what only looks alike); see ADR 11.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.rag.analysis import analyze, index_terms, query_terms
from core.rag.answering.relevance import matches, search_terms
from core.rag.answering.types import Analysis, Knowledge
from core.rag.extraction.names import names_in
from core.rag.retrieval.hits import Hit


@dataclass(frozen=True, slots=True)
class Gate:
    """What a passage has to have in common with a question; one of these is enough.

    Attributes:
        near: Cosine with the question.
        words: Share of the words of a question that names nothing.
        more_words: Share of the words of one that names something.
        names: Share of the words of the names.
        said: Words of what was said before.
    """

    near: float
    words: float
    more_words: float
    names: float
    said: int = 2


#: Before a model is asked.
STRICT = Gate(near=0.4, words=0.3, more_words=0.5, names=0.5)
#: For extracts: who reads them sees what they are.
LENIENT = Gate(near=0.35, words=0.17, more_words=0.4, names=0.5)

#: An entity whose name is this similar to one of the question is what is meant, but for a typing error.
SIMILAR_NAME = 0.5


def is_relevant(analysis: Analysis, knowledge: Knowledge, dialogue: str = "", gate: Gate = LENIENT) -> bool:
    """Whether it is worth answering from what was found.

    Args:
        analysis: The question.
        knowledge: What was found.
        dialogue: What was said before: "And when was that?" has no word of its own.
        gate: How much has to be in common.
    """
    question = _Question(analysis, dialogue)
    if question.names:
        if any(matches(item.name, question.names) or item.similarity >= SIMILAR_NAME for item in knowledge.entities):
            return True
        if any(matches(fact.fact, question.names) for fact in knowledge.facts):
            return True
    return any(question.passes(hit, gate) for hit in knowledge.hits)


class _Question:
    """The words of a question, and of what was said before."""

    def __init__(self, analysis: Analysis, dialogue: str) -> None:
        self._own = set(analyze(analysis.query))
        # Stems in other languages as well: documents may be in one of them.
        self._all = set(query_terms(analysis.query))
        written = names_in(analysis.query)
        self._named = {term for name in written for term in query_terms(name)} & self._all
        self._said = set(query_terms(dialogue)) if dialogue else set()
        self.names = [
            term
            for term in search_terms(() if analysis.fallback else analysis.entities)
            # A single word in lower case may well be the title of something quite different.
            if analysis.by_model or term in written or " " in term or len(self._own) <= 2
        ]

    def passes(self, hit: Hit, gate: Gate) -> bool:
        """Whether a passage has enough in common with it."""
        if hit.scores.get("vector", 0.0) >= gate.near:
            return True
        words = set(index_terms(hit.title, hit.heading, hit.content).split())
        if self._named and len(self._named & words) >= gate.names * len(self._named):
            return True
        if len(self._said & words) >= gate.said:
            return True
        share = max(_share(self._own, words), _share(self._all, words))
        return share >= (gate.more_words if self._named else gate.words)


def _share(wanted: set[str], words: set[str]) -> float:
    return len(wanted & words) / len(wanted) if wanted else 0.0
