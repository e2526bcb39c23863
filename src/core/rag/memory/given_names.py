"""Given names and family names in more than a dozen languages, from the lists of Faker: no model, no download."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Final

from libs.regexes import regex

_LOCALES: Final = (
    *("en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT"),
    *("pl_PL", "nl_NL", "pt_BR", "sv_SE", "tr_TR", "ru_RU", "uk_UA"),
)
_SHORTEST: Final = 3

#: Given names that are also words, months or places, and are not names when they stand alone.
_AMBIGUOUS: Final = frozenset(
    word.capitalize()
    for line in (
        "will mark may june april august rose grace hope faith joy art bill rob dick iris lily violet daisy",
        "ivy amber ruby summer autumn dawn eve christian angel destiny chase hunter mason carter cooper taylor tyler",
        "parker grant drew dean earl duke prince guy sandy rusty rocky crystal pearl olive ginger heather holly",
        "basil sage van miles reed page gene ray don pat sue lane skye star harmony melody serenity trinity genesis",
        "paris jordan georgia virginia florence charlotte sofia carolina austin dallas chelsea sydney madison lincoln",
        "israel chad india asia troy victoria alexandria houston denver london brooklyn savannah phoenix kent chester",
        "lance royal major justice king dale glen cliff forest brook clay stone wade bud buddy sunny merry happy",
        "les des dan per jan ana dora else nadir tan can deniz mina mai ali sol luz mar paz rio leon german roman",
        "ale alla allen anders ante asta aura che dag darin del dina durante elke hanno inna ise lot love lucky mare",
        "marine mihin mio nada nas oni pero sem sina sole tali till tor toy uno ville wolf över",
        "август вера надежда любовь роман лев марта слава майя віра надія любов",
    )
    for word in line.split()
)
_CONSONANTS: Final = "бвгґджзклмнпрстфхцчшщ"
#: A letter that begins a name: none of the small ones of Latin and Cyrillic script.
CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ\u0430-\u045f\u0491]"
_WORD = rf"{CAPITAL}[^\W\d_]*(?:[-'’][^\W\d_]+)*"
#: Endings of Russian and Ukrainian names, and what stands there in other cases.
_CASES: Final = (
    ("ий", "ия ию ием ии ого ому им ом его ему"),
    ("ый", "ого ому ым ом"),
    ("ая", "ой ую"),
    ("ия", "ии ию ией"),
    ("й", "я ю ем е"),
    ("ь", "я ю ем е и"),
    ("я", "и е ю ей ёй ї єю"),
    ("а", "ы и е у ой ою ей і"),
    *(
        (consonant, " ".join(consonant + ending for ending in ("а", "у", "ом", "ем", "ым", "е")))
        for consonant in _CONSONANTS
    ),
)
#: Lower-case words between a given name and a family name: de Vries, van den Berg, von der Leyen.
PARTICLES: Final = (
    *("van", "von", "den", "der", "de", "del", "della", "da", "di", "do", "dos", "das", "du", "la", "le"),
    *("zu", "zum", "af", "av", "el", "al", "bin", "ibn", "ten", "ter", "'t"),
)
#: Zero to three of them, each followed by a space.
SMALL_WORDS: Final = rf"(?:(?:{'|'.join(sorted(PARTICLES, key=len, reverse=True))})[ ]+){{0,3}}"
_CAPITALS = regex(
    rf"(?<!\w)(?P<first>{_WORD})(?:[ ]+(?P<second>{SMALL_WORDS}{_WORD}))?(?:[ ]+(?P<third>{SMALL_WORDS}{_WORD}))?(?!\w)"
)
_POSSESSIVE: Final = ("'s", "’s")
_NOT_A_NAME: Final = frozenset(("And", "Or", "Is", "Will", "The", "Of", "In", "On", "At", "To", "I"))


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    given: set[str] = set()
    family: set[str] = set()
    for locale in _LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for name in ("first_names", "first_names_female", "first_names_male"):
            given.update(getattr(provider, name, ()))
        family.update(getattr(provider, "last_names", ()))
    return tuple(  # type: ignore[return-value]
        frozenset(form for name in names if len(name) >= _SHORTEST for form in (name, *cases(name)))
        for names in (given, family)
    )


@cache
def _ambiguous() -> frozenset[str]:
    return frozenset(form for name in _AMBIGUOUS for form in (name, *cases(name)))


def is_ambiguous(name: str) -> bool:
    """Return whether a given name, written in any way, may mean something else."""
    return name.capitalize() in _ambiguous()


def cases(name: str) -> list[str]:
    """Return a Russian or Ukrainian name in its other cases; none of other names."""
    for ending, others in _CASES:
        if name.endswith(ending):
            return [name.removesuffix(ending) + other for other in others.split()]
    return []


def names_in(text: str) -> Iterator[str]:
    """Yield names of people: a given name with up to two capitalised words after it.

    A given name that may mean something else ("Rose", "Paris") only counts before a family name.
    """
    given, family = _lists()
    start = 0
    while match := _CAPITALS.search(text, start):
        first, *others = (match[group] for group in ("first", "second", "third"))
        if first.endswith(_POSSESSIVE):
            first, others = first[:-2], []
        more = []
        for other in others:
            if other is None or other in _NOT_A_NAME:
                break
            # "Anna von Siemens" may mean that she works there
            if " " in other and family.isdisjoint((other, other.rpartition(" ")[2])):
                break
            more.append(other)
        known = first in given and (first not in _ambiguous() or (bool(more) and more[0] in family))
        if known:
            yield " ".join([first, *more])
        start = match.end() if known else match.end("first")
