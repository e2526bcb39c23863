"""Tells a sentence that says the opposite of another one by one word: "rose" for "fell", all else being the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache
from typing import Final

from core.rag.analysis import analyze
from core.rag.answering.checking.negation import Statement

#: By language, words and their opposites, a pair in each line; of regular verbs and adjectives one form.
_OPPOSITES: Final = {
    "english": """
increase rise rose risen grow grew grown | decrease fall fell fallen drop shrink shrank decline
win won gain | lose lost
high higher highest large larger largest big bigger biggest | low lower lowest small smaller smallest
long longer longest | short shorter shortest
fast faster fastest | slow slower slowest
old older oldest | young younger youngest
early earlier earliest | late later latest
hot hotter warm warmer | cold colder cool cooler
cheap cheaper cheapest | expensive
strong stronger strongest | weak weaker weakest
better best | worse worst
open | close shut
start begin began begun | end stop finish
allow permit | forbid forbade forbidden prohibit ban banned
accept approve | reject refuse decline
include | exclude
enable | disable
add | remove
buy bought | sell sold
hire | fire dismiss
import | export
born | died
profit | loss
mandatory compulsory | optional voluntary
maximum | minimum
internal | external
public | private
more | less fewer
before | after
above over | below under
north northern | south southern
east eastern | west western
""",
    "german": """
steigen steigt stieg gestiegen erhöhen erhöht zunehmen wachsen wuchs | sinken sinkt sank gesunken fallen fällt senken
gewinnen gewann gewonnen | verlieren verlor verloren
hoch höher höchste groß größer größte | niedrig niedriger niedrigste klein kleiner kleinste
lang länger längste | kurz kürzer kürzeste
schnell schneller | langsam langsamer
alt älter älteste | jung jünger jüngste
früh früher | spät später
offen öffnet geöffnet | geschlossen schließt
beginnt begann begonnen | endet endete beendet
erlaubt gestattet | verboten untersagt
angenommen genehmigt | abgelehnt verweigert
kauft kaufte gekauft | verkauft verkaufte
geboren | gestorben
verpflichtend | freiwillig
gewinn | verlust
maximal | minimal
teuer teurer | billig billiger günstig günstiger
mehr | weniger
vor | nach
über | unter
nördlich | südlich
östlich | westlich
""",
    "french": """
augmenter augmenté augmentation hausse | diminuer diminué diminution baisse baisser
gagner gagné | perdre perd perdu
élevé haut haute | bas basse faible
grand | petit
long longue | court
ouvert ouvre | fermé ferme
commence commencé | finit fini termine terminé
autorisé permis | interdit
accepté | refusé rejeté
acheté | vendu
né née | mort morte décédé
obligatoire | facultatif
maximum | minimum
nord | sud
avant | après
""",
    "spanish": """
aumentar aumentó aumento subir subió | disminuir disminuyó bajar bajó
ganar ganó | perder perdió
alto | bajo
grande | pequeño
largo | corto
abierto abre | cerrado cierra
empieza empezó comienza comenzó | termina terminó acaba acabó
permitido | prohibido
aceptado | rechazado
compró | vendió
nació | murió
obligatorio | opcional voluntario
máximo | mínimo
norte | sur
antes | después
""",
}
#: Share of the other words of a sentence that another one has, and how many there are at least.
_ALL_ELSE: Final = 0.9
_FEWEST_OTHERS: Final = 2


def is_reversed(claim: Statement, said: Iterable[Statement], given: Collection[str], language: str) -> bool:
    """Return whether sentences say the opposite of a claim by one word, and none says the same.

    Args:
        claim: What is claimed.
        said: The sentences of a source.
        given: The words of its title and headings, which every sentence is about.
        language: The language of the source.
    """
    opposites = _opposites(language)
    turned = (claim.terms | claim.words) & opposites.keys()
    known = [(one, one.terms | frozenset(given)) for one in said] if turned else []
    for word in turned:
        rest = claim.terms - {word}
        same = [
            (one, terms | one.words)
            for one, terms in known
            if len(rest) >= _FEWEST_OTHERS and len(rest & terms) >= _ALL_ELSE * len(rest)
        ]
        if same and all(
            one.denies == claim.denies and word not in words and opposites[word] & (one.terms | one.words)
            for one, words in same
        ):
            return True
    return False


@cache
def _opposites(language: str) -> dict[str, frozenset[str]]:
    """Return the words of a language that have opposites, as they are and as terms, with these."""
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES.get(language, "").splitlines():
        sides = [
            frozenset(term for word in side.split() for term in (word, *analyze(word, language)))
            for side in pair.split("|")
        ]
        for own, other in zip(sides, sides[::-1], strict=True) if len(sides) > 1 else ():
            for term in own - other:
                found.setdefault(term, set()).update(other - own)
    return {term: frozenset(others) for term, others in found.items()}
