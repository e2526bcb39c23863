"""Imports only go down. Lazy imports and those for type checkers count, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

#: The house, from the ground up. Those on one floor do not import each other.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("libs.regexes",),
    (
        "libs.dataloader",
        "core.rag.bm25",
        "core.rag.encodable",
        "core.rag.errors",
        "core.rag.file_status",
        "core.rag.headings",
        "core.rag.keyed",
        "core.rag.ports",
        "core.rag.sizes",
        "core.rag.unit_vectors",
        "core.rag.openai_events",
    ),
    ("core.rag.arguments", "core.rag.together"),
    ("core.rag.identity", "core.rag.schema", "core.rag.settings", "core.rag.times"),
    ("core.rag.openai_endpoint",),
    ("core.rag.openai_failures",),
    ("core.rag.openai_api",),
    ("core.rag.analysis",),
    ("core.rag.extraction",),
    ("core.rag.embedder", "core.rag.llm", "core.rag.reranker"),
    ("core.rag.dbhandler",),
    ("core.rag.indexing",),
    ("core.rag.maintenance",),
    ("core.rag.retrieval",),
    ("core.rag.graph",),
    ("core.rag.memory",),
    ("core.rag.answering",),
    ("core.rag.knowledge", "core.rag.removal"),
    ("core.rag.knowledge_base",),
    ("core.rag",),
    ("core.rag.integrations",),
    ("mgrag",),
)
LEVELS = {part: level for level, floor in enumerate(FLOORS) for part in floor}


def modules() -> dict[str, Path]:
    """Every module of ``src`` by its name."""
    found = {}
    for path in SRC.rglob("*.py"):
        parts = path.relative_to(SRC).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def part_of(module: str) -> str:
    """The part of the house that a module belongs to."""
    names = module.split(".")
    if names[0] == "mgrag":
        return "mgrag"
    return ".".join(names[:3] if names[:2] == ["core", "rag"] else names[:2])


@cache
def imports_of(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """All imports of a file, anywhere in it."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


def imports(path: Path) -> Iterator[str]:
    """The modules of this project that a file imports, anywhere in it."""
    for node in imports_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{path}: relative imports hide the floor"
            names = [node.module or ""]
            names += [f"{node.module}.{alias.name}" for alias in node.names if f"{node.module}.{alias.name}" in MODULES]
            names = names[1:] or names
        yield from (name for name in names if name.split(".")[0] in {"core", "libs", "mgrag"})


@pytest.mark.parametrize("part", sorted(LEVELS))
def test_imports_only_go_down(part: str) -> None:
    for module in (name for name in MODULES if part_of(name) == part != "core.rag"):
        for imported in imports(MODULES[module]):
            there = part_of(imported)
            assert there == part or LEVELS[there] < LEVELS[part], f"{module} imports {imported}, which is not below it"


def test_the_public_names_import_nothing_at_once_but_ports() -> None:
    tree = ast.parse(MODULES["core.rag"].read_text(encoding="utf-8"))
    at_once = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert [name for name in at_once if name and name.startswith("core.")] == ["core.rag.ports"]


def test_every_floor_is_there() -> None:
    assert {part_of(module) for module in MODULES} == set(LEVELS)


#: The packages of answers, from the ground up, like the floors. The modules beside them belong to all.
OF_ANSWERS = (
    ("graph_index",),
    ("understanding",),
    ("extracts",),
    ("checking", "computing", "relevance"),
    ("drift", "overview"),
)


def test_packages_of_answers_import_each_other_only_downwards() -> None:
    levels = {f"core.rag.answering.{name}": level for level, names in enumerate(OF_ANSWERS) for name in names}
    package = {name: name.rpartition(".")[0] for name in MODULES}
    assert {package[name] for name in MODULES} >= set(levels)
    crossing = [
        (module, imported)
        for module, path in MODULES.items()
        if package[module] in levels
        for imported in imports(path)
        if package.get(imported) in levels and package[module] != package[imported]
    ]
    assert len(crossing) > 20
    for module, imported in crossing:
        above, below = levels[package[module]], levels[package[imported]]
        assert below < above, f"{module} imports {imported}, which is not below it"


@pytest.mark.parametrize("engine", ["bolt", "embedded"])
def test_engines_know_nothing_of_what_is_stored(engine: str) -> None:
    operations = tuple(f"core.rag.dbhandler.{part}." for part in ("documents", "knowledge", "messages", "transfer"))
    modules = [name for name in MODULES if name.startswith(f"core.rag.dbhandler.{engine}.")]
    assert len(modules) > 5
    for module in modules:
        assert not [name for name in imports(MODULES[module]) if name.startswith(operations)], module
