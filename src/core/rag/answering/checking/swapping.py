"""Tells a sentence that says what a source says, but of another name or with another number.

Of a sentence as short as "Eva founded the trust in 2019", the share of words that a source has stays high when the name
is another one. Only plain cases are judged: a name or number that the source does not have at all, in the place of one
that a sentence of it has, where that sentence has about all else. Numbers in digits are checked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain

from core.rag.analysis import analyze
from core.rag.analysis.numerals import FROM_THIRTY, FROM_TWO, ORDINALS
from core.rag.analysis.verb_forms import INFINITIVES
from libs.regexes import regex

#: Share of the other words that the sentence of the source has.
_ALL_ELSE = 0.9
#: The same where a number stands before the same word.
_MUCH_ELSE = 0.6
#: With fewer other words, nothing says that two sentences are about the same.
_FEWEST_OTHERS = 2

CAPITALISED = regex(r"\b[^\W\d_a-z][^\W_]*(?:['’][^\W\d_]+)?")
#: May stand for a name in other words.
_ACRONYM = regex(r"[^\W\d_a-z]{2,6}")
#: Here every noun has a capital letter.
NOUNS_ARE_CAPITALISED = "german"
#: What stands behind a name that a sentence is about: "'s", or a verb that tells that it is one thing, or was.
_POSSESSIVE = ("'s", "’s")
_OF_ONE = regex(r"[a-z]+[^s\W]s|is|has|does|was")
#: What is no name there: several things (Texas and Redis are one), and what has no article for it cannot be counted.
_SEVERAL = regex(r"(?:.*[^siu]s|.*(?:men|people|children|folk)|staff|personnel|police|data|media)", re.IGNORECASE)
_UNCOUNTED = regex(r".{3,}(?:tion|sion|ment|ing|ness|ity|ance|ence|ship|ware)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a sentence.

    Attributes:
        text: The sentence.
        terms: Its words that mean something, in order.
        names: Those with a capital letter, but for the first one.
        begins: Those of its first word, if that has one.
        together: Whether the word behind that has one, too.
        about: Its first word if it stands where a name does that the sentence is about; else empty.
        numbers: Those that are numbers, with their values.
    """

    text: str
    terms: tuple[str, ...]
    names: frozenset[str]
    begins: frozenset[str] = frozenset()
    together: bool = False
    about: str = ""
    numbers: dict[str, str] = field(default_factory=dict)


@lru_cache(maxsize=4096)
def wording_of(sentence: str, language: str) -> Wording:
    """Prepare a sentence for comparison."""
    terms = tuple(analyze(sentence, language))
    known, values = frozenset(terms), number_values(language)
    begun = len(sentence) - len(sentence.lstrip(" \t\n\"'“„«(*_-"))
    words = [
        word for word in CAPITALISED.finditer(sentence) if word[0][0].isupper() and not _ACRONYM.fullmatch(word[0])
    ]
    first = next((word for word in words if word.start() <= begun), None)
    inner = [word for word in words if word.start() > begun]
    return Wording(
        text=sentence[begun:],
        terms=terms,
        names=frozenset() if language == NOUNS_ARE_CAPITALISED else _terms(inner, language) & known,
        begins=frozenset() if first is None else _terms([first], language) & known,
        together=first is not None
        and language != NOUNS_ARE_CAPITALISED
        and any(word.start() == first.end() + 1 for word in inner),
        about="" if first is None or language != "english" else _about(first[0], sentence[first.end() :]),
        numbers={term: values.get(term, term) for term in terms if term in values or term.isdigit()},
    )


@cache
def number_values(language: str) -> dict[str, str]:
    """Return the words for numbers of a language, as terms, with their values in digits."""
    valued = chain(
        enumerate(FROM_TWO.get(language, ()), 2),
        zip(range(30, 100, 10), FROM_THIRTY.get(language, ()), strict=False),
        enumerate(ORDINALS.get(language, ()), 1),
    )
    return {term: str(value) for value, word in valued for term in analyze(word, language)}


def is_swapped(
    claim: Wording,
    said: Iterable[Wording],
    has: Callable[[str], bool],
    names: Collection[str],
    numbers: Collection[str],
    given: Collection[str],
) -> bool:
    """Return whether a claim has another name or number than a sentence that says the same otherwise.

    Args:
        claim: What is claimed.
        said: The sentences of a source.
        has: Whether the source has a word, or one of the same stem.
        names: The names of the source; none where every noun has a capital letter.
        numbers: Its numbers, in digits.
        given: The words of its title and headings, which every sentence is about.
    """
    own = frozenset(claim.terms)
    named = {name for name in claim.names if not has(name)}
    begins = {name for name in claim.begins if not has(name)}
    counted = {term for term, value in claim.numbers.items() if term != value and value not in numbers}
    rest = own - named - begins - counted
    if len(rest) < _FEWEST_OTHERS or not (named or begins or counted):
        return False
    said = list(said)
    for one in said:
        share = len(rest.intersection(one.terms) | rest.intersection(given)) / len(rest)
        if share >= _MUCH_ELSE and any(_before(one, _behind(claim, {n})) & one.numbers.keys() - own for n in counted):
            return True
        if share < _ALL_ELSE:
            continue
        others = (one.names | one.begins.intersection(names)) - own
        if others and (named or (begins and claim.together)):
            return True
        before = _before(one, _behind(claim, begins)) - own if begins else frozenset()
        if before & others:
            return True
        if before & one.begins and (
            _is_of_a_person(claim.text) or _is_of_a_person(one.text) or _are_of_names(claim, one, said)
        ):
            return True
    return False


def _about(first: str, behind: str) -> str:
    """Return the first word of an English sentence if what is behind it makes it a name, as far as grammar tells."""
    if first.endswith(_POSSESSIVE):
        return first[:-2]
    verb = re.match(r"(?:\s+[A-Z]\w*){0,3}\.?\s+([a-z]+)\b", behind)
    if verb is None or _UNCOUNTED.fullmatch(first):
        return ""
    if _OF_ONE.fullmatch(verb[1]):
        return first
    past = verb[1].endswith("ed") or not INFINITIVES.keys().isdisjoint(analyze(verb[1]))
    return first if past and not _SEVERAL.fullmatch(first) else ""


def _are_of_names(claim: Wording, one: Wording, said: Iterable[Wording]) -> bool:
    """Return whether two sentences are about things that nothing but their names is said for."""
    if not claim.about or not one.about:
        return False
    small = re.compile(rf"\b(?:{re.escape(claim.about.lower())}|{re.escape(one.about.lower())})\b")
    return not any(small.search(other.text) for other in said)


def _is_of_a_person(text: str) -> bool:
    """Return whether a sentence begins with the name of a person."""
    from core.rag.memory.given_names import names_in

    return any(text.startswith(name) for name in names_in(text))


def _behind(wording: Wording, terms: Collection[str]) -> str:
    """Return the word that follows the first of these."""
    place = next(number for number, term in enumerate(wording.terms) if term in terms)
    return next((term for term in wording.terms[place + 1 :] if term not in terms), "")


def _before(wording: Wording, term: str) -> frozenset[str]:
    """Return the words that stand before a word."""
    return frozenset(
        wording.terms[number - 1] for number, one in enumerate(wording.terms) if number and term and one == term
    )


def _terms(words: Iterable[re.Match[str]], language: str) -> frozenset[str]:
    return frozenset(term for word in words for term in analyze(word[0], language))
