"""What is asked to be measured is found by the name of the measure."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis import measured
from libs.dataloader import Document


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How long is the Salt field?", {"long": "length"}),
        ("How big may an uploaded file be?", {"big": "size"}),
        ("How old was the mill, and how high are its sails?", {"old": "age", "high": "height"}),
        ("How long have you been painting?", {}),
        ("How long does it take?", {}),
        ("How often is it cleaned?", {}),
        ("How long may it take until they are there?", {}),
    ],
)
def test_measures_of_what_is_so(question: str, words: dict[str, str]) -> None:
    assert measured(question) == words


async def test_a_length_is_found_by_how_long() -> None:
    texts = {
        "salt.md": "The length of the Salt field is two octets.",
        "attribute.md": "A long attribute has a long name, and a long field behind it. Long fields are long.",
        "type.md": "The Salt field comes after the type.",
    }
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path, content) for path, content in texts.items()])
        assert (await kb.search("How long is the Salt field?", mode="keyword"))[0].path == "salt.md"
        assert "two octets" in (await kb.ask("How long is the Salt field?")).text.split("\n- ")[1]
