"""The number of a verse, and a time, is one word besides its parts."""

from __future__ import annotations

from core.rag import KnowledgeBase
from libs.dataloader import Document


async def test_a_verse_is_found_by_its_number(kb: KnowledgeBase) -> None:
    numbers = [f"{chapter}:{verse}" for chapter in range(1, 30) for verse in range(1, 18, 2)]
    verses = [f"Mill {number}\tAnd the wheel turned, and there was flour." for number in numbers]
    await kb.ingest([Document(path="mill.txt", content="\n".join(verses))])
    for number in ("3:15", "15:3", "28:7"):
        hits = await kb.search(f"What does Mill {number} say?", k=1)
        assert f"Mill {number}\t" in hits[0].content
