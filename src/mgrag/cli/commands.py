"""The commands of ``mgrag``, each of which is made when it is asked for.

To make all of them takes longer than many of them run: Typer evaluates the annotations of every parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

import typer
from typer.core import TyperGroup
from typer.main import get_group

if TYPE_CHECKING:
    from typer._click import Command, Context

#: The module of each command, in the order of ``mgrag --help``.
MODULES: Final = {
    "ingest": "ingest",
    "search": "search",
    "ask": "ask",
    "chat": "ask",
    "list": "documents",
    "show": "documents",
    "delete": "documents",
    "records": "records",
    "record": "record",
    "status": "state",
    "doctor": "state",
    "backup": "copies",
    "restore": "copies",
    "export": "copies",
    "import": "copies",
    "namespaces": "namespaces",
    "reembed": "reembed",
    "memory": "memory",
    "feedback": "people",
    "user": "people",
    "conversation": "people",
    "graph": "graph",
    "cypher": "cypher",
    "mcp": "mcp",
    "serve": "serve",
}


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, *, commands: Any = None, **attributes: Any) -> None:
        """Make a group of the commands of this package; ``commands``, which Typer collects, is empty."""
        super().__init__(commands=commands, **attributes)
        self.commands = cast("MutableMapping[str, Command]", _Made())

    def invoke(self, ctx: Context) -> Any:
        """Run a command; what is wrong with a value is told without the words that pydantic puts before it."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Made(Mapping[str, "Command"]):
    """All commands by name."""

    def __init__(self) -> None:
        self._made: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._made:
            part = typer.Typer(rich_markup_mode=None)
            import_module(f"mgrag.cli.{MODULES[name]}").register(part)
            self._made.update(get_group(part).commands)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)
