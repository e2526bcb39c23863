"""The names of months in English, German, French and Spanish."""

from __future__ import annotations

from typing import Final


def _numbered(*languages: str) -> dict[str, int]:
    """Return the numbers of months, from their names in each language."""
    return {name: number for names in languages for number, name in enumerate(names.split(), 1)}


#: The names of months and their numbers.
MONTHS: Final = _numbered(
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
#: Their usual abbreviations in English and German.
SHORT_MONTHS: Final = _numbered(
    "jan feb mar apr may jun jul aug sep oct nov dec", "jan feb mär apr mai jun jul aug sept okt nov dez"
)
#: The numbers of all of them, and a pattern for any of them, in lower case.
NUMBERS: Final = SHORT_MONTHS | MONTHS
ANY_MONTH: Final = "|".join(sorted(NUMBERS, key=len, reverse=True))
