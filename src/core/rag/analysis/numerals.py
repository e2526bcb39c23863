"""Numbers as words, in English, German, French and Spanish."""

from __future__ import annotations

from typing import Final


def _by_language(**words: str) -> dict[str, tuple[str, ...]]:
    return {language: tuple(text.split()) for language, text in words.items()}


#: From two on, up to twenty; in French, to sixteen.
FROM_TWO: Final = _by_language(
    english="two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty",
    german="zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn zwanzig",
    french="deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    spanish="dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte",
)
#: From thirty on, the tens up to ninety; in French, to sixty.
FROM_THIRTY: Final = _by_language(
    english="thirty forty fifty sixty seventy eighty ninety",
    german="dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    french="trente quarante cinquante soixante",
    spanish="treinta cuarenta cincuenta sesenta setenta ochenta noventa",
)
#: Which one of several, from the first to the tenth.
ORDINALS: Final = _by_language(
    english="first second third fourth fifth sixth seventh eighth ninth tenth",
    german="erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
    french="premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
    spanish="primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
)
