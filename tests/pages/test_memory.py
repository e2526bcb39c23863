"""The Python of docs/memory.md runs: an agent remembers, and facts change as the page says."""

from __future__ import annotations

import re
from typing import Any

from core.rag import KnowledgeBase
from tests.embedders import HashEmbedder
from tests.pages.blocks import blocks_of, run


async def test_the_agent_of_the_page_remembers() -> None:
    async def call_your_model(recent: list[Any], recalled: list[Any], passages: list[Any], text: str) -> str:
        return f"{len(recent)} {[memory.content for memory in recalled]} {text}"

    names: dict[str, Any] = {"call_your_model": call_your_model}
    exec(compile(blocks_of("docs/memory.md")[0], "docs/memory.md", "exec"), names)
    async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder()) as kb:
        await names["answer"](kb, "monday", "ann", "I like tea.")
        await names["answer"](kb, "monday", "bob", "I like milk.")
        said = await names["answer"](kb, "tuesday", "ann", "What do I like?")
        assert "'I like tea.'" in said
        assert "milk" not in said


async def test_facts_hold_when_the_page_says() -> None:
    block = next(block for block in blocks_of("docs/memory.md") if "kb.unlink(" in block)
    asking = re.sub(r"^(await kb\.(?:neighbors|ask)\(.*\))  # .*$", r"told.append(\1)", block, flags=re.MULTILINE)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        left = await run(f"told = []\n{asking}", {"kb": kb})
    now, then, ever, answer = left["told"]
    assert [[node.name for node in page.nodes] for page in (now, then, ever)] == [
        ["Bob Reed"],
        ["Ada Lane"],
        ["Ada Lane", "Bob Reed"],
    ]
    assert "Ada Lane owns Harrow Mill (from 2018-01-01 until 2021-05-01)" in answer.text
    assert "Bob Reed" not in answer.text
