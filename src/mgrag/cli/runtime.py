"""What all commands share: opening the knowledge base, errors and exit codes, interruptions."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from mgrag.cli.output import clean, note, progress

if TYPE_CHECKING:
    import asyncio
    import signal
    from types import FrameType

    from core.rag.knowledge_base import KnowledgeBase
    from mgrag.cli.options import Common

EXIT_CODES = """\b
Exit codes:
    0  success
    1  failed, found problems (doctor), or could not write the output
    2  invalid command line or setting
    3  graph database unreachable, locked, full, read-only, or access refused
    4  what was named is not in the graph, or there is no graph yet
    5  the embedding provider, the language model or the reranker failed
  130  interrupted (Ctrl-C, SIGTERM, SIGHUP); what was finished before is stored
  141  the reader of the output closed it (as head does)
"""

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 3
EXIT_NOT_FOUND = 4
EXIT_PROVIDER = 5
EXIT_INTERRUPTED = 130

#: What error messages recommend to people who have Python, as those who have the command line have it.
_FOR_COMMANDS = {
    "start it with create_conversation.": "mgrag ask --conversation ID begins one.",
    "session_id, memory_id, user_id or before.": "--session, --memory, --user or --before.",
    " insert takes a single record, insert_many several.": "",
    "content, tags or metadata.": "what it says from now on, --tag or --metadata.",
    "name them as relations.": "name them with --relation.",
    "max_depth is": "--depth is",
    "fields are those of single records; leave them out with group_by and measures.": (
        "--field is for single records; leave it out with --group-by and --measure."
    ),
}

#: What a search and an answer import, besides what opening a graph does.
SEARCHING = ("core.rag.retrieval.complete_search", "core.rag.retrieval.graph.searching")
ANSWERING = (*SEARCHING, "core.rag.answering.recording", "core.rag.answering.strategies")

_LONGEST_MESSAGE = 2000
_NAMED = 10  # namespaces
_LONGEST_INPUT = 5_000_000  # bytes


def open_kb(options: Common, **more: Any) -> KnowledgeBase:
    """Return the knowledge base that the options name, not connected yet."""
    from core.rag.knowledge_base import KnowledgeBase

    return KnowledgeBase.open(options.db, namespace=options.namespace, **more)


@contextmanager
def importing(*modules: str) -> Iterator[None]:
    """Import what the work needs as soon as the event loop has nothing to do: while a thread opens the graph.

    That takes seconds where the graph is large, and what an answer needs takes another one.
    """
    import asyncio

    handle = asyncio.get_running_loop().call_soon(_import, modules)
    try:
        yield
    finally:
        handle.cancel()  # nothing was opened


def _import(modules: Sequence[str]) -> None:
    with ending_at_once():
        for name in modules:
            import_module(name)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let a signal end what holds up the event loop, such as imports: the loop would see it after them, in seconds."""
    import signal
    import threading

    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():  # it may be ignored
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def with_kb[T](
    options: Common,
    work: Callable[[KnowledgeBase], Awaitable[T]],
    *,
    modules: Sequence[str] = (),
    embedding: bool = False,
    create: bool = False,
    model: str | None = None,
    doing: str = "",
) -> T:
    """Open the knowledge base, and do one thing with it.

    Args:
        options: The options that name it.
        work: What to do.
        modules: What this imports.
        embedding: Whether it needs the embedding service.
        create: Whether a missing graph may be created.
        model: The embedding model; ``None``: that of the settings.
        doing: What to show on a terminal meanwhile, if it may take long.
    """

    async def call() -> T:
        with progress(doing, quiet=options.json or not doing), importing(*modules):
            async with open_kb(options, create=create, embedding=embedding, model=model) as kb:
                found = await work(kb)
                if not found:
                    await tell_if_empty(kb)
                return found

    return run(call)


async def tell_if_empty(kb: KnowledgeBase) -> None:
    """Where nothing was found, say if that is because another namespace has it all."""
    if await kb.client.vector_stores():  # which is known at once; to count all nodes may take long
        return
    others = await kb.namespaces()
    if others and kb.namespace not in others:
        named = ", ".join(map(repr, list(others)[:_NAMED])) + (" …" if len(others) > _NAMED else "")
        note(f"mgrag: Nothing is stored in the namespace {kb.namespace!r} (there: {named}). --namespace names another.")


async def tell_filter(kb: KnowledgeBase, filters: str | None) -> None:
    """Where nothing was found, say if that is because a filter names metadata that no document has."""
    if told := await kb.explain_filter(filters):
        note(f"mgrag: {told}")


def run[T](work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a command; see :func:`telling_errors`."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    class Threads(ThreadPoolExecutor):
        """Those of the event loop, whose end does not wait for them: nobody needs any more what they are doing."""

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
            super().shutdown(wait=False, cancel_futures=True)

    async def call() -> T:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(Threads())
        with _woken_by_signals(loop):
            return await work()

    with telling_errors(), ending_as_interrupted():
        return asyncio.run(call())


@contextmanager
def ending_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C, so that nothing unfinished is left behind, such as a part of an export."""
    import signal

    def end(_: int, frame: FrameType | None) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # ignored, as in the background of a script
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, frame)

    try:
        before = {number: signal.signal(number, end) for number in _endings()}
    except ValueError:  # outside of the main thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let signals wake an event loop that waits: one that comes just before it begins to would be seen by nobody.

    What handles a signal runs between two steps of Python, and there is none until something else happens.
    """
    import signal
    import socket

    waking, woken = socket.socketpair()
    with waking, woken:
        for end in (waking, woken):
            end.settimeout(0)
        try:
            before = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        except ValueError:  # outside of the main thread
            yield
            return
        try:
            loop.add_reader(woken, woken.recv, 4096)
        except NotImplementedError:  # on Windows, where the loop does so itself
            signal.set_wakeup_fd(before)
            yield
            return
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(woken)


def _endings() -> list[signal.Signals]:
    """Return the signals that end a command as Ctrl-C does: SIGTERM, and that of a terminal that was closed (SIGHUP).

    The latter stays ignored where it is (``nohup``).
    """
    import signal

    hung_up = getattr(signal, "SIGHUP", None)  # not on Windows
    if hung_up is None or signal.getsignal(hung_up) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, hung_up]


@contextmanager
def telling_errors() -> Iterator[None]:
    """Turn every error into one clear line on standard error and an exit code."""
    from core.rag import errors
    from mgrag.cli.logs import telling_warnings

    try:
        with telling_warnings():
            yield
    except KeyboardInterrupt:
        # True of all commands: to ask again does not continue anything.
        fail("Interrupted. What was finished before is stored; the same command can be run again.", EXIT_INTERRUPTED)
    except (errors.StoreUnavailableError, errors.StoreFullError, errors.StoreReadOnlyError) as error:
        fail(str(error), EXIT_UNAVAILABLE)
    except (errors.InvalidInputError, errors.ConfigurationError, errors.ModelMismatchError) as error:
        fail(str(error), EXIT_USAGE)
    except UnicodeEncodeError as error:  # a name or text of the command line that is not UTF-8
        text = error.object[max(error.start - 20, 0) : error.end + 20]
        fail(
            f"{text!a} holds half a character, which means that it was not valid UTF-8: give it in UTF-8 (in a UTF-8"
            " locale).",
            EXIT_USAGE,
        )
    except errors.NotFoundError as error:
        fail(str(error), EXIT_NOT_FOUND)
    except (errors.EmbeddingError, errors.LanguageModelError, errors.RerankerError) as error:
        fail(str(error), EXIT_PROVIDER)
    except errors.MGRagError as error:
        fail(str(error), EXIT_FAILED)


def fail(message: str, code: int) -> NoReturn:
    """End the command with one line on standard error."""
    text = " ".join(clean(message).split())
    for advice, own in _FOR_COMMANDS.items():
        text = text.replace(advice, own)
    note(f"mgrag: {text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + ' …'}")
    raise typer.Exit(code)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone; if nobody can be asked, ``--yes`` is required."""
    if yes:
        return
    if not sys.stdin.isatty():
        fail(f"{question} Repeat with --yes to confirm.", EXIT_USAGE)
    try:
        sure = typer.confirm(clean(question), err=True)
    except typer.Abort:  # Ctrl-C, or Ctrl-D
        note("")
        fail("Nothing was done.", EXIT_INTERRUPTED)
    if not sure:
        fail("Nothing was done.", EXIT_FAILED)


def text_or_input(text: str) -> str:
    """Return a text of the command line; for ``-`` what standard input has, without the line ends behind it."""
    if text != "-":
        return text
    data = sys.stdin.buffer.read(_LONGEST_INPUT + 1)
    if len(data) > _LONGEST_INPUT:
        fail(f"Standard input has more than {_LONGEST_INPUT:,} bytes.", EXIT_USAGE)
    try:
        return data.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        fail("Standard input is not text in UTF-8.", EXIT_USAGE)


def objects_in(file: str) -> list[Any]:
    """Return what a file has (``-``: standard input): a JSON array, JSON lines, or a single object."""
    import json

    if file == "-":
        text, name = text_or_input(file), "Standard input"
    else:
        name = file
        try:
            text = Path(file).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:  # ValueError: not UTF-8, or no name of a file
            fail(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.", EXIT_FAILED)
    try:
        try:
            given = json.loads(text)
        except ValueError:
            if text.lstrip().startswith("["):
                raise
            given = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        fail(f"{name} is neither a JSON array nor JSON lines: {error}.", EXIT_USAGE)
    return given if isinstance(given, list) else [given]


def stop_on_interrupt() -> asyncio.Event:
    """Return an event that the first Ctrl-C (or SIGTERM, SIGHUP) sets; the second one ends the process at once.

    What is stored is complete in either case, because a write is one transaction.
    """
    import asyncio
    import signal

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask() -> None:
        if stop.is_set():
            note("mgrag: Stopped. What was finished before is stored; run the same command again to continue.")
            sys.stderr.flush()
            os._exit(EXIT_INTERRUPTED)
        stop.set()
        note("mgrag: Stopping after the documents in progress; press Ctrl-C again to stop at once.")

    for number in (signal.SIGINT, *_endings()):
        try:
            loop.add_signal_handler(number, ask)
        except (NotImplementedError, RuntimeError, ValueError):  # on Windows, and outside of the main thread
            break
    return stop
