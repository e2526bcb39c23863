"""First stage: which entities a question names, and what kind of answer it asks for."""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, StringConstraints

from core.rag.analysis.language import detect_language
from core.rag.analysis.words import fold, is_stop_word
from core.rag.answering.graph_index.search import IndexSearch
from core.rag.answering.metrics import Metrics
from core.rag.answering.prompts import AnalysisPrompt
from core.rag.answering.types import Analysis, Intent
from core.rag.answering.understanding.intents import intent_of
from core.rag.errors import LanguageModelError, StoreError, StoreUnavailableError
from core.rag.extraction.names import names_in
from core.rag.extraction.words import normalize_name, normalized_words, word_spans
from core.rag.llm.structured import parsed_of
from core.rag.retrieval.referents import goes_back
from libs.regexes import regex

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.llm import LanguageModel

TEMPERATURE = 0.1
MAX_TOKENS = 1024
#: Maximum number of names taken from a question.
MAX_ENTITIES = 12

_LONGEST_NAME_WORDS = 6
#: Titles of articles are longer; a question that has one has few other words.
_LONGEST_TITLE_WORDS = 30
_MOST_BESIDE_TITLE = 60
_MAX_WORDS = 200
_SHORTEST_WORD = 4

#: The verb of a request: Compare Alice and Bob. Names of the graph that begin with one are found before.
_TELLING = regex(
    r"\A\W*(?:compare|contrast|define|describe|discuss|explain|find|give|identify|list|name|outline|show|state|summari[sz]e"
    r"|beschreibe?|erkläre?|finde|liste|nenne|vergleiche?|zeige?|comparez?|décri(?:s|vez)|expliquez?|montrez?|nommez?"
    r"|compara|describe|explica|muestra)(?=\s)",
    re.IGNORECASE,
)

_log = logging.getLogger(__name__)


class QueryAnalysis(BaseModel):
    """What a question is about."""

    entities: list[Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]] = Field(
        description="The names, things and topics that the question mentions, as it writes them"
    )
    intent: Intent = Field(
        description="factual: facts; relationship: how things are connected; summary: overview; exploration: what else"
    )


async def analyze_query(
    question: str,
    client: MemGraphClient,
    model: LanguageModel | None,
    metrics: Metrics | None = None,
    dialogue: str = "",
    before: str = "",
) -> Analysis:
    """Find the names in a question and the kind of answer that it asks for.

    A model analyses the question. Without one, or if it fails, names are found by the entities of the graph, capitals
    and quotation marks, and the intent by rules. If no name is recognised, the words of more than three letters are
    used instead, and ``fallback`` is true.

    Args:
        question: The question.
        client: The graph.
        model: Analyses the question.
        metrics: Receives counts.
        dialogue: The earlier messages, for the model.
        before: What of them the question goes on with, for the rules: entities that it names are those of a question
            that names none and has a pronoun ("Where does she live?").

    Returns:
        The analysis, even if the model or the graph fails.
    """
    metrics = metrics or Metrics()
    started = time.monotonic()
    analysis = await _by_model(question, model, metrics, dialogue) if model is not None else None
    if analysis is None:
        analysis = await _by_rules(question, client, metrics, before)
    counted = metrics.analysis_metrics
    counted.entities_extracted = len(analysis.entities)
    counted.intent_classification = analysis.intent
    counted.llm_parsing_success = analysis.by_model
    counted.fallback_used = analysis.fallback
    counted.seconds = time.monotonic() - started
    return analysis


async def _by_model(question: str, model: LanguageModel, metrics: Metrics, dialogue: str) -> Analysis | None:
    messages = AnalysisPrompt(question=question, dialogue=dialogue).messages()
    try:
        completion = await model.complete(
            messages, temperature=TEMPERATURE, max_tokens=MAX_TOKENS, schema=QueryAnalysis
        )
        found = parsed_of(model, completion, QueryAnalysis)
    except LanguageModelError as error:
        _log.warning("The question is analysed by rules, because the language model failed: %s", error)
        return None
    metrics.usage += completion.usage
    entities = tuple(dict.fromkeys(name for name in found.entities if name))[:MAX_ENTITIES]
    if entities:
        return Analysis(question, entities, found.intent, by_model=True)
    return Analysis(question, tuple(fallback_entities(question)), found.intent, fallback=True, by_model=True)


async def _by_rules(question: str, client: MemGraphClient, metrics: Metrics, before: str) -> Analysis:
    try:
        entities = await _named_entities(question, client)
        if before and not entities and goes_back(question):
            entities = await _named_entities(before, client)
    except StoreUnavailableError:  # which has been waited for
        raise
    except StoreError as error:
        metrics.search_metrics.failed.append(f"names: {error}")
        entities = []
    known = {normalize_name(name) for name in entities}
    # In small letters, the verb is not taken for the first word of the name after it.
    asked = _TELLING.sub(lambda verb: verb[0].lower(), question)
    for name, found in names_in(asked).items():
        inside = any(f" {name} " in f" {other} " for other in known)
        if name and not inside:
            entities.append(found.text)
            known.add(name)
    intent = intent_of(question)
    if entities:
        return Analysis(question, tuple(entities[:MAX_ENTITIES]), intent)
    return Analysis(question, tuple(fallback_entities(question)), intent, fallback=True)


def fallback_entities(question: str) -> list[str]:
    """Return the words of more than three letters, without function words unless there are no others."""
    words = [question[start:end] for start, end in word_spans(question[:10_000])]
    language = detect_language(words)
    long = [word for word in words if len(word) >= _SHORTEST_WORD or not word.isascii()]
    content = [word for word in long if not is_stop_word(fold(word), language)] or long
    return list(dict.fromkeys(content))[:MAX_ENTITIES]


async def _named_entities(question: str, client: MemGraphClient) -> list[str]:
    """Return the entities of the graph that a question names, in its order; of overlapping names the longest."""
    words = normalized_words(question)[:_MAX_WORDS]
    language = detect_language(question.split())
    longest = _LONGEST_TITLE_WORDS if len(words) <= _MOST_BESIDE_TITLE else _LONGEST_NAME_WORDS
    spans = {
        (start, start + size): " ".join(words[start : start + size])
        for start in range(len(words))
        for size in range(1, longest + 1)
        if start + size <= len(words)
    }
    stop = {(at, at + 1) for at, word in enumerate(words) if is_stop_word(fold(word), language)}
    wanted = {span: name for span, name in spans.items() if span not in stop}
    names = await IndexSearch(client).names_in(list(dict.fromkeys(wanted.values())))
    # A word that is a name but for its accents may be just a word: "How much is it worth?" does not ask of Wörth.
    small = {question[start:end] for start, end in word_spans(question) if question[start].islower()}
    names = {word: name for word, name in names.items() if word not in small or normalize_name(name) == word}
    taken: set[int] = set()
    chosen: dict[int, str] = {}
    for span in sorted(wanted, key=lambda span: (span[0] - span[1], span[0])):
        if wanted[span] in names and taken.isdisjoint(range(*span)):
            taken.update(range(*span))
            chosen[span[0]] = names[wanted[span]]
    return list(dict.fromkeys(chosen[start] for start in sorted(chosen)))
