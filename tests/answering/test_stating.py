"""What the graph states is told in answers without a language model."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.stating import STATEMENTS
from libs.dataloader import Document

ACQUIRED = "Acme Corp acquired Zeta Labs in March 2019."


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When did Acme Corp acquire Zeta Labs?", [ACQUIRED]),
        ("How is Acme Corp connected to Zeta Labs?", [ACQUIRED]),
        ("How is Zeta Labs related to Nordbank?", ["Nordbank finances Zeta Labs: A loan of 12 million."]),
        ("What is the connection between Oslo and Acme Corp?", [ACQUIRED, "Zeta Labs based in Oslo"]),
        ("Who repairs the boats of Oslo?", []),
    ],
)
async def test_a_fact_is_told_in_its_own_words_where_the_question_names_both_ends(
    question: str, told: list[str]
) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="oslo.md", content="In Oslo, Tom Ray repairs boats of other owners.")])
        await kb.link("Acme Corp", "Zeta Labs", "acquired", fact=ACQUIRED, create=True)
        await kb.link("Nordbank", "Zeta Labs", "finances", fact="A loan of 12 million.", create=True)
        await kb.add_triples([("Zeta Labs", "based_in", "Oslo")])
        answer = await kb.ask(question)
    if told:
        stated = answer.text.removeprefix(f"{STATEMENTS} (no language model is set):\n\n").split("\n\n")[0]
        assert sorted(stated.split("\n")) == [f"- {one}" for one in told]
    else:
        assert STATEMENTS not in answer.text
