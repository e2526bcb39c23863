"""Documentation before source code: where a corpus has both, the former is written to answer questions in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.rag.extraction.patterns import IDENTIFIER
from core.rag.extraction.source_code import is_code
from core.rag.retrieval.hits import Hit

#: How many times the passages wanted are looked at, since those of code may come after others.
LOOKED_AT = 4
#: What part of its score a passage of source code keeps.
_CODE = 0.65
#: Words of a question that is about code.
_OF_CODE = re.compile(
    r"\b(?:code|source|class(?:es)?|functions?|methods?|modules?|variables?|parameters?|interfaces?|structs?|packages?"
    r"|implement\w*|define[sd]?|compute[sd]?|calls?|called|raise[sd]?|throw[ns]?|return(?:s|ed)?|parse[sd]?"
    r"|Klassen?|Funktion(?:en)?|Methoden?|fonctions?|méthodes?|clases?|función|funciones|métodos?)\b",
    re.IGNORECASE,
)


def names_code(question: str) -> bool:
    """Return whether a question names something of source code: ``open_sluice``, or anything between backticks."""
    return "`" in question or IDENTIFIER.search(question) is not None


def is_about_code(question: str) -> bool:
    """Return whether a question is about source code: it names something of it, or says so."""
    return names_code(question) or _OF_CODE.search(question) is not None


def documentation_first(hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the best hits; those of source code count less.

    Args:
        hits: Hits of a search, best first.
        limit: How many at most.
    """
    return sorted(hits, key=lambda hit: -hit.score * (_CODE if is_code(hit.path) else 1.0))[:limit]
