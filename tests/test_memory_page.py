"""The facts of docs/memory.md change as the page says."""

from __future__ import annotations

import re

from tests.blocks import blocks_of, run

from core.rag import KnowledgeBase


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
