"""Whether anything that was found has to do with the question."""

from __future__ import annotations

from core.rag.analysis import index_terms, query_terms
from core.rag.answering.types import Analysis, Knowledge
from core.rag.extraction.names import names_in
from core.rag.retrieval.hits import Hit

#: An entity whose name is this similar to one of the question is what is meant, but for a typing error.
SIMILAR_NAME = 0.5
#: A passage this near is about the same, in whatever words (cosine).
NEAR = 0.45
#: Share of the question's words that a passage has, where it lacks what the question names; where it names nothing.
MANY_WORDS = 0.6
SOME_WORDS = 0.3
#: Words that a passage has of what was said before.
SAID_WORDS = 2


def is_relevant(analysis: Analysis, knowledge: Knowledge, dialogue: str = "") -> bool:
    """Whether it is worth answering from what was found.

    It is where the question names an entity of the graph, a relation has words of it, or a passage is near, has a part
    of what the question names, or enough of its words.

    Args:
        analysis: The question.
        knowledge: What was found.
        dialogue: What was said before: "And when was that?" has no word of its own.
    """
    if not analysis.fallback and any(item.score > 1 or item.similarity >= SIMILAR_NAME for item in knowledge.entities):
        return True
    if any(fact.score > 1 for fact in knowledge.facts):
        return True
    wanted = set(query_terms(analysis.query))
    named = {term for name in names_in(analysis.query) for term in query_terms(name)} & wanted
    said = set(query_terms(dialogue)) if dialogue else set()
    return any(_is_about(hit, wanted, named, said) for hit in knowledge.hits)


def _is_about(hit: Hit, wanted: set[str], named: set[str], said: set[str]) -> bool:
    if hit.scores.get("vector", 0.0) >= NEAR:
        return True
    words = set(index_terms(hit.title, hit.heading, hit.content).split())
    common = wanted & words
    if common & named or len(said & words) >= SAID_WORDS:
        return True
    return len(common) >= (MANY_WORDS if named else SOME_WORDS) * len(wanted) > 0
