"""Numbered clauses of contracts are headings, though their text goes on in the same line."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase, TextSplitter
from libs.dataloader import Document

OWN = (
    "The keeper shall open the lock at dawn for every boat that has paid the toll, and shall keep a book of all boats"
    " that pass, which the owner may read on any working day after a notice of one day."
)
CONTRACT = f"""LOCK AGREEMENT

1. SERVICES

1.1 Scope. {OWN}

1.2 {OWN}
1.2.1 Night passage. {OWN}

2. TERM AND TERMINATION

2.1 Term. {OWN}

2.2 Termination for Cause. {OWN}
(a) {OWN}

3. Governing Law. {OWN}
"""
NAMES = [
    "1. SERVICES > 1.1 Scope",
    "1. SERVICES > 1.2",
    "1. SERVICES > 1.2 > 1.2.1 Night passage",
    "2. TERM AND TERMINATION > 2.1 Term",
    "2. TERM AND TERMINATION > 2.2 Termination for Cause",
    "3. Governing Law",
]


def headings(text: str, kind: str = "text") -> list[str]:
    chunks = TextSplitter(64, 0).split(Document(path="lock.txt", content=text, format=kind))
    assert "".join(chunk.content for chunk in chunks) == text
    return list(dict.fromkeys(chunk.heading for chunk in chunks))


def test_clauses_are_headings() -> None:
    assert headings(CONTRACT) == ["", *NAMES]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["ARTICLE 1\n\n1.1 Scope.", "1.2 Toll.", "ARTICLE 2\n\n2.1 Term.", "2.2 Notice."], "ARTICLE 2 > 2.2 Notice"),
        (["Section 1. Scope.", "Section 2. Toll.", "Section 3. Term.", "Section 4. Law."], "Section 4. Law"),
        (["1. Scope.", "2. Toll.", "3. Term.", "4. Limitation of Liability."], "4. Limitation of Liability"),
        (["1.\nScope\n\n1.1", "1.2", "2.\nToll\n\n2.1", "2.2"], "2. Toll > 2.2"),
        (["§ 1.1", "§ 1.2", "§ 2.1", "§ 2.2"], "§ 2.2"),
    ],
)
def test_ways_of_numbering(lines: list[str], expected: str) -> None:
    assert headings("".join(f"{line} {OWN} {OWN} {OWN}\n\n" for line in lines))[-1] == expected


def test_in_markdown_clauses_are_below_its_headings_and_not_in_code() -> None:
    clauses = "".join(f"{number} Toll. {OWN}\n\n" for number in ("1.1", "1.2", "1.3", "1.4"))
    assert headings(f"# Lock\n\n## Rules\n\n{clauses}", "markdown")[-1] == "Lock > Rules > 1.4 Toll"
    assert headings(f"# Lock\n\nCode.\n\n```\n{clauses}```\n", "markdown") == ["Lock"]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{number}. Open the lock.\n" for number in range(1, 30)),
        "".join(f"0.{number} seconds were needed by boat {number}.\n" for number in range(1, 30)),
        "".join(f"{number}. {OWN}\n\n" for number in range(1, 6)),  # a list
        f"{OWN}\n" + "".join(f"the toll of Section {n}\n{n}.1 which {OWN}\n" for n in (7, 3, 5, 2)),
        "".join(f"{hour}.30 Welcome by the keeper, and coffee\n" for hour in range(8, 18)),
        "".join(f"Note: in 19{year} {OWN}\n\n" for year in range(50, 60)),
    ],
)
def test_lists_and_measurements_have_no_clauses(text: str) -> None:
    assert headings(text) == [""]


def test_a_reference_at_the_beginning_of_a_line_is_no_clause() -> None:
    text = CONTRACT.replace("(a) ", "Section 2.3 states what happens then.\n")
    assert "2.3" not in " ".join(headings(text))


async def test_a_question_for_a_section_finds_it() -> None:
    filler = [
        Document(path=f"{n}.txt", content=f"Section 2.2 and section 1.2 are about boats. {OWN}") for n in range(5)
    ]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="lock.txt", content=CONTRACT, title="Lock agreement"), *filler])
        hits = await kb.search("What does section 2.2 of the lock agreement say?", k=1)
    assert [hit.heading for hit in hits] == [NAMES[4]]
