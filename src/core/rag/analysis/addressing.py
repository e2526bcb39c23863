"""Names by which people address each other, which say nothing of them: "Thanks, Ida!"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: What stands before the name of somebody who is addressed.
_BEFORE_NAME: Final = (
    r"(?:\A|[,!?.;–—-]\s+|(?i:\b(?:hey|hi|hello|thanks|thank you|wow|yep|yes|yeah|no|oh|ah|well|congrat(?:ulation)?s"
    r"|sorry|sure|ok|okay|great|awesome|cool|nice|exactly|bye|welcome|good (?:morning|evening|luck)|hallo|danke|ja|nein"
    r"|guten (?:tag|morgen|abend)|merci|bonjour|salut|hola|gracias|ciao|grazie),?\s+))"
)


def names_addressed(said: str, people: frozenset[str]) -> list[str]:
    """Return the first names by which something that is said addresses some people, in order."""
    addressed = _addressed(people)
    return [found["name"] for found in addressed.finditer(said)] if addressed is not None else []


def without_names(said: str, people: frozenset[str]) -> str:
    """Return what is said without the first names by which it addresses some people.

    Example:
        >>> without_names("Thanks, Ida! Ida Berg mends wheels.", frozenset(["Ida Berg", "Olaf Lund"]))
        'Thanks, ! Ida Berg mends wheels.'
    """
    addressed = _addressed(people)
    return said if addressed is None else addressed.sub(_without_name, said)


def _without_name(found: re.Match[str]) -> str:
    return found[0].removesuffix(found["name"])


@lru_cache(maxsize=64)
def _addressed(people: frozenset[str]) -> re.Pattern[str] | None:
    """Return a pattern for the first names of people where they are addressed; ``None`` for nobody."""
    names = "|".join(sorted({re.escape(name.split()[0]) for name in people}, key=len, reverse=True))
    return re.compile(rf"{_BEFORE_NAME}(?P<name>{names})(?=\s*(?:[,!?.;:–—-]|\Z))") if names else None
