"""Ranks memories for a question: pure functions over sessions that have been read.

A turn of a dialogue is short and says little by itself; it is found through what surrounds it. So to its own score
are added those of the turns around it, of its session, and of its direct neighbours, and to that of an answer the one
of the question before it. Weights and the small ``B`` (short texts differ in length for no reason) are those that
were measured on long dialogues; each part is put into units of its own spread first, as in
:mod:`core.rag.retrieval.ordering.fusion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from numpy.typing import NDArray

from core.rag.embedder.likeness import likeness
from core.rag.memory.later import FEWEST_WORDS, MOST_WORDS, said_later
from core.rag.memory.period import ALWAYS, Within
from core.rag.memory.records import RecallReason
from core.rag.memory.sessions import REACH, Session, Vector, windows
from core.rag.unit_vectors import unit_vectors

if TYPE_CHECKING:
    from core.rag.dbhandler.vectors import VectorStoreInfo

K1: Final = 1.2
B: Final = 0.3
OWN_WORDS: Final = 0.7
OWN_MEANING: Final = 0.3
WINDOW_WORDS: Final = 0.35
WINDOW_MEANING: Final = 0.15
SESSION_WORDS: Final = 0.22
NEIGHBOURS: Final = 0.2
#: What an answer has of the question before it. The words that are asked for are often those of the question alone:
#: "How did you get into painting?", and "My friend gave me some advice."
ANSWERED: Final = 0.5
#: What a turn that asks keeps of its own: that something was asked before is seldom what is wanted.
ASKING: Final = 0.8
#: What of its score a turn keeps that asks what is asked now: so much of its words is in the question that it has none
#: of an answer.
REPEATED: Final = 0.7
SAME_WORDS: Final = 0.8
#: Bonus for a tag that the question names.
TAG_BONUS: Final = 0.7

#: What fits a question by less than this share of what is said around it was found because of that.
NEAR: Final = 0.5

#: A score of at least this share of another one is hardly worse.
ALIKE: Final = 0.9

_MAX_UNITS: Final = 8.0


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a question means.

    Attributes:
        store: The vector store of the memories that it is compared with.
        vector: Its vector.
        usual: The cosine that is usual for the model (:func:`core.rag.embedder.likeness.usual_cosine`).
    """

    store: VectorStoreInfo
    vector: Sequence[float]
    usual: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory that was found.

    Attributes:
        id: Its id.
        relevance: 0 to 1; ``None`` where nothing was asked.
        because: Why it was found; ``None`` where nothing was asked.
    """

    id: str
    relevance: float | None
    because: RecallReason | None = None


def rank(
    sessions: Sequence[Session],
    terms: Sequence[str],
    meaning: Meaning | None,
    limit: int,
    period: Within = ALWAYS,
    among: frozenset[str] | None = None,
) -> list[Ranked]:
    """Recall the memories that fit a question best.

    Args:
        sessions: The sessions to search.
        terms: Analysed words of the question.
        meaning: What the question means; ``None``: words only.
        limit: Maximum number to return.
        period: When it was said; what was said at other times is only what surrounds it.
        among: Ids of the only memories that are wanted; all others are only what surrounds these. ``None``: all.

    Returns:
        Memories, best first, of those that are about as good the latest first; without those unrelated to the question.
        Behind the best statement comes what was said later about the same.
    """
    sessions = [session for session in sessions if session.states]
    if not sessions:
        return []
    ids = [identifier for session in sessions for identifier, _ in session.states]
    asked = frozenset(terms)
    terms = [term for term in terms if any(term in session.words for session in sessions)]
    own_counts = [_count_matrix(session, terms) for session in sessions]
    lengths = [session.lengths for session in sessions]
    all_counts = np.vstack(own_counts)
    idf = _idf(all_counts)
    place = np.repeat(np.arange(len(sessions)), [len(session.states) for session in sessions])
    own_lengths = np.concatenate(lengths)
    window_words = _bm25(windows(all_counts, place), windows(own_lengths[:, None], place)[:, 0], idf)
    words = _bm25(all_counts, own_lengths, idf)
    whole = _bm25(
        np.vstack([counts.sum(axis=0) for counts in own_counts]), np.array([part.sum() for part in lengths]), idf
    )
    session_words = whole[place]
    alike, window_alike = _likenesses(sessions, meaning)
    tagged = _tag_hits(sessions, asked)
    own = OWN_WORDS * _units(words) + OWN_MEANING * _units(alike)
    answered = np.concatenate(([0.0], own[:-1])) * np.concatenate([session.answers for session in sessions])
    around = (windows(own[:, None], place, 1)[:, 0] - own) / 2
    own *= np.where(np.concatenate([session.asks for session in sessions]), ASKING, 1.0)
    score = (
        own
        + WINDOW_WORDS * _units(window_words)
        + WINDOW_MEANING * _units(window_alike)
        + SESSION_WORDS * _units(session_words)
        + NEIGHBOURS * around
        + ANSWERED * answered
        + TAG_BONUS * _units(tagged)
    )
    score[(window_words == 0) & (tagged == 0) & (alike <= 0)] = 0.0
    score *= np.where(np.concatenate([_repeats(session, asked) for session in sessions]), REPEATED, 1.0)
    times = [period.last_said(*said) for session in sessions for said in session.times]
    if period != ALWAYS:
        score[[number for number, time in enumerate(times) if not time]] = 0.0
    if among is not None:
        score[[number for number, identifier in enumerate(ids) if identifier not in among]] = 0.0
    # Smaller differences come from sums in another order.
    scores = _latest_of_alike(np.round(score, 9), all_counts > 0, times).tolist()
    order = sorted(range(len(ids)), key=lambda number: (scores[number], times[number], ids[number]), reverse=True)
    order = [number for number in order if scores[number] > 0]
    if not order:
        return []
    wanted = np.array([bool(time) and (among is None or i in among) for i, time in zip(ids, times, strict=True)])
    earlier, later = _said_later(sessions, meaning, alike, order[: limit - 1], times, wanted)
    if later is not None and later not in order[: (behind := order.index(earlier) + 1) + 1]:
        order = [number for number in order if number != later]
        scores[later] = scores[order[behind]] if behind < len(order) else NEAR * scores[earlier]
        order.insert(behind, later)
    order = order[:limit]
    total = idf.sum()
    share = ((all_counts[order] > 0) @ idf) / total if total > 0 else np.zeros(len(order))
    fit = 1 - (1 - share) * (1 - 0.5 * np.clip(alike[order], 0, 1)) * (1 - 0.3 * np.minimum(tagged[order], 1))
    # The first one gets the best fit of all as its relevance; the others are scaled by their scores.
    best = float(min(max(fit.max(), 0.0), 1.0))
    fits = own + TAG_BONUS * _units(tagged)

    def because(number: int) -> RecallReason:
        if number == later:
            return RecallReason("later", ids[earlier])
        around = _strongest_around(fits, place, number)
        if around is not None and fits[number] < NEAR * fits[around]:
            return RecallReason("near", ids[around])
        if tagged[number] > 0:
            return RecallReason("tags")
        return RecallReason("words" if words[number] > 0 else "meaning")

    return [
        Ranked(ids[number], round(best * scores[number] / scores[order[0]], 6), because(number)) for number in order
    ]


def _said_later(
    sessions: Sequence[Session],
    meaning: Meaning | None,
    alike: Vector,
    order: Sequence[int],
    times: Sequence[str],
    wanted: NDArray[np.bool_],
) -> tuple[int, int | None]:
    """Return the best statement, and which wanted one the same person made later about the same, if one stands out."""
    states = np.concatenate([~s.asks & (s.lengths <= MOST_WORDS) for s in sessions])
    best = next((number for number in order if states[number]), None)
    if best is None or meaning is None:
        return 0, None
    turns = list(chain.from_iterable(session.turns for session in sessions))
    lengths = np.concatenate([session.lengths for session in sessions]).astype(int).tolist()
    speakers = list(chain.from_iterable(session.speakers for session in sessions))
    said = turns[best][: lengths[best]]
    candidates = [
        lengths[number] >= FEWEST_WORDS
        and speakers[number] == speakers[best]
        and times[number] > times[best]
        and turns[number][: lengths[number]] != said
        for number in range(len(times))
    ]

    def like(number: int) -> Vector:
        vector = _vector_of(sessions, number)
        return np.zeros(len(times)) if vector is None else _likenesses(sessions, replace(meaning, vector=vector))[0]

    return best, said_later(like(best), alike, np.array(candidates) & wanted & states, times, like)


def _vector_of(sessions: Sequence[Session], number: int) -> Sequence[float] | None:
    """Return the vector of one of the turns of all sessions; ``None`` if none of its session has one."""
    for session in sessions:
        if number < len(session.states):
            return None if session.vectors is None else cast("Sequence[float]", session.vectors[number])
        number -= len(session.states)
    return None


def _repeats(session: Session, asked: frozenset[str]) -> NDArray[np.bool_]:
    """Return which turns ask with hardly another word than those of the question."""
    repeats = np.zeros(len(session.states), dtype=np.bool_)
    for number in np.flatnonzero(session.asks).tolist():
        words = session.turns[number][: int(session.lengths[number])]
        repeats[number] = bool(words) and sum(word in asked for word in words) >= SAME_WORDS * len(words)
    return repeats


def _strongest_around(fits: Vector, place: NDArray[np.int64], number: int) -> int | None:
    """Return which of the turns that form the context of a turn fits best, of equal ones the nearest."""
    around = [other for step in range(1, REACH + 1) for other in (number - step, number + step)]
    there = [other for other in around if 0 <= other < len(fits) and place[other] == place[number]]
    return max(there, key=lambda other: fits[other], default=None)


def _latest_of_alike(scores: Vector, matched: NDArray[np.bool_], times: Sequence[str]) -> Vector:
    """Raise the score of what was said later to that of what is hardly better and has the same words of the question.

    Facts change. "My desk is on floor 2" and, later, "My desk is on floor 5" differ in nothing that "Where is my desk?"
    asks for; their scores differ by what surrounds them, and by how near "2" and "5" happen to be to the question.
    """
    raised = scores.copy()
    best: dict[bytes, tuple[float, str]] = {}
    for number in np.argsort(-scores, kind="stable").tolist():
        score, words = scores[number], matched[number]
        if score <= 0:
            break
        if not words.any():
            continue
        most, time = best.setdefault(words.tobytes(), (score, times[number]))
        if score < ALIKE * most:
            best[words.tobytes()] = (score, times[number])
        elif times[number] > time:
            raised[number] = most
    return raised


def _count_matrix(session: Session, terms: Sequence[str]) -> Vector:
    counts = np.zeros((len(session.states), len(terms)))
    for column, term in enumerate(terms):
        if term in session.words:
            counts[:, column] = [turn.count(term) for turn in session.turns]
    return counts


def _idf(counts: Vector) -> Vector:
    found = (counts > 0).sum(axis=0)
    idf: Vector = np.log1p((len(counts) - found + 0.5) / (found + 0.5))
    return idf


def _bm25(counts: Vector, lengths: Vector, idf: Vector) -> Vector:
    mean = float(lengths.mean()) or 1.0
    scale = K1 * (1 - B + B * lengths / mean)
    scores: Vector = np.asarray((counts * (K1 + 1) / (counts + scale[:, None])) @ idf, dtype=np.float64)
    return scores


def _likenesses(sessions: Sequence[Session], meaning: Meaning | None) -> tuple[Vector, Vector]:
    """Return how alike the question each turn is, by itself and with its context; at least 0."""
    own: list[Vector] = []
    around: list[Vector] = []
    unit = None if meaning is None else unit_vectors(np.asarray(meaning.vector, dtype=np.float32))
    for session in sessions:
        if unit is None or session.vectors is None or session.around is None or session.vectors.shape[1] != len(unit):
            own.append(np.zeros(len(session.states)))
            around.append(np.zeros(len(session.states)))
            continue
        own.append(np.asarray(session.vectors @ unit, dtype=np.float64))
        around.append(np.asarray(session.around @ unit, dtype=np.float64))
    usual = 0.0 if meaning is None else meaning.usual
    alike, with_context = (likeness(np.concatenate(parts), usual) for parts in (own, around))
    return np.clip(alike, 0.0, None), np.clip(with_context, 0.0, None)


def _tag_hits(sessions: Sequence[Session], asked: frozenset[str]) -> Vector:
    return np.array(
        [sum(1 for tag in tags if tag <= asked) for session in sessions for tags in session.tags],
        dtype=np.float64,
    )


def _units(scores: Vector) -> Vector:
    top = float(np.abs(scores).max()) if len(scores) else 0.0
    unit = max(float(scores.std()), top / _MAX_UNITS)
    return scores / unit if unit else scores
