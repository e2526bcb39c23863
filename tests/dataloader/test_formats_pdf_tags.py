"""Tables of PDFs whose tags tell the cells."""

from __future__ import annotations

from collections.abc import Sequence

from tests.dataloader.filetools import convert
from tests.dataloader.pdftables import tables


def tagged(rows: Sequence[Sequence[str]], *, attributes: str = "", header: str = "TH", swap: bool = False) -> bytes:
    """A file that tells the cells of a table without rules: each line of a cell in its own place."""
    shown: list[str] = []
    objects: dict[int, str] = {}
    elements: list[list[int]] = []
    marks: list[int] = []
    number = 10
    for row, cells in enumerate(rows):
        elements.append([])
        for column, cell in enumerate(cells):
            place = (len(cells) - 1 - column if swap and row % 2 else column) * 120 + 50
            shown.append(f"/P <</MCID {len(marks)}>> BDC BT /F 10 Tf {place} {700 - 30 * row} Td 12 TL")
            shown += [f"({line}) Tj T*" for line in cell.split("\n")]
            shown.append("ET EMC")
            kind = header if row == 0 else "TD"
            extra = attributes if (row, column) == (0, 0) else ""
            objects[number] = f"<</S/{kind}/P {200 + row} 0 R/Pg 3 0 R/K {len(marks)}{extra}>>"
            elements[-1].append(number)
            marks.append(number)
            number += 1
    kids = " ".join(f"{200 + row} 0 R" for row in range(len(rows)))
    for row, own in enumerate(elements):
        objects[200 + row] = f"<</S/TR/P 8 0 R/Pg 3 0 R/K[{' '.join(f'{one} 0 R' for one in own)}]>>"
    stream = "\n".join(shown)
    objects |= {
        1: "<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>",
        2: "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/StructParents 0"
        "/Resources<</Font<</F 5 0 R>>>>>>",
        4: f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        5: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        6: "<</Type/StructTreeRoot/K 8 0 R/ParentTree 7 0 R>>",
        7: f"<</Nums[0[{' '.join(f'{one} 0 R' for one in marks)}]]>>",
        8: f"<</S/Table/P 6 0 R/Pg 3 0 R/K[{kids}]>>",
    }
    body = "".join(f"{key} 0 obj\n{text}\nendobj\n" for key, text in sorted(objects.items()))
    return f"%PDF-1.7\n{body}trailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n".encode()


def test_the_tags_of_a_file_tell_the_cells_of_a_table_without_rules() -> None:
    rows = [
        ["Town", "What is said of it"],
        ["Ulm", "An old town\non the Danube"],
        ["Rome", "It was not built\nin a day"],
    ]
    assert tables(convert("a.pdf", tagged(rows)).content) == [
        [["Town", "What is said of it"], ["Ulm", "An old town on the Danube"], ["Rome", "It was not built in a day"]]
    ]


def test_a_cell_that_tags_say_spans_columns() -> None:
    rows = [["Income", "Costs"], ["2019", "2020", "2019"], ["1", "2", "3"]]
    span = "/A<</O/Table/ColSpan 2>>"
    content = convert("a.pdf", tagged(rows, attributes=span, header="TD")).content
    assert tables(content) == [[["Income 2019", "Income 2020", "Costs 2019"], ["1", "2", "3"]]]


def test_tags_that_do_not_suit_the_page_are_not_believed() -> None:
    rows = [["Town", "Old"], ["Ulm", "Very"], ["Rome", "More"]]
    assert "|" not in convert("a.pdf", tagged(rows, swap=True)).content
    lines = [
        ["A duty of those", "At the end of"],
        ["who pay others", "each year they"],
        ["is to keep books", "send them all"],
    ]
    assert "|" not in convert("a.pdf", tagged(lines)).content
