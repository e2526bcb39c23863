"""Third stage: fits what was retrieved into a token budget, as text and as a diagram."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from core.rag.answering.markers import CODE, MARKER
from core.rag.answering.mermaid import mermaid_diagram
from core.rag.answering.metrics import Metrics
from core.rag.answering.types import Context, FoundEntity, FoundFact, Knowledge, Passage
from core.rag.extraction.source_code import is_program
from core.rag.indexing.splitting.sentences import sentence_spans
from core.rag.indexing.splitting.tokens import even_tokens
from core.rag.indexing.splitting.turns import first_speaker
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

#: Default maximum number of tokens of the context.
TOKEN_BUDGET = 6_000
#: Maximum share of definitions and facts together.
GRAPH_SHARE = 0.4
#: An entity found only by trigrams is included if its name is this similar, or it is the end of a relation.
SIMILAR_ENOUGH = 0.3
#: A part of a text that does not fit as a whole must have at least this many tokens.
_SHORTEST_PART = 24
#: Maximum number of tokens of the tags around a part.
_MARKS = 24

_Count = Callable[[str], int]

#: Types that entities have by the spelling of their names, which define nothing.
_OF_SPELLING = frozenset({"name", "term"})
#: The tags of the context, which are escaped in its texts so that these cannot open or close a part.
_TAG = regex(r"<(?=/?(?:documents|definitions|facts|passages)\b)", re.IGNORECASE)
#: Numbers in brackets in the code of a document, except for indexes such as ``argv[1]``.
_REFERENCE_IN_CODE = regex(r"(?<![\w\])\"'])\[[ \t\xa0]*(\d{1,3})[ \t\xa0]*\]")
#: What is between the brackets of a marker, and what follows them.
_BRACKETS = regex(r"[\[【][ \t\xa0]*\^?(.*?)[ \t\xa0]*[\]】](.*)", re.DOTALL)
#: A number that no passage has.
_NO_PASSAGE = regex(r"\[(?:0|\d{4})\]")


def build_context(
    knowledge: Knowledge,
    token_budget: int = TOKEN_BUDGET,
    metrics: Metrics | None = None,
) -> Context:
    """Build the context that a model reads.

    Passages are numbered from 1, as answers cite them. The most relevant ones are added first; a text that does not
    fit is left out, or cut after a whole sentence.

    Args:
        knowledge: The retrieved knowledge.
        token_budget: Maximum number of tokens of the text.
        metrics: Receives counts.

    Returns:
        The text, its contents, and the diagram.
    """
    started = time.monotonic()
    count = even_tokens.count
    room = token_budget - 3 * _MARKS - count(knowledge.about)
    graph = sum(count(_fact_text(fact, {})) for fact in knowledge.facts)
    joined = {end for fact in knowledge.facts for end in (fact.source_id, fact.target_id)}
    graph += sum(count(_definition(entity)) for entity in knowledge.entities if _says(entity, joined))
    hits = [*knowledge.computed, *knowledge.hits]
    passages, used = _fitted_passages(hits, count, room - min(graph, int(room * GRAPH_SHARE)))
    if not passages:  # better one without facts than none
        passages, used = _fitted_passages(hits, count, room)
    numbers = {passage.hit.chunk_id: passage.number for passage in passages if not passage.is_computed}
    left = room - used
    facts: list[FoundFact] = []
    for fact in knowledge.facts:
        size = count(_fact_text(fact, numbers)) + 2
        if size <= left:
            facts.append(fact)
            left -= size
    ends = {end for fact in facts for end in (fact.source_id, fact.target_id)}
    entities: list[FoundEntity] = []
    for entity in knowledge.entities:
        size = count(_definition(entity)) + 2
        if (entity.id in ends or _is_sure(entity)) and size <= left:
            entities.append(entity)
            # A name without any information is shown in the diagram, but is left out of the text.
            left -= size if _says(entity, ends) else 0
    text = _text(knowledge.about, [one for one in entities if _says(one, ends)], facts, passages, numbers)
    context = Context(
        text=text,
        passages=tuple(passages),
        entities=tuple(entities),
        facts=tuple(facts),
        mermaid=mermaid_diagram(entities, facts),
        tokens=count(text),
        left_out=len(hits) - len(passages) + len(knowledge.facts) - len(facts),
        failure=knowledge.failure,
    )
    if metrics is not None:
        metrics.context_seconds = time.monotonic() - started
        metrics.response_metrics.knowledge_context_length = len(text)
        metrics.response_metrics.context_tokens = context.tokens
    return context


def _fitted_passages(hits: Sequence[Hit], count: _Count, room: int) -> tuple[list[Passage], int]:
    """Return the passages that fit, with whole sentences, and their number of tokens."""
    passages: list[Passage] = []
    used = 0
    for hit in hits:
        passage = Passage(len(passages) + 1, hit)
        size = count(_passage_text(passage)) + _MARKS
        if used + size > room:
            marks = count(_passage_text(Passage(passage.number, _shortened(hit, 0)))) + _MARKS
            shortened = _cut(hit, count, room - used - marks)
            if shortened is None:
                continue
            passage = Passage(passage.number, shortened)
            size = count(_passage_text(passage)) + _MARKS
        if used + size <= room:
            passages.append(passage)
            used += size
    return passages, used


def _cut(hit: Hit, count: _Count, room: int) -> Hit | None:
    """Return the hit with as many of its first sentences as fit."""
    end = 0
    if room >= _SHORTEST_PART:
        for _, stop in sentence_spans(hit.content):
            if count(hit.content[:stop]) > room:
                break
            end = stop
    return _shortened(hit, end) if end else None


def _shortened(hit: Hit, end: int) -> Hit:
    return replace(hit, content=hit.content[:end], end_char=hit.start_char + end)


def _says(entity: FoundEntity, ends: Collection[str]) -> bool:
    """Return whether anything is known about an entity: a summary, a type, or a fact."""
    return bool(entity.summary or _kind(entity)) or entity.id in ends


def _kind(entity: FoundEntity) -> str:
    """Return the type of an entity, unless it only says how its name is spelt."""
    return "" if entity.type in _OF_SPELLING else _line(entity.type)


def _is_sure(entity: FoundEntity) -> bool:
    """Return whether to include an entity: the question names it, or something is known about it."""
    if entity.score > 1:
        return True
    return bool(entity.summary) and (entity.method != "trigram" or entity.similarity >= SIMILAR_ENOUGH)


def _text(
    about: str,
    entities: Sequence[FoundEntity],
    facts: Sequence[FoundFact],
    passages: Sequence[Passage],
    numbers: dict[str, int],
) -> str:
    parts = []
    if about:
        parts.append(f"<documents>{_line(about)}</documents>")
    if entities:
        parts.append(f"<definitions>{', '.join(map(_definition, entities))}</definitions>")
    if facts:
        parts.append(f"<facts>{' '.join(_fact_text(fact, numbers) for fact in facts)}</facts>")
    if passages:
        parts.append("<passages>\n" + "\n\n".join(map(_passage_text, passages)) + "\n</passages>")
    return "\n\n".join(parts)


def _definition(entity: FoundEntity) -> str:
    summary = _line(entity.summary) or _kind(entity)
    return f"{_line(entity.name)}: {summary}" if summary else _line(entity.name)


def _fact_text(fact: FoundFact, numbers: dict[str, int]) -> str:
    cited = "".join(f"[{number}]" for number in sorted({numbers[i] for i in fact.chunk_ids if i in numbers}))
    words = _line(fact.fact).rstrip(".")
    text = f"{_line(fact.source)} {_line(fact.type)} {_line(fact.target)}" + (f", {words}" if words else "")
    text += f" ({fact.period})" if fact.period else ""
    return f"{text} {cited}." if cited else f"{text}."


def _passage_text(passage: Passage) -> str:
    hit = passage.hit
    title = [] if hit.title in passage.title else [hit.title]
    page = [f"page {passage.page}"] if passage.page is not None else []
    fields = [f"({hit.fields})"] if hit.fields else []
    who = first_speaker(hit.metadata)
    speaker = [f"first speaker: {who}"] if who and who not in f"{passage.title}{hit.content[: 2 * len(who)]}" else []
    where = ", ".join(map(_line, [passage.title, *title, *page, *speaker, *fields]))
    return f"[{passage.number}] {where}\n{_inert(hit.readable, code=is_program(hit.path))}"


def _line(text: str) -> str:
    """Return a text as one line."""
    return _inert(" ".join(text.split()))


def _inert(text: str, *, code: bool = False) -> str:
    """Return a text, or source code, in which nothing opens or closes a part, or looks like a citation."""
    parts = []
    place = 0
    text = _TAG.sub("&lt;", text)
    if code:
        return _REFERENCE_IN_CODE.sub(r"(\1)", text)
    for span in CODE.finditer(text):
        parts += [MARKER.sub(_in_parentheses, text[place : span.start()]), _REFERENCE_IN_CODE.sub(r"(\1)", span[0])]
        place = span.end()
    return "".join([*parts, MARKER.sub(_in_parentheses, text[place:])])


def _in_parentheses(marker: re.Match[str]) -> str:
    """Return what a document has in brackets in the form of a citation: its own footnotes and references."""
    return marker[0] if _NO_PASSAGE.fullmatch(marker[0]) else _BRACKETS.sub(r"(\1)\2", marker[0])
