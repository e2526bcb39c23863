"""What pyproject.toml and .env.example say is what the sources need and read."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from core.rag.settings import Settings
from tests.test_floors import imports_of

ROOT = Path(__file__).parents[1]
SOURCES = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SETTINGS = {
    str(field.validation_alias): name for name, field in Settings.model_fields.items() if field.validation_alias
}
EXAMPLE = dict(re.findall(r"^#([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE))


def normalized(name: str) -> str:
    """A distribution, however its name is written, and without the versions that are needed of it."""
    found = re.match(r"[\w.-]+", name)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()


REQUIRED = {normalized(name) for name in PROJECT["dependencies"]}
OPTIONAL = {normalized(name) for extra in PROJECT["optional-dependencies"].values() for name in extra}


@pytest.fixture(scope="module")
def distributions() -> dict[str, set[str]]:
    """By module the distributions that it is part of; a look at all that is installed takes a second."""
    return {module: {*map(normalized, names)} for module, names in packages_distributions().items()}


def imported() -> Iterator[str]:
    """The packages that the sources import, anywhere in them."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in imports_of(path):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif node.module:
                yield node.module.partition(".")[0]


def test_what_is_imported_is_declared(distributions: dict[str, set[str]]) -> None:
    others = set(imported()) - sys.stdlib_module_names - {"__future__", "core", "libs", "mgrag"}
    assert {name for name in others if not distributions[name] & (REQUIRED | OPTIONAL)} == set()


def test_what_is_declared_is_used(distributions: dict[str, set[str]]) -> None:
    words = {word for source in SOURCES for word in re.findall(r"\w+", source)}  # some are imported by their names
    used = {name for module, names in distributions.items() if module in words for name in names}
    assert REQUIRED - used == set()


def test_what_is_declared_is_pinned_to_a_version_that_is_allowed() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {normalized(line): line.partition("==")[2] for line in lines if "==" in line}
    declared = [
        *PROJECT["dependencies"],
        *(name for extra in PROJECT["optional-dependencies"].values() for name in extra),
    ]
    needed = [Requirement(name) for name in declared if normalized(name) != PROJECT["name"]]
    assert [str(one) for one in needed if not one.specifier.contains(pinned.get(normalized(one.name), ""))] == []


def test_the_example_has_every_variable_and_no_other() -> None:
    assert EXAMPLE.keys() == SETTINGS.keys()


def test_the_compose_file_says_what_else_it_reads() -> None:
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    explained = dict(re.findall(r"^#   ([A-Z_]+)=(\S+)", compose, re.MULTILINE))
    read = dict(re.findall(r"\$\{([A-Z_]+):[-?]([^}]*)\}", compose))
    assert {name: value for name, value in read.items() if name not in SETTINGS} == {
        name: value for name, value in explained.items() if name not in SETTINGS
    }


@pytest.mark.parametrize("variable", SETTINGS)
def test_the_example_says_the_defaults(variable: str) -> None:
    default = Settings.model_fields[SETTINGS[variable]].default
    if default is not None:
        read = Settings.model_validate({variable: EXAMPLE[variable]})
        assert getattr(read, SETTINGS[variable]) == default
