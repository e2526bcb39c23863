"""What a mail quotes is said by whom it quotes."""

from __future__ import annotations

from pathlib import Path

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import extract
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit

ASKED = "Dear all, the flume of the upper mill leaks. Should we repair it before the frost, or wait for the spring?"
TOLD = "We should repair the flume with oak boards from the yard in Ashby. They have to dry for two weeks."
MARKED = "\n".join(f"> {line}" for line in (*ASKED.split(". "),))


def _mail(name: str, number: int, text: str) -> str:
    return (
        f"From: {name} <{name.split()[0].lower()}@example.org>\nTo: mill@example.org\n"
        f"Date: Tue, 0{number} May 2024 10:00:00 +0000\nSubject: Re: The flume\n\n{text}\n"
    )


async def test_who_wrote_something_is_not_who_quotes_it(tmp_path: Path) -> None:
    quoted = f"Good idea, thanks.\n\nOn 1 May 2024, at 10:00, Ada Lane <ada@example.org> wrote:\n\n{TOLD}"
    (tmp_path / "1.eml").write_text(_mail("Ada Lane", 1, f"{TOLD}\n\nBo Hill wrote:\n{MARKED}"))
    (tmp_path / "2.eml").write_text(_mail("Cy Dale", 2, quoted))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        answer = (await kb.ask("Who suggested to repair the flume with oak boards?")).text
    items = [line for line in answer.split("\n") if "oak boards" in line]
    assert len(items) == 1
    assert "Cy Dale" not in items[0]


async def test_of_who_quotes_nothing_is_said() -> None:
    text = "# Cy Dale, 2024-05-02\n\nBo wrote:\n> He has the key of the mill.\n"
    passage = Passage(1, Hit("1", "d", "a.eml", "Re: Key", "", text, 0, 0, len(text), 1.0))
    answer, _ = await extract("What did Cy Dale write of the key?", "factual", [passage], None)
    assert "- He has the key of the mill. [1]" in answer.splitlines()
