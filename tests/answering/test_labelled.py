"""Lines that say one thing of the heading above them come first where a question names both."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import extract
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document

SETTINGS = """# Settings of the mill

## gate_pool

Default: `ebb`.

The value is the name of the pool that opens the gates. Every value that is no name of a pool is the name of a gate.

## gate_pool_size

Default: 10.

How many gates one pool may open. Same value defines the size of the pool of the sluice.

## timezone

- **Default:** `UTC`
- **Type:** the name of a zone

The timezone value can be any time zone that the library of zones supports. If not set, the clock of the mill is used.

## Colours

Note: the default colours of the mill are listed elsewhere.

```ini
Default: 5
```
"""


def passage(number: int, text: str, heading: str = "", title: str = "") -> Passage:
    return Passage(number, Hit(str(number), "d", "d.md", title, heading, text, 0, 0, len(text), 1.0))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is the default value of gate_pool?", "gate_pool: Default: `ebb`. [1]"),
        ("What is the default value of gate_pool_size?", "gate_pool_size: Default: 10. [1]"),
        ("What is timezone by default?", "timezone: **Default:** `UTC` [1]"),
        ("Which type does timezone have?", "timezone: **Type:** the name of a zone [1]"),
    ],
)
async def test_the_line_comes_first_whose_label_and_heading_are_asked_for(question: str, first: str) -> None:
    text, _ = await extract(question, "factual", [passage(1, SETTINGS)])
    assert text.splitlines()[2] == f"- {first}"


async def test_the_heading_may_stand_above_the_passage() -> None:
    parts = [
        passage(1, "Other people of the mill are called on the phone number of the office.", "People", "People"),
        passage(2, "Room: 4\n\nPhone: 555 0199\n\nKeeps the books of the mill.", "People > Ada Lane", "People"),
        passage(3, "Room: 5\n\nPhone: 555 0142\n\nKeeps the gates.", "People > Bob Reed", "People"),
    ]
    text, _ = await extract("What is the phone number of Ada Lane?", "factual", parts)
    assert text.splitlines()[2] == "- Ada Lane: Phone: 555 0199 [2]"


@pytest.mark.parametrize(
    "question", ["What is the default of the sluice?", "What are the default colours?", "How is the mill's clock set?"]
)
async def test_other_questions_are_answered_as_before(question: str) -> None:
    text, _ = await extract(question, "factual", [passage(1, SETTINGS)])
    assert "Default:" not in text.splitlines()[2]


async def test_a_setting_is_found_and_its_default_told(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="settings.md", content=SETTINGS)])
    answer = await kb.ask("What is the default value of gate_pool?")
    assert answer.text.splitlines()[2].startswith("- gate_pool: Default: `ebb`. [")
