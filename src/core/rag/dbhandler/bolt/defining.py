"""Creates indexes on a server that may need exclusive access for it, which busy writers do not leave."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from core.rag.dbhandler.bolt.dialect import IndexMissingError
from core.rag.dbhandler.gate import WriterGate
from core.rag.errors import StoreConflictError, StoreReadOnlyError

_log = logging.getLogger("mgrag")

#: Impatient callers still wait this many seconds for an index to be created, as most writes that block it are short:
#: at first, when several clients begin at once, and when it is tried again.
_FIRST_SECONDS = 3.0
_BRIEFLY_SECONDS = 1.0

#: Seconds until the creation of an index, which other writers prevented, is tried again.
_AGAIN_SECONDS = 60.0


class Defining:
    """The creation of indexes and constraints: one at a time.

    Attributes:
        deadline: How long the current one waits for others who prevent it, in seconds.
    """

    def __init__(self, deadline: float, note: Callable[[str], None], forget: Callable[[str], None]) -> None:
        """Prepare.

        Args:
            deadline: How long a patient caller waits, in seconds.
            note: Notes what does not work as it should.
            forget: Takes such a note back.
        """
        self.deadline = self._usual = deadline  # changed only while holding the gate
        self._note = note
        self._forget = forget
        self._gate = WriterGate()
        self._given_up: dict[str, float] = {}  # time when creating an index was given up, by note

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Wait until nothing is being created, and let nothing be created inside of the ``async with``."""
        return self._gate.hold()

    async def unless_busy(
        self, create: Callable[[], Awaitable[None]], note: str, *, patient: bool, quiet: bool = False
    ) -> bool:
        """Create an index, or do without it if other writers prevent that now, and try again later.

        A server that needs exclusive access for it may never get it, so callers do not wait long more than once.
        Nothing is created if the store is read-only, or if the server has no such indexes.

        Args:
            create: Creates the index unless it exists.
            note: The note in ``capabilities`` as long as it does not exist.
            patient: Whether to wait as long as for any other write.
            quiet: Whether everything works as well without it, only slower, so that nobody is told.

        Returns:
            Whether it exists.
        """
        async with self.hold():
            given_up = self._given_up.get(note)
            if given_up is not None and time.monotonic() - given_up < _AGAIN_SECONDS:
                return False
            if given_up is not None:
                self.deadline = min(_BRIEFLY_SECONDS, self._usual)
            elif not patient:
                self.deadline = min(_FIRST_SECONDS, self._usual)
            try:
                await create()
            except (StoreConflictError, StoreReadOnlyError, IndexMissingError) as error:
                self._given_up[note] = time.monotonic()
                _log.info("%s", error)
                if not quiet:
                    self._note(note)
                return False
            finally:
                self.deadline = self._usual
            if self._given_up.pop(note, None) is not None:
                self._forget(note)
            return True
