"""Who speaks where in a passage of a conversation: a transcript, an interview, minutes, a play.

A name in front of what somebody says ("Ida: I mend wheels.") is no word of it, and everything said behind it, up to the
next name, is theirs.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from core.rag.analysis import analyze
from core.rag.analysis.addressing import names_addressed, without_names
from core.rag.answering.extracts.code_spans import Span
from core.rag.answering.extracts.record_rows import MESSAGE
from core.rag.indexing.splitting.turns import Turn, first_speaker, turns_within
from core.rag.retrieval.hits import Hit
from libs.regexes import regex

_IGNORECASE: Final = 2
#: What may stand between a name and what is said: when it was.
_BEFORE_WORDS: Final = regex(r"\s*(?:\\?[\[(]\d[\d:.,]{1,12}\\?[\])]:?\s*)?")
#: By which people speak of themselves.
_SELF: Final = regex(
    r"\b(?:I|I['’](?:m|ve|d|ll)|me|my|mine|myself|we|we['’](?:re|ve|d|ll)|us|our|ours"
    r"|ich|mich|mir|mein\w{0,2}|wir|uns|unser\w{0,2}|je|j['’]|moi|mon|ma|mes|nous|notre|nos"
    r"|yo|me|mi|mis|nosotr[oa]s|nuestr[oa]s?|io|mio|mia|noi|nostr[oaie])\b",
    _IGNORECASE,
)


def who_speaks(hit: Hit, start: int) -> str:
    """Return who speaks at a place of a passage; empty if it is of no conversation."""
    if not (first := first_speaker(hit.metadata)):
        return ""
    turn = _turn_at(hit.content, start)
    return turn.name if turn is not None else first


def speakers_of(hit: Hit) -> set[str]:
    """Return the names of all who speak in a passage; none if it is of no conversation."""
    first = first_speaker(hit.metadata)
    return {first, *(turn.name for turn in turns_within(hit.content))} if first else set()


def label_at(hit: Hit, start: int) -> str:
    """Return who speaks at a place of a passage as an answer shows it, with when, if messages tell it: "Ida: "."""
    if not (first := first_speaker(hit.metadata)):
        return ""
    if (turn := _turn_at(hit.content, start)) is None:
        return f"{first}: "
    message = MESSAGE.match(hit.content, turn.start)
    return f"{turn.name}: " if message is None else f"{message[0]} "


def words_begin(hit: Hit, start: int, end: int) -> int:
    """Return where a sentence begins behind the name of who speaks, its end if it is no more than that."""
    if not first_speaker(hit.metadata):
        return start
    turn = _turn_at(hit.content, end - 1)
    behind = start if turn is None or turn.start < start else min(turn.words, end)
    begun = _BEFORE_WORDS.match(hit.content, behind, end)
    return begun.end() if begun is not None else behind


def without_addressed(hit: Hit, said: str) -> str:
    """Return what somebody says without the first names of those who speak where it addresses them: "Thanks, Ida!"."""
    return without_names(said, frozenset(speakers_of(hit)))


def words_of_people(hit: Hit, place: Span, language: str) -> frozenset[str]:
    """Return the analysed words of who a sentence speaks of without their name as a part of it.

    That is who says it, if they speak of themselves, alone or with others, and whom it addresses.
    """
    if not (who := who_speaks(hit, place.start)):
        return frozenset()
    said = hit.content[place.start : place.end]
    names = names_addressed(said, frozenset(speakers_of(hit)))
    names += [who] if _SELF.search(said) is not None else []
    return frozenset(analyze(" ".join(names), language))


def is_short_reply(hit: Hit, place: Span, language: str) -> bool:
    """Return whether what somebody says has at most one word that tells something: "Yeah...", "Thanks, Ida!"."""
    if not first_speaker(hit.metadata):
        return False
    return len(analyze(without_addressed(hit, hit.content[place.start : place.end]), language)) <= 1


def _turn_at(text: str, place: int) -> Turn | None:
    turns = turns_within(text)
    index = bisect_right(turns, place, key=lambda turn: turn.start)
    return turns[index - 1] if index else None
