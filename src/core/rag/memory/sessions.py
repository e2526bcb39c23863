"""Sessions as recall ranks them: the words, vectors, times and speakers of their turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.messages.rows import last_said, speaker_of
from core.rag.unit_vectors import unit_vectors

#: Number of turns on either side that form the context of a turn.
REACH: Final = 2

type Vector = NDArray[np.float64]
#: The id of a turn, and when it was last revised: what it says depends on both.
type State = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one session, in order.

    Attributes:
        node: Id of its node.
        revision: Changes with every change of the session.
        states: Ids of the turns, with when each was last revised.
        times: When each turn was said for the first and for the last time.
        turns: The analysed words that find each turn.
        words: The words of all turns.
        lengths: Number of words of each turn.
        tags: Analysed words of each tag of each turn.
        speakers: Who said each turn, and in which role.
        asks: Which turns end with a question.
        answers: Which turns are what somebody else said next.
        vectors: One unit row per turn, zeros if it has no vector; ``None`` if no turn has one.
        around: The same for each turn together with its context.
    """

    node: str
    revision: str
    states: tuple[State, ...]
    times: tuple[tuple[str, str], ...]
    turns: tuple[list[str], ...]
    words: frozenset[str]
    lengths: Vector
    tags: tuple[tuple[frozenset[str], ...], ...]
    speakers: tuple[tuple[str, str], ...]
    asks: NDArray[np.bool_]
    answers: NDArray[np.bool_]
    vectors: NDArray[np.float32] | None
    around: NDArray[np.float32] | None


def session_of(
    node: str,
    revision: str,
    rows: Sequence[Mapping[str, Any]],
    vectors: Mapping[str, Any],
    before: Session | None,
) -> Session:
    """Make a session from its rows in order: ``id, timestamp, last_said_at, revised_at, terms, tags``.

    Args:
        node: Id of its node.
        revision: Changes with every change of the session.
        rows: Its turns, their tags as lists of analysed words; ``role``, ``user_id`` and ``owner`` (of the session)
            say who said it, and ``asks`` whether it ends with a question. ``around`` of a row, if present, has further
            words that find it (speaker and time), which do not count towards its length.
        vectors: Vectors by id of the turn.
        before: An earlier state of the session, whose turns have the vectors that they had then.
    """
    states = tuple(state_of(row) for row in rows)
    matrix = _matrix(states, vectors, before)
    turns = [(row["terms"] or "").split() for row in rows]
    findable = tuple([*turn, *row.get("around", ())] for turn, row in zip(turns, rows, strict=True))
    return Session(
        node=node,
        revision=revision,
        states=states,
        times=tuple((row["timestamp"], last_said(row)) for row in rows),
        turns=findable,
        words=frozenset(chain.from_iterable(findable)),
        lengths=np.array([len(turn) for turn in turns], dtype=np.float64),
        tags=tuple(tuple(frozenset(tag) for tag in row["tags"] if tag) for row in rows),
        speakers=tuple((row["role"], speaker_of(row, row["owner"])) for row in rows),
        asks=np.array([bool(row["asks"]) for row in rows], dtype=np.bool_),
        answers=np.array([False, *(_answers(row, last) for last, row in pairwise(rows))][: len(rows)], dtype=np.bool_),
        vectors=matrix,
        around=None if matrix is None else unit_vectors(windows(matrix).astype(np.float32)),
    )


def state_of(row: Mapping[str, Any]) -> State:
    """Return the state of a turn, from its row."""
    return row["id"], row.get("revised_at") or ""


def _answers(row: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """Return whether a turn follows what somebody else asked."""
    return bool(last["asks"]) and (row["role"], row["user_id"]) != (last["role"], last["user_id"])


def embedded(session: Session) -> dict[State, int]:
    """Return the numbers of the turns that have a vector, by their states."""
    if session.vectors is None:
        return {}
    return {session.states[number]: number for number in np.flatnonzero(session.vectors.any(axis=1)).tolist()}


def _matrix(states: Sequence[State], vectors: Mapping[str, Any], before: Session | None) -> NDArray[np.float32] | None:
    """Return one unit row per turn, zeros if it has no vector; ``None`` if no turn has one."""
    kept = {} if before is None else embedded(before)
    new = [(number, vectors[turn]) for number, (turn, _) in enumerate(states) if turn in vectors]
    old = [(n, kept[state]) for n, state in enumerate(states) if state in kept and state[0] not in vectors]
    known = unit_vectors(float_rows([vector for _, vector in new])) if new else None
    earlier = None if before is None or not old else before.vectors
    width = next((rows.shape[1] for rows in (known, earlier) if rows is not None), 0)
    if not width:
        return None
    matrix = np.zeros((len(states), width), dtype=np.float32)
    if known is not None:
        matrix[[number for number, _ in new]] = known
    if earlier is not None:
        matrix[[number for number, _ in old]] = earlier[[number for _, number in old]]
    return matrix


def windows(values: NDArray[Any], place: NDArray[np.int64] | None = None, reach: int = REACH) -> Vector:
    """Return the sum of each row and the rows around it, within the same session if there are several."""
    sums: Vector = values.astype(np.float64)
    for step in range(1, min(reach, len(values) - 1) + 1):
        before, after = values[:-step], values[step:]
        if place is not None:
            together = (place[step:] == place[:-step])[:, None]
            before, after = before * together, after * together
        sums[step:] += before
        sums[:-step] += after
    return sums
