"""What was said later about the same: of what somebody states, a later statement may have replaced an earlier one.

"I moved to Berlin" has no word of "Where do I live?", and little of its meaning. But it is more like "I live in
Hamburg", which has both, than all else that was said since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: What likeness to the question counts, where that to the earlier statement counts 1.
_TO_THE_QUESTION: Final = 0.5
#: By how much it has to be more alike than the next: where several are about as near, none is about the same thing.
_STANDS_OUT: Final = 0.1
#: And it has to be as much like the earlier statement as this.
_LIKE_IT: Final = 0.2
#: What is about as near is about the same thing all the same if it is so much like that: "I moved to Berlin", and a
#: year later "I moved to Munich".
_EACH_OTHER: Final = 0.5
#: What is said in more words than these, analysed, is no statement but a report: a reply, a log, a file.
MOST_WORDS: Final = 40
#: And in fewer than these nothing is stated: "Oh, thanks".
FEWEST_WORDS: Final = 3


def said_later(
    like_it: NDArray[np.float64],
    like_question: NDArray[np.float64],
    candidates: NDArray[np.bool_],
    times: Sequence[str],
    like: Callable[[int], NDArray[np.float64]],
) -> int | None:
    """Return which turn is about the same as an earlier statement.

    Args:
        like_it: How alike the earlier statement each turn is.
        like_question: How alike the question each turn is.
        candidates: The turns that may be it: what the same person stated later.
        times: When each turn was said last.
        like: Returns how alike a turn each turn is.

    Returns:
        Its number; of several that are about as near, and like each other, the last. ``None`` if none stands out.
    """
    numbers = np.flatnonzero(candidates)
    if not len(numbers):
        return None
    score = like_it[numbers] + _TO_THE_QUESTION * like_question[numbers]
    best = int(np.argmax(score))
    if like_it[numbers[best]] < _LIKE_IT or score[best] < _STANDS_OUT:
        return None
    near = numbers[score > score[best] - _STANDS_OUT]
    if len(near) > 1 and like(int(numbers[best]))[near].min() < _EACH_OTHER:
        return None
    return max(map(int, near), key=lambda number: times[number])
