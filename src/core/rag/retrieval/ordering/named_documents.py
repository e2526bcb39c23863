"""Within a document that a question names, its name says little: there, the rest of the question decides.

"What were the total assets of Ada Mills?", asked of the reports of many companies: the name leads to a report, in which
hundreds of passages have it, the more often the less they say, and the table with the total assets has it not. So the
passages of a document that many of the first hits are of are put in order once more, by half without its name. Which
places among the hits are those of the document does not change. Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
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
#: So many passages with a name are looked at; a document with more than half of them is what is called so.
NAMED: Final = 20
#: Passages of each document that stand first where several are compared.
IN_TURN: Final = 3
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
#: What ends a name within words with capitals: "Ada Mills, Bo Foods".
_SEPARATE: Final = re.compile(r"[\"»”“„«?;:]|,(?=\s)|(?<=\w)[)\]]")
#: What stands between the names of a list.
_AND_SUCH: Final = frozenset("and or & vs versus und oder et ou y o e than with the".split())
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


def is_long(passage: Passage) -> bool:
    """Return whether a passage is of a document whose passages are put in order."""
    return SHORTEST <= passage.of <= LONGEST


def leading(first: Iterable[Passage]) -> list[str]:
    """Return the paths of the long documents that many of the first hits are of.

    Args:
        first: The first hits.
    """
    found = Counter(one.path for one in first if is_long(one))
    return [path for path, count in found.most_common() if count >= LEAST]


def may_name(question: str) -> bool:
    """Return whether a question may have a name: words with capitals that do not only ask, or no capital at all."""
    language = question_language(question.split())
    return _is_plain(question) or any(_tells(" ".join(run), language) for run, _ in _runs(question))


def names_of_things(question: str) -> list[frozenset[str]]:
    """Return the analysed words of each name in a list of names: "Did Ada Mills, Bo Foods or Cy Timber …?"."""
    language = question_language(question.split())
    lists: list[list[str]] = [[]]
    for run, before in _runs(question):
        if not _AND_SUCH.issuperset(before):
            lists.append([])
        lists[-1] += (name for name in _SEPARATE.split(" ".join(run)) if _tells(name, language))
    found = dict.fromkeys(frozenset(query_terms(name, language)) for name in max(lists, key=len))
    return list(found) if len(found) > 1 else []


def mostly_of(passages: Mapping[str, Passage]) -> str:
    """Return the path of the long document that most of these passages are of; empty if there is none."""
    found = Counter(one.path for one in passages.values() if is_long(one)).most_common(1)
    return found[0][0] if found and found[0][1] > len(passages) / 2 else ""


def own_name(
    document: WholeDocument,
    question: str,
    earlier: Collection[str],
    sample: Collection[Collection[str]],
    total: int,
) -> frozenset[str]:
    """Return those words of a question that are the name of a document: it has them all over, and others hardly.

    Args:
        document: The document.
        question: The question. The words beside such a one that have capitals, too, are of the name ("Ada Mills Inc.").
        earlier: Words of earlier turns that it goes on with.
        sample: The analysed words of a random sample of the corpus.
        total: Number of passages of the corpus.
    """
    asked = {*query_terms(question)}
    telling = _telling(document.terms.values(), asked.union(earlier), sample, total)
    if not telling:
        return frozenset()
    language = question_language(question.split())
    if _is_plain(question):
        path = _SEPARATORS.sub(" ", document.path)
        called = {found.text for text in (document.title, document.opening) for found in names_in(text).values()}
        telling &= {*analyze(path, language), *(word for name in called for word in analyze(name, language))}
        return frozenset(telling)
    runs = [asked.intersection(query_terms(" ".join(run), language)) for run, _ in _runs(question)]
    return frozenset((telling - asked).union(*(run for run in runs if run & telling)))


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


def in_turn[T](
    ranking: Mapping[str, tuple[float, T]], orders: Sequence[Mapping[str, tuple[float, T]]]
) -> dict[str, tuple[float, T]]:
    """Return a ranking in which the best passages of several documents stand first, one of each in its turn.

    Args:
        ranking: Scores of passages, with more about them.
        orders: Rankings of the passages of each document.
    """
    best = [sorted(order, key=lambda key: (-order[key][0], key))[:IN_TURN] for order in orders]
    first = [key for turn in zip_longest(*best) for key in turn if key is not None]
    more = {key: value for order in orders for key, value in order.items()}
    keys = [*first, *sorted(ranking.keys() - set(first), key=lambda key: (-ranking[key][0], key))]
    scores = sorted((score for score, _ in ranking.values()), reverse=True)
    scores += [scores[-1] if scores else 0.0] * (len(keys) - len(scores))
    return {
        key: (score, (ranking[key] if key in ranking else more[key])[1])
        for key, score in zip(keys, scores, strict=True)
    }


def _is_plain(question: str) -> bool:
    """Return whether capitals do not tell names: a question has none, or is German, where all nouns have them."""
    return question == question.lower() or question_language(question.split()) == "german"


def _tells(name: str, language: str) -> bool:
    """Return whether words with capitals have more than function words and numbers."""
    asking = stop_words(language)
    return any(word and word not in asking and not word.isdigit() for word in _SEPARATORS.split(name.lower()))


def _runs(question: str) -> list[tuple[list[str], list[str]]]:
    """Return the words with capitals, and the numbers, of a question that stand together, and the words before them."""
    found: list[tuple[list[str], list[str]]] = []
    before: list[str] = []
    together = False
    for word in question.split():
        first = word.lstrip(_OPENING_MARKS)[:1]
        if capital := first.isupper() or first.isdigit():
            if not together:
                found.append(([], before))
                before = []
            found[-1][0].append(word)
        else:
            before.append(word.strip(".,").lower())
        together = capital
    return found


def _telling(
    texts: Collection[str], terms: Collection[str], sample: Collection[Collection[str]], total: int
) -> set[str]:
    """Return those words that a document has all over, and others hardly."""
    size = len(texts)
    share = min(size / max(total, 1), 1.0)
    wanted = {word for word in terms if not word.isdigit()}
    having: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        for word in wanted.intersection(text.split()):
            having.setdefault(word, []).append(place)
    found = set()
    for word, places in having.items():
        rate = len(places) / size
        elsewhere = sum(word in words for words in sample) / max(len(sample), 1) - rate * share
        is_rare = share > _ALL or elsewhere <= rate * (1 - share) / TELLING
        if is_rare and len({10 * place // size for place in places}) >= TENTHS:
            found.add(word)
    return found
