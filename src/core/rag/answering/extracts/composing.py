"""Answers without a language model: the best sentences of the best passages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import detect_language
from core.rag.answering.checking.citations import citation
from core.rag.answering.extracts.announced import announces
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.items import code_behind, introduction, list_behind, said_by
from core.rag.answering.extracts.readable import readable_spans
from core.rag.answering.extracts.showing import shown
from core.rag.answering.extracts.substance import only_points, substance
from core.rag.answering.spelling import Together
from core.rag.answering.types import Citation, FoundEntity, FoundFact, Intent, Passage
from core.rag.answering.vectors import sentence_vectors
from core.rag.headings import headings_of
from core.rag.indexing.splitting.sentences import sentence_spans

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: The default reason why no model wrote the answer.
NOT_SET = "no language model is set"
NOT_ASKED = "no language model was asked"
#: The beginning of the first line of the answer.
LABEL = "Extracts from the sources"
#: The same if nothing that was found seems relevant to the question.
NEAREST = "Nothing in the sources is clearly about this. The nearest extracts"

#: Maximum number of sentences of a passage.
PER_PASSAGE: dict[Intent, int] = {"factual": 1, "relationship": 2, "summary": 3, "exploration": 2}
#: A second sentence of a passage needs at least this share of the best score of all,
_NEARLY_BEST = 0.5
#: or words of the question that the best one lacks, with at least this share.
_COMPLETES = 0.2
#: The ends of questions, and of statements, behind which quotation marks, brackets and emphasis may be closed.
_ASKS = re.compile(r"[?？؟][\s\"'”’»」)\]*_]*\Z")
_STATES = re.compile(r"[.!;。！।۔…][\s\"'”’»」)\]*_`]*\Z")
#: What part of its score a statement of source code keeps: comments say more of what it does.
_STATEMENT = 0.7
#: What a word of the question counts that the title or heading of a passage has: every sentence below is about it.
_GIVEN = 0.2

#: The beginning of the first line of an answer without a model and without passages.
STATEMENTS = "Statements of the graph"
_MOST_STATEMENTS = 10


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: int
    place: Span
    text: str
    score: float = 0.0
    asked: Mapping[str, float] = field(default_factory=dict)
    points: bool = False


async def extract(
    question: str,
    intent: Intent,
    passages: Sequence[Passage],
    embedder: EmbeddingService | None = None,
    label: str = LABEL,
    why: str = NOT_SET,
) -> tuple[str, tuple[Citation, ...]]:
    """Answer with sentences from the passages.

    Each passage contributes its best sentence, up to ``PER_PASSAGE`` if others are nearly as good as the best of all,
    and one more if it has another part of what the question asks: of "Heron is led by Ada. It has a budget of 40,000."
    both. Passages keep their order, which is more reliable than scores of sentences; so do sentences of a passage.

    Args:
        question: The question.
        intent: The kind of answer that it asks for.
        passages: The best passages, in order.
        embedder: Also compares sentences with the question by meaning; ``None``, or if it fails: words only.
        label: The beginning of the first line.
        why: The end of that line: why no model wrote the answer.

    Returns:
        The text, with one item for each sentence, and rows of tables with the names of their columns; and the
        citations, whose quote is the best sentence of the passage.
    """
    scored = await _scored(question, passages, embedder)
    # A passage that only says where to read on says nothing, if others do.
    saying = {sentence.passage for sentence in scored if not sentence.points}
    scored = [sentence for sentence in scored if not saying or sentence.passage in saying]
    best = max((sentence.score for sentence in scored), default=0.0)
    chosen: list[tuple[Passage, list[_Sentence]]] = []
    for index, passage in enumerate(passages):
        own = sorted((one for one in scored if one.passage == index), key=lambda one: (-one.score, one.place.start))
        good = [one for one in own[1 : PER_PASSAGE[intent]] if one.score >= _NEARLY_BEST * best > 0]
        if own:
            taken = [own[0], *good]
            chosen.append((passage, [*taken, *_completing(taken, own)]))
    # Chunks overlap: a sentence in several passages is shown once.
    items: dict[str, dict[int, None]] = {}
    lists: dict[str, str] = {}
    for passage, taken in chosen:
        listed = ""
        for one in sorted(taken, key=lambda one: one.place.start):
            starts = {other.place.start for other in taken}
            said = said_by(passage, one.place, starts)
            # A passage that overlaps another begins within what that has as a whole.
            said = next((item for item in items if said.startswith("… ") and item.endswith(said[2:])), said)
            if said in listed:
                continue
            said = introduction(passage, one.place, starts) + said + code_behind(passage.hit.content, one.place, starts)
            items.setdefault(said, {})[passage.number] = None
            listed = list_behind(passage, one.place.end)
            lists[said] = max(lists.get(said, ""), listed, key=len)
    citations = tuple(citation(passage, taken[0].text) for passage, taken in chosen)
    lines = (f"- {said} {''.join(f'[{number}]' for number in numbers)}{lists[said]}" for said, numbers in items.items())
    return "\n".join([f"{label} ({why}):", "", *lines]), citations


def statements(facts: Iterable[FoundFact], entities: Iterable[FoundEntity], why: str = NOT_SET) -> str:
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
    lines = [f"- {shown(item)}" for item in dict.fromkeys(items[:_MOST_STATEMENTS])]
    return "\n".join([f"{STATEMENTS} ({why}, and no passage says so):", "", *lines]) if lines else ""


def _completing(taken: Sequence[_Sentence], own: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the sentence of a passage with most words of the question that the taken ones lack, if there is one."""
    said = {term for one in taken for term in one.asked}

    def added(one: _Sentence) -> float:
        return math.fsum(weight for term, weight in one.asked.items() if term not in said)

    most = max(own, key=lambda one: (added(one), one.score))
    return [most] if added(most) >= _COMPLETES else []


async def _scored(question: str, passages: Sequence[Passage], embedder: EmbeddingService | None) -> list[_Sentence]:
    """Return the sentences, scored by the share of the question's words that they have, and by their cosine with it.

    Those that only repeat the question, or ask one themselves, are left out where the passage has others.
    Below a title "Blue whale", "It eats krill." says what a blue whale eats: the words of the title count little, and
    the sentence is embedded with the title before it.
    """
    spans = [readable_spans(passage) for passage in passages]
    if not any(spans):  # where there is nothing but markup, that
        everything = [sentence_spans(passage.hit.content) or [(0, len(passage.hit.content))] for passage in passages]
        spans = [[Span(*place, said=True) for place in places] for places in everything]
    found = [
        _Sentence(index, place, passage.hit.content[place.start : place.end])
        for index, (passage, places) in enumerate(zip(passages, spans, strict=True))
        for place in places
    ]
    wanted = set(query_terms(question))
    languages = [detect_language(passage.hit.content.split()) for passage in passages]
    given = [set(analyze(_about(passage), language)) for passage, language in zip(passages, languages, strict=True)]
    words = [set(analyze(sentence.text, languages[sentence.passage])) for sentence in found]
    together = Together(question)
    for sentence, own in zip(found, words, strict=True):
        own |= together.terms(sentence.text, own)
    texts = [
        one.text if own >= given[one.passage] else f"{_about(passages[one.passage])}: {one.text}"
        for one, own in zip(found, words, strict=True)
    ]
    cosines = await _cosines(question, texts, embedder)
    # A word that few of the sentences have weighs more.
    rarity = {term: 1.0 / (1 + sum(term in own for own in words)) ** 0.5 for term in wanted}
    weights = [{term: rare * (_GIVEN if term in own else 1.0) for term, rare in rarity.items()} for own in given]
    totals = [sum(own.values()) or 1.0 for own in weights]
    scored = []
    for one, own, cosine in zip(found, words, cosines, strict=True):
        last = not passages[one.passage].hit.content[one.place.end :].strip()
        points = one.place.said and only_points(question, one.text, last=last)
        part = substance(question, one.text, last=last) if one.place.said else _STATEMENT
        asked = {term: part * weights[one.passage][term] / totals[one.passage] for term in own & wanted}
        score = math.fsum(asked.values()) + part * max(cosine, 0.0)
        scored.append(replace(one, score=score, asked=asked, points=points))
    echoes = [
        _echoes(one.text, own <= wanted and not announces(passages[one.passage].hit.content, one.place.end))
        for one, own in zip(found, words, strict=True)
    ]
    told = {one.passage for one, echo in zip(found, echoes, strict=True) if not echo}
    return [one for one, echo in zip(scored, echoes, strict=True) if not echo or one.passage not in told]


def _echoes(sentence: str, said: bool) -> bool:
    """Return whether a sentence only asks, or is a name or a phrase that says no more than the question (``said``)."""
    return _ASKS.search(sentence) is not None or (said and _STATES.search(sentence) is None)


def _about(passage: Passage) -> str:
    """Return the title and headings of a passage, each once."""
    parts = (passage.hit.title, *headings_of(passage.hit.heading))
    return ", ".join(dict.fromkeys(part.strip() for part in parts if part.strip()))


async def _cosines(question: str, texts: Sequence[str], embedder: EmbeddingService | None) -> list[float]:
    vectors = await sentence_vectors(embedder, [question, *texts]) if embedder is not None and texts else None
    if vectors is None:
        return [0.0] * len(texts)
    cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
    return cosines
