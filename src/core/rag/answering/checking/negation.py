"""Tells a sentence that denies what another one states, or states what that denies, in the same words.

Negations are function words, so the share of words knows nothing of them. Only plain cases are judged: one side denies,
the other does not, and no word that only one of them has ("without", "only", "unlikely") could make up for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from core.rag.analysis import analyze
from core.rag.answering.markers import CODE
from libs.regexes import regex

#: By language, the words that deny.
_DENIES = {
    "english": r"\w+n['’]t|cannot|not|never|no(?! ?\.)|none|nobody|nothing|nowhere|neither|nor",
    "german": r"nicht|nichts|nie|niemals|niemand\w{0,2}|nirgends|kein(?:e[mnrs]?)?|weder",
    "french": r"ne|pas|jamais|aucune?|personne|rien|ni",
    "spanish": r"no|nunca|jamás|nadie|nada|ning(?:ún|un[ao]s?)|tampoco|ni",
}
#: By language, what may deny in another way, or limits what is denied: where it differs nothing is judged.
_LIMITS = {
    "english": r"without|unless|until|except\w*|only|just|merely|but|instead|rather|than|more|less|fewer|all|every\w*"
    r"|each|any|always|some|many|most|few|hardly|rarely|seldom|barely|yet|if|whether|former\w*|previous\w*|avoid\w*"
    r"|prevent\w*|refus\w*|reject\w*|den(?:y|ies|ied)|forb\w+|prohibit\w*|bann?(?:ed|s)?|fail\w*|lack\w*|miss(?:es|ed|ing)?"
    r"|exclud\w*|ignor\w*|remov\w*|lift\w*|stop\w*|ceas\w*|drop\w*|end(?:s|ed)?|un(?!i[tvoqcf]|der|cle)\w{3,}|non-?\w+"
    r"|dis(?:a|con|like|miss|qua|reg)\w+|im(?:possib|practic)\w*|in(?:valid|correct|complete|sufficient)\w*",
    "german": r"ohne|außer|bis|erst|nur|bloß|sondern|aber|statt\w*|als|mehr|weniger|alle\w?|jede\w?|immer|einige\w?"
    r"|manche\w?|viele\w?|meiste\w?|kaum|selten|noch|wenn|ob|früher\w*|ehemal\w+|vermeid\w*|verhinder\w*|verweiger\w*"
    r"|verb[io]\w+|fehl\w*|ausge\w+|entf\w+|un\w{3,}|nicht-?\w+",
    "french": r"sans|sauf|seulement|que|mais|plus|moins|tou(?:t|te|s|tes)|chaque|toujours|quelques?|plupart|peu|si"
    r"|jusqu\w*|in\w{4,}",
    "spanish": r"sin|salvo|excepto|sol[oa]|sólo|solamente|sino|pero|más|menos|tod[ao]s?|cada|siempre|algun[ao]s?"
    r"|poc[ao]s?|si|hasta|in\w{4,}",
}
_DENYING = {language: regex(rf"\b(?:{words})(?!\w)", re.IGNORECASE) for language, words in _DENIES.items()}
_LIMITING = {language: regex(rf"\b(?:{words})(?!\w)", re.IGNORECASE) for language, words in _LIMITS.items()}
#: "No, it is open" answers a question; it denies nothing of what follows, and "Yes" says nothing of it.
_ANSWER = regex(r"\W*(?:no|nein|non|yes|ja|oui|sí|si)\s*[,:;.!–—-]", re.IGNORECASE)
_WORD = regex(r"[^\W\d_]+")

#: A sentence with fewer words that mean something could be about anything.
_FEWEST_TERMS = 2
#: Share of the words of one sentence that another has, from which on it is about the same.
_SAME = 0.9
#: The other way round, for a sentence that states what the other denies: of several things it may deny another one.
_ALL_OF_IT = 0.8


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, prepared for comparison.

    Attributes:
        terms: Its words, those that deny left out.
        denies: Whether it denies something.
        limits: Its words that may deny in another way.
        words: All its words, in small letters.
        plain: Whether it is clear that it states or denies something.
    """

    terms: frozenset[str]
    denies: bool
    limits: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    plain: bool = True

    @property
    def numbers(self) -> frozenset[str]:
        """Its words that are numbers, each of which may be what it denies: "2.3.1, not 2.3.2"."""
        return frozenset(term for term in self.terms if term[0].isdigit())

    def opposes(self, other: Statement) -> bool:
        """Return whether it denies what the other, of the same words, states, or the other way round."""
        return self.plain and other.plain and self.denies != other.denies and self.limits == other.limits


def statement_of(sentence: str, language: str) -> Statement:
    """Prepare a sentence; of a language whose negations are not known none is plain."""
    denying = _DENYING.get(language)
    if denying is None:
        return Statement(frozenset(analyze(sentence, language)), denies=False, plain=False)
    sentence = _ANSWER.sub("", sentence, count=1) if _ANSWER.match(sentence) else sentence
    said = CODE.sub(" ", sentence)
    times = len(denying.findall(said))
    # "ne … pas" denies once; who denies twice in English or German states something.
    once = times <= (2 if language in ("french", "spanish") else 1)
    return Statement(
        terms=frozenset(analyze(denying.sub(" ", sentence), language)),
        denies=times > 0,
        limits=frozenset(map(str.lower, _LIMITING[language].findall(denying.sub(" ", said)))),
        words=frozenset(map(str.lower, _WORD.findall(said))),
        plain=once and not sentence.rstrip().endswith("?"),
    )


def contradicts(claim: Statement, said: Iterable[Statement], given: Collection[str]) -> bool:
    """Return whether sentences say the opposite of a claim, and none says the same.

    Args:
        claim: What is claimed.
        said: The sentences of a source.
        given: The words of its title and headings, which every sentence is about.
    """
    if not claim.plain or len(claim.terms) < _FEWEST_TERMS:
        return False
    same = [one for one in said if len(claim.terms & (one.terms | frozenset(given))) >= _SAME * len(claim.terms)]
    if not same or not all(map(claim.opposes, same)):
        return False
    known = claim.terms | frozenset(given)
    return claim.denies or any(
        len(one.terms & known) >= _ALL_OF_IT * len(one.terms) and one.numbers <= known for one in same
    )
