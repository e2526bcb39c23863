"""Numbers of sections: "§ 433 BGB", "Article 17", "chapter 3", "version 2.3.1".

A number by itself says little: where a law is, many of its sections refer to section 433, and only one is it. So a
heading that begins with a number has one further index word, for what is numbered and its number, and a question that
names it looks for this word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from core.rag.analysis.dates import date_words, path_dates
from core.rag.analysis.language import DEFAULT_LANGUAGE
from core.rag.analysis.numerals import FROM_THIRTY, FROM_TWO
from core.rag.analysis.words import MAX_TERM_BYTES, fold, folded_stop_words
from libs.regexes import regex

#: What sections are called, also in short; other words ("Lecture 5", "Week 3") stand for themselves.
_KINDS: Final = {
    alias: kind
    for kind, aliases in {
        "section": "§ §§ section sections sec sect paragraph paragraphs para par paragraf paragrafo parrafo paragraphe",
        "article": "article articles art artikel artikels artikeln articulo articolo artigo artykul",
        "chapter": "chapter chapters chap ch kapitel kapitels kap chapitre chap capitulo capitolo hoofdstuk rozdzial",
        "part": "part parts pt teil teils partie parte deel",
        "annex": "annex appendix anhang anlage annexe anexo allegato bijlage exhibit",
        "clause": "clause clauses klausel clausula clausola",
        "version": "version versions release releases v",
        "book": "book books buch livre libro livro boek",
        "volume": "volume volumes vol band tome tomo",
        "act": "act acts akt akte acte acto atto",
        "scene": "scene scenes szene scena escena cena",
        "canto": "canto cantos gesang chant zang",
    }.items()
    for alias in aliases.split()
}
#: Of these, and of those above, the heading may have the number alone: "4.2 Installation".
_NUMBERED_ALONE: Final = frozenset(_KINDS.values()) - {"annex"} | frozenset(
    """
abschnitt step schritt etape paso passo stap krok rule regel regle regla regola lesson lektion exercise point punkt item
ziffer nummer number no nr requirement unit topic
""".split()
)
*_UP, _TWENTY = FROM_TWO["english"]
_ONES: Final = ("one", *_UP)
_TENS: Final = (_TWENTY, *FROM_THIRTY["english"])
#: "Chapter Twenty-One".
_SPELLED: Final = dict(zip(_ONES, range(1, 20), strict=True)) | {
    f"{ten}-{one}" if one else ten: value * 10 + number
    for value, ten in enumerate(_TENS, 2)
    for number, one in enumerate(("", *_ONES[:9]))
}
_NUMBER: Final = r"\d{1,4}(?:[.-]\d{1,4}){0,5}[a-z]?"
_ROMAN: Final = r"[IVXLC]{1,7}|[ivxlc]{2,7}"
_WORDS: Final = rf"(?i:(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES[:9])}))?|{'|'.join(_ONES[::-1])})"
_NAMED: Final = (
    rf"(?:§§?[ \u00a0]?|(?P<word>[^\W\d_]{{1,24}})\.?[ \u00a0])(?P<number>{_NUMBER}|{_ROMAN}|{_WORDS}|[A-Z])(?!\w)"
)
_AROUND: Final = r"[\s*_\[(]*"
_HEADING: Final = regex(_AROUND + _NAMED)
_BARE_HEADING: Final = regex(
    rf"{_AROUND}(?:v?(?P<number>{_NUMBER})(?=[.):\]*_]*(?:\s|\Z))|(?P<roman>[IVXLC]{{1,7}})(?=[.):]|\W*\Z))"
)
_ASKED: Final = regex(rf"(?<!\w){_NAMED}")
_BARE: Final = regex(r"(?<![\w.-])v?(?P<number>\d{1,4}(?:\.\d{1,4}){1,5})(?![\w-]|\.\d)")
#: A kind and a number in the name of a file: "rfc9114", "ADR-0011", "pep_0008", "CVE-2021-44228".
_NAME: Final = regex(r"(?P<kind>[^\W\d_]{2,24})[-_. ]?(?P<number>\d{1,7})(?:-(?P<second>\d{1,7}))?(?![\w.]*\d)")
#: A question writes it with a hyphen, too: "EIP-1559".
_HYPHENED: Final = regex(r"(?<![\w-])(?P<word>[^\W\d_]{2,24})-(?P<number>\d{1,7}(?:-\d{1,7})?)(?![\w-]|\.\d)")
#: What may stand between the number of a heading and the rest.
_BEHIND: Final = " \t\u00a0.:;,)]}*_-\N{EN DASH}\N{EM DASH}|/"
#: Characters of a heading within which its number is.
_LONGEST: Final = 60
#: More numbers in a question are data.
_MOST_ASKED: Final = 8
_ALONE: Final = "number"


def heading_numbers(heading: str) -> tuple[str, ...]:
    """Return the index words for the number that a heading begins with; none without one.

    Example:
        >>> heading_numbers("§ 433 Pflichten"), heading_numbers("Art. IV"), heading_numbers("4.2 Set up")
        (('section433',), ('article4',), ('number4x2',))
        >>> heading_numbers("III. The Problem"), heading_numbers("CHAPTER ONE")
        (('number3',), ('chapter1',))
    """
    words, _ = _begins_with(heading[:_LONGEST])
    return words


def name_numbers(name: str) -> tuple[str, ...]:
    """Return the index words for what the name of a file or a title begins with, if that is a kind and a number.

    Example:
        >>> name_numbers("rfc9114"), name_numbers("ADR-0011-answers"), name_numbers("01-a")
        (('rfc9114',), ('adr11',), ())
        >>> name_numbers("CVE-2021-44228")
        ('cve2021', 'cve2021x44228')
    """
    found = _NAME.match(name)
    if found is None or not _is_kind(kind := _kind(found["kind"])):
        return ()
    numbers = [found["number"], *([f"{found['number']}-{found['second']}"] if found["second"] else ())]
    return tuple(_term(kind, number) for number in numbers)


def document_words(title: str, path: str) -> tuple[str, ...]:
    """Return the index words for the dates and the number of a document: "board/2021/minutes-02-28.md", "RFC 9114"."""
    return tuple(dict.fromkeys((*date_words(title), *path_dates(path), *document_numbers(title, path))))


def document_numbers(title: str, path: str) -> tuple[str, ...]:
    """Return the index words for the number of a document, which its title or the name of its file begins with.

    No text has such a word, as ``eip1559`` is one of all that have "EIP-1559".

    Example:
        >>> document_numbers("The fee market", "eip-1559.md")
        ('namedeip1559',)
    """
    numbers = (*name_numbers(title), *name_numbers(PurePosixPath(path).stem))
    return tuple(dict.fromkeys(map(_of_document, numbers)))


def without_number(heading: str) -> str:
    """Return a heading without the number that it begins with.

    Example:
        >>> without_number("§ 242 Theft"), without_number("4.2. Set up"), without_number("Article 17")
        ('Theft', 'Set up', '')
    """
    _, end = _begins_with(heading[:_LONGEST])
    return heading[end:].lstrip(_BEHIND)


@lru_cache(maxsize=4096)
def _begins_with(heading: str) -> tuple[tuple[str, ...], int]:
    """Return the index words for the number of a heading, and where it ends."""
    if (found := _HEADING.match(heading)) and (word := _word(found)):
        return (word,), found.end()
    bare = _BARE_HEADING.match(heading)
    if bare is None or (bare["roman"] and not number_of(bare["roman"])):
        return (), 0
    return (_term(_ALONE, bare["number"] or bare["roman"]),), bare.end()


def asked_numbers(question: str) -> list[str]:
    """Return the index words for the sections that a question names by their numbers.

    Example:
        >>> asked_numbers("Was regelt § 242 StGB?"), asked_numbers("What is new in version 2.3?")
        (['section242', 'number242'], ['version2x3', 'number2x3'])
    """
    words: dict[str, None] = {}
    for found in _ASKED.finditer(question):
        if word := _word(found):
            words[word] = None
            if _kind(found["word"]) in _NUMBERED_ALONE:
                words[_term(_ALONE, found["number"])] = None
    for found in _BARE.finditer(question):  # "Flask 2.3.2": version 2.3.2, or section 2.3.2 of a specification
        words |= dict.fromkeys(_term(kind, found["number"]) for kind in (_ALONE, "version"))
    return list(words) if len(words) <= _MOST_ASKED else []


def asked_documents(question: str) -> list[str]:
    """Return the index words for the documents that a question names by their numbers.

    Example:
        >>> asked_documents("Does RFC 9110 say what EIP-1559 and CVE-2021-44228 do?")
        ['namedrfc9110', 'namedeip1559', 'namedcve2021x44228']
    """
    hyphened = [(_kind(found["word"]), found["number"]) for found in _HYPHENED.finditer(question)]
    words = [word for word in asked_numbers(question) if not word.startswith(_ALONE)]
    words += [_term(kind, number) for kind, number in hyphened if _is_kind(kind)]
    return [_of_document(word) for word in words] if len(words) <= _MOST_ASKED else []


def _of_document(number: str) -> str:
    return f"named{number}".encode()[:MAX_TERM_BYTES].decode(errors="ignore")


def number_of(written: str) -> int:
    """Return the value of a number in digits, Roman numerals or in English words; 0 for anything else."""
    return int(written) if written.isdecimal() else _VALUES.get(written.lower(), 0)


def _kind(word: str | None) -> str:
    name = fold(word or "§")
    return _KINDS.get(name, name)


def _is_kind(kind: str) -> bool:
    """Return whether something is numbered so, and not just a word before a number: "in 2024"."""
    return kind in _NUMBERED_ALONE or kind not in folded_stop_words(DEFAULT_LANGUAGE)


def _word(found: re.Match[str]) -> str:
    """Return the index word of a name with a number; nothing if letters are no number there: "Act I", but "As I"."""
    kind, number = _kind(found["word"]), found["number"]
    if not _is_kind(kind):
        return ""
    if kind == "annex" and len(number) == 1:
        return kind + number.lower()
    # "Adventure IV": anything may be numbered so, by more than one letter
    certain = number[0].isdigit() or (number_of(number) and len(number) > 1 and number.isupper())
    return _term(kind, number) if certain or (kind in _KINDS.values() and number.lower() in _VALUES) else ""


def _term(kind: str, number: str) -> str:
    plain = str(_VALUES.get(number.lower(), number.lower()))
    parts = (part.lstrip("0") or "0" for part in re.split("[.-]", plain))
    return (kind + "x".join(parts)).encode()[:MAX_TERM_BYTES].decode(errors="ignore")


def _roman(value: int) -> str:
    written = ""
    for worth, letters in _ROMAN_DIGITS:
        written += letters * (value // worth)
        value %= worth
    return written


_ROMAN_DIGITS: Final = (
    (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ROMAN_VALUES: Final = {_roman(value): value for value in range(1, 400)}
_VALUES: Final = _ROMAN_VALUES | _SPELLED
