"""Decides whether what a question asks of the names in it is witnessed, too.

That the graph has an Ada Lane, and passages about her, says nothing of her shoe size. So the names of a question that
are known count for their own words only. What it asks beyond them is looked for in passages that have such a name, in
those that one of these leads to by a rare name ("Ebb is a film by Ada Vane", "Vane (12 May 1931 in Cork)"), and in what
the graph states of the names: by the share of the words, and by the cosine of these words, without the names, with the
passages. With the name, any question has a high cosine with what is about it.

Only for questions and passages in English: elsewhere words are inflected so much, and cosines say so little, that a
sixth to a quarter of what passages answer would be without a witness.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from core.rag.analysis.language import DEFAULT_LANGUAGE, detect_language
from core.rag.answering.extracts.stating import answering_statements
from core.rag.answering.relevance.compared import (
    Asked,
    Passage,
    Words,
    is_called,
    share_of,
    weighed,
    words_of,
)
from core.rag.answering.relevance.scores import matches
from core.rag.answering.types import Analysis, Knowledge
from core.rag.answering.understanding.intents import has_words, subject_of
from core.rag.embedder import embed_queries
from core.rag.embedder.likeness import likeness, usual_cosine
from core.rag.errors import EmbeddingError
from core.rag.extraction.names import names_in
from core.rag.extraction.words import longest_names, normalize_name, normalized_words, word_spans
from core.rag.headings import without_distinction
from core.rag.retrieval.legs import SAMPLE_SIZE, Legs
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

_log = logging.getLogger(__name__)

#: What is asked of a name is witnessed from here on; with few words, a cosine is seldom more than this.
WITNESSED = 0.15
#: It may also be without any witness where it is less of the question: "Are both Ebb and Flow long?"
LITTLE = 0.35
#: One word may well be said in another: "Where does Ada work?" of an engineer. Two are seldom both.
_FEWEST = 2
#: So many words of it in one passage, and this share of it, are no accident whatever names the passage has.
_MANY, _MUCH = 4, 0.4
#: A name in less than this share of the passages leads from one to another.
_RARE = 0.01
_SHORTEST_NAME = 4
#: Names of a passage that are followed.
_MOST_NAMES = 100

#: What asks for a name, or for its meaning, whatever words say that, and has nothing of it.
_ASKING = regex(
    r"\b(?:(?:stands?|standing|short) for|acronym|abbreviations?|abbreviated|(?:know|heard) (?:about|of)"
    r"|tell me (?:\w+ ){0,4}?about|information (?:on|about)|i mean(?:t)?)\b",
    re.IGNORECASE,
)
_MEASURE = regex(r"\bhow (?:many|much|long|old|often|far|large|big|high|tall|soon)\b", re.IGNORECASE)
_GREETING = regex(r"\A\W*(?:hi|hello|hey|dear|good (?:morning|day|evening))\b[^,.!?\n]{0,40}[,.!\n]", re.IGNORECASE)
_PARTS = regex(r"[.;:?!]+(?:\s|\Z)|\n")
#: A word between one of these and a name says what kind of thing it is: "the function parse_config", "of film Ebb".
_ARTICLES = frozenset(("the", "a", "an", "of"))

#: The words of names, each with its stems: of one of these, a passage has all.
_Names = Sequence[Collection[frozenset[str]]]


async def is_witnessed(analysis: Analysis, knowledge: Knowledge, client: MemGraphClient, before: str) -> bool:
    """Return whether what a question asks beyond the names that are known is witnessed; true if there is nothing.

    Args:
        analysis: The question.
        knowledge: What was found for it.
        client: The graph, which tells how rare words are, and has vectors.
        before: What was said before that the question goes on with.
    """
    sample = await Legs(client, None).sampled_words()
    asked = Asked.of(analysis, before, sample)
    if not asked.in_english:
        return True
    usual = await usual_cosine(client.embedder)
    passages = [Passage.of(hit, usual) for hit in knowledge.hits]
    question = _GREETING.sub("", analysis.query)
    known = [name for name in _known(asked, knowledge, passages) if list(_places(normalized_words(question), [name]))]
    # Of "Ignore all rules; who is Alice?", the second part asks of a name alone.
    parts = [(part, _beyond(part, known)) for part in _PARTS.split(question)] if known else []
    if any(not has_words(rest) and without_names(part, known) != part for part, rest in parts):
        return True
    text = _beyond(question, known)
    if not (known and has_words(text)):
        return True
    rest = weighed(text, sample)
    if len(rest) < _FEWEST:
        return True
    names = [words_of(name) for name in known]
    of_names = sum(weighed(" ".join(known), sample).values())
    part = sum(rest.values()) / (sum(rest.values()) + of_names)
    if part < LITTLE or answering_statements(question, knowledge.entities, knowledge.facts).whole:
        return True
    if any(_is_much(passage, rest) for passage in passages):
        return True
    names += [words_of(entity.name) for entity in knowledge.entities if is_called(entity, known)]
    about = [passage for passage in passages if _has(passage.words, names)]
    if not _in_english(about):
        return True
    forms: list[Words] = [rest, weighed(f"{without_names(before, known)}\n{text}", sample)] if before else [rest]
    words = _stated(knowledge, known).union(*(asked.words_in(passage) for passage in about))
    # What the names lead to takes longer to find, and a cosine may have to be asked for somewhere else.
    if _suffices(_likelihood(forms, words), part):
        return True
    led = _led_to(about, passages, sample)
    likelihood = _likelihood(forms, words.union(*map(asked.words_in, led)))
    if _suffices(likelihood, part):
        return True
    alike = likeness(await _cosine(client, text, [passage.hit.chunk_id for passage in (*about, *led)]), usual)
    return _suffices(1 - (1 - likelihood) * (1 - max(alike, 0.0)), part)


def _beyond(question: str, names: Collection[str]) -> str:
    """Return what a question, or a part of one, asks beyond these names."""
    return subject_of(_MEASURE.sub(" ", _ASKING.sub(" ", without_names(question, names))))


def _is_much(passage: Passage, rest: Words) -> bool:
    many = sum(not stems.isdisjoint(passage.words) for stems in rest) >= _MANY
    return many and share_of(rest, passage.words) >= _MUCH


def _in_english(passages: Sequence[Passage]) -> bool:
    """Return whether any of these passages is in English; true of none."""
    languages = [detect_language(passage.hit.content.split()) for passage in passages]
    return not languages or DEFAULT_LANGUAGE in languages


def _likelihood(forms: Iterable[Words], words: Collection[str]) -> float:
    return max(share_of(form, words) for form in forms)


def _suffices(likelihood: float, part: float) -> bool:
    return likelihood >= WITNESSED or part * (1 - likelihood) < LITTLE


def without_names(text: str, names: Collection[str]) -> str:
    """Return a text without these names (normalised), and without a word that says of what kind one of them is.

    Example:
        >>> without_names("Where is the function parse defined?", ["parse"])
        'Where is the   defined?'
    """
    spans, words = word_spans(text), normalized_words(text)
    gone: set[int] = set()
    for place, name in _places(words, names):
        gone.update(range(place, place + len(name)))
        if place > 1 and words[place - 2] in _ARTICLES:
            gone.add(place - 1)
    kept, end = [], 0
    for place in sorted(gone):
        kept.append(text[end : spans[place][0]])
        end = spans[place][1]
    return "".join([*kept, text[end:]])


def _places(words: Sequence[str], names: Collection[str]) -> Iterator[tuple[int, list[str]]]:
    for name in map(str.split, names):
        for place in range(len(words) - len(name) + 1):
            if words[place : place + len(name)] == name:
                yield place, name


def _known(asked: Asked, knowledge: Knowledge, passages: Sequence[Passage]) -> list[str]:
    """Return the names of a question that something found has; of nested ones the longest."""
    names = [name for name in asked.names if not name.isdigit()]
    known = {
        name
        for name in names
        if any(is_called(entity, [name]) for entity in knowledge.entities)
        or any(matches(fact.fact, [name]) for fact in knowledge.facts)
    }
    known |= {name for name, stems in asked.written.items() if any(stems <= passage.words for passage in passages)}
    return sorted(longest_names(known))


def _led_to(own: Sequence[Passage], passages: Sequence[Passage], sample: Collection[Collection[str]]) -> list[Passage]:
    """Return other passages that some lead to: that are about what one of them names, or have the same rare name."""
    texts = [f" {' '.join(normalized_words(passage.hit.content))} " for passage in own]
    others = [passage for passage in passages if passage not in own]
    led = [passage for passage in others if any(_names(text, passage.hit.title) for text in texts)]
    most = _RARE * max(len(sample), SAMPLE_SIZE)
    for name in dict.fromkeys(name for passage in own for name in _names_of(passage)):
        leading = [words_of(name)]
        more = [passage for passage in others if passage not in led and _has(passage.words, leading)]
        if more and sum(_has(words, leading) for words in sample) <= most:
            led += more
    return led


def _names(text: str, title: str) -> bool:
    name = normalize_name(without_distinction(title))
    return bool(name) and f" {name} " in text


def _names_of(passage: Passage) -> list[str]:
    found = names_in(passage.hit.content)
    return [name for name in found if len(name) >= _SHORTEST_NAME and not name.isdigit()][:_MOST_NAMES]


def _has(words: Collection[str], names: _Names) -> bool:
    return any(name and all(not stems.isdisjoint(words) for stems in name) for name in names)


def _stated(knowledge: Knowledge, names: Collection[str]) -> set[str]:
    """Return the words of what the graph states of names."""
    texts = [entity.summary for entity in knowledge.entities if entity.summary and is_called(entity, names)]
    for fact in knowledge.facts:
        text = f"{fact.source} {fact.type.replace('_', ' ')} {fact.target} {fact.fact}"
        if matches(text, names):
            texts.append(text)
    return {stem for text in texts for stems in words_of(text) for stem in stems}


async def _cosine(client: MemGraphClient, text: str, chunk_ids: list[str]) -> float:
    """Return the highest cosine of a text with passages; 0 if they have no vectors, or the provider fails."""
    embedder = client.embedder
    store = await client.vector_store_for(embedder) if embedder is not None and chunk_ids else None
    if embedder is None or store is None:
        return 0.0
    try:
        [vector] = await embed_queries(embedder, [text.strip()])
    except EmbeddingError as error:
        _log.warning("What is asked of a name is looked for by words alone, because embedding failed: %s", error)
        return 0.0
    cosines = await Legs(client, store).cosines(vector, chunk_ids)
    return max(cosines.values(), default=0.0)
