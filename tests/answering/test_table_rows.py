"""Rows of tables in extracts, and sentences that several passages share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.answering.extracts.composing import LABEL, NOT_ASKED, NOT_SET, extract
from core.rag.answering.extracts.table_rows import is_head, with_head
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit
from libs.dataloader import Document
from libs.dataloader.tables import row_cells

TABLE = """Cups:

| Team | Place | |
| :--- | --- | --- |
| Blues | STL | 1 |
| Maple Leafs. Old | | 13 | more | again |

The end | is no row."""


def passage(number: int, text: str) -> Passage:
    return Passage(number, Hit(str(number), "d", "d.md", "", "", text, 0, 0, len(text), 1.0))


@pytest.mark.parametrize(
    "part, said",
    [
        ("| Blues", "Team: Blues | Place: STL | 1"),
        ("Old", "Team: Maple Leafs. Old | 13 | more | again"),
        ("| Team", "Team | Place"),
        ("Cups", "Cups"),
        ("is no row", "is no row"),
    ],
)
def test_a_row_is_said_with_the_names_of_its_columns(part: str, said: str) -> None:
    start = TABLE.index(part)
    assert with_head(TABLE, start, start + len(part)) == said


@pytest.mark.parametrize(
    "text, said",
    [
        ("| Blues. Old | | 13 |", "Blues. Old | 13"),
        ("| Blues", "| Blues"),
        ("```\n| x | y |\n```", "| x | y |"),
    ],
)
def test_a_row_without_its_head_is_said_without_bars_at_its_ends(text: str, said: str) -> None:
    start = text.index("|")
    assert with_head(text, start, len(text.rstrip("`\n"))) == said


def test_a_passage_that_begins_within_a_table_has_its_head() -> None:
    text = "| Blues | STL | 1 |\n| Reds | CIN | 2 |\n\nThe end.\n\n| Cup | Year |\n|---|---|\n| Ash | 1936 |"
    head = "| Team | Place | Won |"
    places = [(text.index(part), text.index(part) + 6) for part in ("| Reds", "| Ash")]
    assert [with_head(text, *place, head) for place in places] == [
        "Team: Reds | Place: CIN | Won: 2",
        "Cup: Ash | Year: 1936",
    ]


def test_the_head_of_a_table_is_known_by_the_rule_below() -> None:
    assert [is_head(TABLE, TABLE.index(part)) for part in ("Team", "Blues", "Cups", "Old", "The end")] == [
        True, False, False, False, False,
    ]  # fmt: skip


@given(st.text("|-: a\n\\", max_size=60), st.integers(0, 60))
def test_whatever_bars_a_text_has_something_is_said(text: str, start: int) -> None:
    start = min(start, len(text))
    is_head(text, start)
    said = with_head(text, start, len(text))
    assert said or start == len(text)


async def test_the_head_itself_is_no_extract() -> None:
    table = "| Team | Cups |\n| --- | --- |\n| Blues | 1 |\n| Flyers | 2 |"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="cups.md", content=table, title="Winners")])
        answer = await kb.ask("Which team has cups: the Flyers?", extracts=True)
        assert answer.text == f"{LABEL} ({NOT_ASKED}):\n\n- Team: Flyers | Cups: 2 [1]"
        assert answer.citations[0].quote == "| Flyers | 2 |"


async def test_what_overlapping_passages_both_say_stands_there_once() -> None:
    both = "The wheel turns with the ebb."
    text, citations = await extract(
        "When does the wheel turn?",
        "factual",
        [
            passage(1, f"{both} It is old."),
            passage(2, "It stands in ice."),
            passage(3, f"Fog rises. {both}"),
        ],
    )
    assert text == f"{LABEL} ({NOT_SET}):\n\n- {both} [1][3]"
    assert [one.number for one in citations] == [1, 3]


async def test_a_row_may_ask_what_it_is_about() -> None:
    text = "| Field | Meaning |\n|---|---|\n| pluribus | Is it one of many? |\n| hard | Is it so? |\n\nIt has others.\n"
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="candy.md", content=text, title="Candy", format="markdown")])
        answer = await kb.ask("What does pluribus mean?")
    assert answer.text.splitlines()[2] == "- Field: pluribus | Meaning: Is it one of many? [1]"


async def test_a_row_far_down_a_table_is_answered_with_the_names_of_its_columns(tmp_path: Path) -> None:
    rows = "".join(f"Town {number},{number},{2 * number}\n" for number in range(200))
    (tmp_path / "mills.csv").write_text(f"town,mills,wheels\n{rows}")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path / "mills.csv"])
        answer = await kb.ask("How many wheels has Town 150?")
    assert "- town: Town 150 | mills: 150 | wheels: 300 [1]" in answer.text
    assert "\n| town | mills | wheels |\n|---|---|---|\n| Town 1" in answer.context


METERS = """Meters of the mill:

| Meter | Kind | Default step | Meaning |
|---|---|---|---|
| counter | sync | 10 s | Counts the turns of the wheel |
| async counter | async | 30 s | Counts the turns, when it is asked |
| gauge | sync | 10 s | Tells the height of the water |
| flow_rate | async | 5 s | Default for the flow, in litres |
| wheel | sync | 60 s | Tells whether the wheel turns |
"""


@pytest.mark.parametrize(
    "question, meters",
    [
        ("What is the default step of the gauge meter?", ["gauge"]),
        ("What is the default step of the async counter?", ["async counter"]),
        ("What does flow_rate mean?", ["flow_rate"]),
        ("What is the default step of flow rate and gauge?", ["flow_rate", "gauge"]),
        ("Which meters have a default step of 10 s?", ["counter", "gauge"]),
    ],
)
async def test_of_a_table_the_rows_are_said_that_a_question_names(question: str, meters: list[str]) -> None:
    text, _ = await extract(question, "factual", [passage(1, METERS)])
    assert sorted(re.findall(r"Meter: ([^|]*) \|", text)) == meters


async def test_beside_the_row_that_others_are_compared_with_these_are_said() -> None:
    text, _ = await extract("Which meter has a longer default step than gauge?", "factual", [passage(1, METERS)])
    assert len(re.findall("Meter: ", text)) > 1


async def test_of_a_wide_row_a_cell_is_not_asked_for_that_the_question_has_itself() -> None:
    film = {"Year": "2011", "Film": "Ebb", "Made by": "Ada Vane", "Notes": "It was shown at the weir. " * 12}
    rows = "\n".join("|".join(["", *cells, ""]) for cells in (film, ["-"] * 4, film.values()))
    text, _ = await extract("Who directed the film Ebb?", "factual", [passage(1, rows)])
    assert "- Year: 2011 | Film: Ebb | Made by: Ada Vane | Notes: It was" in text


WIDE = {"name": "Ebbland", "code": "EB", "languages": "Ebbish, Flow"}
WIDE |= {f"translation{number}": f"the Republic of Ebb in language {number}" for number in range(9)}
WIDE |= {"capital": "Tidemouth", "area": "1234"}


@pytest.mark.parametrize("form", ["table", "record"])
@pytest.mark.parametrize(
    "question, said, unsaid",
    [
        ("What is the capital of Ebbland?", "name: Ebbland | … | capital: Tidemouth", "1234"),
        ("What is the area of Ebbland?", "name: Ebbland | … | area: 1234", "Tidemouth"),
        ("How do people in Ebbland speak?", "code: EB | languages: Ebbish, Flow | translation0: the Republic", "[2]"),
    ],
)
async def test_of_a_wide_row_the_cells_that_are_asked_for_are_said(
    form: str, question: str, said: str, unsaid: str
) -> None:
    lines = ["|".join(["", *cells, ""]) for cells in (WIDE, ["-"] * len(WIDE), WIDE.values())]
    record = [f"{name}: {value}" for name, value in WIDE.items()]
    text, _ = await extract(question, "factual", [passage(1, "\n".join(lines if form == "table" else record))])
    assert said in text
    assert unsaid not in text


async def test_of_a_wide_row_about_something_else_the_cell_is_said_that_mentions_what_is_asked() -> None:
    levels = [f"Does work of the {number}th kind, with some help of others and of those above" for number in range(6)]
    row = "|".join(["", "Scope", *levels, "Owns Queenbee.", ""])
    head = "|".join(["", "Skill", *(f"L{number}" for number in range(7)), ""])
    rows = f"{head}\n{'|-' * 8}|\n{row}"
    text, _ = await extract("What is Queenbee?", "factual", [passage(1, rows)])
    assert "- Skill: Scope | … | L6: Owns Queenbee. [1]" in text


LEVELS = {
    "Programmer (L2)": "Tends a mill with the help of others, and asks before the sluice is opened",
    "Senior Programmer (L3)": "Tends a mill alone, through the winter too, and opens the sluice",
    "Lead Programmer (L4)": "Tends all of the mills on the river, and says when a sluice is opened",
    "Principal Programmer (L5)": "Builds mills that nobody has built before, of programmers and senior programmers",
}


async def test_of_columns_with_similar_names_those_are_said_that_are_meant() -> None:
    lines = ["|".join(["", *cells, ""]) for cells in (["Skill", *LEVELS], "-" * 5, ["Scope", *LEVELS.values()])]
    question = "What is the difference between a Lead Programmer and a Senior Programmer?"
    text, _ = await extract(question, "factual", [passage(1, "\n".join(lines))])
    senior, lead = (f"{name}: {LEVELS[name]}" for name in ("Senior Programmer (L3)", "Lead Programmer (L4)"))
    assert f"- Skill: Scope | … | {senior} | {lead} | … [1]" in text


@pytest.mark.parametrize("size", [64, 100, 128, 180])
async def test_what_is_said_of_a_long_row_is_called_by_its_own_columns(size: int) -> None:
    """Chunks may begin at any cell of a row, or within one."""
    things = ["mill", "weir", "sluice", "wheel", "pond"]
    cells = [" ".join(f"The {thing} has {number} parts of oak." for number in range(12)) for thing in things]
    table = "\n".join("| " + " | ".join(row) + " |" for row in (map(str.title, things), ["---"] * 5, cells))
    async with KnowledgeBase.open("embedded::memory:", chunk_size=size, chunk_overlap=0) as kb:
        await kb.ingest(Document(path="long.md", content=f"# Parts\n\n{table}\n", format="markdown"))
        hits = await kb.search("How many parts of oak has it?", k=30, mode="keyword")
        answers = [await kb.ask(f"How many parts has the {thing}?") for thing in things]
    shown = [*(hit.readable for hit in hits), *(answer.context for answer in answers)]
    tables = [found for text in shown for found in re.findall(r"^(\|.*)\n\|[-|]+\|\n(\|.*)", text, re.MULTILINE)]
    pairs = [pair for head, row in tables for pair in zip(row_cells(head), row_cells(row), strict=False)]
    told = [(name, thing) for name, cell in pairs for thing in re.findall(r"The (\w+)", cell)]
    told += [pair for answer in answers for pair in re.findall(r"(\w+): The (\w+)", answer.text)]
    assert len({name for name, _ in told}) > 2
    assert all(name.lower() == thing for name, thing in told)
