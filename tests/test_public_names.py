"""What a program needs to name stands in ``core.rag``."""

from __future__ import annotations

import inspect
import re

import pytest

import core.rag
from core.rag import KnowledgeBase

#: ``Path`` would be taken for that of ``pathlib``: it stays in ``core.rag.graph.parts``.
ELSEWHERE = {"Any", "AsyncGenerator", "None", "Path", "Self"}


@pytest.mark.parametrize("name", core.rag.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(core.rag, name).__doc__


def test_what_a_knowledge_base_returns_can_be_named() -> None:
    methods = [member for name, member in inspect.getmembers(KnowledgeBase, callable) if not name.startswith("_")]
    returned = {name for method in methods for name in _types(inspect.signature(method).return_annotation)}
    assert {"Hit", "IngestReport"} <= returned
    assert returned - ELSEWHERE <= set(core.rag.__all__)


def _types(annotation: str) -> list[str]:
    return re.findall(r"\b[A-Z]\w+", annotation)
