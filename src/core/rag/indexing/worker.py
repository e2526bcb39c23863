"""The worker process of a large ingest: cuts documents and embeds texts while the main process writes.

It reads requests from its standard input and writes replies to its standard output, both as pickles, and ends with its
input, so it never outlives the process that started it. :mod:`.worker_process` is the other end.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import queue
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from core.rag.indexing.collecting import collected_seldom
from libs.dataloader.child_process import own_pipes, receive, send

if TYPE_CHECKING:
    from core.rag.dbhandler.knowledge.mentioned import Mentioned
    from core.rag.embedder.base import Vectors
    from core.rag.extraction.mentions import Title
    from core.rag.indexing.cutting import Cut, Cutter, Prepared
    from core.rag.indexing.title_finder import TitleFinder
    from libs.dataloader import Document

#: Number of requests to read ahead, so that the next one is there when a reply has been written.
_AHEAD = 4


class UnsendableError(Exception):
    """A request or reply cannot be sent between processes because it holds an object of the caller's own."""


class Worker:
    """Does the work of the process; each public method is a request."""

    def __init__(self) -> None:
        self._finder: TitleFinder | None = None

    def warm_up(self, cutter: Cutter, dimension: int | None) -> None:
        """Load in advance what the first documents would have to wait for.

        Args:
            cutter: Will cut them.
            dimension: The dimension of the offline model, if it is used.
        """
        cutter.splitter.count_tokens("warm")
        if dimension is not None:
            self.embed(dimension, ["warm"])

    def adopt(self, finder: TitleFinder | None) -> None:
        """Take over the title finder of the run."""
        self._finder = finder

    def cut(self, titles: Sequence[Title], cutter: Cutter, documents: Sequence[Document]) -> list[Cut]:
        """Cut documents, and find what their chunks mention, with titles of documents that are yet to be cut."""
        self._expect(titles)
        return cutter.cut(documents, self._finder)

    def prepare(
        self, titles: Sequence[Title], cutter: Cutter, documents: Sequence[Document], sources: Mapping[str, str]
    ) -> Prepared:
        """Do :meth:`cut`, and make the rows to write."""
        self._expect(titles)
        return cutter.prepare(documents, sources, self._finder)

    def mentioned(
        self, titles: Sequence[Title], chunks: Sequence[tuple[str, str, str]], namespace: str
    ) -> list[Mentioned]:
        """Find what chunks mention that were cut in the other process."""
        assert self._finder is not None
        return self._finder.mentioned(titles, chunks, namespace)

    def embed(self, dimension: int, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Embed texts with the offline model.

        Returns:
            The vectors, and the number of tokens.
        """
        from core.rag.embedder.wordllama import WordLlamaEmbedding

        embedder = WordLlamaEmbedding(dimension)
        return asyncio.run(embedder.get_embeddings(texts)), embedder.usage.tokens

    def _expect(self, titles: Sequence[Title]) -> None:
        if self._finder is not None:
            self._finder.expect(titles)

    def finder(self) -> TitleFinder | None:
        """Return the title finder of the run."""
        return self._finder


@collected_seldom()
def serve() -> None:
    """Answer requests until the input ends."""
    source, replies = own_pipes()
    requests: queue.Queue[bytes | None] = queue.Queue(_AHEAD)
    threading.Thread(target=_read, args=(source, requests), daemon=True).start()
    worker = Worker()
    while (request := requests.get()) is not None:
        reply = _answer(worker, request)
        try:
            send(replies, reply)
        except BrokenPipeError:
            break
    os._exit(0)  # at once: a pipe that nobody reads any more would be flushed with an error


def _read(source: BinaryIO, requests: queue.Queue[bytes | None]) -> None:
    while (request := receive(source)) is not None:
        requests.put(request)
    requests.put(None)


def _answer(worker: Worker, request: bytes) -> bytes:
    """Return the reply: whether the request succeeded, and the result or the error."""
    try:
        name, arguments = pickle.loads(request)  # noqa: S301 from the process that started this one
    except Exception as error:  # noqa: BLE001 whatever classes of the caller's own raise, or that they are not here
        return _failure(UnsendableError(f"{type(error).__name__}: {error}"))
    try:
        result: Any = getattr(worker, name)(*arguments)
        return pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 it is raised where the request came from
        return _failure(error)


def _failure(error: Exception) -> bytes:
    try:
        reply = pickle.dumps((False, error))
        pickle.loads(reply)  # noqa: S301 some errors can be written but not read
    except Exception:  # noqa: BLE001 whatever its own methods raise
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return reply
