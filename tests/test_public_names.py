"""What a program needs to name stands in ``core.rag``, and all of it in ``mgrag``, too."""

from __future__ import annotations

import inspect
import re

import pytest

import core.rag
import mgrag
from core.rag import KnowledgeBase
from libs import dataloader

#: Made when it is asked for.
ALL_OF_MGRAG: list[str] = getattr(mgrag, "__all__", [])
#: ``Path`` would be taken for that of ``pathlib``: it stays in ``core.rag.graph.parts``.
ELSEWHERE = {"Any", "AsyncGenerator", "None", "Path", "Self"}


@pytest.mark.parametrize("name", core.rag.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(core.rag, name).__doc__


@pytest.mark.parametrize("name", ALL_OF_MGRAG)
def test_every_name_of_mgrag_is_the_public_one(name: str) -> None:
    assert getattr(mgrag, name) is getattr(core.rag if name in core.rag.__all__ else dataloader, name)


def test_mgrag_has_all_public_names_and_the_loaders() -> None:
    loaders = {name for name in dataloader.__all__ if name.endswith("Loader")}
    assert set(ALL_OF_MGRAG) == {*core.rag.__all__, *loaders, "Document"}
    with pytest.raises(AttributeError, match="'mgrag' has no attribute 'KnowledgeBass'"):
        _ = mgrag.KnowledgeBass


def test_what_a_knowledge_base_returns_can_be_named() -> None:
    methods = [member for name, member in inspect.getmembers(KnowledgeBase, callable) if not name.startswith("_")]
    returned = {name for method in methods for name in _types(inspect.signature(method).return_annotation)}
    assert {"Hit", "IngestReport"} <= returned
    assert returned - ELSEWHERE <= set(core.rag.__all__)


def _types(annotation: str) -> list[str]:
    return re.findall(r"\b[A-Z]\w+", annotation)
