"""docs/architecture.md names what is there: modules, and the functions that are in them; and every package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.test_floors import FLOORS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
ROWS = [re.split(r"(?<!\\)\|", line)[1:-1] for line in TEXT.splitlines() if line.startswith("| ")]
#: Where a path that is written short begins.
PARTS = ("", "answering", "dbhandler", "graph", "indexing", "llm", "retrieval")
SHORT = [ROOT, ROOT / "src/libs/dataloader", *(ROOT / "src/core/rag" / part for part in PARTS)]
STEPS = [row for row in ROWS if re.search(r"\.py`", row[1]) and not row[0].startswith(" `")]


def found(name: str) -> Path | None:
    return next((root / name for root in SHORT if (root / name).exists()), None)


def defined(module: Path) -> set[str]:
    """The functions and classes of a module, methods as ``Class.method``; and what it takes from others."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, _FUNCTION)}
        if isinstance(node, (ast.ClassDef, *_FUNCTION)):
            names.add(node.name)
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
    return names


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def test_every_path_is_there() -> None:
    paths = set(re.findall(r"`([\w./]+(?:/|\.py))`", TEXT))
    assert len(paths) > 70
    assert not [name for name in paths if found(name) is None]


@pytest.mark.parametrize("row", STEPS, ids=lambda row: row[0].strip())
def test_the_functions_of_a_step_are_in_its_modules(row: list[str]) -> None:
    modules = [found(name) for name in re.findall(r"`([\w./]+\.py)`", row[1])]
    functions = re.findall(r"`([\w.]+)`", row[2])
    there = {name for module in modules if module is not None for name in defined(module)}
    assert functions
    assert not [name for name in functions if name not in there]


def test_there_are_steps() -> None:
    assert len(STEPS) > 25


def test_every_package_has_a_line() -> None:
    parts = {part: f"src/{part.replace('.', '/')}/" for floor in FLOORS for part in floor if part != "core.rag"}
    packages = [folder for folder in parts.values() if (ROOT / folder / "__init__.py").exists()]
    table = "\n".join(row[0] for row in ROWS)
    assert len(packages) > 10
    assert not [folder for folder in packages if folder not in table]


def test_every_folder_of_a_package_has_a_word() -> None:
    folders = {path.parent for path in (ROOT / "src/core/rag").glob("*/*/__init__.py")}
    assert len(folders) > 15
    assert not [folder.name for folder in folders if f"`{folder.name}/`" not in TEXT]


def test_every_version_is_there() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    versions = re.findall(r"`([A-Z]+_VERSION)`", TEXT)
    assert versions
    assert not [name for name in versions if not re.search(rf"^{name}\b.* = ", source, re.MULTILINE)]
