"""What a client knows of the keyword indexes of a server, and for how long: one that was killed may lose entries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from core.rag.dbhandler.bolt.work import RetryableError
from core.rag.errors import StoreUnavailableError
from core.rag.schema import TextIndex

#: An index that was complete counts as such for so many seconds, since a connection that nobody used while the server
#: was started again does not tell. It is less than any connection is used without a test whether it is still there.
_KNOWN_SECONDS = 30.0


class KnownIndexes:
    """The keyword indexes that were found complete, until a connection is lost."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._losses = 0  # of connections
        self._seen: dict[TextIndex, tuple[int, float]] = {}

    @contextmanager
    def noting_losses(self) -> Iterator[None]:
        """Take note of a connection that is lost within the block."""
        try:
            yield
        except RetryableError as error:
            self._losses += isinstance(error.failed.error, StoreUnavailableError)
            raise

    def moment(self) -> tuple[int, float]:
        """Return what to :meth:`add` an index with that is looked at from now on."""
        return self._losses, time.monotonic()

    def add(self, index: TextIndex, moment: tuple[int, float]) -> None:
        """Take note of an index that is there and complete."""
        self._seen[index] = moment

    def __contains__(self, index: TextIndex) -> bool:
        """Return whether an index is there and complete, as far as anybody can know without asking."""
        return self.holds(self._seen.get(index, (-1, 0.0)))

    def holds(self, moment: tuple[int, float]) -> bool:
        """Return whether what was seen at a moment is still so, as far as anybody can know without asking."""
        losses, seen = moment
        return losses == self._losses and time.monotonic() - seen < _KNOWN_SECONDS

    def doubtful(self) -> list[TextIndex]:
        """Return the indexes that nobody has looked at since a connection was lost."""
        return [index for index, (losses, _) in self._seen.items() if losses != self._losses]
