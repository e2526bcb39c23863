"""The Python of docs/coming-from.md runs as it stands there, and does what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from tests.answering.models import talking
from tests.pages.blocks import blocks_of, run

BLOCKS = blocks_of("docs/coming-from.md")


def say(body: dict[str, Any]) -> str:
    """Answer as a model does that is asked for facts, for an analysis, or for an answer."""
    asked = json.dumps(body)
    if "PassageFacts" in asked:
        entities = [{"name": "Paul Atreides", "type": "Person"}, {"name": "House Atreides", "type": "House"}]
        fact = {"subject": "Paul Atreides", "relation": "heir of", "object": "House Atreides", "sentence": "He is."}
        other = {"subject": "House Atreides", "relation": "rules", "object": "Paul Atreides", "sentence": "No."}
        return json.dumps({"entities": entities, "facts": [fact, other]})
    if "response_format" in body:
        return json.dumps({"entities": ["Harrow Mill"], "intent": "factual"})
    return "Harrow Mill is run by Ada Lane [1]."


def test_the_synchronous_program_recalls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = BLOCKS[0]
    assert "asyncio.Runner()" in program
    exec(compile(program, "docs/coming-from.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "Ada prefers answers with dates.\n"


async def test_the_parts_for_each_system_run_one_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    async with talking() as said, KnowledgeBase.open("embedded::memory:", language_model=said.model) as kb:
        said.chat.default = say
        names: dict[str, Any] = {"kb": kb}
        left: list[dict[str, Any]] = []
        for block in BLOCKS[1:]:
            left.append(await run(block, names))
            names |= left[-1]
        told = [body["messages"][0]["content"] for body in said.chat.bodies]
    drawing, neo4j, lightrag, graphiti, cognee, mem0, llamaindex = left

    assert "Harrow Mill" in drawing["page"]
    assert "owns" in drawing["diagram"]

    assert [hit.path for hit in neo4j["hits"]] == ["dune"]
    assert neo4j["rows"] == [{"relation": "heir_of", "name": "House Atreides"}]
    assert "heir_of (from person to house)" in told[0]

    assert [citation.path for citation in lightrag["answer"].citations] == ["mill"]
    assert "Answer in one sentence." in "\n".join(told)

    assert "Ada Lane" not in [node.name for node in graphiti["now"].nodes]
    assert [node.name for node in graphiti["then"].nodes] == ["Ada Lane"]

    assert [hit.path for hit in cognee["hits"]] == ["plan"]

    assert [memory.content for memory in mem0["everything"]] == ["I love science fiction, but no thrillers."]
    assert mem0["revised"].id == mem0["everything"][0].id
    assert mem0["revised"].content == "I love science fiction, and now thrillers, too."
    printed = capsys.readouterr().out
    assert "retrieval\n" in printed
    assert "done\n" in printed
    assert "I love science fiction, but no thrillers." in printed

    assert [citation.path for citation in llamaindex["answer"].citations] == ["ferry"]
    assert printed.endswith(f"{llamaindex['answer'].text}\n")
    assert [node.name for node in llamaindex["piece"].nodes] == ["Ada Lane"]  # who employs Bob Reed
