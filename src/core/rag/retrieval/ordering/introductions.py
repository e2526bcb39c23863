"""Who somebody is stands where others name them, not in front of each thing that they say.

In a transcript, "Where does Ida Berg work?" finds what Ida Berg says, as her name stands in front of all of it. Who she
is was said when she was introduced ("with us today is Ida Berg of the mill"), mostly at the beginning. So if a question
names who speaks in hits, and asks for something else than what they said, such passages are among the hits, too.
Measured in docs/adr/0008-fusion.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter
from typing import Final

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.addressing import without_names
from core.rag.analysis.sayings import asks_what_was_said
from core.rag.indexing.splitting.turns import first_speaker, turns_within
from core.rag.retrieval.hits import Hit

#: With so many passages a conversation begins; and so many of the other hits are looked at, too.
OPENING: Final = 8
AMONG: Final = 60
#: So many conversations in which somebody speaks are looked at.
_CONVERSATIONS: Final = 2
#: So many passages come among the first hits, behind so many others.
_MOST: Final = 2
_BEHIND: Final = 2


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody who speaks in hits, and whom a question names.

    Attributes:
        name: The analysed words of their name.
        people: The names of all who speak in the hits.
        documents: The ids of the first conversations in which they speak.
    """

    name: frozenset[str]
    people: frozenset[str]
    documents: tuple[str, ...]

    def share_named(self, hit: Hit) -> float:
        """Return how much of the name, from 0 to 1, a passage has but in front of what is said, or to address them."""
        parts, end = [], 0
        for turn in turns_within(hit.content) if first_speaker(hit.metadata) else ():
            parts.append(hit.content[end : turn.start])
            end = turn.words
        said = without_names("\n".join((*parts, hit.content[end:])), self.people)
        return len(self.name.intersection(analyze(said))) / len(self.name)


def speaker_asked_of(question: str, hits: Sequence[Hit]) -> Speaker | None:
    """Return who speaks in hits and is named by a question, if it does not ask what they said.

    ``None`` also if the first hits have the beginning of a conversation, where they are named.
    """
    speaking = [(hit.document_id, names) for hit in hits if (names := _speakers(hit))]
    if not speaking or len(hits) <= _BEHIND or asks_what_was_said(question):
        return None
    asked = set(query_terms(question))
    spoken: dict[frozenset[str], dict[str, None]] = {}
    for document, names in speaking:
        for name in names:
            if (words := frozenset(analyze(name))) and words <= asked:
                spoken.setdefault(words, {})[document] = None
    if not spoken:
        return None
    fullest = max(spoken, key=len)
    people = frozenset(name for _, names in speaking for name in names)
    found = Speaker(fullest, people, tuple(spoken[fullest])[:_CONVERSATIONS])
    first = hits[: _BEHIND + _MOST]
    introduced = any(hit.chunk_index < OPENING and found.share_named(hit) == 1.0 for hit in first)
    return None if introduced else found


def with_introductions(
    hits: Sequence[Hit], speaker: Speaker, openings: Iterable[Hit], further: Iterable[Hit]
) -> list[Hit]:
    """Return as many hits, passages that name who speaks behind the first two of them.

    Args:
        hits: The hits, best first.
        speaker: Who is named.
        openings: The passages with which the conversations begin, in order.
        further: The hits behind the first ones, best first; each has to have all of the name.
    """
    first, others = list(hits[:_BEHIND]), [*hits[_BEHIND:], *further]
    shown, found = {hit.chunk_id for hit in first}, {hit.chunk_id: hit for hit in others}
    shares = [(speaker.share_named(hit), hit) for hit in openings if hit.chunk_id not in shown]
    share, begun = max(shares, key=itemgetter(0), default=(0.0, None))
    naming = [found.get(begun.chunk_id, begun)] if begun is not None and share else []
    naming += (hit for hit in others if speaker.share_named(hit) == 1.0)
    chosen = dict(islice({hit.chunk_id: hit for hit in naming}.items(), _MOST))
    moved = (replace(hit, score=first[-1].score) for hit in chosen.values())
    return [*first, *moved, *(hit for hit in others if hit.chunk_id not in chosen)][: len(hits)]


def _speakers(hit: Hit) -> list[str]:
    first = first_speaker(hit.metadata)
    return [first, *(turn.name for turn in turns_within(hit.content))] if first else []
