"""Compounds in questions: "Preiskategorien" is searched for as its two parts where documents only have these.

German and its relatives write in one word what others write in several, and anybody makes new ones. The words of the
documents are not read for that: the keyword index is asked which there are of the words that a compound may consist of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from core.rag.analysis.words import fold, is_stop_word, stem

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.retrieval.filters import Filter

#: Languages that join nouns.
LANGUAGES: Final = frozenset({"german", "dutch", "swedish", "danish", "norwegian"})

_LONGEST: Final = 48
#: Passages with a part that are looked at where a filter lets only some of them pass.
_PASSAGES: Final = 200
#: Shorter parts are beginnings and endings of words that are no compounds.
_SHORTEST_PART: Final = 4


async def in_parts(
    client: MemGraphClient, words: Iterable[str], language: str, wanted: Filter | None = None
) -> dict[str, str]:
    """Return those words that are made of two that documents have, each with these.

    Args:
        client: The graph.
        words: Words that no document has, as they are typed.
        language: That of the question.
        wanted: Only documents that pass count; nobody learns words of others from it.

    Returns:
        Of several ways to take a word apart, the one with the longest last part, which says what kind of thing it is.
    """
    if language not in LANGUAGES:
        return {}
    splits = {word: _splits(word, language) for word in words if len(word) <= _LONGEST}
    stems = {part: stem(fold(part), language) for pairs in splits.values() for pair in pairs for part in pair}
    there = await client.known_terms(set(stems.values())) if stems else set()
    apart: dict[str, str] = {}
    for word, pairs in splits.items():
        known = (pair for pair in pairs if {stems[pair[0]], stems[pair[1]]} <= there)
        if (pair := next(known, None)) is None:
            continue
        if wanted is None or all([await _passes(client, stems[part], wanted) for part in pair]):
            apart[word] = " ".join(pair)
    return apart


async def _passes(client: MemGraphClient, term: str, wanted: Filter) -> bool:
    """Return whether a passage that has a word passes a filter, of those that are looked at."""
    from core.rag.retrieval.legs import Legs

    matches = await client.match_terms({term: 1.0}, _PASSAGES)
    return bool(await Legs(client, None).passing(wanted, [match.id for match in matches]))


def _splits(word: str, language: str) -> list[tuple[str, str]]:
    """Return the pairs of words that a word may be made of; those of a noun are written as nouns."""
    pairs = ((word[:at], word[at:]) for at in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1))
    return [
        (first, last.capitalize() if word[0].isupper() and language == "german" else last)
        for first, last in pairs
        if not is_stop_word(fold(first), language) and not is_stop_word(fold(last), language)
    ]
