"""What all commands share: options, opening the knowledge base, errors and exit codes, output."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from core.rag.knowledge_base import KnowledgeBase

EXIT_CODES = """
Exit codes:

0  done

1  failed, or nothing of what was asked for could be done

2  the command line or a setting makes no sense

3  the graph database cannot be reached, is locked, or refuses the password

4  what was named is not there

5  the embedding provider failed

130  interrupted; what was finished before is stored
"""

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNAVAILABLE = 3
EXIT_NOT_FOUND = 4
EXIT_PROVIDER = 5
EXIT_INTERRUPTED = 130


DbOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URI",
        help="The graph: a file, embedded:PATH, or bolt://HOST:7687. Default: MEMGRAPH_URI, else .mgrag/graph.grafeo.",
    ),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", metavar="NAME", help="What to read and write. Default: MGRAG_NAMESPACE, else default."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]


@dataclass(frozen=True, slots=True)
class Graph:
    """Which graph a command works on. The options may stand before the name of the command or behind it."""

    db: str | None
    namespace: str | None


def graph(context: typer.Context, db: str | None, namespace: str | None) -> Graph:
    """The graph that was named, the options of the command itself going first."""
    before = context.obj if isinstance(context.obj, Graph) else Graph(None, None)
    return Graph(db or before.db, namespace or before.namespace)


def open_kb(graph: Graph, **more: Any) -> KnowledgeBase:
    """The knowledge base on a graph; not connected yet."""
    from core.rag.knowledge_base import KnowledgeBase

    return KnowledgeBase.open(graph_uri(graph.db), namespace=graph.namespace, **more)


def graph_uri(db: str | None) -> str | None:
    """A URI from what ``--db`` was given; a bare path is an embedded graph."""
    if db is None or db.startswith(("embedded:", "bolt", "neo4j")):
        return db
    return f"embedded:{db}"


def run[T](work: Callable[[], Awaitable[T]]) -> T:
    """Run a command; every error becomes one clear line on standard error and an exit code."""
    from core.rag import errors

    try:
        return asyncio.run(_await(work))
    except KeyboardInterrupt:
        _fail("Interrupted. What was finished before is stored; run the same command again to go on.", EXIT_INTERRUPTED)
    except errors.StoreUnavailableError as error:
        _fail(str(error), EXIT_UNAVAILABLE)
    except (errors.InvalidInputError, errors.ConfigurationError, errors.ModelMismatchError) as error:
        _fail(str(error), EXIT_USAGE)
    except errors.NotFoundError as error:
        _fail(str(error), EXIT_NOT_FOUND)
    except errors.EmbeddingError as error:
        _fail(str(error), EXIT_PROVIDER)
    except errors.MGRagError as error:
        _fail(str(error), EXIT_FAILED)


async def _await[T](work: Callable[[], Awaitable[T]]) -> T:
    return await work()


def stop_on_interrupt() -> asyncio.Event:
    """An event that the first Ctrl-C sets; the second one interrupts as usual."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)
        print("Stopping after the documents in flight; press Ctrl-C again to stop at once.", file=sys.stderr)  # noqa: T201

    if hasattr(loop, "add_signal_handler"):
        loop.add_signal_handler(signal.SIGINT, ask)
        loop.add_signal_handler(signal.SIGTERM, ask)
    return stop


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def console(*, stderr: bool = False) -> Console:
    """Where people read."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def _fail(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"mgrag: {message}\n")
    raise typer.Exit(code)
