"""Within a document that a question names, its name says little: there, the rest of the question decides.

"What were the total assets of Ada Mills?", asked of the reports of many companies: the name leads to a report, in which
hundreds of passages have it, the more often the less they say, and the table with the total assets has it not. So the
passages of a document that many of the first hits are of are put in order once more, by half without its name. Which
places among the hits are those of the document does not change. Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import question_language
from core.rag.analysis.stopwords import stop_words
from core.rag.extraction.names import names_in
from core.rag.retrieval.ordering.asked_sections import Passage
from core.rag.retrieval.ordering.fusion import Fused

#: So many of the first hits are looked at; of a document with so many among them, the passages are put in order.
FIRST: Final = 10
LEAST: Final = 3
#: The number of passages of such a document. In a shorter one, no word is everywhere by its meaning.
SHORTEST: Final = 30
LONGEST: Final = 5_000
#: How many passages of it are compared with the question, beside those that were found.
COMPARED: Final = 100
#: In how many tenths of a document there is a word that it is called by.
TENTHS: Final = 6
#: How many times as frequent such a word is there as elsewhere.
TELLING: Final = 4.0
#: The share of a corpus from which on a document is all there is, so that nothing can be compared.
_ALL: Final = 0.9
#: What the order without the name weighs beside the one with it.
WITHOUT: Final = 0.5
#: How many passages a document begins with are searched for what it is called, where the question has no capitals.
OPENING: Final = 3

_SEPARATORS: Final = re.compile(r"[\W_]+")
_OPENING_MARKS: Final = "\"'([{«„“‚‘*_`"


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document.

    Attributes:
        path: Its path.
        title: Its title.
        opening: The text it begins with.
        terms: The analysed words of its passages by their ids, in order.
    """

    path: str
    title: str
    opening: str
    terms: Mapping[str, str]


def leading(first: Iterable[Passage]) -> list[str]:
    """Return the paths of the long documents that many of the first hits are of.

    Args:
        first: The first hits.
    """
    found = Counter(one.path for one in first if SHORTEST <= one.of <= LONGEST)
    return [path for path, count in found.most_common() if count >= LEAST]


def may_name(question: str) -> bool:
    """Return whether a question may have a name: words with capitals that do not only ask, or no capital at all."""
    asking = stop_words(question_language(question.split()))
    words = (word.lower() for run in _runs(question) for word in _SEPARATORS.split(" ".join(run)) if word)
    return question.islower() or any(word not in asking for word in words)


def own_name(
    document: WholeDocument,
    question: str,
    terms: Collection[str],
    sample: Collection[Collection[str]],
    total: int,
) -> frozenset[str]:
    """Return those words of a question that are the name of a document: it has them all over, and others hardly.

    Args:
        document: The document.
        question: The question. The words beside such a one that have capitals, too, are of the name ("Ada Mills Inc.").
        terms: Its words, and those that it goes on with.
        sample: The analysed words of a random sample of the corpus.
        total: Number of passages of the corpus.
    """
    telling = {word for word in _telling(document.terms.values(), terms, sample, total) if not word.isdigit()}
    if not telling:
        return frozenset()
    language = question_language(question.split())
    asked = {*query_terms(question)}
    if question.islower():
        path = _SEPARATORS.sub(" ", document.path)
        called = {found.text for text in (document.title, document.opening) for found in names_in(text).values()}
        telling &= {*analyze(path, language), *(word for name in called for word in analyze(name, language))}
        return frozenset(telling)
    runs = [{*query_terms(" ".join(run), language)} & {*terms} for run in _runs(question)]
    before = telling - asked  # of an earlier turn
    return frozenset(before.union(*(run for run in runs if run & telling)))


def without(question: str, words: Collection[str]) -> str:
    """Return a question without the words of a name.

    Args:
        question: The question.
        words: Analysed words of it.
    """
    language = question_language(question.split())
    return " ".join(one for one in question.split() if {*query_terms(one, language)}.isdisjoint(words))


def mixed(with_name: Iterable[Fused], without_name: Iterable[Fused]) -> list[Fused]:
    """Return the passages of a document by the question with and without its name, in no particular order."""
    scores: dict[str, float] = {}
    found: dict[str, dict[str, float]] = {}
    for share, fused in ((WITHOUT, without_name), (1 - WITHOUT, with_name)):
        for one in fused:
            scores[one.id] = scores.get(one.id, 0.0) + share * one.score
            found.setdefault(one.id, one.scores)
    return [Fused(key, score, found[key]) for key, score in scores.items()]


def dealt[T](
    ranking: Mapping[str, tuple[float, T]], document: Collection[str], within: Mapping[str, tuple[float, T]]
) -> dict[str, tuple[float, T]]:
    """Return a ranking in which the scores of a document's passages are dealt out anew, to its best by another one.

    Args:
        ranking: Scores of passages, with more about them.
        document: The passages of the document.
        within: Another ranking of these; what is not in it has no place.
    """
    places = sorted((score for key, (score, _) in ranking.items() if key in document), reverse=True)
    order = sorted(within, key=lambda key: (-within[key][0], key))
    own = {
        key: (score, ranking[key][1] if key in ranking else within[key][1])
        for key, score in zip(order, places, strict=False)
    }
    return {**{key: value for key, value in ranking.items() if key not in document}, **own}


def _runs(question: str) -> list[list[str]]:
    """Return the words with capitals, and the numbers, of a question that stand together."""
    found: list[list[str]] = []
    before = False
    for word in question.split():
        first = word.lstrip(_OPENING_MARKS)[:1]
        capital = first.isupper() or first.isdigit()
        if capital and before:
            found[-1].append(word)
        elif capital:
            found.append([word])
        before = capital
    return found


def _telling(
    texts: Collection[str], terms: Collection[str], sample: Collection[Collection[str]], total: int
) -> set[str]:
    """Return those words that a document has all over, and others hardly."""
    size = len(texts)
    held = [f" {text} " for text in texts]
    share = min(size / max(total, 1), 1.0)
    found = set()
    for word in terms:
        having = [place for place, text in enumerate(held) if f" {word} " in text]
        if len({10 * place // size for place in having}) < TENTHS:
            continue
        rate = len(having) / size
        elsewhere = sum(word in words for words in sample) / max(len(sample), 1) - rate * share
        if share > _ALL or elsewhere <= rate * (1 - share) / TELLING:
            found.add(word)
    return found
