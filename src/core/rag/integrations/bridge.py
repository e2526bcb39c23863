"""Makes a knowledge base usable from synchronous code and from other event loops."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, fields
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast
from weakref import WeakValueDictionary

from core.rag.errors import ConfigurationError, InvalidInputError, StoreUnavailableError

if TYPE_CHECKING:
    from core.rag.knowledge_base import KnowledgeBase
    from core.rag.retrieval.hits import Hit


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How every search is done; see :meth:`core.rag.KnowledgeBase.search`.

    Attributes:
        k: Maximum number of passages.
        mode: ``None``: the default of the knowledge base.
        filters: Only passages of documents that pass.
        namespace: ``None``: that of the knowledge base.
        expand: So many neighbouring passages on either side are added to the text of each.
        conversation_id: The conversation that questions belong to.
        user_id: Who asks.
    """

    k: int = 5
    mode: str | None = None
    filters: str | Mapping[str, Any] | None = None
    namespace: str | None = None
    expand: int = 0
    conversation_id: str | None = None
    user_id: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the search, those that are not set left out."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in given if value is not None}


@dataclass(frozen=True, slots=True)
class Found:
    """A passage with the ones around it.

    Attributes:
        hit: The passage.
        previous: Id of the passage before it in its document; ``None`` for the first.
        next: Id of the one behind it.
    """

    hit: Hit
    previous: str | None = None
    next: str | None = None


class Bridge:
    """Searches a knowledge base from any thread, in the event loop that the knowledge base belongs to."""

    #: By the id of the knowledge base, those that opened theirs.
    _opened: ClassVar[WeakValueDictionary[int, Bridge]] = WeakValueDictionary()

    def __init__(self, kb: KnowledgeBase) -> None:
        """Use a knowledge base that is open in the event loop that runs now.

        Args:
            kb: Not closed with this.

        Raises:
            InvalidInputError: on what is no knowledge base, such as its client.
        """
        from core.rag.answering.services import checked_base

        self._kb = checked_base(kb)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None  # of a loop of its own
        self._guard = threading.Lock()  # what was submitted comes before what ends everything
        self._closed = False
        self._searches: set[asyncio.Task[Any]] = set()
        with contextlib.suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()

    @classmethod
    def opened(cls, **arguments: Any) -> Self:
        """Open a knowledge base in a thread of its own, for programs without an event loop.

        Args:
            arguments: As of :meth:`core.rag.KnowledgeBase.open`.

        Raises:
            ConfigurationError, StoreUnavailableError, ModelMismatchError: as there, and when connecting.
        """
        from core.rag.knowledge_base import KnowledgeBase

        bridge = cls(KnowledgeBase.open(**arguments))
        started = threading.Event()
        bridge._thread = threading.Thread(
            target=bridge._run, args=(started,), name="memgraph-rag retriever", daemon=True
        )
        bridge._thread.start()
        started.wait()
        try:
            bridge._wait(bridge._kb.connect())
        except BaseException:
            bridge.close()
            raise
        cls._opened[id(bridge._kb)] = bridge
        return bridge

    @classmethod
    def to(cls, kb: KnowledgeBase) -> Bridge:
        """Return the bridge that opened a knowledge base; else one to it, as the class itself makes it.

        Frameworks make copies of a retriever from its fields. They have to reach the thread of the first one.
        """
        return cls._opened.get(id(kb)) or cls(kb)

    @property
    def knowledge_base(self) -> KnowledgeBase:
        """What is searched."""
        return self._kb

    def search(self, query: str, options: SearchOptions) -> list[Found]:
        """Search, and wait for it.

        Raises:
            InvalidInputError: in the event loop of the knowledge base, which waiting would stop.
            ConfigurationError: if the event loop of the knowledge base does not run.
        """
        running = _running_loop()
        if running is not None and running is self._loop:
            raise InvalidInputError(
                "A search that waits would stop the event loop that the knowledge base needs: use the asynchronous"
                " call (aretrieve, ainvoke), or open the retriever with its own knowledge base."
            )
        return self._wait(self._found(query, options))

    async def asearch(self, query: str, options: SearchOptions) -> list[Found]:
        """Search without waiting for it, from whichever event loop."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        if self._loop is asyncio.get_running_loop():
            return await self._found(query, options)
        return await asyncio.wrap_future(self._submit(self._found(query, options)))

    def close(self) -> None:
        """Close the knowledge base that :meth:`opened` opened; one that was given stays open. Safe to call twice.

        Searches that still run end with a :class:`~core.rag.errors.StoreUnavailableError`.
        """
        with self._guard:
            thread, self._thread = self._thread, None
            loop, stop = self._loop, self._stop
            if thread is None or loop is None or stop is None:
                return
            self._closed = True
            ended = asyncio.run_coroutine_threadsafe(self._end(), loop)
        try:
            ended.result()
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()

    def _run(self, started: threading.Event) -> None:
        async def until_stopped() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            started.set()
            await self._stop.wait()

        asyncio.run(until_stopped())

    async def _end(self) -> None:
        running = list(self._searches)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._kb.close()

    async def _until_closed[T](self, work: Coroutine[Any, Any, T]) -> T:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._searches.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            if self._closed:
                raise StoreUnavailableError("The retriever was closed before its search had ended.") from None
            raise
        finally:
            self._searches.discard(task)

    async def _found(self, query: str, options: SearchOptions) -> list[Found]:
        hits = await self._kb.search(query, **options.arguments())
        client = self._kb.client
        if options.namespace is not None:
            client = client.in_namespace(options.namespace)
        rows = await client.read(
            "UNWIND $ids AS i MATCH (a:DocumentChunk {id: i})-[:NEXT]->(b:DocumentChunk) RETURN a.id AS a, b.id AS b "
            "UNION UNWIND $ids AS i MATCH (b:DocumentChunk {id: i})<-[:NEXT]-(a:DocumentChunk) "
            "RETURN a.id AS a, b.id AS b",
            ids=[hit.chunk_id for hit in hits],
        )
        behind = {row["a"]: row["b"] for row in rows}
        before = {row["b"]: row["a"] for row in rows}
        return [Found(hit, before.get(hit.chunk_id), behind.get(hit.chunk_id)) for hit in hits]

    def _wait[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self._submit(work).result()

    def _submit[T](self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._guard:
            if self._loop is not None and self._loop.is_running() and not self._closed:
                return asyncio.run_coroutine_threadsafe(self._until_closed(work), self._loop)
        work.close()
        if self._closed:
            raise ConfigurationError("This retriever was closed: make another one with from_uri.")
        raise ConfigurationError(
            "The knowledge base of this retriever is open in no running event loop: make the retriever with"
            " from_uri, which opens one for programs that are not asynchronous."
        )


class Retrieves:
    """What the retrievers of all frameworks share: to search a knowledge base of their own, and to close it."""

    _bridge: Bridge

    @classmethod
    def from_uri(
        cls,
        uri: str | None = None,
        *,
        k: int = 5,
        mode: str | None = None,
        filters: str | Mapping[str, Any] | None = None,
        expand: int = 0,
        conversation_id: str | None = None,
        user_id: str | None = None,
        **arguments: Any,
    ) -> Self:
        """Make a retriever with a knowledge base of its own, for programs without an event loop; close it after use.

        Args:
            uri: ``embedded:PATH``, ``bolt://HOST:7687`` …; ``None``: ``MEMGRAPH_URI``, else the embedded default.
            k: Maximum number of passages.
            mode: How to search; ``None``: the default of :meth:`core.rag.KnowledgeBase.search`.
            filters: Only passages of documents that pass.
            expand: So many neighbouring passages on either side are added to the text of each.
            conversation_id: The conversation that questions belong to.
            user_id: Who asks.
            arguments: As of :meth:`core.rag.KnowledgeBase.open`; but a graph that is missing is only made with
                ``create=True``, as there is nothing in it to retrieve.

        Raises:
            ConfigurationError, StoreUnavailableError, ModelMismatchError: if it cannot be opened.
            NotFoundError: if there is no such graph.
        """
        bridge = Bridge.opened(**{"uri": uri, "create": False, **arguments})
        make: Any = cls  # of which every framework has its own kind
        try:
            retriever: Self = make(
                knowledge_base=bridge.knowledge_base,
                k=k,
                mode=mode,
                filters=filters,
                expand=expand,
                conversation_id=conversation_id,
                user_id=user_id,
            )
        except BaseException:
            bridge.close()
            raise
        retriever._bridge = bridge
        return retriever

    def close(self) -> None:
        """Close what :meth:`from_uri` opened. Safe to call twice."""
        self._bridge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
