"""What a question refers back to: "the second one", "she", or the current topic of the conversation.

No model: a list is known by its form, a name by its capitals, a pronoun by a small table (English, German, French,
Spanish). Where nothing is recognised, nothing is added, and the words of the turns before do what they can.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.rag.analysis import query_terms
from core.rag.analysis.language import is_surely_english
from libs.regexes import matched_as, regex

#: Weight of the item that an ordinal refers to, the same as for words of the question, and of names that a pronoun may
#: refer to, divided by the square root of their number.
POINTED_AT: Final = 1.0
#: Weight of a name from before the last question, if no other name came later.
CARRIED: Final = 0.3
#: With more names, a pronoun is taken to refer to none of them.
_MOST_NAMES: Final = 4
#: A pronoun is taken to refer to a name in one of this many last answers.
_FAR_BACK: Final = 4
#: A question of at most this many words is hanging if it has a pronoun; one of at least as many stands alone if not.
_FEW_WORDS: Final = 3
_MAX_CHARS: Final = 20_000


def _words_of(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_WORD = regex(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
#: Pronouns of persons, whom answers name when they first mention them ("The director is Guido Brignone.").
_PERSONS = _words_of("he she his her hers him er ihn ihm seine seinen seiner elle él ella")
#: Words before somebody without a name, to whom a pronoun that follows refers ("My neighbour asks whether he …").
_SOMEBODY = _words_of(
    "a an my our your any each every anybody anyone everybody everyone somebody someone",
    "ein eine einen einem einer mein meine meinen meinem meiner jede jeder jemand",
    "un une mon ma notre chaque quelqu'un una mi nuestro nuestra cada alguien",
)
#: Pronouns that are the only subject of a short question.
_PRONOUNS = _PERSONS | _words_of(
    "it its that this they them their theirs those these one ones there",
    "sie es ihr ihre ihren ihrer sein dieser diese dieses davon damit dort",
    "il ils elles lui leur leurs celui celle ceux celles y",
    "ellos ellas suyo aquel eso esto este esta",
)
#: Words that ask for more of what was spoken of ("Show me an example"),
_FURTHER = _words_of(
    "another continue detail details elaborate else example examples expand further go more sample samples",
    "beispiel beispiele genauer mehr noch näher weiter",
    "autre exemple exemples plus ejemplo ejemplos más otro",
)
#: and the others of a message that names nothing itself ("Why?").
_NAMELESS = _FURTHER | _words_of(
    "a about an and any anything again can code could do explain for give have how i in info information is like",
    "me of on or please say see show so some tell the to us want we what which why with would you your",
    "bitte das der die du ein eine einen erkläre erzähl gib kannst mir warum was welche welches wie wieso zeig",
    "zeige",
    "comment de des donne explique moi montre pourquoi quel quels un une",
    "cómo como dame dime explica explícame muéstrame por qué",
)
_NO_NAMES = frozenset(
    word.capitalize()
    for word in _words_of(
        "a an and are but can could did do does for from he her his how i if in is it its my no not of on or our she",
        "so some tell that the their there these they this those to was we were what when where which who whose why",
        "with yes you your das dem den der die ein eine er es ich ist ja nein sie und was wer wie wo",
        "la le les el los las un une",
    )
)
_NAME = regex(
    r"(?<![\w.@/])(?:[A-ZÀ-ÖØ-Þ][\w’'-]*)(?:[ \t]+(?:(?:of|the|de|von|van|and|for)[ \t]+)?[A-ZÀ-ÖØ-Þ0-9][\w’'-]*)*"
)
_SENTENCE_STARTS = frozenset(".?!:\n•*-–")

_ORDINALS = {
    word: place
    for place, words in {
        0: "first 1st former erste ersten erster erstes premier première primero primera",
        1: "second 2nd zweite zweiten zweiter zweites deuxième seconde segundo segunda",
        2: "third 3rd dritte dritten dritter drittes troisième tercero tercera",
        3: "fourth 4th vierte vierten vierter viertes quatrième cuarto cuarta",
        4: "fifth 5th fünfte fünften fünfter fünftes cinquième quinto quinta",
        5: "sixth 6th",
        6: "seventh 7th",
        7: "eighth 8th",
        8: "ninth 9th",
        9: "tenth 10th",
        -1: "last latter letzte letzten letzter letztes dernier dernière último última",
    }.items()
    for word in words.split()
}
_POSITION = regex(
    rf"(?P<before>(?<![^\W\d_])[^\W\d_]+[ ]+|['’])?"
    rf"(?<!\w)(?P<ordinal>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})(?!\w)"
    r"(?:[ ]+(?P<noun>[^\W\d_]+))?"
    r"|(?<!\w)(?:(?:number|no\.?|option|item|point|nr\.?|nummer|punkt)[ ]*|#[ ]?)(?P<number>\d{1,2})(?!\w)",
    re.IGNORECASE,
)
#: Words before an ordinal that refers to something ("and the last?", unlike "how do I first …").
_ARTICLES = _words_of("the that your der die das dem den le la l el los las and or und oder et ou y o")
#: Nouns that often have an ordinal ("first name") and so refer to no list item, unless the answer mentions them.
_COUNTED = _words_of(
    "time times year years month week day days night century world war place name floor grade person half hand"
)
_BLANKS = regex(r"[ \t]{2,}")
_LISTED = regex(r"^[ \t]*(?:\(?\d{1,2}[.)][ \t]+|[-*•–][ \t]+)(?P<item>\S.*)$", re.MULTILINE)
_INLINE = regex(
    r"(?<![\w.])\(?\d{1,2}[.)][ \t]+(?P<item>.+?)(?=[,;.]?[ \t]+(?:and[ \t]+|or[ \t]+)?\(?\d{1,2}[.)][ \t]|\n|$)"
)
#: What stands before the last item of a series.
_AND = "(?:and|or|und|oder|et|ou|y|o)"
_SERIES = regex(
    r"(?P<items>[^.;:!?\n,]{1,120}(?:,[ ]+"
    rf"(?!{_AND}\b)"
    r"[^.;:!?\n,]{1,120})*,?[ ]{1,9}"
    rf"{_AND}"
    r"[ ]{1,9}[^.;:!?\n,]{1,120})"
)
#: What no such series goes on behind; and the word before its last item. Looking for one takes time with the square of
#: what is before that, which in a long list without one is all of it: 20 seconds.
_STOP = regex(r"[.;:!?\n]")
_LAST = regex(rf".*[ ]{_AND}[ ]")
_MAX_SERIES_CHARS: Final = 1_000
_JOINT = regex(rf",[ ]+(?:{_AND}[ ]+)?|[ ]+{_AND}[ ]+")


@dataclass(frozen=True, slots=True)
class Referent:
    """Something that a question refers back to.

    Attributes:
        text: The name or text of it.
        weight: Weight of its words; 1 is the weight of the words of the question.
    """

    text: str
    weight: float


def referents(question: str, questions: Sequence[str], answers: Sequence[str]) -> list[Referent]:
    """Find what a question refers back to.

    Args:
        question: The question.
        questions: Earlier messages of the user, newest first.
        answers: Messages of others, newest first.
    """
    if answers and (item := _ordinal(question, answers[0])):
        return [Referent(item, POINTED_AT)]
    if names_nothing(question):
        return [Referent(text, POINTED_AT) for text in questions if not names_nothing(text)][:1]
    if names_in(question):
        return []
    found: dict[str, float] = {}
    if _says(question, _PERSONS):
        new = _introduced(question, questions, answers)
        if 0 < len(new) <= _MOST_NAMES:
            found.update(dict.fromkeys(new, POINTED_AT / len(new) ** 0.5))
    for steps, text in enumerate(questions):
        if names := names_in(text):
            if steps:  # the words of the last question are searched for anyway
                for name in names:
                    found.setdefault(name, CARRIED)
            break
    return [Referent(name, weight) for name, weight in found.items()]


def hangs_on(question: str) -> bool:
    """Return whether a question is little more than a pronoun, so that it must be about the earlier messages."""
    return _says(question, _PRONOUNS) and not names_in(question) and len(set(query_terms(question))) <= _FEW_WORDS


def goes_back(question: str) -> bool:
    """Return whether a question names nobody, and has a pronoun of a person or is little more than a pronoun."""
    return hangs_on(question) or (_says(question, _PERSONS) and not names_in(question))


def names_nothing(question: str) -> bool:
    """Return whether a message names nothing, so that it is about what was spoken of: "Show me an example", "Why?"."""
    words = _words(question)
    return bool(words) and words <= _NAMELESS


def asks_for_more(question: str) -> bool:
    """Return whether a message asks for more of what was spoken of, and nothing else: "Show me an example", "Go on"."""
    return names_nothing(question) and not _FURTHER.isdisjoint(_words(question))


def stands_alone(question: str) -> bool:
    """Return whether a question can be understood alone: it has enough words, and no pronoun.

    True only for English, for which the table of pronouns is made.
    """
    enough = len(set(query_terms(question))) >= _FEW_WORDS
    return enough and not _says(question, _PRONOUNS) and is_surely_english(question.split())


def names_in(text: str) -> list[str]:
    """Return the names in a text, in order: capitalised words, unless they are so only at the start of a sentence."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text[:_MAX_CHARS]):
        words = match[0].split()
        first = words[0]
        while words and words[0] in _NO_NAMES:
            del words[0]
        before = text[: match.start()].rstrip(" \t\"'“”„»«(")[-1:]
        alone = len(words) == 1 and words[0] == first and (not before or before in _SENTENCE_STARTS)
        if words and not alone:
            found[" ".join(words)] = None
    return list(found)


def list_items(text: str) -> list[str]:
    """Return the items of the last list in a text: numbered or bulleted lines, ``1) … 2) …``, or ``A, B and C``."""
    text = _BLANKS.sub(" ", text[:_MAX_CHARS])
    for pattern in (_LISTED, _INLINE):
        items = [match["item"].strip(" .,;") for match in pattern.finditer(text)]
        if len(items) > 1:
            return items
    series = [match["items"] for part in _STOP.split(text) if _may_end(part) for match in _SERIES.finditer(part)]
    longest = max(series, key=lambda part: len(_JOINT.findall(part)), default="")
    return [item.strip() for item in _JOINT.split(longest)] if longest else []


def _may_end(part: str) -> bool:
    """Return whether a part of a sentence may have a series: one with a last item, and not too far behind."""
    last = _LAST.match(part)
    return last is not None and last.end() <= _MAX_SERIES_CHARS


def _introduced(question: str, questions: Sequence[str], answers: Sequence[str]) -> list[str]:
    """Return the names that the last answer introduced; if it has none, those of answers before it.

    Answers before it are passed over if the question says itself whom it means, or a question since then has a name.
    """
    said = " ".join(questions).casefold()
    words = [word.casefold() for word in _WORD.findall(question)]
    pronoun = next(place for place, word in enumerate(words) if word in _PERSONS)
    far = 1 if not _SOMEBODY.isdisjoint(words[:pronoun]) else _FAR_BACK
    for steps, answer in enumerate(answers[:far]):
        if any(names_in(since) for since in questions[max(steps - 1, 0) : steps]):
            break
        if new := [name for name in names_in(answer) if name.casefold() not in said]:
            return new
    return []


def _says(question: str, pronouns: frozenset[str]) -> bool:
    return not pronouns.isdisjoint(_words(question))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text[:_MAX_CHARS])}


def _ordinal(question: str, answer: str) -> str:
    """Return the item of the answer's list that the question names by its position; empty if none."""
    items = list_items(answer)
    spoken_of = set(query_terms(answer))
    for match in _POSITION.finditer(question):
        before, noun = (match["before"] or "").strip().casefold(), match["noun"] or ""
        place = _ORDINALS[matched_as(match["ordinal"])] if match["ordinal"] else int(match["number"]) - 1
        counted = noun.istitle() or noun.casefold() in _COUNTED
        if (before and before not in _ARTICLES) or (counted and spoken_of.isdisjoint(query_terms(noun))):
            continue
        if items and -1 <= place < len(items):
            return items[place]
    return ""
