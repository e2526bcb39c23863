"""Rows and records with many cells: what is shown of them are the cells that a question asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.rag.analysis import analyze

#: Between cells as they are shown.
BETWEEN = " | "
#: A row up to this length is shown whole.
_WIDE = 300
#: So long are cells together that a question names by several words: "a lead programmer and a senior programmer".
_NAMED = 600
_FEWEST = 3
_LEFT_OUT = "…"
#: How well a cell fits a question: its name has words of that, its value has, or neither.
_ASKED, _MENTIONS, _OTHER = range(3)


def narrowed(row: str, asked: Collection[str], language: str, *, begins: bool) -> str:
    """Return a row with its first cell and those with words of the question, as long as they fit; others are left out.

    That is done if a cell has such a name: of "capital: Canberra | cioc: AUS", the first is what "What is the capital
    of Australia?" asks for. Names with most of its words come first, those with fewer only if there is but one word:
    "Senior Programmer" is asked for, and "Programmer" is not; nor is "film: Ebb" if the question is who directed the
    film Ebb. Or else if the row mentions what is asked, but is not about it: its first cell has no word of the
    question, and no cell is nothing but words of it. In other rows, any cell may be the answer.

    Args:
        row: The cells, each with its name where it has one: ``Team: Blues | Won: 1``.
        asked: The words of the question, analysed.
        language: That of the row.
        begins: Whether its first cell is that of the whole row, and says what the row is about.

    Returns:
        The cells in their order, with a mark for those left out; or the row as it is.
    """
    cells = row.split(BETWEEN)
    if len(row) <= _WIDE or len(cells) < _FEWEST:
        return row
    given = [_words_given(cell, asked, language) for cell in cells]
    of_names = set(asked).difference(*(words for words in given if len(words) > 1))
    names = [set() if has else _words_of_name(cell, language) for cell, has in zip(cells, given, strict=True)]
    named = [len(words & of_names) for words in names]
    fits = [
        _ASKED if words else _MENTIONS if _mentions(cell, asked, language) else _OTHER
        for cell, words in zip(cells, named, strict=True)
    ]
    mentioned = begins and fits[0] == _OTHER and _MENTIONS in fits and not any(given)
    if _ASKED not in fits[1:] and not mentioned:
        return row
    most = max(named[1:])
    whole = [words for words in names if words and words <= of_names]
    wanted = [
        place
        for place in range(1, len(cells))
        if most < 2 or named[place] == most or (names[place] in whole and not any(names[place] < one for one in whole))
    ]
    kept, length = {0}, len(cells[0])
    for place in sorted(wanted, key=lambda place: (fits[place], place)):
        length += len(cells[place])
        if fits[place] != _OTHER and (length <= (_NAMED if most > 1 else _WIDE) or len(kept) == 1):
            kept.add(place)
    return BETWEEN.join(_with_gaps(cells, sorted(kept)))


def _words_of_name(cell: str, language: str) -> set[str]:
    """Return the words of the name of a cell."""
    name, colon, _ = cell.partition(": ")
    return set(analyze(name, language)) if colon else set()


def _words_given(cell: str, asked: Collection[str], language: str) -> set[str]:
    """Return the words of the value of a cell if a question has them all: that says it, and does not ask for it.

    Not a number: it may be in the question for something else.
    """
    name, colon, value = cell.partition(": ")
    words = set(analyze(value if colon else name, language))
    return words if words.issubset(asked) and not all(map(str.isdecimal, words)) else set()


def _mentions(cell: str, asked: Collection[str], language: str) -> bool:
    """Return whether the value of a cell has a word of the question."""
    name, colon, value = cell.partition(": ")
    return not set(analyze(value if colon else name, language)).isdisjoint(asked)


def _with_gaps(cells: Sequence[str], kept: Sequence[int]) -> list[str]:
    shown: list[str] = []
    before = -1
    for place in kept:
        if place > before + 1:
            shown.append(_LEFT_OUT)
        shown.append(cells[place])
        before = place
    return [*shown, _LEFT_OUT] if before + 1 < len(cells) else shown
