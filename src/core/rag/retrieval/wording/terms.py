"""The words that a question is searched for by, with their weights."""

from __future__ import annotations

from core.rag.analysis import (
    asked_dates,
    asked_documents,
    asked_name,
    asked_numbers,
    asked_words,
    file_word,
    joined_terms,
    measured,
    option_words,
    query_terms,
)
from core.rag.analysis.language import AROUND_WORDS, question_language
from core.rag.analysis.words import is_stop_word
from libs.regexes import regex

#: A number with a unit, in one word or two; and what a half of such a word weighs.
_MEASURE = regex(r"(?<![\w.,])(\d{1,9})[ \N{NO-BREAK SPACE}]?([A-Za-z]{1,3})(?!\w)")
_PART = 0.5
#: Letters of languages without spaces, of which a word has several pieces; and what each of them weighs beside words.
_PIECE = regex("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,3}")
_OF_WORD = 0.4
#: What also stands behind numbers. Of function words, single letters are units: 5 s, 2 t.
_NO_UNITS = frozenset({"a", "pm"})

#: What an adjective weighs that asks for a measure, beside the name of that.
_MEASURED = 0.5
#: What the word of a definition, or the name or number of a file, weighs beside the others (ADR 7 has measurements).
_DEFINED = 3.0
#: What the number of a section weighs with what is numbered ("§ 433"), beside the number alone.
_NUMBERED = 2.0
#: What its other words weigh: "What does pluribus mean?" is not about means.
_ASKING = 0.2


def _as_words(terms: dict[str, float]) -> dict[str, float]:
    """Return the words of a query, in which pieces of words weigh less beside whole ones: "useState の使い方"."""
    pieces = [term for term in terms if _PIECE.fullmatch(term)]
    if len(pieces) < len(terms):
        terms |= dict.fromkeys(pieces, _OF_WORD)
    return terms


def searched_terms(query: str) -> dict[str, float]:
    """Return the words to search for, with their weights.

    For "back up" also "backup", for "without a cache" also the option `--no-cache`, for "How long is it?" also its
    length, for "16 GB" also "16GB" and the other way round, and the word of a definition. Names of files, and the
    numbers of sections together with what is numbered, weigh more than their parts. A date is one word besides,
    however it is written.

    Two nouns are not joined: the joined word is rare, often by accident, and would weigh the most (on cranfield,
    recall@5 falls by 0.2 points with "highspeed" for "high speed").
    """
    terms = _as_words(dict.fromkeys((*query_terms(query), *joined_terms(query, verbs=True)), 1.0))
    language = question_language(query.split())
    for number, unit in _MEASURE.findall(query.lower()):
        if unit not in _NO_UNITS and (len(unit) == 1 or not is_stop_word(unit, language)):
            for term, weight in ((number + unit, 1.0), (number, _PART), (unit, _PART)):
                terms.setdefault(term, weight)
    terms |= dict.fromkeys(option_words(query), 1.0)
    for adjective, noun in measured(query).items():
        terms |= {adjective: _MEASURED, noun: 1.0}
    for token in query.split():
        terms |= dict.fromkeys(file_word(token.strip(AROUND_WORDS)), _DEFINED)
    words = asked_words(query)
    if words and (name := asked_name(query)):
        own = {*query_terms(name), *joined_terms(name)}
        terms = {term: weight if term in own else _ASKING for term, weight in terms.items()}
    terms |= dict.fromkeys((*words, *asked_documents(query)), _DEFINED)
    terms |= dict.fromkeys(asked_numbers(query), _NUMBERED)
    return terms | dict.fromkeys(asked_dates(query), 1.0)
