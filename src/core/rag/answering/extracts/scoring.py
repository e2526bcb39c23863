"""Which sentences of the passages answer a question: by its words, by meaning, and by the kind of thing it asks for."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from core.rag.analysis import (
    analyze,
    asked_names,
    asked_words,
    defined_words,
    measured,
    option_words,
    query_terms,
)
from core.rag.analysis.filler_phrases import without_phrases
from core.rag.analysis.joined_words import Together
from core.rag.analysis.language import question_language
from core.rag.answering.extracts.announced import announces
from core.rag.answering.extracts.blocks import as_cell, made_by
from core.rag.answering.extracts.called import Source, entitled, explaining, has_alike, is_number_of, names_not_asked
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.constants import asks_for_value, is_constant, says_default
from core.rag.answering.extracts.defining import wanted_of_code
from core.rag.answering.extracts.entries import Entries, entry_with, without_asked_kind
from core.rag.answering.extracts.headed import (
    asks_how_to,
    headed_lists,
    is_directly_above,
    is_numbered,
    share_answered,
    words_asked,
)
from core.rag.answering.extracts.items import shows_code
from core.rag.answering.extracts.kinds import Kind, asks_when, kind_asked
from core.rag.answering.extracts.labelled import named_lines
from core.rag.answering.extracts.lives import Lives
from core.rag.answering.extracts.named_rows import named_rows
from core.rag.answering.extracts.readable import readable_spans
from core.rag.answering.extracts.record_rows import record_cells
from core.rag.answering.extracts.sections import Sections, asks_nearly
from core.rag.answering.extracts.sentence import Sentence
from core.rag.answering.extracts.sentence_ends import ASKS, echoes
from core.rag.answering.extracts.settings import named_settings
from core.rag.answering.extracts.speaking import is_short_reply, without_addressed, words_of_people
from core.rag.answering.extracts.spoken import sayings
from core.rag.answering.extracts.subjects import asks_for_heading
from core.rag.answering.extracts.substance import LITTLE, asks_for_source, only_points, substance
from core.rag.answering.extracts.table_rows import asks_for_columns, is_head, is_row, with_head
from core.rag.answering.prose import LESS, is_beside_the_point, names_code
from core.rag.answering.types import Passage
from core.rag.answering.vectors import sentence_vectors
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.extraction.imports import asks_for_imports, is_import
from core.rag.extraction.source_code import configuration_language
from core.rag.indexing.splitting.sentences import sentence_spans
from core.rag.retrieval.ordering.link_lists import lists_sources
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.embedder import EmbeddingService

#: What part of its score a statement of source code keeps: comments say more of what it does.
_STATEMENT = 0.7
#: The same if the question names nothing of the code.
_UNNAMED_STATEMENT = 0.4
#: What a row keeps beside another one of its table that the question names, if it has no more of the question.
_BESIDE = 0.5
#: What a word of the question counts that the title or heading of a passage has: every sentence below is about it.
_GIVEN = 0.2
#: What a word of the name of who speaks counts in what they say of themselves, and of whom it is addressed to.
_PEOPLE = 0.7
#: What a word counts that was said before the question.
_EARLIER = 0.3
#: what a word counts of the term that a definition explains, in its later sentences,
_TERM = 0.8
#: What the likeness counts beside the words.
_MEANING = 0.7
#: What it adds that a sentence has the kind of thing that the question asks for,
_OF_KIND = 0.25
#: that it says what something is, if that is asked,
_DEFINES = 0.5
#: that it begins a section that is called so, and explains it without its name,
_EXPLAINS = 0.75
#: that it is the heading of steps, if a way to do something is asked,
_STEPS = 0.5
#: that it is in a section that is there for what is asked, of a passage that is about the rest of the question,
_SECTION = 0.8
#: that it is below a heading that asks the same,
_ASKED = 1.0
#: that it was said by who is named, if it is asked what they said,
_SAID = 0.5
#: what share of the question it names with whole cells of a row of a table: "Flow" is not "Flow rate",
_CELLS = 0.5
#: of which this part is left if its first cell is not among these: it mentions them, and is about something else,
_MENTIONED = 0.5
#: and that one of so many best sentences of other passages names what its passage is about.
_NAMED = 0.2
_NAMING = 4
#: The share of the question that a sentence there has to add to that one, to be read after it.
_ADDED = 0.05
#: The share of the best score of the graph from which on that led to a passage; in a small graph it reaches them all.
_LED = 0.1
#: A few words, each with a capital letter.
_NAME = regex(r"\s*[^\W\d_a-z][\w'’-]*(?:[ \t]+(?:&[ \t]+)?[^\W\d_a-z][\w'’.-]*){0,4}\s*")


async def scored(
    question: str, passages: Sequence[Passage], embedder: EmbeddingService | None, before: str
) -> list[Sentence]:
    """Return the sentences of passages with their scores.

    A score is the share of the question's words that a sentence has, plus its likeness to the question, plus
    something if it has the kind of thing that is asked for: a number for "how many", a definition for "what is".
    Sentences that only repeat the question, or ask one themselves, are left out where the passage has others. Below
    a title "Blue whale", "It eats krill." says what a blue whale eats: the words of the title count little. A
    passage about something that a good sentence of another one names goes on with it: it counts more, and what of
    the question that one has, it need not repeat. The heading of a list counts for what it has of the question
    together with those above it.

    Args:
        question: The question.
        passages: The passages, best first.
        embedder: Compares sentences with the question by meaning; ``None``, or if it fails: words only.
        before: What was said before that the question goes on with: its words count a little.

    Returns:
        The sentences in the order of the passages, and within each of its text.
    """
    asked_in = question_language(question.split())
    sources = [Source.of(passage, asked_in) for passage in passages]
    found = _sentences(question, sources)
    sections = Sections(question, sources)
    headed = _headed(question, sources, sections)
    alike = await _likenesses(question, [one.text for one in (*found, *headed)], embedder)
    wanted = {*query_terms(without_asked_kind(question)), *option_words(question), *measured(question).values()}
    weights = _weights(question, found, sources, wanted, set(query_terms(before)) - wanted)
    rated = _rated(question, sources, found, alike[: len(found)], weights, wanted, sections)
    rated = _going_on(rated, sources, weights, kind_asked(question), wanted)
    rated = _without_echoes(_answering(rated, wanted), sources, wanted)
    for one, meant in zip(headed, alike[len(found) :], strict=True):
        alike_too = _MEANING * max(meant, 0.0)
        rated.append(replace(one, score=one.score + alike_too, about=one.about + alike_too))
    return sorted(rated, key=lambda one: (one.passage, one.place))


def _sentences(question: str, sources: Sequence[Source]) -> list[Sentence]:
    heads = asks_for_columns(question)
    spans = [readable_spans(source.passage, heads=heads) for source in sources]
    if not any(spans):  # where there is nothing but markup, that
        everything = [sentence_spans(source.text) or [(0, len(source.text))] for source in sources]
        spans = [[Span(*place, said=True) for place in places] for places in everything]
    together, lives = Together(question), Lives(set(query_terms(question)), asks_when=asks_when(question))
    return [
        _sentence(index, place, source, together, lives)
        for index, (source, places) in enumerate(zip(sources, spans, strict=True))
        for place in places
    ]


def _weights(
    question: str, sentences: Sequence[Sentence], sources: Sequence[Source], wanted: set[str], earlier: set[str]
) -> list[dict[str, float]]:
    """Return what each word of the question counts in the sentences of each passage.

    A word that few of the sentences have weighs more; one that the title or heading of the passage has, or that was
    only said before (``earlier``), weighs less. A stem in another language than that of the passage, which no sentence
    has, is none that they lack.
    """
    rarity = {term: 1.0 / (1 + sum(term in one.words for one in sentences)) ** 0.5 for term in wanted | earlier}
    rarity.update({term: _EARLIER * rarity[term] for term in earlier})
    had = {term for one in sentences for term in one.words} | earlier
    known = [had.union(analyze(question, source.language)) for source in sources]
    return [
        {term: rare * (_GIVEN if term in source.names else 1.0) for term, rare in rarity.items() if term in words}
        for source, words in zip(sources, known, strict=True)
    ]


def _rated(
    question: str,
    sources: Sequence[Source],
    sentences: Sequence[Sentence],
    alike: Sequence[float],
    weights: Sequence[dict[str, float]],
    wanted: set[str],
    sections: Sections,
) -> list[Sentence]:
    """Return the sentences with their scores, each by itself."""
    totals = [sum(own.values()) or 1.0 for own in weights]
    is_entitled = entitled(question, sources)
    kind = kind_asked(question)
    statement = _STATEMENT if names_code(question) else _UNNAMED_STATEMENT
    names, defined = asked_names(question), set(asked_words(question))
    of_code = wanted_of_code(question, sources, sentences, defined)
    of_columns = asks_for_columns(question)
    of_heading, of_time, of_imports = asks_for_heading(question), asks_when(question), asks_for_imports(question)
    of_way, of_value = asks_how_to(question), asks_for_value(question)
    explained = explaining(names, sources, sentences) if names else set()
    entries = Entries(question, sources, sentences, of_way=of_way)
    rows = named_rows(question, sources, sentences, wanted)
    places = [(sources[one.passage], one.place) for one in sentences]
    lines = named_lines(places, wanted)
    settings = named_settings(places, [one.words for one in sentences], set() if any(is_entitled) else wanted)
    spoken = sayings(question, sources, sentences, wanted)
    rated = []
    told = zip(sentences, alike, rows, lines, settings, spoken, strict=True)
    for number, (one, meant, row, line, setting, saying) in enumerate(told):
        source, hit = sources[one.passage], sources[one.passage].passage.hit
        last = not source.text[one.place.end :].strip()
        points = one.place.said and only_points(question, one.text, last=last)
        constant = not one.place.said and hit.is_code and len(one.words & wanted) > 1
        constant = constant and is_constant(source.text, one.place.start)
        part = substance(question, one.text, last=last) if one.place.said else 1.0 if setting or constant else statement
        if (not one.place.said and not of_imports and is_import(one.text)) or (names and is_number_of(one, wanted)):
            part *= LITTLE
        own = weights[one.passage]
        asked = math.fsum(own[term] for term in (one.words | saying.by) & own.keys()) / totals[one.passage]
        of_people = words_of_people(hit, one.place, source.language) - one.words - saying.by
        if defined_term := source.headings.term(one.place.start):
            of_term = frozenset(analyze(defined_term, source.language)) - one.words
            asked += _TERM * math.fsum(own[term] for term in of_term & own.keys()) / totals[one.passage]
        asked += _PEOPLE * math.fsum(own[term] for term in of_people & own.keys()) / totals[one.passage]
        of_section, answers = sections.share(one.passage, one.place), sections.answers(one.passage, one.place)
        answers = max(answers, saying.answers)
        is_called = sections.nearness(one.passage, one.place) if is_entitled[one.passage] else 0.0
        if number in explained:
            asked = 1.0
        elif one.place.said and (entitled_to := max(of_section, is_called, answers)):
            asked = max(asked, entitled_to * (1.0 - _GIVEN) + _GIVEN * asked)
        if line := line or row.record or setting:  # what is above it, or a record is called, is as good as said in it
            full = {term: value / (_GIVEN if term in source.names else 1.0) for term, value in own.items()}
            share = math.fsum(full[term] for term in line & full.keys()) / (sum(full.values()) or 1.0)
            asked = max(asked, share) + _CELLS * share
        score = asked + _MEANING * max(meant, 0.0) + _SECTION * of_section + _ASKED * answers
        score += _SAID if saying.by else 0.0
        part *= _BESIDE if saying.beside else 1.0
        if is_short_reply(hit, one.place, source.language) and not (kind is not None and kind(one.text)):
            part *= LITTLE
        if row.named and not row.record:
            share = math.fsum(own[term] for term in row.named & own.keys()) / totals[one.passage]
            score += (_CELLS if row.first else _CELLS * _MENTIONED) * share
        elif not row.named and any(one.words & wanted <= beside for beside in row.beside):
            part *= _BESIDE
        if (one.passage, one.place) in of_code:
            score, part = score + _DEFINES, 1.0
        elif number in explained:
            score += _EXPLAINS
        elif names and not defined.isdisjoint(defined_words(one.text, *names)):
            score += _DEFINES
        entry = entries.name(one)
        is_of_kind = (
            (kind is not None and kind(one.text))
            or entries.is_answer(one, entry)
            or (of_way and shows_code(source.passage, one.place))
            or (of_value and (constant or says_default(question, one.text)))
            or (of_columns and is_head(source.text, one.place.start))
        )
        path = source.headings.path(one.place.start) if of_heading else ""
        if of_time and not is_of_kind and one.place.said:
            path = path or source.headings.dated(one.place.start)
        of_kind = _OF_KIND if is_of_kind or (of_time and path) else 0.0
        subject = path or entry
        if not (subject or answers or entries.says_purpose(one)):
            subject = source.headings.subject(one.place.start, one.text, one.words, wanted)
        if hit.is_code and is_beside_the_point(question, hit.path, hit.heading):
            part *= LESS
        if lists_sources(hit.heading) and not asks_for_source(question):
            part *= LITTLE
        is_led_to = hit.scores.get("graph", 0.0) >= _LED
        about = score + of_kind if is_led_to else score
        one = replace(one, score=part * (score + of_kind), about=part * about, points=points)
        rated.append(replace(one, subject=subject, asked_for=bool(path), of_entry=subject == entry != ""))
    return rated


def _headed(question: str, sources: Sequence[Source], sections: Sections) -> list[Sentence]:
    """Return the headings of lists that have what is asked for, scored by their words."""
    found = []
    for index, source in enumerate(sources):
        text, language, asked = source.text, source.language, words_asked(question, source.language)
        for place in headed_lists(text) if not source.passage.hit.is_code else ():
            name = text[place.start : place.end]
            words = frozenset(analyze(name, language))
            of_steps = asks_how_to(question) and is_numbered(text, place)
            if not of_steps and not is_directly_above(text, place):
                continue
            of_section = sections.share_of_heading(index, name)
            if share := share_answered(asked, words, source.names, of_steps=of_steps) or of_section:
                over = source.headings.subject(text.rfind("\n", 0, place.start) + 1, name, words, asked)
                subject = "" if asked.isdisjoint(analyze(over, language)) else over
                subject = subject or entry_with(name, source.headings.above(place.start))
                below = Span(place.end + 1, place.end + 1, said=True)
                score = share + _SECTION * of_section + (_STEPS if of_steps or of_section else 0.0)
                score += _ASKED * sections.answers(index, below)
                found.append(Sentence(index, place, name, words, score, score, subject=subject, headed=True))
    return found


def _answering(sentences: Sequence[Sentence], wanted: set[str]) -> list[Sentence]:
    """Return the sentences, of which those count more that follow nearly the same question: they answer it.

    They need not repeat a word of it: "Who writes the notes?" "I can do that."
    """
    made = list(sentences)
    for index, (asking, following) in enumerate(pairwise(sentences), start=1):
        if asking.passage != following.passage or not asks_nearly(asking.words, wanted):
            continue
        if ASKS.search(asking.text) is not None and ASKS.search(following.text) is None:
            score, about = max(following.score, asking.score), max(following.about, asking.about)
            made[index] = replace(following, score=score, about=about)
    return made


def _without_echoes(sentences: Sequence[Sentence], sources: Sequence[Source], wanted: set[str]) -> list[Sentence]:
    """Return the sentences but those that only repeat the question, or ask one, in passages that have others."""
    repeated = [
        not is_row((hit := sources[one.passage].passage.hit).content, one.place.start, hit.table_header)
        and not record_cells(hit, one.place)
        and not (hit.is_code and configuration_language(hit.path))  # "port 22" says which; comments come with it
        and (
            echoes(one.text, one.words <= wanted and not announces(hit.content, one.place.end))
            or _only_names(one, hit.content, wanted)
        )
        for one in sentences
    ]
    told = {one.passage for one, echo in zip(sentences, repeated, strict=True) if not echo}
    return [one for one, echo in zip(sentences, repeated, strict=True) if not echo or one.passage not in told]


def _sentence(index: int, place: Span, source: Source, together: Together, lives: Lives) -> Sentence:
    cells = record_cells(source.passage.hit, place)
    cell = "" if source.passage.hit.is_code else as_cell(source.text, *place[:2])
    text = "\n".join(cells) or cell or source.text[place.start : place.end]
    head = source.passage.hit.table_header
    made = made_by(source.text, place.start) or ""
    said = text if cells or cell else f"{made} {with_head(source.text, place.start, place.end, head)}".lstrip()
    words = set(analyze(without_phrases(without_addressed(source.passage.hit, said)), source.language))
    return Sentence(index, place, text, frozenset(words | together.terms(text, words) | lives.terms(text, words)))


def _going_on(
    sentences: Sequence[Sentence],
    sources: Sequence[Source],
    weights: Sequence[dict[str, float]],
    kind: Kind | None,
    wanted: set[str],
) -> list[Sentence]:
    """Return the sentences; with more those of passages whose subject one of the best sentences of another one names.

    What that one has of the question, such a sentence need not repeat: if it adds something, it is the better answer.
    """
    best = sorted(sentences, key=lambda one: -one.score)[:_NAMING]
    subjects = [names_not_asked(source, wanted) for source in sources]
    leads = [
        [lead for lead in best if lead.passage != passage and any(name.search(lead.text) for name in names)]
        for passage, names in enumerate(subjects)
    ]
    rated = []
    for one in sentences:
        leading, own = leads[one.passage], weights[one.passage]
        score = one.score + (_NAMED if leading else 0.0)
        for lead in leading if one.place.said and not one.points else ():
            added = [term for term in one.words & own.keys() if not has_alike(lead.words, term)]
            new = math.fsum(own[term] for term in added) / (sum(own.values()) or 1.0)
            of_kind = kind is not None and kind(one.text) and not kind(lead.text)
            elsewhere = sources[lead.passage].passage.hit.title != sources[one.passage].passage.hit.title
            if elsewhere and (of_kind or new >= _ADDED):
                score = max(score, lead.score + new + (_OF_KIND if of_kind else 0.0))
        rated.append(replace(one, score=score, about=one.about + score - one.score))
    return rated


def _only_names(sentence: Sentence, text: str, wanted: Collection[str]) -> bool:
    """Return whether a line is no more than a name of the question, perhaps with its other parts, as below a mail."""
    line = text[text.rfind("\n", 0, sentence.place.start) + 1 : sentence.place.start]
    asked = len(sentence.words.intersection(wanted))
    return not line.strip() and 2 * asked >= len(sentence.words) > 0 and _NAME.fullmatch(sentence.text) is not None


async def _likenesses(question: str, texts: Sequence[str], embedder: EmbeddingService | None) -> list[float]:
    vectors = await sentence_vectors(embedder, [question, *texts]) if embedder is not None and texts else None
    if vectors is None:
        return [0.0] * len(texts)
    alike: list[float] = likeness(vectors[1:] @ vectors[0], await usual_cosine(embedder)).tolist()
    return alike
