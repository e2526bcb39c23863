"""What a program needs to name stands in ``core.rag``, and all of it in ``mgrag``, too."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args

import pytest

import core.rag
import mgrag
from core.rag import KnowledgeBase
from libs import dataloader

#: Made when it is asked for.
ALL_OF_MGRAG: list[str] = getattr(mgrag, "__all__", [])
#: Where what is in public signatures can be imported from: not each class of a stage is a name of ``core.rag``.
PACKAGES = (
    "core.rag",
    "core.rag.answering",
    "core.rag.answering.drift",
    "core.rag.dbhandler",
    "core.rag.embedder",
    "core.rag.graph",
    "core.rag.indexing",
    "core.rag.llm",
    "libs.dataloader",
)
#: What only stages of ingest, moves, walks and crawls hand to these classes.
OF_STAGES = """
    Candidate ChunkFacts ChunkRow ConceptRow DocumentRow Edges ExportReader ExportWriter Fetched Followed Indexes
    InteractionRow ModelKind NameTable Rewritten Sameness Statement Unlinked Validity VectorRow WriteOutcome
""".split()
ROOTS = {name: getattr(package, name) for package in (core.rag, dataloader) for name in package.__all__}


@pytest.mark.parametrize("name", core.rag.__all__)
def test_every_public_name_is_there(name: str) -> None:
    public = getattr(core.rag, name)
    assert public.__doc__ or get_args(public)


@pytest.mark.parametrize("name", ALL_OF_MGRAG)
def test_every_name_of_mgrag_is_the_public_one(name: str) -> None:
    assert getattr(mgrag, name) is getattr(core.rag if name in core.rag.__all__ else dataloader, name)


def test_mgrag_has_all_public_names_and_the_loaders() -> None:
    loaders = {name for name in dataloader.__all__ if name.endswith("Loader")}
    assert set(ALL_OF_MGRAG) == {*core.rag.__all__, *loaders, "Document"}
    with pytest.raises(AttributeError, match="'mgrag' has no attribute 'KnowledgeBass'"):
        _ = mgrag.KnowledgeBass


def test_what_a_knowledge_base_takes_and_returns_can_be_named() -> None:
    types = dict(types_in(KnowledgeBase))
    assert {"Hit", "IngestReport", "SearchMode", "Source", "TripleLike"} <= set(types)
    # ``Path`` would be taken for that of ``pathlib``: it stays in ``core.rag.graph``.
    for name in set(types) - {"Path"}:
        assert getattr(core.rag, name) is types[name]


@pytest.mark.parametrize("name", ROOTS)
def test_what_is_in_public_signatures_can_be_imported(name: str) -> None:
    packages = [import_module(package) for package in PACKAGES]
    exported = [getattr(package, other) for package in packages for other in package.__all__]
    missing = {name for name, kind in types_in(ROOTS[name]) if not any(kind is other for other in exported)}
    assert missing <= set(OF_STAGES), "put them into the __all__ of the package that they come from"


def test_stages_hand_on_what_is_said_above() -> None:
    assert {name for root in ROOTS.values() for name, _ in types_in(root)} >= set(OF_STAGES)


def types_in(public: Any) -> Iterator[tuple[str, Any]]:
    """The classes of this project in the signatures and fields of a class or function, and aliases that it takes.

    What only type checkers see has no value.
    """
    for module, annotation, taken in annotations_of(public):
        for node in ast.walk(ast.parse(annotation)):
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                where, name = imports(module).get(node.id, (module, node.id))
                if where.split(".")[0] in {"core", "libs"} and not name.startswith("_"):
                    kind = getattr(import_module(where), name, None)
                    if taken or inspect.isclass(kind):
                        yield name, kind


def annotations_of(public: Any) -> Iterator[tuple[str, str, bool]]:
    """Annotations with the modules that they are in, and whether they are of parameters."""
    for owner in getattr(public, "__mro__", [public]):
        fields = inspect.get_annotations(owner) if inspect.isclass(owner) else {}
        yield from ((owner.__module__, str(kind), False) for name, kind in fields.items() if not name.startswith("_"))
        for name, member in vars(owner).items() if inspect.isclass(owner) else [("", owner)]:
            function = inspect.unwrap(getattr(member, "fget", getattr(member, "__func__", member)))
            written = inspect.isfunction(function) and function.__code__.co_filename != "<string>"  # by dataclasses
            if written and (name == "__init__" or not name.startswith("_")):
                for parameter, kind in function.__annotations__.items():
                    yield function.__module__, str(kind), parameter != "return"


@functools.cache
def imports(module: str) -> dict[str, tuple[str, str]]:
    """Where the names come from that a module imports, also for type checkers only."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(import_module(module)))))
    whole = {alias.name: (alias.name, "") for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    parts = {alias.asname or alias.name: (node.module or "", alias.name) for node in found for alias in node.names}
    return whole | parts
