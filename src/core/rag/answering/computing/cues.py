"""The words by which a question asks for a count, a sum or an extreme of records, in four languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, get_args

from libs.regexes import regex

Cue = Literal[
    "count",
    "share",
    "sum",
    "much",
    "average",
    "median",
    "top",
    "highest",
    "lowest",
    "most",
    "fewest",
    "more",
    "fewer",
    "higher",
    "lower",
    "latest",
    "earliest",
    "frequent",
    "rare",
    "distinct",
    "per",
    "which",
]
#: What a question has to have one of, unless it compares.
ASKING: Final[frozenset[Cue]] = frozenset(get_args(Cue)) - {"distinct", "per"}
IN_TIME: Final[frozenset[Cue]] = frozenset({"latest", "earliest"})
#: Of these, what many questions about something else have: so less is looked through for them.
USUAL: Final[frozenset[Cue]] = IN_TIME | {"which"}

#: ``in``: in a month, or on a day.
Comparison = Literal[">=", ">", "<=", "<", "=", "in"]


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list that is written as a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language.

    Attributes:
        name: Its name for the stemmer.
        cues: Finds cues; the name of the group that matches is the cue.
        comparing: Finds what stands before a number that values are compared with; groups as in ``COMPARISONS``, or
            ``first`` and ``last`` for two numbers, with all between them.
        plurals: How words end that name several things, and what one of them ends with instead.
        following: Finds how a question begins that goes on with the one before; the group ``of_them`` if it is about
            the records of that one.
    """

    name: str
    cues: re.Pattern[str]
    comparing: re.Pattern[str]
    plurals: tuple[tuple[str, str], ...]
    following: re.Pattern[str]


#: The groups of ``Language.comparing``.
COMPARISONS: Final[Mapping[str, Comparison]] = {"least": ">=", "over": ">", "upto": "<=", "under": "<"}

#: A number, and no part of something longer: not that of "5k", "2024-03-01", "10:30"; what it may be an amount of.
_NUMBER: Final = (
    r"\s+[$€£]?\s?(?P<number>[-\u2212]?\d[\d.,]*(?<![.,]))(?![\w.,]*\w|\s?[-/:+*]\s?\w)"
    r"(?:\s?(?:[%$€£]|(?:euros?|dollars?|eur|usd)\b))?"
)
MONEY: Final = regex(r"[$€£]|\b(?:euros?|dollars?|eur|usd)\b", re.IGNORECASE)

_CUES: Final[Mapping[str, Mapping[Cue, str]]] = {
    "english": {
        "share": r"(?:how many percent|(?:the )?(?:percentage|percent|proportion|share|fraction)) of",
        "count": r"how many|(?:the )?(?:total )?number of|count(?: of)?",
        "top": r"top \d{1,3}",
        "sum": r"in total|totals?(?: of)?|sum(?: of)?|altogether|combined",
        "much": r"how much",
        "average": r"on average|(?:the )?(?:average|mean) number of|average|avg|the mean(?= \w)",
        "median": r"median",
        "frequent": r"(?:the )?most (?:often|frequent(?:ly)?|common(?:ly)?)",
        "rare": r"(?:the )?(?:least (?:often|frequent(?:ly)?|common(?:ly)?)|rarest)",
        "latest": r"(?:\d{1,2} )?(?:latest|newest|most recent(?:ly)?|last)(?: \d{1,2})?",
        "earliest": r"(?:\d{1,2} )?(?:earliest|oldest|first)(?: \d{1,2})?",
        "most": r"most|(?:highest|largest|biggest|greatest) (?:number|amount) of",
        "fewest": r"(?:lowest|smallest|least|fewest) (?:number|amount) of|fewest|least",
        "more": r"more",
        "fewer": r"fewer|less",
        "higher": r"higher|larger|bigger|greater",
        "lower": r"lower|smaller",
        # Within a sentence, "Max" is a name.
        "highest": r"highest|largest|biggest|greatest|maximum|(?-i:max|MAX|\AMax)(?!['’])",
        "lowest": r"lowest|smallest|minimum|(?-i:min|MIN|\AMin)(?!['’])",
        "distinct": r"different|distinct|unique",
        "per": r"for each|in each|by each|of each|each|grouped by|broken down by|per|by",
        "which": r"\A(?:which|list|show)",
    },
    "german": {
        "share": r"wie ?viel(?:e)? prozent(?: der| aller| von)?|(?:prozentsatz|anteil)(?: der| aller| von| an)",
        "count": r"wie ?viele|(?:die )?anzahl(?: der| von)?",
        "top": r"top \d{1,3}",
        "sum": r"insgesamt|(?:die )?summe(?: der| von)?|gesamte?[rsnm]?|zusammen",
        "much": r"wie ?viel",
        "average": r"im durchschnitt|im schnitt|im mittel|durchschnitt(?:liche?[rsnm]?)?|mittlere[rsnm]?",
        "median": r"median",
        "frequent": r"am (?:häufigsten|öftesten)|häufigste[rsnm]?",
        "rare": r"am seltensten|seltenste[rsnm]?",
        "latest": r"(?:letzte|neueste|jüngste|aktuellste)[rsnm]?(?: \d{1,2})?|zuletzt",
        "earliest": r"(?:erste|früheste|älteste)[rsnm]?(?: \d{1,2})?|zuerst",
        "most": r"(?:die |am )?meisten|(?:die )?(?:höchste|größte) (?:anzahl|zahl)(?: an| von| der)?",
        "more": r"mehr",
        "fewer": r"weniger",
        "higher": r"(?:höhere|größere)[rsnm]?",
        "lower": r"(?:niedrigere|kleinere|geringere)[rsnm]?",
        "fewest": r"(?:die |am )?wenigsten|(?:die )?(?:kleinste|geringste) (?:anzahl|zahl)(?: an| von| der)?",
        "highest": r"höchste[rsnm]?|größte[rsnm]?|maximale?[rsnm]?|maximum",
        "lowest": r"niedrigste[rsnm]?|kleinste[rsnm]?|geringste[rsnm]?|minimale?[rsnm]?|minimum",
        "distinct": r"verschiedene[rsnm]?|unterschiedliche[rsnm]?",
        "per": r"für jede[rsnm]?|in jede[rsnm]?|pro|je",
        "which": r"\A(?:welche[rsnm]?|zeige?|liste)",
    },
    "french": {
        "share": r"(?:le )?pourcentage (?:de\b|des\b|d(?=['’]))|(?:la )?(?:part|proportion) (?:de\b|des\b|d(?=['’]))",
        "count": r"combien (?:de\b|d(?=['’])|y a-t-il de\b)|(?:le )?nombre (?:de\b|d(?=['’]))",
        "top": r"top \d{1,3}",
        "sum": r"au total|total(?:e|es|aux)?|(?:la )?somme",
        "average": r"en moyenne|moyen(?:ne)?s?",
        "median": r"médiane?s?",
        "frequent": r"le plus souvent|plus (?:fréquente?s?|courante?s?)",
        "rare": r"le moins souvent|moins (?:fréquente?s?|courante?s?)|plus rares?",
        "latest": r"(?:\d{1,2} )?(?:dernière?s?|derniers?)|plus récente?s?",
        "earliest": r"(?:\d{1,2} )?(?:première?s?|premiers?)|plus ancien(?:ne)?s?",
        "most": r"le plus (?:grand nombre )?(?:de\b|d(?=['’]))",
        "fewest": r"le (?:moins|plus petit nombre) (?:de\b|d(?=['’]))",
        "more": r"plus (?:de\b|d(?=['’]))",
        "fewer": r"moins (?:de\b|d(?=['’]))",
        "highest": r"plus (?:haute?s?|grande?s?|élevée?s?)|maximum|maxima(?:les?|l|ux)",
        "lowest": r"plus (?:basse?s?|bas|petite?s?|faibles?)|minimum|minima(?:les?|l|ux)",
        "distinct": r"différente?s?|distincte?s?",
        "per": r"pour chaque|dans chaque|par",
        "which": r"\A(?:quel(?:le)?s|listez?|montrez?)",
    },
    "spanish": {
        "share": r"(?:el )?porcentaje de(?: los| las)?|(?:la )?proporción de(?: los| las)?",
        "count": r"cu[aá]nt[oa]s|(?:el )?n[uú]mero de",
        "top": r"top \d{1,3}",
        "sum": r"en total|total(?:es)?|(?:la )?suma",
        "average": r"en promedio|promedio|medi[oa]",
        "median": r"mediana",
        "frequent": r"(?:con )?más (?:frecuen(?:te|cia)s?|com(?:ún|unes)|a menudo)",
        "rare": r"menos (?:frecuentes?|com(?:ún|unes))",
        "latest": r"últim[oa]s?(?: \d{1,2})?|más (?:recientes?|nuev[oa]s?)",
        "earliest": r"primer(?:[oa]s?)?(?: \d{1,2})?|más antigu[oa]s?",
        "highest": r"más (?:alt[oa]s?|grandes?|elevad[oa]s?)|máxim[oa]s?|mayor(?:es)?(?! n[uú]mero)",
        "lowest": r"más (?:baj[oa]s?|pequeñ[oa]s?)|mínim[oa]s?|menor(?:es)?(?! n[uú]mero)",
        "most": r"más|mayor n[uú]mero de",
        "fewest": r"menos|menor n[uú]mero de",
        "distinct": r"diferentes|distint[oa]s",
        "per": r"para cada|en cada|por",
        "which": r"\A¿?(?:qué|cuáles|lista|muéstrame)",
    },
}
_COMPARING: Final[Mapping[str, Mapping[str, str]]] = {
    "english": {
        "least": r"at least|no less than|since",
        "over": r"(?:more|greater|higher|larger|later) than|over|above|exceeding|after",
        "upto": r"at most|no more than|up to|until",
        "under": r"(?:less|fewer|lower|smaller|earlier) than|under|below|before",
    },
    "german": {
        "least": r"mindestens|wenigstens|ab|seit",
        "over": r"(?:mehr|größer|höher|später) als|über|nach",
        "upto": r"höchstens|maximal|bis",
        "under": r"(?:weniger|kleiner|niedriger|geringer|früher) als|unter|vor",
    },
    "french": {
        "least": r"au moins|depuis|à partir de",
        "over": r"plus de|supérieure?s? à|après",
        "upto": r"au plus|jusqu['’]en|jusqu['’]à",
        "under": r"moins de|inférieure?s? à|avant",
    },
    "spanish": {
        "least": r"al menos|por lo menos|desde|a partir de",
        "over": r"más de|mayor(?:es)? (?:que|a|de)|después de",
        "upto": r"como máximo|hasta",
        "under": r"menos de|menor(?:es)? (?:que|a|de)|antes de",
    },
}

#: What stands before the first and the last of two numbers.
_BETWEEN: Final = {
    "english": (("between", "and"), ("from", "to|until|till|through|up to")),
    "german": (("zwischen", "und"), ("von", "bis")),
    "french": (("entre", "et"), ("de", "à")),
    "spanish": (("entre", "y"), ("de|desde", "a|hasta")),
}
_FOLLOWING: Final = {
    "english": r"(?P<of_them>(?:and )?(?:how many|which|what) of (?:them|those|these))"
    r"|(?:and|but)(?: what about| how about)?|(?:what|how) about"
    r"|how many(?= (?:are|were|in|at|on|from|since|between|before|after)(?!\w))",
    "german": r"(?P<of_them>(?:und )?(?:wie ?viele|welche) (?:davon|von (?:ihnen|denen)))"
    r"|und(?: was ist mit)?|was ist mit|wie ?viele(?= (?:sind|waren|in|im|am|aus|seit|zwischen|vor|nach)(?!\w))",
    "french": r"(?P<of_them>(?:et )?(?:combien|lesquels|lesquelles) d['’]entre (?:eux|elles))|et(?: pour)?"
    r"|combien(?= (?:sont|étaient|en|à|depuis|entre|avant|après)(?!\w))",
    "spanish": r"¿?(?:(?P<of_them>(?:y )?(?:cu[aá]nt[oa]s|cuáles) de (?:ellos|ellas))|y|qué (?:pasa|hay) (?:con|de)"
    r"|cu[aá]nt[oa]s(?= (?:son|eran|en|desde|entre|antes|después)(?!\w)))",
}
_PLURALS: Final = {
    "english": (("ies", "y"), ("es", ""), ("s", "")),
    "german": (("en", ""), ("e", ""), ("n", ""), ("s", "")),
    "french": (("s", ""), ("x", "")),
    "spanish": (("es", ""), ("s", "")),
}

_FILLERS: Final = {
    "english": (
        "a an the according of in on at for from with to is are was were be been being do does did has have had having "
        "there here we i me us you our my your all what which who whom whose that this these those it its they their "
        "them please tell give gives gave given show list let "
        "exist exists live lives living lived work works working based located situated "
        "placed made issued created published dated log logs logged happen happened occur occurred one ones "
        "belong belongs come comes named called recorded listed registered stored record records row rows entry "
        "entries table data file dataset spreadsheet sheet csv database s m re"
    ),
    "german": (
        "der die das den dem des ein eine einen einem einer eines es gibt ist sind war waren sein wird werden wurde "
        "wurden hat haben hatte hatten wir ich uns unser unsere unserer unserem man alle allen aller im am zum zur von "
        "vom für mit bei aus welche welcher welches welchen welchem wer was wie hoch wo dort hier bitte zeige nenne "
        "in an auf zu "
        "erstellt angelegt aufgegeben eingegangen erfasst "
        "leben lebt wohnen wohnt arbeiten arbeitet kommen kommt heißen liste datensatz datensätze zeile zeilen tabelle"
    ),
    "french": (
        "a le la les l un une des du de d au aux en dans sur pour avec à il elle ils elles y t est sont était étaient "
        "être ont avons avez nous vous notre nos quel quelle quels quelles qui que qu quoi ce cette ces c chaque tous "
        "toutes tout toute créé créés créée créées passé passés passée passées "
        "habitent habite travaillent travaille vivent viennent ligne lignes liste listez montre montrez moi"
    ),
    "spanish": (
        "la de a "
        "el los las un una unos unas del al en con para hay es son era eran está están tiene tienen tenemos nuestro "
        "nuestra nuestros nuestras qué cuál cuáles quién quiénes que lo todos todas todo toda "
        "creado creados creada creadas viven vive trabajan trabaja fila filas registro registros lista muéstrame"
    ),
}
#: What times are grouped by behind "per" or "which", as tables do (``retrieval.tables.dates.UNITS``).
_UNITS: Final = {
    "year": "year years jahr jahre jahren année an año años",
    "quarter": "quarter quarters quartal quartale trimestre trimestres",
    "month": "month months monat monate mois mes meses",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "day": "day days tag tage jour jours día días",
    "hour": "hour hours stunde stunden heure heures hora horas",
}
UNITS: Final = {word: unit for unit, words in _UNITS.items() for word in words.split()}
INTERROGATIVES: Final = words_of(
    "which what welche welcher welches welchem welchen quel quelle quels quelles qué cuál cuáles"
)
WHO: Final = words_of("who wer qui quién")
WHEN: Final = words_of("when wann quand cuándo")
#: What stands before the year in which something was.
IN: Final = words_of("in during im en durant")
#: Words of each language that say nothing about which records are meant. What negates, and other verbs than these, do.
FILLERS: Final = {language: frozenset(words.split()) for language, words in _FILLERS.items()}

#: Of these, what may as well mean a value that is written like it ("in it", "of war", "in data").
MEANING: Final = words_of(
    "it us one man list show let work works worked working live lives living based recorded record records row rows "
    "entry entries table data file dataset spreadsheet sheet csv database m s zeile zeilen tabelle ligne lignes "
    "fila filas todo"
)

#: What points to something that was told before.
POINTING: Final = words_of(
    "it its this that these those they their them es dies dieser diese dieses sie ihr il elle ils elles ce cette ces"
)

#: Who asks, for whom only some records count where these name a person.
ASKER: Final = frozenset({"i", "my", "ich", "me"})
PERSONS: Final = words_of("owner assignee assigned user reporter manager employee agent rep member")

#: Words before a number that are about time.
OF_TIME: Final = regex(
    r"since|after|until|before|later|earlier|seit|ab|nach|bis|vor|später|früher|depuis|à partir|après|jusqu|avant"
    r"|desde|a partir|después|hasta|antes",
    re.IGNORECASE,
)

#: What stands before who did something, as well as before what to group by, and before "me".
BY: Final = frozenset({"by", "par", "por"})

#: What stands before a value that records shall not have.
NEGATING: Final = words_of("not nicht no")

#: What stands before the name of a field of which records shall have no value, besides those.
LACKING: Final = words_of("without missing lack lacks lacking kein keine keinen keinem keiner keines ohne sans sin")

#: What joins values, of which each will do; the first of them may want all values of a list.
ALL_OF: Final = frozenset({"and", "und", "et", "y"})
JOINING: Final = ALL_OF | {"or", "oder", "ou", "o"}


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages, compiled."""
    return tuple(
        Language(
            name,
            _pattern(rf"(?:{_groups(cues)})(?!\w)"),
            _pattern(rf"(?:{_groups(_COMPARING[name])})(?!\w){_NUMBER}|{_between(_BETWEEN[name])}"),
            _PLURALS[name],
            _pattern(rf"\A(?:{_FOLLOWING[name]})(?!\w)"),
        )
        for name, cues in _CUES.items()
    )


def _between(words: tuple[tuple[str, str], ...]) -> str:
    """Return what finds two numbers with all between them: their groups end with the number of the pair of words."""
    return "|".join(
        rf"(?:{before}){_NUMBER.replace('number', f'first{i}')}\s+(?:{behind}){_NUMBER.replace('number', f'last{i}')}"
        for i, (before, behind) in enumerate(words)
    )


def _groups(words: Mapping[Cue, str] | Mapping[str, str]) -> str:
    return "|".join(f"(?P<{name}>{alternatives})" for name, alternatives in words.items())


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})".replace(" ", r"\s+"), re.IGNORECASE)
