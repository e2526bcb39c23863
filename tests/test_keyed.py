"""Results that can be read like dicts."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

import pytest

import core.rag
from core.rag.answering.drift.result import DRIFTResult
from core.rag.graph.parts import GraphStats
from core.rag.graph.searching import KnowledgeHit
from core.rag.keyed import Keyed
from core.rag.retrieval.hits import Hit

RESULTS: list[Keyed] = [
    Hit("c", "d", "path", "title", "heading", "content", 0, 0, 7, 1.0, {"vector": 1.0}),
    KnowledgeHit("d", "document", "documents", {"path": "path"}),
    GraphStats(1, 2, {"person": 1}, {"knows": 2}),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_fields_are_read_by_name_and_nothing_else_is(result: Keyed) -> None:
    assert {field.name: result[field.name] for field in fields(result)} == result.to_dict()
    for name in ("nothing", "to_dict", "__class__"):
        with pytest.raises(KeyError, match=name):
            result[name]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_can_be_handled_like_a_dict(result: Keyed) -> None:
    names = [field.name for field in fields(result)]
    assert list(result) == names
    assert dict(result) == {**result} == {name: result[name] for name in names}
    assert names[0] in result
    assert "nothing" not in result
    assert (result.get(names[0]), result.get("nothing"), result.get("to_dict", 3)) == (result[names[0]], None, 3)


def test_every_result_converts_to_a_dict_with_its_parts() -> None:
    exported = (getattr(core.rag, name) for name in core.rag.__all__)
    given = {core.rag.Triple, core.rag.Message, core.rag.Period}
    results = [kind for kind in exported if isinstance(kind, type) and is_dataclass(kind) and kind not in given]
    assert len(results) > 20
    parts = {word for kind in results for field in fields(kind) for word in re.findall(r"\w+", str(field.type))}
    alone = [kind.__name__ for kind in (*results, DRIFTResult) if not hasattr(kind, "to_dict")]
    assert set(alone) <= parts
    assert len(alone) < 15
