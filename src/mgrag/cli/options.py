"""Options shared by several commands. Common options may be given before or after the command's name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import update_wrapper
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from libs.regexes import regex

DbOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URI",
        help="The graph to use: a file, embedded:PATH, or bolt://HOST:7687. Default: MEMGRAPH_URI, otherwise"
        " .mgrag/graph.grafeo.",
    ),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option(
        "--namespace", metavar="NAME", help="Namespace to work in. Default: MGRAG_NAMESPACE, otherwise default."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", help="Embedding model. Default: MGRAG_EMBEDDING_MODEL, otherwise wordllama."
    ),
]
FilterOption = Annotated[
    str | None,
    typer.Option("--filter", metavar="FILTER", help="Only documents that match, such as 'path:docs/ mime:text/html'."),
]
AfterOption = Annotated[
    str, typer.Option(metavar="NEXT", help="Continue after the previous page, with the value it printed.")
]
AtOption = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Facts that held then, such as 2026-01-31, or ever for all. Default: now."),
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="NAME=VALUE", help="A value to filter by: JSON, otherwise text; repeatable."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]

_URI = regex(r"(?:embedded:|[A-Za-z][A-Za-z0-9+.-]*://)")
_SERVER = regex(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
#: The address of a server with a slip in its first characters: bolt//HOST, bolt:/HOST. It may have a password.
_MISTYPED = regex(r"(?:bolt|neo4j)(?:\+s(?:sc)?)?(?::(?!//)|//)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Common:
    """The values of the options that every command has.

    Attributes:
        db: The URI of the graph, or ``None``.
        namespace: The namespace, or ``None``.
        json: Whether to print JSON.
    """

    db: str | None = None
    namespace: str | None = None
    json: bool = False


def common(context: typer.Context, db: str | None, namespace: str | None, as_json: bool) -> Common:
    """Return the options of a command; those after its name take precedence."""
    before = context.obj if isinstance(context.obj, Common) else Common()
    return Common(
        before.db if db is None else graph_uri(db),
        before.namespace if namespace is None else namespace,
        before.json or as_json,
    )


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--db``, ``--namespace`` and ``--json``; their values are its first argument."""

    def run(
        context: typer.Context,
        *,
        db: DbOption = None,
        namespace: NamespaceOption = None,
        as_json: JsonOption = False,
        **own: Any,
    ) -> None:
        command(common(context, db, namespace, as_json), **own)

    context, *shared, _ = signature(run, eval_str=True).parameters.values()
    _, *own = signature(command, eval_str=True).parameters.values()
    update_wrapper(run, command)
    # From this, Typer makes the options of the command, in this order.
    parameters = [context, *(parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own), *shared]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def named_value(given: str, option: str) -> tuple[str, Any]:
    """Return the two parts of ``NAME=VALUE``; the value is JSON, otherwise text."""
    import json

    name, equals, value = given.partition("=")
    if not equals or not name.strip():
        raise typer.BadParameter(f"{given[:50]!r} is not NAME=VALUE", param_hint=f"'{option}'")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def metadata_of(given: list[str] | None) -> dict[str, Any] | None:
    """Return the metadata that ``--metadata`` gives; ``None`` if it is not used."""
    return dict(named_value(text, "--metadata") for text in given) if given else None


def target_file(name: str) -> Path:
    """Return the file that an option names for writing."""
    if not name.strip():
        raise typer.BadParameter("the name of the file is empty")
    file = Path(name)
    try:
        folder = file.is_dir()
    except OSError:  # too long, or may not be looked at; told when it is written
        folder = False
    if folder:
        raise typer.BadParameter(f"{name} is a folder; name a file")
    return file


def write_file(file: Path, text: str) -> None:
    """Write a text to a file. A new file that cannot be written to its end, as on a full disk, is removed.

    Raises:
        OSError: if it cannot be written.
    """
    is_new = not os.path.lexists(file)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError:
        if is_new:
            with suppress(OSError):
                file.unlink()
        raise


def graph_uri(db: str) -> str:
    """Return the URI for a value of ``--db``; a bare path is an embedded graph."""
    if not db.strip():
        raise typer.BadParameter("it is empty", param_hint="'--db'")
    if _SERVER.fullmatch(db) and not Path(db).exists():
        raise typer.BadParameter(f"a server is bolt://{db}, a file embedded:{db}", param_hint="'--db'")
    if _MISTYPED.match(db) and not Path(db).exists():
        raise typer.BadParameter("a server is bolt://HOST:7687, a file embedded:PATH", param_hint="'--db'")
    return db if _URI.match(db) else f"embedded:{db}"
