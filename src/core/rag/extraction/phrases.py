"""Reads a phrase with capitals: which of its words are a name, and whether that depends on where it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from core.rag.analysis.stopwords import stop_words
from core.rag.extraction import patterns
from core.rag.extraction.acronyms import is_behind_article, leads_name, may_be_acronym
from core.rag.extraction.dates import CALENDAR, SHORT, is_date, is_written_date, named_by_date
from core.rag.extraction.german_nouns import behind_nouns
from core.rag.extraction.openers import elided_article, is_adjective, may_command, may_lead_name, opens_sentence
from core.rag.extraction.unnamed import is_description, is_of_name, names_nothing
from core.rag.extraction.words import normalize_name
from libs.regexes import regex

#: A longer phrase is a sentence.
MAX_WORDS: Final = 8
#: Small words that the lists of function words lack.
_SMALL_WORDS: Final = "mr mrs ms dr herr herrn frau"
#: What is written together, with the apostrophe of a typewriter or a printer: You're, Don’t.
_CONTRACTIONS: Final = frozenset(
    f"{word}{apostrophe}{rest}"
    for words, rests in (
        ("i you we they he she it that there what who where how", "m re ve ll d"),
        ("ain aren can couldn didn doesn don hadn hasn haven isn mustn shouldn wasn weren won wouldn", "t"),
    )
    for word in words.split()
    for rest in rests.split()
    for apostrophe in "'’"
)
#: Function words that are nouns, too, and with a capital begin names: Stati Uniti, Stato Pontificio.
_NOUNS: Final = {"italian": frozenset({"stato", "stati"})}
#: Function words of languages with their own script, which are not words of any other language.
_OTHER_SCRIPTS: Final = stop_words("russian") | stop_words("ukrainian") | stop_words("greek")
#: Nouns that are numbered in Roman numerals, so that an I after them is the number one.
_COUNTED: Final = frozenset("war phase stage type tier class part act book volume level".split())
_APPROXIMATELY_WORDS: Final = """
almost approximately around exactly first last nearly only roughly
circa etwa fast genau knapp rund ungefähr environ casi
"""
#: Before a number: Around 200.
_APPROXIMATELY: Final = frozenset(_APPROXIMATELY_WORDS.split())
_PLURAL: Final = regex(r"[A-Z]{2,}s")
_POSSESSIVE: Final = regex(r"['’]s?$")


class Phrase(NamedTuple):
    """A phrase with capitals, or a year, without the function words around it.

    Attributes:
        text: How it is spelt.
        name: The normalised name; empty if what is left behind an article is no name.
        sure: Whether it is a name wherever it stands.
        function_word: Whether it is a function word in capitals, which is only a name if the text says so.
        opener: Whether its first word is not a part of the name if it begins a sentence.
        command: Whether its first word may be a command if it begins a sentence.
        led: The phrase with the article before it, which is a part of the name unless it begins a sentence.
        unit: Its first word, if that is a unit, which is no part of the name behind an amount.
        month: Whether it is the short name of a month or day, and no name before a number.
        dated: The name with a month or day at one end, which is a part of the name unless a date is there.
    """

    text: str
    name: str
    sure: bool
    function_word: bool = False
    opener: bool = False
    command: bool = False
    led: str = ""
    dated: str = ""
    unit: str = ""
    month: bool = False


@lru_cache(maxsize=100_000)
def phrase_of(found: str, language: str) -> Phrase | None:
    """Return a phrase without function words before it and a possessive behind it; ``None`` if no name is left."""
    found = found.rstrip("_")  # of emphasis: "_Close the Door_"
    text = _POSSESSIVE.sub("", found) if found[-1] in "'’s" else found
    if _PLURAL.fullmatch(text) and text != "HTTPs":
        text = text[:-1]  # URLs and URL are one
    words = text.split()
    if len(words) > 2 and words[-1].isdecimal() and words[-2].lower() in CALENDAR:
        text = " ".join(words := words[:-2])  # in Paris May 12
    if "-" in words[0] and is_written_date(words[0]):
        return None
    if len(words) > 1 and (is_date(words) or (words[1].isdecimal() and words[0].lower() in _APPROXIMATELY)):
        return None
    stop = function_words(language)
    if language == "german":
        if len(words) > 1 and _is_mere_noun(words):
            return None  # Sonn- und Feiertage
        own = words[1:] if words[0].lower() in stop else words
        if is_description([*own[:-3], own[-1]] if _is_suspended(own[-3:]) else own):
            return phrase_of(words[-1], language)  # of SVG-Dateien, that is
        if is_of_name(own) and _is_mere_noun(own[:1]):
            return phrase_of(" ".join(own[2:]), language)
        nouns, named = behind_nouns(own) if len(own) > 1 else (0, False)
        if nouns:
            return _behind_noun(own[nouns:], language, named=named)
    phrase = _without_small_words(text, words, language)
    if phrase is not None and words[0] in patterns.UNITS:
        phrase = phrase._replace(unit=words[0])
    elif phrase is not None and text.lower() in SHORT:
        phrase = phrase._replace(month=True)
    if len(words) > 1 and (dated := named_by_date(words, stop)):
        return (phrase or Phrase("", "", sure=False))._replace(dated=dated)
    return phrase


def _behind_noun(words: Sequence[str], language: str, *, named: bool) -> Phrase | None:
    """Return the name behind German nouns, which stands within a sentence; if it is ``named``, a single word is one."""
    text = " ".join(words)
    if named and len(words) == 1 and text.isalpha() and text.lower() not in function_words(language):
        return Phrase(text, normalize_name(text), sure=True)
    behind = phrase_of(text, language)
    return behind and behind._replace(opener=False, command=False, sure=behind.sure or len(words) > 1)


def _without_small_words(text: str, words: list[str], language: str) -> Phrase | None:
    """Return a phrase without the function words and forms of address at its ends; ``None`` if no name is left."""
    if (article := elided_article(words[0], language)) and (
        behind := _without_small_words(
            text.removeprefix(article), [words[0].removeprefix(article), *words[1:]], language
        )
    ):
        return behind._replace(sure=True, opener=False, command=False, led=behind.led or text)
    stop = function_words(language)
    led = ""  # with the article before it
    if (
        1 < len(words) <= MAX_WORDS
        and not (_is_small(words[0], stop) or words[-1].lower() in stop)
        and not (words[1] == "the" and opens_sentence(words[0], language))
    ):
        text = " ".join(words)  # most that are more than a word
        name = normalize_name(text)
        if not name or names_nothing(text, name):
            return None
        first = words[0]
        if language == "german" and len(words) == 2 and is_adjective(first) and _is_mere_noun(words[1:]):
            return Phrase(text, name, sure=False)  # Technische Fragen
        return Phrase(text, name, sure=True, opener=opens_sentence(first, language), command=may_command(first))
    if len(words) > 1:
        kept = words[1:] if words[1] == "the" and opens_sentence(words[0], language) else words[:]
        while kept and _is_small(kept[0], stop) and not leads_name(kept):
            if len(kept) > 1 and kept[1][0].isupper() and may_lead_name(kept[0], language):
                if len(kept) < len(words):
                    break  # In Den Haag
                led = " ".join(kept)
            del kept[0]
        if not kept and is_behind_article(words[-2], words[-1]) and may_be_acronym(words[-1]):
            return Phrase(words[-1], words[-1].lower(), sure=True)
        while kept and kept[-1].lower() in stop and not patterns.ACRONYM.fullmatch(kept[-1]) and not _is_first(kept):
            del kept[-1]
        if not kept or len(kept) > MAX_WORDS:
            return None
        if len(kept) == 1 and (len(kept[0].rstrip(".")) < 2 or kept[0][0].isdigit() or kept[0].endswith(".")):
            return None
        text = " ".join(kept)
        sure = len(kept) > 1 or kept[0] != words[0]
    elif len(text) < 2:
        return None
    elif text.lower() in stop:
        return Phrase(text, text.lower(), sure=False, function_word=True) if may_be_acronym(text) else None
    else:
        sure = False
    sure = sure or _is_distinct(text)
    if language == "german" and _is_mere_noun(text.split()):
        return Phrase("", "", sure=False, led=led) if led else None  # every noun has a capital
    name = normalize_name(text)
    return Phrase(text, name, sure, led=led) if name and not names_nothing(text, name) else None


def _is_suspended(words: Sequence[str]) -> bool:
    """Return whether these are two German nouns of which one lacks its end: ``Patent- und Markenamt``."""
    return len(words) == 3 and words[0].endswith("-")


def _is_mere_noun(words: Sequence[str]) -> bool:
    """Return whether this is a German noun, or two that share their end, which have a capital without being names."""
    return not _is_distinct(words[0].rstrip("-")) and (len(words) == 1 or _is_suspended(words))


def _is_small(word: str, stop: frozenset[str]) -> bool:
    """Return whether the first word of a phrase is a function word or form of address, not an initial (``T. S.``)."""
    return word.lower().rstrip(".") in stop and not (word.endswith(".") and len(word) == 2)


def _is_first(words: Sequence[str]) -> bool:
    """Return whether the last word is the number one: ``World War I``."""
    return words[-1] == "I" and len(words) > 2 and words[-2].lower() in _COUNTED


def _is_distinct(word: str) -> bool:
    """Return whether a single word is always a name: it has a digit, or a capital that is not its first letter."""
    return (not word.isalpha() and any(map(str.isdigit, word))) or any(map(str.isupper, word[1:]))


@cache
def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that are not names by themselves, with those of English and parts of dates."""
    native = stop_words(language) - _NOUNS.get(language, frozenset[str]())
    return stop_words("english") | native | _OTHER_SCRIPTS | set(_SMALL_WORDS.split()) | _CONTRACTIONS | CALENDAR
