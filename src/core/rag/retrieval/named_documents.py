"""Within a document that a question names, its name says nothing: there, the rest of the question decides.

"What were the total assets of Ada Mills?", over the reports of many companies: the name leads to the report, in which
hundreds of passages have it, the more often the less they say, and the table with the total assets has not. So the
passages of a document that the hits are mostly of are put in order once more, by the question without what the document
is called by. The places among the hits remain those of the document. Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import question_language
from core.rag.extraction.names import names_in

#: So many of the first hits are looked at, and of a document with so many among them, its passages are put in order.
FIRST: Final = 10
LEAST: Final = 3
#: A document with fewer passages is put in order by the question as it is; so is one with more.
SHORTEST: Final = 30
LONGEST: Final = 5_000
#: How many passages a document begins with are searched for its name.
OPENING: Final = 3
#: In how many tenths of a document a word is that it is called by.
SPREAD: Final = 6
#: How many times as frequent such a word is there as elsewhere.
TELLING: Final = 4.0
#: What the words of the name keep of their weight.
KEPT: Final = float(os.environ.get("KEPT", "0"))
MIX: Final = float(os.environ.get("MIX", "0"))


@dataclass(frozen=True, slots=True)
class Whole:
    """A document.

    Attributes:
        title: Its title.
        opening: The texts of its first passages.
        terms: The analysed words of its passages by their ids, in order.
    """

    title: str
    opening: Sequence[str]
    terms: Mapping[str, str]


def leading(places: Sequence[str]) -> list[str]:
    """Return the documents that many of the first hits are of, by the documents of these."""
    return [place for place, count in Counter(places[:FIRST]).most_common() if count >= LEAST]


def own_name(
    document: Whole, question: str, terms: Collection[str], sample: Collection[Collection[str]], total: int
) -> frozenset[str]:
    """Return the words of a question that are the name of a document, or none.

    Args:
        document: The document.
        question: The question.
        terms: The words of the question.
        sample: The analysed words of a random sample of the corpus.
        total: Number of passages of the corpus.
    """
    size = len(document.terms)
    held = [frozenset(words.split()) for words in document.terms.values()]
    share = size / max(total, size)
    telling = set()
    for word in terms:
        having = [place for place, words in enumerate(held) if word in words]
        if len({10 * place // size for place in having}) < SPREAD:
            continue
        rate = len(having) / size
        elsewhere = sum(word in words for words in sample) / len(sample) - rate * share
        if elsewhere <= rate * (1 - share) / TELLING or share > 0.9:
            telling.add(word)
    if not telling:
        return frozenset()
    language = question_language(question.split())
    if question.islower():
        called: set[str] = set()
        for text in (document.title, *document.opening):
            called.update(*(analyze(found.text, language) for found in names_in(text).values()))
        return frozenset(telling & called)
    found: set[str] = set()
    run: set[str] = set()
    for token in [*question.split(), ""]:
        if token[:1].isupper() or token[:1].isdigit() or (not token[:1].isalnum() and token[1:2].isupper()):
            run |= set(query_terms(token, language)) & set(terms)
        else:
            if any(not word.isdigit() for word in run & telling):
                found |= run
            run = set()
    return frozenset(found)


def without(question: str, words: Collection[str]) -> str:
    """Return a question without these words."""
    language = question_language(question.split())
    return " ".join(one for one in question.split() if not _only(query_terms(one, language), words))


def _only(found: Sequence[str], words: Collection[str]) -> bool:
    return bool(found) and any(one in words for one in found)


def dealt(
    scores: Mapping[str, tuple[float, dict[str, float]]],
    document: Collection[str],
    within: Mapping[str, tuple[float, dict[str, float]]],
) -> dict[str, tuple[float, dict[str, float]]]:
    """Return a ranking in which the scores of a document's passages are those that its best passages have by another.

    Args:
        scores: The ranking.
        document: The passages of the document.
        within: A ranking of these.
    """
    own = sorted((scores[key][0] for key in scores.keys() & document), reverse=True)
    order = sorted(within, key=lambda key: (-within[key][0], key))[: len(own)]
    rest = {key: value for key, value in scores.items() if key not in document}
    for key, score in zip(order, own, strict=False):
        rest[key] = (score, scores[key][1] if key in scores else within[key][1])
    return rest
