"""Statements of the graph, where no language model writes the answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.sayings import asks_what_was_said_of
from core.rag.analysis.verb_forms import INFINITIVES
from core.rag.answering.extracts.citing import citation
from core.rag.answering.extracts.showing import shown
from core.rag.answering.types import Citation, FoundEntity, FoundFact, Passage
from core.rag.answering.understanding.asked_times import times_asked
from core.rag.answering.understanding.intents import subject_of
from core.rag.extraction.records import FIELD_RELATIONS, TOGETHER
from core.rag.extraction.words import normalize_name
from libs.regexes import regex

#: The beginning of the line above statements of the graph.
STATEMENTS = "Statements of the graph"
_MOST_STATEMENTS = 10
#: Relations that are made of the fields of records; others between the same two are stated by somebody.
_MADE = frozenset(FIELD_RELATIONS.values())
#: Verbs of questions, and what fields and relations call the same; stems.
_SAME = INFINITIVES | {
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
#: The relation of what somebody wrote, and what that may be called: "Which papers did Ida write?".
_WRITTEN = "written_by"
_WRITINGS = frozenset(analyze("article book document draft page paper post publication report study text", "english"))
#: A name with a number at its end, or before a title: BIP-39, Apollo 11, "PEP 8 – Style Guide".
_OF_SERIES = regex(r"[^\W\d_][^\d]{0,100}[ -]0*(\d{1,6})(?:\s+[–—]\s.*)?", re.DOTALL)
_DIGITS = regex(r"\d+")


@dataclass(frozen=True, slots=True)
class Stated:
    """What the graph says to a question.

    Attributes:
        items: The statements as they are shown; may be empty.
        whole: Whether one of them has all that the question asks of what it names, and no record has it.
        citations: Passages of the documents that statements are about, with the fields of these.
    """

    items: tuple[str, ...] = ()
    whole: bool = False
    citations: tuple[Citation, ...] = ()


def statements(question: str, entities: Sequence[FoundEntity], facts: Sequence[FoundFact], why: str) -> str:
    """Answer with statements of the graph, best first, if there is no passage to take extracts from.

    Args:
        question: The question.
        entities: The entities of the context.
        facts: The facts of the context.
        why: Why no model wrote the answer.

    Returns:
        The text: what answers the question, otherwise all that is known; that two stand in one record is told only
        where nothing else is. Empty if there is no statement: the name of an entity alone is none.
    """
    told = answering_statements(question, entities, facts)
    items: Iterable[str] = told.items
    if not told.whole:
        known = [_sentence(fact) for fact in facts if fact.type != TOGETHER]
        known += [f"{entity.name}: {entity.summary}" for entity in entities if entity.summary]
        items = map(shown, known or map(_sentence, facts))
    return listed(items, f"{STATEMENTS} ({why}, and no passage says so):")


def answering_statements(
    question: str,
    entities: Iterable[FoundEntity],
    facts: Iterable[FoundFact],
    passages: Sequence[Passage] = (),
) -> Stated:
    """Return what the graph says of entities that a question names, if it has other words or there are none.

    Facts that join two of them are always told, at once or, where nothing else is asked, by way of a third.

    Args:
        question: The question.
        entities: The entities of the context.
        facts: Its facts; those that passages state are not repeated.
        passages: Its passages; where one is of the document that a statement is about, it is cited. What the records
            among them say is not repeated.

    Returns:
        The statements, those that have all other words of the question first.
    """
    words = set(query_terms(question))
    # Of the whole question, too: the language of a few words is hardly told.
    wanted = words.intersection(query_terms(subject_of(question)))
    names = {entity.id: set(analyze(entity.name)) for entity in entities}
    inside = {end for end, name in names.items() if name and words.issuperset(name)}
    numbers = set(_DIGITS.findall(question))
    named = {
        entity.id: _senses(wanted - names[entity.id])
        for entity in entities
        if (entity.score > 1 and not _is_another(entity.name, numbers)) or entity.id in inside
    }
    having = [one for one in reversed(passages) if one.hit.fields]
    sources = {normalize_name(one.hit.title): one for one in having if one.hit.title}
    of_documents = {one.hit.document_id: one for one in having}
    found: dict[str, tuple[bool, Passage | None]] = {}

    def state(text: str, source: Passage | None, whole: bool) -> None:
        item = shown(text) if source is None else f"{shown(text)} [{source.number}]"
        found[item] = (whole or (item in found and found[item][0]), source)

    told = set()
    for entity in entities:
        said = _fields_said(entity.summary)
        if said and entity.id in named and _says(said, named[entity.id]):
            told.add(entity.id)
            source = of_documents.get(entity.document) or sources.get(normalize_name(entity.name))
            if source is not None and not _same_fields(source.hit.fields, entity.summary):
                source = None
            state(f"{entity.name}: {entity.summary}", source, _says_all(said, named[entity.id]))
    times = times_asked(question)
    told_facts = [fact for fact in facts if not fact.chunk_ids and fact.type != TOGETHER]
    by_records = False
    between = _between(told_facts, {end: named[end] for end in inside})
    for fact in told_facts:
        ends = {fact.source_id, fact.target_id}
        if not ends.isdisjoint(told):
            continue
        when = " ".join(time for time, span in times.items() if fact.period and fact.period.holds(*span))
        said = _senses(analyze(f"{_relation(fact)}\n{fact.fact}\n{when}"))
        said |= _WRITINGS if fact.type == _WRITTEN else frozenset()
        asked = [named[end] for end in ends & named.keys()]
        joins = ends <= inside
        if joins:
            asked = [asked[0].intersection(*asked)]
        if joins or fact.key in between or any(_says(said, rest) for rest in asked):
            source = sources.get(normalize_name(fact.source))
            if source is not None and fact.target not in source.hit.fields:
                source = None
            whole = fact.key in between or any(_says_all(said, rest) for rest in asked)
            whole = whole or (joins and not asked[0])
            if _is_in_record(fact, passages):
                by_records = by_records or whole
            else:
                state(_sentence(fact), source, whole)
    items = sorted(found, key=lambda item: not found[item][0])[:_MOST_STATEMENTS]
    cited = {source.number: citation(source, source.hit.fields) for item in items if (source := found[item][1])}
    # What was said about something is in no field of it.
    is_whole = not by_records and not asks_what_was_said_of(question) and any(whole for whole, _ in found.values())
    return Stated(tuple(items), is_whole, tuple(cited.values()))


def listed(items: Iterable[str], label: str) -> str:
    """Return items under a label, each once and at most ten; empty if there is none."""
    lines = [f"- {item}" for item in list(dict.fromkeys(items))[:_MOST_STATEMENTS]]
    return "\n".join([label, "", *lines]) if lines else ""


def _is_in_record(fact: FoundFact, passages: Iterable[Passage]) -> bool:
    """Return whether a fact was made of a record among the passages, which says more: it has both ends of it."""
    if fact.type not in _MADE or fact.period:
        return False
    ends = [f" {normalize_name(end)} " for end in (fact.source, fact.target)]
    records = (f" {normalize_name(one.hit.content)} " for one in passages if one.record_id)
    return any(all(end in record for end in ends) for record in records)


def _relation(fact: FoundFact) -> str:
    return "occurs together with" if fact.type == TOGETHER else fact.type.replace("_", " ")


def _sentence(fact: FoundFact) -> str:
    """Return a fact as it is told: its sentence, which may say more than the relation, but not of what; and when."""
    words = f"{fact.source} {_relation(fact)} {fact.target}"
    if all(normalize_name(end) in normalize_name(fact.fact) for end in (fact.source, fact.target)):
        words = fact.fact
    elif fact.fact:
        words = f"{words}: {fact.fact}"
    if not fact.period:
        return words
    stop = "." if words.endswith(".") else ""
    return f"{words.removesuffix('.')} ({fact.period}){stop}"


def _between(facts: Iterable[FoundFact], named: Mapping[str, Set[str]]) -> set[tuple[str, ...]]:
    """Return the keys of facts that join two names by way of a third, if the question asks for nothing else.

    Args:
        facts: Any facts.
        named: By the id of what the question names, what else it asks.
    """
    ways: dict[str, dict[str, list[FoundFact]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        for end, other in ((fact.source_id, fact.target_id), (fact.target_id, fact.source_id)):
            if end in named and other not in named:
                ways[other][end].append(fact)
    return {
        fact.key
        for ends in ways.values()
        if len(ends) > 1 and not set.intersection(*(set(named[end]) for end in ends))
        for found in ends.values()
        for fact in found
    }


def _says(said: Set[str], wanted: Set[str]) -> bool:
    """Whether a statement has something of what is asked of a name; "Who is Ada?" asks for anything."""
    return not wanted or not wanted.isdisjoint(said)


def _says_all(said: Set[str], wanted: Set[str]) -> bool:
    return bool(wanted) and wanted <= said


def _same_fields(fields: str, summary: str) -> bool:
    """Whether a summary is the record of a document with these fields; not of several of the same title."""
    return "; " not in summary and all(part in summary for part in fields.split("; "))


def _is_another(name: str, numbers: Collection[str]) -> bool:
    """Return whether a name is that of one of a series, by its number, and a question with these does not have it."""
    series = _OF_SERIES.fullmatch(name)
    return series is not None and series[1] not in numbers


def _fields_said(summary: str) -> set[str]:
    """Return the words of fields with their values: the names of fields are English, whatever the language of these."""
    names = " ".join(part.partition(":")[0] for part in summary.split(", "))
    return _senses(analyze(summary)) | _senses(analyze(names, "english"))


def _senses(terms: Iterable[str]) -> set[str]:
    """Return words with those that mean the same of a record: who wrote a book is its author."""
    return {_SAME.get(term, term) for term in terms}
