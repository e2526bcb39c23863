"""Every command and every option is in docs/cli.md, and --help says the exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.main

import mgrag.cli
from core.rag.answering.answers import STRATEGIES
from core.rag.retrieval.hits import MODES
from mgrag.cli.app import app
from mgrag.cli.ask import Strategy
from mgrag.cli.commands import MODULES
from mgrag.cli.runtime import EXIT_CODES
from mgrag.cli.search import Mode
from tests.cli.command import Command

DOCS = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
COMMON = {"--db", "--namespace", "--json", "--help", "-h"}


def commands(group: Any, path: str = "mgrag") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_every_command_of_every_module_can_be_asked_for() -> None:
    """Commands are made when they are asked for, by a table of their names."""
    there = {}
    for file in Path(mgrag.cli.__file__).parent.glob("*.py"):
        module = import_module(f"mgrag.cli.{file.stem}")
        if hasattr(module, "register") and not file.stem.startswith("graph_"):  # these add to ``graph``
            part = typer.Typer()
            module.register(part)
            there.update(dict.fromkeys(typer.main.get_group(part).commands, file.stem))
    assert there == MODULES


def section(name: str) -> str:
    """What the page says about a command; ``namespaces delete`` is told of under ``namespaces``."""
    heading = f"## `{' '.join(name.split()[:2])}`\n"
    assert heading in DOCS
    return DOCS.split(heading)[1].split("\n## ")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = section(name)
    if len(name.split()) > 2:
        assert name in text
    for parameter in COMMANDS[name].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-") and option not in COMMON:
                assert f"`{option}" in text, option


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_documented_that_is_not_there(name: str) -> None:
    known = {option for c in COMMANDS.values() for p in c.params for option in (*p.opts, *p.secondary_opts)}
    known |= {"--help", "-h"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", section(name))) <= known


def test_the_options_of_every_command_are_documented() -> None:
    text = DOCS.split("## For every command")[1].split("\n## ")[0]
    for parameter in typer.main.get_command(app).params:
        for option in parameter.opts:
            assert f"{option}" in text, option


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_common_options(name: str) -> None:
    if hasattr(COMMANDS[name], "commands") and not COMMANDS[name].invoke_without_command:
        return  # only a name for those behind it
    there = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    printed = {"--json"} if name not in {"mgrag mcp", "mgrag serve"} else set()  # those speak a protocol
    assert {"--db", "--namespace"} | printed <= there


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_a_help_text(name: str) -> None:
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        assert parameter.help, parameter.name


@pytest.mark.parametrize(
    "group", ["mgrag", *(name for name, command in COMMANDS.items() if hasattr(command, "commands"))]
)
def test_what_a_list_of_commands_says_of_each_fits_its_line(group: str, mgrag: Command) -> None:
    listed = mgrag(*group.split()[1:], "--help").out.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert listed and not [line for line in listed if line.endswith("...")]


def test_exit_codes_are_in_the_help_and_in_the_documentation(mgrag: Command) -> None:
    done = mgrag("--help")
    assert done.code == 0
    for code, meaning in re.findall(r"^ *(\d+)  (.+)$", EXIT_CODES, re.MULTILINE):
        assert " ".join(f"{code} {meaning}".split()) in " ".join(done.out.split())
        assert f"| {code} | {meaning} |" in DOCS


def test_modes_are_those_of_searching() -> None:
    assert [mode.value for mode in Mode] == list(MODES)
    for mode in MODES:
        assert f"`{mode}`" in section("mgrag search")


def test_strategies_are_those_of_answering() -> None:
    assert [strategy.value for strategy in Strategy] == list(STRATEGIES)
    for strategy in STRATEGIES:
        assert f"`{strategy}`" in section("mgrag ask")
