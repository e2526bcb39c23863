"""Tables whose first row names no columns: forms, rows that are numbered, cells that have their own names."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from libs.dataloader.form_tables import fields_of, guessed_table
from tests.dataloader.filetools import convert


@pytest.mark.parametrize(
    ("rows", "written"),
    [
        (
            [["Job title", "Miller"], ["Reports to", "Ida"], ["Place", "Delft"]],
            "Job title: Miller\nReports to: Ida\nPlace: Delft",
        ),
        ([["Owner:", "Ida"], ["Sails:", "four"], ["Left:", ""]], "Owner: Ida\nSails: four\nLeft:"),
        (
            [["Name", "Ida", "Date", "12-03-2026"], ["Role", "Miller", "Place", "Delft"]],
            "Name: Ida\nDate: 12-03-2026\nRole: Miller\nPlace: Delft",
        ),
        (
            [["Sails", "four"], ["Mail", "ida@example.org"], ["Visits", "40"]],
            "Sails: four\nMail: ida@example.org\nVisits: 40",
        ),
        ([["Wheat", "1.5 t"], ["Rye", "2 t"]], "Wheat: 1.5 t\nRye: 2 t"),
        ([["Built", "12 March 1743"], ["Moved", "1 May 1802"]], "Built: 12 March 1743\nMoved: 1 May 1802"),
        ([["The mill", ""], ["Owner", "Ida"], ["Address", "Delft"]], "The mill\n\nOwner: Ida\nAddress: Delft"),
        ([["Grade: GS-7", "Open: July"], ["", "Place: Buffalo"]], "Grade: GS-7\nOpen: July\nPlace: Buffalo"),
        (
            [["R-1", "It turns."], ["R-2", "It stops."], ["R-3", "It stands."]],
            "|  |  |\n| --- | --- |\n| R-1 | It turns. |\n| R-2 | It stops. |\n| R-3 | It stands. |",
        ),
        (
            [["1", "grind", "a"], ["2", "sift", "b"]],
            "|  |  |  |\n| --- | --- | --- |\n| 1 | grind | a |\n| 2 | sift | b |",
        ),
        # Columns with names:
        ([["Name", "Role"], ["Ida", "Miller"]], "| Name | Role |\n| --- | --- |\n| Ida | Miller |"),
        ([["Term", "Meaning"], ["quern", "a hand mill"]], "| Term | Meaning |\n| --- | --- |\n| quern | a hand mill |"),
        ([["Version", "Date"], ["1.0", "2026-01-01"]], "| Version | Date |\n| --- | --- |\n| 1.0 | 2026-01-01 |"),
        (
            [["Name", "Description"], ["id", "Its id."], ["type", "Its type."]],
            "| Name | Description |\n| --- | --- |\n| id | Its id. |\n| type | Its type. |",
        ),
        (
            [["Mill", "2024"], ["Rose", "14"], ["Star", "15"]],
            "| Mill | 2024 |\n| --- | --- |\n| Rose | 14 |\n| Star | 15 |",
        ),
        (
            [["Name", "Role", "Phone", "Place"], ["Ida", "Miller", "1", "Delft"]],
            "| Name | Role | Phone | Place |\n| --- | --- | --- | --- |\n| Ida | Miller | 1 | Delft |",
        ),
        (
            [["Question", "1", "2"], ["Is it good?", "4", "5"]],
            "| Question | 1 | 2 |\n| --- | --- | --- |\n| Is it good? | 4 | 5 |",
        ),
    ],
)
def test_a_table_without_a_head(rows: Sequence[Sequence[str]], written: str) -> None:
    assert guessed_table(rows) == written


def test_labels_in_bold_letters_make_a_form() -> None:
    rows = [["Sails", "four, of oak"], ["Neighbours", "a bakery"]]
    assert fields_of(rows) == []
    assert fields_of(rows, labelled=True) == [("Sails", "four, of oak"), ("Neighbours", "a bakery")]


_FORM = (
    ("Supplier", "Molen Onderdelen B.V."),
    ("Contact person", "Pieter de Groot"),
    ("Delivery time", "Six weeks for sails"),
    ("Warranty", "Two years on gears"),
)

_RULES = (("R-1", "The mill stops in 60 s."), ("R-2", "It has a sluice."), ("R-3", "It is oiled."))


def _word(rows: Sequence[Sequence[str]], *, bold: bool = False) -> bytes:
    docx = pytest.importorskip("docx")
    document, made = docx.Document(), BytesIO()
    document.add_heading("Assessment", 1)
    table = document.add_table(rows=0, cols=len(rows[0]))
    for row in rows:
        for place, (cell, text) in enumerate(zip(table.add_row().cells, row, strict=True)):
            cell.paragraphs[0].add_run(text).bold = bold and place == 0
    document.save(made)
    return made.getvalue()


def test_forms_of_word() -> None:
    assert convert("a.docx", _word(_FORM)).content.splitlines()[2:] == [f"{name}: {value}" for name, value in _FORM]
    labels = (("Sails", "four"), ("Stones", "two pairs"))
    assert "Sails: four\nStones: two pairs" in convert("a.docx", _word(labels, bold=True)).content
    assert "| Sails | four |" in convert("a.docx", _word(labels)).content


@pytest.mark.parametrize(
    ("table", "written"),
    [
        (
            "<tr><th colspan=2>Alan Turing</th></tr><tr><th>Born</th><td>1912</td></tr>"
            "<tr><th>Died</th><td>1954</td></tr>",
            "Alan Turing\nBorn: 1912\nDied: 1954",
        ),
        (
            "<tr><td><b>Sails</b></td><td>four</td></tr><tr><td><b>Oak:</b></td><td>yes</td></tr>",
            "Sails: four\nOak: yes",
        ),
        (
            "<tr><td>Name</td><td>Ida</td></tr><tr><td>Phone</td><td>+31 15 123 45</td></tr>",
            "Name: Ida\nPhone: +31 15 123 45",
        ),
        (
            "<tr><th>Mill</th><th>Owner</th></tr><tr><td>Rose</td><td>Ida</td></tr>",
            "| Mill | Owner |\n| --- | --- |\n| Rose | Ida |",
        ),
        (
            "<tr><td>Mill</td><td>Owner</td></tr><tr><td>Rose</td><td>Ida</td></tr>",
            "| Mill | Owner |\n| --- | --- |\n| Rose | Ida |",
        ),
    ],
)
def test_forms_of_web_pages(table: str, written: str) -> None:
    page = f"<h1>Mill</h1><p>{'It turns in the wind. ' * 12}</p><table>{table}</table>"
    assert convert("a.html", page).content.partition("wind.\n\n")[2].strip() == written
    assert convert("a.md", f"# Mill\n\n<table>{table}</table>\n").content.partition("\n\n")[2].strip() == written


async def test_what_a_form_says_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "form.docx").write_bytes(_word(_FORM))
    (tmp_path / "rules.docx").write_bytes(_word(_RULES))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        first = (await kb.ask("Who is the contact person of the supplier?")).text.split("\n- ")[1]
        assert "Contact person: Pieter de Groot" in first
        assert "Supplier: Contact person" not in first
        first = (await kb.ask("In how many seconds does the mill stop?")).text.split("\n- ")[1]
        assert first.startswith("R-1 | The mill stops in 60 s.")
