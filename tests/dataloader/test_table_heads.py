"""Tables whose first rows have cells over several columns: names of groups, and titles."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from tests.dataloader.filetools import convert, places, records
from tests.dataloader.odftools import flat

GROUPED = (
    "| Firm | Revenue 2020 | Revenue 2021 | Profit 2020 | Profit 2021 |\n| --- | --- | --- | --- | --- |\n"
    "| Acme | 12 | 14 | 3 | 4 |\n| Brix | 90 | 80 | 7 | 5 |"
)
ROWS = (("Acme", "12", "14", "3", "4"), ("Brix", "90", "80", "7", "5"))


def word() -> bytes:
    document = pytest.importorskip("docx").Document()
    table = document.add_table(rows=4, cols=5)
    table.cell(0, 0).merge(table.cell(1, 0)).text = "Firm"
    for column, group in ((1, "Revenue"), (3, "Profit")):
        table.cell(0, column).merge(table.cell(0, column + 1)).text = group
        table.cell(1, column).text, table.cell(1, column + 1).text = "2020", "2021"
    return filled(table, document)


def slides() -> bytes:
    presentation = pytest.importorskip("pptx").Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = slide.shapes.add_table(4, 5, 0, 0, 9_000_000, 1_000_000).table
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(0, 0).text = "Firm"
    for column, group in ((1, "Revenue"), (3, "Profit")):
        table.cell(0, column).merge(table.cell(0, column + 1))
        table.cell(0, column).text = group
        table.cell(1, column).text, table.cell(1, column + 1).text = "2020", "2021"
    return filled(table, presentation)


def filled(table: object, document: object) -> bytes:
    for number, row in enumerate(ROWS, 2):
        for column, cell in enumerate(row):
            table.cell(number, column).text = cell  # type: ignore[attr-defined]
    stream = io.BytesIO()
    document.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def opendocument() -> str:
    def cell(text: str, spans: str = "") -> str:
        return f"<b:table-cell {spans}><t:p>{text}</t:p></b:table-cell>"

    covered, wide = "<b:covered-table-cell/>", 'b:number-columns-spanned="2"'
    head = cell("Firm", 'b:number-rows-spanned="2"') + "".join(
        cell(name, wide) + covered for name in ("Revenue", "Profit")
    )
    years = covered + "".join(map(cell, ("2020", "2021", "2020", "2021")))
    body = [head, years, *("".join(map(cell, row)) for row in ROWS)]
    return flat("text", f"<b:table>{''.join(f'<b:table-row>{row}</b:table-row>' for row in body)}</b:table>")


LATEX = r"""\documentclass{article}\begin{document}
\begin{tabular}{lrrrr}
\toprule
\multirow{2}{*}{Firm} & \multicolumn{2}{c}{Revenue} & \multicolumn{2}{c}{\textbf{Profit}} \\
\cmidrule(lr){2-3} \cmidrule(l{2pt}r){4-5}
 & 2020 & 2021 & 2020 & 2021 \\
\midrule
Acme & 12 & 14 & 3 & 4 \\
Brix & 90 & 80 & 7 & 5 \\
\bottomrule
\end{tabular}\end{document}"""
RST = """\
+------+-----------+-----------+
| Firm | Revenue   | Profit    |
|      +-----+-----+-----+-----+
|      |2020 |2021 |2020 |2021 |
+======+=====+=====+=====+=====+
| Acme | 12  | 14  | 3   | 4   |
+------+-----+-----+-----+-----+
| Brix | 90  | 80  | 7   | 5   |
+------+-----+-----+-----+-----+
"""
ASCIIDOC = """\
[%header,cols=5*]
|===
|Firm 2+|Revenue 2+|Profit

| |2020 |2021 |2020 |2021
|Acme |12 |14 |3 |4
|Brix |90 |80 |7 |5
|===
"""
HTML = (
    "<table><tr><td rowspan=2>Firm<td colspan=2>Revenue<td colspan=2>Profit<tr><td>2020<td>2021<td>2020<td>2021"
    "<tr><td>Acme<td>12<td>14<td>3<td>4<tr><td>Brix<td>90<td>80<td>7<td>5</table>"
)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.docx", word),
        ("a.pptx", slides),
        ("a.fodt", opendocument),
        ("a.tex", lambda: LATEX),
        ("a.rst", lambda: RST),
        ("a.adoc", lambda: ASCIIDOC),
        ("a.html", lambda: HTML),
        ("a.md", lambda: HTML),
    ],
)
def test_names_of_groups_are_parts_of_the_names_of_columns(name: str, make: Callable[[], bytes | str]) -> None:
    assert GROUPED in convert(name, make()).content


def test_years_below_merged_cells_of_a_workbook_are_names() -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    sheet = book.active
    sheet.append(["Firm", "Revenue", None, "Profit", None])
    sheet.append([None, 2020, 2021, 2020, 2021])
    for row in ROWS:
        sheet.append([row[0], *map(int, row[1:])])
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        sheet.merge_cells(cells)
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content == GROUPED
    assert records(document)[1] == {
        "Firm": "Brix",
        "Revenue 2020": "90",
        "Revenue 2021": "80",
        "Profit 2020": "7",
        "Profit 2021": "5",
    }


def test_a_csv_file_has_names_of_groups_too() -> None:
    rows = "".join(f"{','.join(row)}\n" for row in ROWS)
    document = convert("a.csv", f"Firms\n\nFirm,Revenue,,Profit,\n,2020,2021,2020,2021\n{rows}")
    assert document.content == f"Firms\n\n{GROUPED}"
    assert records(document)[0]["Profit 2021"] == "4"
    assert places(document, "row") == [(5, "| Acme | 12 | 14 | 3 | 4 |"), (6, "| Brix | 90 | 80 | 7 | 5 |")]
    # A column without a name is no group, nor is one below which rows begin.
    for text in ("id,name,,town\n1,Ann,x,\n2,Ben,y,Ulm\n", ",name,,town\n0,Ann,x,\n1,Ben,y,Ulm\n"):
        assert convert("a.csv", text).content.endswith("| name |  | town |\n" + "| --- " * 4 + "|\n" + _rows(text))


def _rows(text: str) -> str:
    return "\n".join(f"| {line.replace(',', ' | ')} |" for line in text.splitlines()[1:])


def page(*rows: str) -> str:
    """The text of a page with a table; cells of a row are divided by ``|``, ``Name*3`` is over three columns."""
    written: list[str] = []
    for row in rows:
        cells = (cell.strip().partition("*") for cell in row.split("|"))
        written.append("".join(f"<td colspan={count or 1}>{text}</td>" for text, _, count in cells))
    return convert("a.html", f"<p>Text.</p><table><tr>{'<tr>'.join(written)}</table>").content.partition("\n\n")[2]


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        # One group, above all columns but the first.
        ((" | Year ended*2", " | 2025 | 2024", "Sales | 7 | 6"), "|  | Year ended 2025 | Year ended 2024 |"),
        # A title, with names of columns below (years among them), or of groups of columns.
        (("Income*3", "Item | 2025 | 2024", "Sales | 7 | 6", "Costs | 3 | 2"), "Income\n\n| Item | 2025 | 2024 |"),
        (("Budget*3", "Month | Plan | Tax", "Jan | 1 | 2", "Feb | 3 | 4"), "Budget\n\n| Month | Plan | Tax |"),
        (
            ("Results*3", "Opponent | Date | Venue", "Russia | 2 Feb | Sochi", "Belgium | 9 Feb | Brussels"),
            "Results\n\n| Opponent | Date | Venue |",
        ),
        (
            ("Budget*3", " | Income*2", "Month | Plan | Actual", "Jan | 1 | 2", "Feb | 3 | 4"),
            "Budget\n\n| Month | Income Plan | Income Actual |",
        ),
    ],
)
def test_cells_over_several_columns_are_groups_or_titles(rows: tuple[str, ...], head: str) -> None:
    assert page(*rows).startswith(f"{head}\n| ---")


@pytest.mark.parametrize(
    "rows",
    [
        # Amounts below a name of two columns, and other names in the first column.
        ("Name | Size*2", " | 12 | 14", "Ann | 3 | 4"),
        ("Name | Home*2", "Ann | Main St | Ulm", "Ben | Kings Rd | Cork"),
        # Nothing tells names of columns from what is below: fields and their values.
        ("Person*3", "Name | Ann | Ulm", "Born | May | Cork", "Job | cook | hotel"),
        ("Persons*3", "Ann | 1980 | 2004", "Ben | 1979 | 2003", "Eve | 1985 | 2010"),
        ("Race*3", "Date*2 | April", "Place | Cork | Kerry", "Laps | 30 | 40"),
        # What is above all other columns is a text.
        (f"Step | {'It is told at length. ' * 5}*2", " | Before | After", "One | 3 | 4"),
    ],
)
def test_other_cells_over_several_columns_stay(rows: tuple[str, ...]) -> None:
    before = [cell.partition("*")[0].strip() for cell in rows[0].split("|")]
    assert page(*rows).startswith(f"| {' | '.join(before + [''] * (3 - len(before)))} |\n| ---")
