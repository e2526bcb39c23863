"""Statements of the graph, where no language model writes the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from core.rag.analysis import analyze, query_terms
from core.rag.answering.checking.citations import citation
from core.rag.answering.extracts.showing import shown
from core.rag.answering.types import Citation, FoundEntity, FoundFact, Passage
from core.rag.extraction.records import TOGETHER
from core.rag.extraction.words import normalize_name

#: The beginning of the line above statements of the graph.
STATEMENTS = "Statements of the graph"
_MOST_STATEMENTS = 10
#: Verbs of questions, and what fields and relations call the same; stems.
_SAME = {
    stem: analyze(meant)[0]
    for meant, words in {
        "author": "wrote write writes written writer writers authored authors",
        "lead": "led leads leader leaders",
        "owner": "owns owned own owners",
        "manager": "manages managed managers",
        "created": "published publish dated",
    }.items()
    for stem in analyze(words)
}


@dataclass(frozen=True, slots=True)
class Stated:
    """What the graph says to a question.

    Attributes:
        items: The statements as they are shown; may be empty.
        whole: Whether one of them has all that the question asks of what it names.
        citations: Passages of the documents that statements are about, with the fields of these.
    """

    items: tuple[str, ...] = ()
    whole: bool = False
    citations: tuple[Citation, ...] = ()


def statements(facts: Iterable[FoundFact], entities: Iterable[FoundEntity], why: str) -> str:
    """Answer with statements of the graph, best first, if there is no passage to take extracts from.

    Args:
        facts: The facts of the context.
        entities: The entities of the context.
        why: Why no model wrote the answer.

    Returns:
        The text; empty if there is no statement: the name of an entity alone is none.
    """
    items = [fact.fact or f"{fact.source} {fact.type} {fact.target}" for fact in facts]
    items += [f"{entity.name}: {entity.summary}" for entity in entities if entity.summary]
    return listed((shown(item) for item in items), f"{STATEMENTS} ({why}, and no passage says so):")


def answering_statements(
    question: str,
    entities: Iterable[FoundEntity],
    facts: Iterable[FoundFact] = (),
    passages: Sequence[Passage] = (),
) -> Stated:
    """Return what the graph says of entities that a question names, if it has other words or there are none.

    Args:
        question: The question.
        entities: The entities of the context.
        facts: Its facts; those that passages state are not repeated.
        passages: Its passages; where one is of the document that a statement is about, it is cited.

    Returns:
        The statements, those that have all other words of the question first.
    """
    words = set(query_terms(question))
    wanted = _senses(words)
    named = {
        entity.id: wanted - set(analyze(entity.name))
        for entity in entities
        if entity.score > 1 or words.issuperset(analyze(entity.name))
    }
    sources = {normalize_name(one.hit.title): one for one in reversed(passages) if one.hit.title and one.hit.fields}
    found: dict[str, tuple[bool, Passage | None]] = {}

    def state(text: str, source: Passage | None, whole: bool) -> None:
        item = shown(text) if source is None else f"{shown(text)} [{source.number}]"
        found[item] = (whole or (item in found and found[item][0]), source)

    told = set()
    for entity in entities:
        said = _senses(analyze(entity.summary))
        if said and entity.id in named and _says(said, named[entity.id]):
            told.add(entity.id)
            source = sources.get(normalize_name(entity.name))
            if source is not None and not _same_fields(source.hit.fields, entity.summary):
                source = None
            state(f"{entity.name}: {entity.summary}", source, _says_all(said, named[entity.id]))
    for fact in facts:
        ends = {fact.source_id, fact.target_id}
        if fact.chunk_ids or fact.type == TOGETHER or not ends.isdisjoint(told):
            continue
        relation = fact.type.replace("_", " ")
        said = _senses(analyze(relation))
        asked = [named[end] for end in ends & named.keys() if _says(said, named[end])]
        if asked:
            source = sources.get(normalize_name(fact.source))
            if source is not None and fact.target not in source.hit.fields:
                source = None
            state(f"{fact.source} {relation} {fact.target}", source, any(_says_all(said, wanted) for wanted in asked))
    items = sorted(found, key=lambda item: not found[item][0])[:_MOST_STATEMENTS]
    cited = {source.number: citation(source, source.hit.fields) for item in items if (source := found[item][1])}
    return Stated(tuple(items), any(whole for whole, _ in found.values()), tuple(cited.values()))


def listed(items: Iterable[str], label: str) -> str:
    """Return items under a label, each once and at most ten; empty if there is none."""
    lines = [f"- {item}" for item in list(dict.fromkeys(items))[:_MOST_STATEMENTS]]
    return "\n".join([label, "", *lines]) if lines else ""


def _says(said: Set[str], wanted: Set[str]) -> bool:
    """Whether a statement has something of what is asked of a name; "Who is Ada?" asks for anything."""
    return not wanted or not wanted.isdisjoint(said)


def _says_all(said: Set[str], wanted: Set[str]) -> bool:
    return bool(wanted) and wanted <= said


def _same_fields(fields: str, summary: str) -> bool:
    """Whether a summary is the record of a document with these fields; not of several of the same title."""
    return "; " not in summary and all(part in summary for part in fields.split("; "))


def _senses(terms: Iterable[str]) -> set[str]:
    """Return words with those that mean the same of a record: who wrote a book is its author."""
    return {_SAME.get(term, term) for term in terms}
