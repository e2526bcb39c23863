"""The sheets of a workbook are collections of their own, unless they have the same columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook

from libs.dataloader import Document
from tests.dbhandler.kit import Engine

ORDERS = [("Order", "Customer", "Amount"), ("A-1", "Acme", 10), ("A-2", "Brix", 20)]
MORE = [("Order", "Customer", "Amount"), ("A-3", "Acme", 30)]
TASKS = [("Task", "Owner"), ("Call Acme", "Ada"), ("Visit Brix", None), ("Write", "Bo")]
NOTES = [("Note", "By", "When"), ("Late", "Ada", "2026-01-01"), ("Paid", "Bo", "2026-01-02")]


def _workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("sheets", "collections"),
    [
        ({"Orders": ORDERS}, {"book": 2}),
        ({"January": ORDERS, "February": MORE}, {"book": 3}),
        ({"Orders": ORDERS, "Tasks": TASKS}, {"Orders": 2, "Tasks": 3}),
        ({"January": ORDERS, "February": MORE, "Tasks": TASKS}, {"book": 3, "Tasks": 3}),
        ({"Sheet1": ORDERS, "Tasks": TASKS}, {"book": 2, "Tasks": 3}),
        ({"Tabelle1": ORDERS, "Tabelle2": TASKS, "Tabelle3": NOTES}, {"book": 2, "book 2": 3, "book 3": 2}),
        ({"documents": ORDERS, "Tasks": TASKS}, {"book": 2, "Tasks": 3}),
        ({"Tasks": TASKS, "Read me": [("Only a note.",)]}, {"book": 3}),
    ],
)
async def test_sheets_with_other_columns_are_collections(
    engine: Engine,
    tmp_path: Path,
    sheets: dict[str, list[tuple[object, ...]]],
    collections: dict[str, int],
) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([_workbook(tmp_path / "book.xlsx", sheets)])
        assert await kb.client.collections() == collections


async def test_a_question_is_worked_out_from_its_sheet(engine: Engine, tmp_path: Path) -> None:
    async with engine.knowledge() as kb:
        file = _workbook(tmp_path / "book.xlsx", {"Orders": ORDERS, "Tasks": TASKS})
        await kb.ingest([file])
        assert "Tasks with Owner = none: 1 of 3 records" in (await kb.ask("How many tasks have no owner?")).text
        assert "sum of Amount in Orders: 30 (2 records)" in (await kb.ask("What is the total amount of orders?")).text
        _workbook(file, {"Orders": ORDERS})
        await kb.ingest([file])
        assert await kb.client.collections() == {"book": 2}


async def test_so_are_the_lists_of_a_json_file(engine: Engine, tmp_path: Path) -> None:
    customers = [{"id": 1, "name": "Acme", "city": "Ulm"}, {"id": 2, "name": "# Brix", "city": "Bern"}]
    orders = [{"id": 10, "customer": "Acme", "amount": 5}, {"id": 11, "customer": "# Brix", "amount": 7}]
    (tmp_path / "shop.json").write_text(json.dumps({"shop": "North", "customers": customers, "orders": orders}))
    nested = {"rules": [{"when": {"a": [1]}, "then": {"b": 2}}] * 2, "steps": [{"run": {"c": 3}, "of": {}}] * 2}
    (tmp_path / "nested.json").write_text(json.dumps(nested))
    async with engine.knowledge() as kb:
        await kb.ingest([tmp_path])
        assert await kb.client.collections() == {"customers": 2, "orders": 2}
        assert "sum of amount in orders: 12 (2 records)" in (await kb.ask("What is the total amount of orders?")).text
        hit = (await kb.search("Which city is Acme in?", k=1))[0]
        assert (hit.heading, hit.metadata["list"]) == ("customers", "customers")
        names = {record["data"]["name"] for record in await kb.client.list_records("customers")}
        assert names == {"Acme", "# Brix"}


async def test_rows_that_add_up_the_others_are_no_records(engine: Engine, tmp_path: Path) -> None:
    tables = {
        "regions": "region,sales\nNorth,100\nSouth,50.5\nWest,20\nTotal,170.50\n",
        "parts": "region,sales\nNorth,1\nSouth,2\nSubtotal,3\nWest,4\nGrand total,7\n",
        "firms": "firm,sales\nTotalEnergies,90\nTotal Wine,7\nAcme,5\n",
        "rounded": "region,sales\nNorth,33.33\nSouth,33.33\nWest,33.33\nSumme,100\n",
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text)
    async with engine.knowledge() as kb:
        await kb.ingest([tmp_path])
        assert await kb.client.collections() == {"firms": 3, "parts": 3, "regions": 3, "rounded": 3}
        assert (
            "sum of sales in regions: 170.5 (3 records)"
            in (await kb.ask("What is the total of sales in regions?")).text
        )
        assert "Total" in (await kb.search("total sales", k=1, filters={"path": {"contains": "regions"}}))[0].content


async def test_records_before_the_first_sheet_are_kept(engine: Engine) -> None:
    text = "a: 1\n\na: 2\n\nb: 3"
    passed = Document(
        "passed",
        text,
        locations={"sheet": [(6, "S"), (12, "T")]},
        records=[(0, {"a": 1}), (6, {"a": 2}), (12, {"b": 3})],
    )
    async with engine.knowledge() as kb:
        await kb.ingest([passed])
        assert await kb.client.collections() == {"S": 2, "T": 1}
