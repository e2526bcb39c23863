"""Documentation before source code, and code before its tests: what is written to answer the question comes first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.rag.extraction.patterns import IDENTIFIER
from core.rag.extraction.source_code import configuration_language, is_code
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

#: How many times the passages wanted are looked at, since those of code may come after others.
LOOKED_AT = 4
#: What part of its score a passage keeps that is source code, a test, or a licence.
LESS = 0.65
#: Files of tests and measurements, as many languages have them, and their folders.
_TEST = regex(
    r"(?:^|/)(?:[\w.]+[-_])?(?:tests?|specs?|__tests__|__mocks__|testdata|testutils?|fixtures|benches|bench(?:marks?|suite)?)/"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*[._-](?:tests?|spec|bench)|[^/]*[a-z0-9](?:Tests?|Spec))\.\w+\Z"
)
#: The module of tests in a file of Rust.
_TEST_MODULE = regex(r"(?:\A| > )mod tests?(?: > |\Z)")
_OF_TESTS = regex(r"\b(?:test\w*|spec|specs|benchmark\w*|mock\w*|fixture\w*|getestet)\b", re.IGNORECASE)
#: Questions for a test, not for what is said about tests.
_WANTS_TEST = regex(
    r"\b(?:which|what) (?:\w+ )?tests?\b|\bwhere (?:is|are) .{1,100} (?:tested|covered)\b|\btests? (?:for|of|that)\b"
    r"|\bwelche[rs]? (?:\w+ )?tests?\b|\bquels? tests?\b|\bqué pruebas?\b",
    re.IGNORECASE,
)
_LICENCE = regex(r"(?:^|/)(?:LICEN[CS]E|COPYING|NOTICE)(?:[-._][\w.-]*)?\Z", re.IGNORECASE)
_OF_LICENCES = regex(
    r"licen|copyright|\b(?:legal|liab|warrant|patent|redistribut|trademark|attribution|notice|terms|lizen|urheber)",
    re.IGNORECASE,
)
#: Words of a question that is about code.
_OF_CODE = regex(
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


def is_test(path: str, heading: str = "") -> bool:
    """Return whether source code tests or measures other code, by its path, or in Rust its module."""
    return is_code(path) and (_TEST.search(path) is not None or _TEST_MODULE.search(heading) is not None)


def is_beside_the_point(question: str, path: str, heading: str) -> bool:
    """Return whether source code is a test and the question asks for none, or the other way round."""
    if _WANTS_TEST.search(question) is not None:
        return not is_test(path, heading)
    return _OF_TESTS.search(question) is None and is_test(path, heading)


def best_to_read(question: str, hits: Sequence[Hit], limit: int) -> list[Hit]:
    """Return the best hits; those count less that are seldom written to answer such a question.

    That is source code where the question is not about it, unless it is a configuration, tests where it asks for none,
    all else where it asks for one, and the texts of licences.

    Args:
        question: The question.
        hits: Hits of a search, best first.
        limit: How many at most.
    """
    less_code = not is_about_code(question)
    less_licences = _OF_LICENCES.search(question) is None

    def score(hit: Hit) -> float:
        code = less_code and hit.is_code and not configuration_language(hit.path)
        test = is_beside_the_point(question, hit.path, hit.heading)
        licence = less_licences and _LICENCE.search(hit.path) is not None
        return float(hit.score * LESS ** (code + test + licence))

    return sorted(hits, key=score, reverse=True)[:limit]
