"""Relevance scores of entities and relations, as the Knowledge RAG flow defines them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from core.rag.answering.types import FoundEntity, FoundFact
from core.rag.extraction.records import TOGETHER
from core.rag.extraction.words import folded, normalize_name, normalized_words

NAME_MATCH_SCORE = 3.0
SUMMARY_MATCH_SCORE = 2.0
BASE_RELEVANCE_SCORE = 1.0
FACT_TEXT_MATCH_SCORE = 2.0
CONNECTED_NODES_BONUS = 3.0
SINGLE_CONNECTION_BONUS = 1.0


def search_terms(entities: Iterable[str]) -> list[str]:
    """Return what to look for: the normalised names of entities, each once."""
    texts = (name.encode("utf-8", "replace").decode() for name in entities)  # lone surrogates are not text
    return list(dict.fromkeys(name for name in map(normalize_name, texts) if name))


def matches(text: str, terms: Iterable[str]) -> bool:
    """Return whether a text contains one of the terms, as whole words, with or without their accents."""
    padded = f" {folded(' '.join(normalized_words(text)))} "
    return any(f" {folded(term)} " in padded for term in terms)


def entity_score(entity: FoundEntity, terms: Collection[str]) -> float:
    """Name 3, summary 2, both 5; 1 where neither has a term."""
    score = NAME_MATCH_SCORE * matches(entity.name, terms) + SUMMARY_MATCH_SCORE * matches(entity.summary, terms)
    return score or BASE_RELEVANCE_SCORE


def scored(entities: Iterable[FoundEntity], terms: Collection[str]) -> None:
    """Set the scores of entities; of two whose names differ in accents only, the one that is asked for has its own."""
    found = [(entity, normalize_name(entity.name)) for entity in entities]
    written = {folded(name): name for _, name in found if name in terms}
    for entity, name in found:
        other = written.get(folded(name), name) != name
        entity.score = BASE_RELEVANCE_SCORE if other else entity_score(entity, terms)


def fact_score(fact: FoundFact, terms: Collection[str], found: Collection[str]) -> float:
    """Words in the fact 2, and 3 where both its ends were found, 1 where one was.

    Args:
        fact: The relation.
        terms: What the question names, normalised.
        found: Ids of the entities that were found for it.
    """
    ends = (fact.source_id in found) + (fact.target_id in found)
    score = FACT_TEXT_MATCH_SCORE * matches(f"{fact.fact} {fact.type.replace('_', ' ')}", terms)
    return score + (0.0, SINGLE_CONNECTION_BONUS, CONNECTED_NODES_BONUS)[ends]


def best_entities(entities: Iterable[FoundEntity]) -> list[FoundEntity]:
    """In order: by score, similarity, mentions, name."""
    return sorted(entities, key=lambda e: (-e.score, -e.similarity, -e.mention_count, e.name, e.id))


def best_facts(facts: Iterable[FoundFact]) -> list[FoundFact]:
    """In order: by score, those that say more than that two things stand together first, similarity, weight, key."""
    return sorted(facts, key=lambda f: (-f.score, f.type == TOGETHER, -f.similarity, -f.weight, f.key))
