"""The places of things in order when some of them go and others come between them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Merge:
    """Takes columns of things over into those after a change.

    Attributes:
        places: The new place of each thing that was there; -1 for one that is gone.
        new_places: The place of each new one.
    """

    def __init__(self, count: int, gone: Collection[int], before: Sequence[int]) -> None:
        """Find the places.

        Args:
            count: How many there were.
            gone: The places of those that go.
            before: For each new one, in order, the old place of what it comes before; ``count`` for the end.
        """
        import numpy as np

        stays = np.ones(count, dtype=np.bool_)
        stays[np.array(list(gone), dtype=np.int64)] = False
        nexts = np.array(before, dtype=np.int64)
        staying = np.append([0], np.cumsum(stays))  # before each place
        coming = np.cumsum(np.bincount(nexts, minlength=count + 1))
        self.places = np.where(stays, staying[:-1] + coming[:-1], -1).astype(np.int32)
        self.new_places = (staying[nexts] + np.arange(len(nexts))).astype(np.int32)
        self._count = int(staying[-1]) + len(nexts)

    def __len__(self) -> int:
        """Return how many there are after the change."""
        return self._count

    def column[Kind: np.generic](self, old: NDArray[Kind], new: NDArray[Kind]) -> NDArray[Kind]:
        """Return a column of what is there after the change.

        Args:
            old: The values of those that were there.
            new: The values of the new ones.
        """
        import numpy as np

        stays = self.places >= 0
        column = np.empty(self._count, dtype=old.dtype)
        column[self.places[stays]] = old[stays]
        column[self.new_places] = new
        return column

    def items[T](self, old: Sequence[T], new: Sequence[T]) -> list[T]:
        """Return the same for a list of any objects."""
        import numpy as np

        before, added = (np.fromiter(items, dtype=np.object_, count=len(items)) for items in (old, new))
        merged: list[T] = self.column(before, added).tolist()
        return merged
