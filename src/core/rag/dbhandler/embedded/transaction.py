"""A transaction of the embedded engine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from core.rag.dbhandler.checks import check_parameters
from core.rag.dbhandler.commits import Commits
from core.rag.dbhandler.embedded import engine
from core.rag.dbhandler.embedded.vector_table import VectorTables
from core.rag.dbhandler.embedded.word_scores import WordScores
from core.rag.dbhandler.misuse import ended, spoiled
from core.rag.dbhandler.store import Parameters, Row
from core.rag.errors import StoreConflictError


class EmbeddedTransaction:
    """A transaction of the engine. Once a statement has failed, or was cancelled, it can only be rolled back."""

    locking = False

    def __init__(
        self,
        begin: Callable[[Any], Any],
        writing: Callable[[Callable[[Any], Any], str], Awaitable[Any]],
        vectors: VectorTables,
        words: WordScores,
        commits: Commits,
    ) -> None:
        """Prepare a transaction.

        Args:
            begin: Begins one in the engine.
            writing: Calls a function with the engine in a thread for writing; says in errors what was being done.
            vectors: Told of what is committed.
            words: The same.
            commits: The same.
        """
        self._begin = begin
        self._writing = writing
        self._vectors = vectors
        self._words = words
        self._commits = commits
        self._handle: Any = None
        self._running = threading.Lock()  # statements may be gathered, but the engine takes one at a time
        self._spoiled: BaseException | None = None
        self._ended = False
        self._statements: set[str] = set()

    async def run(self, statement: str, parameters: Parameters | None = None) -> list[Row]:
        """See :class:`~core.rag.dbhandler.store.Transaction`."""
        check_parameters(parameters or {})
        try:
            rows: list[Row] = await self._writing(lambda _: self._run(statement, parameters), "A write")
            return rows
        except asyncio.CancelledError as error:
            self._spoiled = self._spoiled or error
            raise

    def _run(self, statement: str, parameters: Parameters | None) -> list[Row]:
        with self._running:
            if self._ended:
                raise ended()
            self._statements.add(statement)
            try:
                return engine.call(lambda handle: engine.rows(handle, statement, parameters), self._handle, "A write")
            except BaseException as error:
                self._spoiled = self._spoiled or error
                raise

    def begin(self, db: Any) -> None:
        """Begin."""
        self._handle = self._begin(db)

    def commit(self, _: Any) -> None:
        """Commit.

        Raises:
            StoreError: if a statement has failed or was cancelled; nothing is stored then.
        """
        with self._running:
            if isinstance(self._spoiled, StoreConflictError):
                raise self._spoiled
            if self._spoiled is not None:
                raise spoiled(self._spoiled) from self._spoiled
            self._ended = True
            try:
                with self._words.changing(self._statements):
                    self._handle.commit()
            finally:
                self._vectors.changed(self._statements)
                self._commits.note(self._statements)
            self._handle = None

    def roll_back(self, _: Any) -> None:
        """Undo everything; no error when the engine has done so already."""
        with self._running:
            self._ended = True
            handle, self._handle = self._handle, None
            if handle is not None:
                engine.roll_back(handle)
