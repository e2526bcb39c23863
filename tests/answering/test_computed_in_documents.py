"""Questions about all rows of a table that is part of a document are worked out from it, or not as such at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import docx
import pytest

from core.rag import KnowledgeBase
from core.rag.answering.response import WORKED_OUT
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

MILLS = """
| Mill | River | Power (kW) | Staff | Opened |
| --- | --- | ---: | ---: | --- |
| **Oak Mill** | Aller | 40 | 3 | 1901 |
| [Elm Mill](elm.md) | Aller | 1,200 | 12 | 1950 |
| `Ash Mill` | Bode | 75 | 4 | 1899 |
| Fir Mill | Bode | 300 | 9 | 1970 |
"""
PRICES = """
| Grain | Price 2023 | Note |
| --- | --- | --- |
| Rye | 210 EUR per ton | cheap |
| Wheat | 260 EUR per ton | |
"""
BUDGET = """
| Post | Amount |
| --- | --- |
| Stones | 100 |
| Wood | 250 |
| Total | 350 |
"""
SHIFTS = """
| Worker | Hours |
| --- | --- |
| Ada | 30 |
| Bo | 38 |
| Cleo | 12 |
| All workers | 80 |
"""
HANDBOOK = f"""# Handbook

The mills are older than the town. Ada looks after all of them, and has a dog.

## List of mills
{MILLS}
Prices change each week.

## Prices
{PRICES}
## Budget of the dam
{BUDGET}
## Shifts
{SHIFTS}
```
| Sluice | Width |
| --- | --- |
| North | 7 |
| South | 9 |
```
"""
LONG = "# Stations\n\n## Gauges\n\n| Gauge | Level | Bank |\n| --- | --- | --- |\n" + "".join(
    f"| Gauge {name}{n} near the old bridge below the weir | {n * 3 % 101} | {'left' if n % 4 else 'right'} |\n"
    for name in "ABC"
    for n in range(1, 31)
)

ANSWERED = {
    "Which mill has the highest power?": (
        'highest Power (kW) in the table "List of mills" of Handbook: 1,200'
        " (Mill: Elm Mill | River: Aller | Power (kW): 1,200 | Staff: 12 | Opened: 1950)"
    ),
    "What is the lowest staff of all mills?": (
        'lowest Staff in the table "List of mills" of Handbook: 3'
        " (Mill: Oak Mill | River: Aller | Power (kW): 40 | Staff: 3 | Opened: 1901)"
    ),
    "Which mill has a higher power, Oak Mill or Ash Mill?": (
        'highest Power (kW) in the table "List of mills" of Handbook with Mill = Oak Mill or Ash Mill: 75'
        " (Mill: Ash Mill | River: Bode | Power (kW): 75 | Staff: 4 | Opened: 1899)"
    ),
    "How many mills have a power over 70?": (
        'the table "List of mills" of Handbook with Power (kW) > 70: 3 of 4 records'
    ),
    "How many mills are there?": 'the table "List of mills" of Handbook: 4 records',
    "How many mills have the river Bode?": 'the table "List of mills" of Handbook with River = Bode: 2 of 4 records',
    "What is the total staff of all mills?": 'sum of Staff in the table "List of mills" of Handbook: 28 (4 records)',
    "What is the average power per river?": (
        'average Power (kW) in the table "List of mills" of Handbook, by River: Aller: 620, Bode: 187.5'
    ),
    "What is the total amount in the budget of the dam?": (
        'sum of Amount in the table "Budget of the dam" of Handbook: 350 (2 records)'
    ),
}
REFUSED = (
    "Which mill has the happiest staff?",
    "Which grain has the highest price?",  # with its unit, it is no number
    "How many grains have a price over 200?",
    "How many posts are there?",  # of this table, which is not called so
    "What is the total of the hours?",  # one row adds up the others
    "Which worker has the most hours?",
    "How many mills have the river Elbe?",
    "How many mills have a power over 5000?",  # none: perhaps something else is meant
    "Which sluice has the highest width?",  # it is shown as code
    "What is the power of Oak Mill?",
)


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        yield opened


async def test_rows_of_a_table_in_a_text_are_counted_added_up_and_compared(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="handbook.md", content=HANDBOOK))
    for question, line in ANSWERED.items():
        answer = await kb.ask(question)
        assert answer.text.startswith(f"{WORKED_OUT} (no language model is set):\n\n- {line} [1]"), question


@pytest.mark.parametrize("question", REFUSED)
async def test_what_is_not_surely_told_by_a_table_is_not_worked_out(kb: KnowledgeBase, question: str) -> None:
    await kb.ingest(Document(path="handbook.md", content=HANDBOOK))
    assert WORKED_OUT not in (await kb.ask(question)).text


async def test_all_rows_count_of_a_table_in_several_passages_and_it_is_cited_as_a_whole(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="stations.md", content=LONG))
    assert len(await kb.client.get_document_chunks("stations.md")) > 3
    answer = await kb.ask("How many gauges have the bank right?")
    assert "with Bank = right: 21 of 90 records [1]" in answer.text
    (cited,) = [one for one in answer.citations if one.number == 1]
    assert LONG[cited.start_char : cited.end_char].startswith("| Gauge | Level | Bank |")
    assert cited.end_char == len(LONG)
    assert (cited.path, cited.heading) == ("stations.md", "Gauges")


async def test_tables_of_other_formats_are_read_likewise(kb: KnowledgeBase, tmp_path: Path) -> None:
    rows = [line.strip("| ").split(" | ") for line in MILLS.strip().splitlines() if "---" not in line]
    (tmp_path / "mills.html").write_text(
        "<html><head><title>Mills</title></head><body><h1>Mills</h1><p>All of them stand at a river.</p><table>"
        + "".join(f"<tr>{''.join(f'<td>{cell.strip("*`")}</td>' for cell in row)}</tr>" for row in rows)
        + "</table><p>Their wheels turn day and night.</p></body></html>"
    )
    document = docx.Document()
    document.add_heading("Locks", 1)
    document.add_paragraph("The locks are opened at six.")
    locks = [["Lock", "Length"], ["North", "30"], ["South", "41"], ["West", "12"]]
    table = document.add_table(len(locks), 2)
    for row, cells in zip(table.rows, locks, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.save(str(tmp_path / "locks.docx"))
    await kb.ingest([tmp_path])
    assert 'highest Staff in the table "Mills": 12 (' in (await kb.ask("Which mill has the highest staff?")).text
    longest = (await kb.ask("Which lock has the highest length?")).text
    assert 'highest Length in the table "Locks": 41 (Lock: South | Length: 41) [1]' in longest


async def test_which_of_several_tables_is_meant_has_to_be_clear(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="2023.md", content=f"# Mills in 2023\n\nThese turn.\n{MILLS}"))
    await kb.ingest(Document(path="2024.md", content=f"# Mills in 2024\n\nThese turn.\n{MILLS.replace('1,200', '9')}"))
    assert WORKED_OUT not in (await kb.ask("Which mill has the highest power?")).text
    assert "of the table" not in (await kb.ask("What is the highest power?")).text
    answer = await kb.ask("Which mill has the highest power according to the table Mills in 2024?")
    assert 'highest Power (kW) in the table "Mills in 2024": 300 (Mill: Fir Mill' in answer.text
    # A copy says the same.
    await kb.client.delete_document("2024.md")
    await kb.ingest(Document(path="copy.md", content=f"# Mills in 2023\n\nThese turn.\n{MILLS}"))
    assert 'in the table "Mills in 2023": 1,200 (' in (await kb.ask("Which mill has the highest power?")).text


async def test_records_come_before_tables_and_filters_leave_both_out(kb: KnowledgeBase) -> None:
    await kb.ingest(Document(path="handbook.md", content=HANDBOOK))
    assert WORKED_OUT not in (await kb.ask("How many mills are there?", filters="title:Handbook")).text
    await kb.insert_many("mills", [{"mill": "Ivy", "staff": 1}, {"mill": "Yew", "staff": 2}])
    assert "- mills: 2 records [1]" in (await kb.ask("How many mills are there?")).text
