"""Questions about records of files: the whole record is the passage, and what is asked is said with what it is of."""

from __future__ import annotations

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.types import Answer

LONG = "The gate was left open over night and the mill ran dry. " * 12
ISSUES = [
    {
        "number": number,
        "title": title,
        "author": author,
        "body": f"{LONG}Since {title.lower()} came up, {'nobody has looked. ' * 20}",
        "createdAt": f"2024-01-0{number}T10:00:00Z",
        "closedAt": f"2024-02-1{number}T12:30:00Z",
        "comments": [{"author": "mara", "body": f"Seen in release {number}. It is mended."}],
    }
    for number, title, author in [
        (1, "Gate leaks at high tide", "ada-lane"),
        (2, "Gate leaks", "ben"),
        (3, "Wheel turns backwards", "cleo"),
    ]
]
PRODUCTS = [
    {
        "Handle": title.lower().replace(" ", "-"),
        "Title": title,
        "Body": f"{title} for cold days. Warm and soft. Goes with everything you have.",
        **{f"Google Shopping / Custom Label {number} of the product": "none" for number in range(8)},
        "Variant Price": price,
        "Variant Weight Unit": "kg",
    }
    for title, price in [("Winter Jacket", "59.90"), ("Winter Skirt", "41.50"), ("Summer Jacket", "32.25")]
]


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "issues.json").write_text(json.dumps(ISSUES))
    with (folder / "products.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, PRODUCTS[0])
        writer.writeheader()
        writer.writerows(PRODUCTS)
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest([str(folder)])
        yield opened


def _first(answer: Answer) -> str:
    return next(line for line in answer.text.splitlines() if line.endswith("]"))


@pytest.mark.parametrize(
    ("question", "said", "of"),
    [
        ('When was the issue "Gate leaks" closed?', "2024-02-12T12:30:00Z", "Gate leaks"),
        ('When was the issue "Gate leaks at high tide" closed?', "2024-02-11T12:30:00Z", "Gate leaks at high tide"),
        ('Who is the author of "Wheel turns backwards"?', "cleo", "Wheel turns backwards"),
        ("What is the variant price of the Winter Skirt?", "41.50", "Winter Skirt"),
        ("What is the variant price of the Summer Jacket?", "32.25", "Summer Jacket"),
    ],
)
async def test_what_is_asked_of_a_record_is_said_of_the_whole_record(
    kb: KnowledgeBase, question: str, said: str, of: str
) -> None:
    answer = await kb.ask(question)

    assert said in _first(answer), answer.text
    number = int(_first(answer).rpartition("[")[2].rstrip("]"))
    cited = next(one for one in answer.citations if one.number == number)
    document = await kb.client.find_document(cited.path)
    assert document is not None
    record = document["content"][cited.start_char : cited.end_char]
    assert f": {of}\n" in record
    assert said in record
