"""German nouns before a name: ``Ministerin Anna Schmidt``, ``Stadt Dhamar``, ``Millionen Euro``, ``Anfang Oktober``.

Every noun has a capital, so these look like the beginning of a name. A compound ends like what it is
(``Innenminister``, ``SPÖ-Chef``), so a few words tell thousands. What is a part of names stays out of the lists:
``König Ludwig``, ``Papst Franziskus``, ``Universität Wien``, ``Premier League``, ``Roman Polanski``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from libs.regexes import regex

# Whoever is named behind it, without the ending; also at the end of compounds.
_PEOPLE: Final = """
abgeordnet aktivist amerikaner anführer angreifer anwalt anwält architekt argentinier australier autor belgier berater
boss botschafter brasilianer chef coach dichter direktor expert forscher fotograf führer gouverneur gründer
hauptmann historiker ingenieur italiener japaner journalist kanadier kandidat kanzler kapitän kolleg kolumbianer
kommissar konkurrent korrespondent künstler landesrat landsmann leiter lobbyist maler manager minister musiker
nachfolger niederländer norweger obfrau obmann oberhaupt ökonom österreicher philosoph politiker politolog präsident
produzent professor psycholog rechtler regisseur reporter sänger schauspieler schriftsteller sekretär senator sieger
soziolog spanier spieler sprecher staatsanwält stadtrat stürmer torhüter torjäger trainer unternehmer verteidiger
vertreter vorgänger vorsitzend wissenschaftler
"""
# Whatever has a name of its own behind it, with the ending; the first ones also at the end of compounds.
_THINGS: Final = """
agentur album bundesstaat film firma hauptstadt hersteller konzern konzerns magazin organisation ortschaft partei
provinz sender tageszeitung zeitschrift
"""
_ALONE: Final = "bruder ehefrau ehemann schwester sohn stadt städte städten städtchen tochter zeitung"
# What counts, says when, or only joins; what stands behind it may be a name or another noun.
_MEASURES: Final = """
million millionen milliarde milliarden tausend tausende hundert hunderte hunderttausend dutzend prozent
tonne tonnen kilometer kilometern meter metern liter euro dollar cent franken jahr jahre jahren jahres monat monate
monaten woche wochen tag tage tagen stunde stunden minute minuten sekunde sekunden uhr punkte punkten grad
anfang ende mitte jänner januar februar märz april juni juli september oktober november dezember montag dienstag
mittwoch donnerstag freitag samstag sonntag wochenende
angaben art beispiel form menge namen richtung sachen stück teil thema vielzahl zahl
"""

_NAMED: Final = regex(
    rf".*(?:{'|'.join(_PEOPLE.split())})(?:in(?:nen)?|e[nrs]?|[ns])?|\w{{3,}}meister(?:in|[ns])?"
    rf"|.*(?:{'|'.join(_THINGS.split())})|(?:{'|'.join(_ALONE.split())})"
)
_COUNTED: Final = frozenset(_MEASURES.split())


def is_measure(word: str) -> bool:
    """Return whether a noun counts, says when, or only joins: ``Millionen``, ``Anfang``, ``Art``."""
    return word.lower() in _COUNTED


def behind_nouns(words: Sequence[str]) -> tuple[int, bool]:
    """Find out how many nouns a phrase begins with that are no part of the name behind them.

    Args:
        words: Two or more, as they are spelt.

    Returns:
        The number of nouns; and whether what is behind them is a name even if it is a single word, as what is behind
        ``Ministerin`` is, but not what is behind ``Millionen``.
    """
    named = False
    for place, word in enumerate(words[:-1]):
        if place == 0 and len(words) > 2 and word.endswith("s") and _is_named(words[1]):
            continue  # Frankreichs Präsident Jean Petit
        if not words[place + 1][0].isupper():
            return place, named
        lowered = word.lower()
        if lowered in _COUNTED:
            named = False
        elif _is_named(word):
            named = True
        else:
            return place, named
    last = len(words) - 1
    return last, named and not is_measure(words[last])


def _is_named(word: str) -> bool:
    return _NAMED.fullmatch(word.lower()) is not None
