"""Excel workbooks."""

from __future__ import annotations

import io
import re
from datetime import date, datetime
from typing import Any

import pytest

from tests.dataloader.filetools import convert, places, reason, records, unzipped, zipped


@pytest.mark.parametrize(
    ("text", "content", "title"),
    [
        (
            "# Data from the pier, station 5\n#\nyear,temp\n2020,1.5\n2021,1.6\n",
            "Data from the pier, station 5\n\n| year | temp |\n| --- | --- |\n| 2020 | 1.5 |\n| 2021 | 1.6 |",
            "Data from the pier, station 5",
        ),
        ("# x,y\n1.0,2.0\n3.0,4.0\n", "| x | y |\n| --- | --- |\n| 1.0 | 2.0 |\n| 3.0 | 4.0 |", None),
        (
            "##format=4\n#id,at\n1,5\n2,6\n",
            "format=4\n\n| #id | at |\n| --- | --- |\n| 1 | 5 |\n| 2 | 6 |",
            "format=4",
        ),
    ],
)
def test_comments_above_a_table(text: str, content: str, title: str | None) -> None:
    document = convert("a.csv", text)
    assert (document.content, document.title) == (content, title)
    rows = text.split("\n")
    assert [rows[int(number) - 1] for _, number in document.locations["row"]] == rows[-3:-1]


def workbook(**sheets: list[Any]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_one_sheet() -> None:
    moment = datetime(2024, 5, 6, 7, 8)
    rows = [["name", "when", "value", "ok"], ["a", date(2024, 1, 2), 1.5, True], [None] * 4, ["b|c", moment, 3, None]]
    document = convert("a.xlsx", workbook(Data=rows))
    assert document.content == (
        "| name | when | value | ok |\n| --- | --- | --- | --- |\n| a | 2024-01-02 | 1.5 | TRUE |\n"
        "| b\\|c | 2024-05-06 07:08:00 | 3 |  |"
    )
    assert document.format == "table"
    assert document.locations["sheet"] == [(0, "Data")]
    assert [value for _, value in document.locations["row"]] == [2, 4]
    assert records(document)[1] == {"name": "b|c", "when": "2024-05-06 07:08:00", "value": "3", "ok": ""}


@pytest.mark.parametrize(
    ("rows", "content"),
    [
        (
            [["Price of oak", 1450], ["Approved by", "Ida"], ["Approved on", date(2024, 11, 28)]],
            "Price of oak: 1450\nApproved by: Ida\nApproved on: 2024-11-28",
        ),
        ([["Began", date(2024, 11, 28)], ["Boats", 3]], "Began: 2024-11-28\nBoats: 3"),
        ([["Manager:", "Ida"], ["Site:", "Pier 4"]], "Manager: Ida\nSite: Pier 4"),
        ([["Ask:", "Answer:"], ["Who:", "Ida"]], "| Ask: | Answer: |\n| --- | --- |\n| Who: | Ida |"),
        ([["Name", "Site"], ["Ida", "Pier 4"]], "| Name | Site |\n| --- | --- |\n| Ida | Pier 4 |"),
        ([["Name", "Boats"], ["Ida", 4]], "| Name | Boats |\n| --- | --- |\n| Ida | 4 |"),
        ([["Boats", 2023], ["in", 4], ["out", 5]], "| Boats | 2023 |\n| --- | --- |\n| in | 4 |\n| out | 5 |"),
        ([["a", 1], ["a", 2]], "| column_1 | column_2 |\n| --- | --- |\n| a | 1 |\n| a | 2 |"),
    ],
)
def test_names_of_fields_before_their_values_are_no_table(rows: list[list[Any]], content: str) -> None:
    assert convert("a.xlsx", workbook(Data=rows)).content == content


def test_several_sheets_and_tables() -> None:
    prices = [["Prices in May"], ["name", "price"], ["a", 1], ["b", 2], [], ["city", "people"], ["X", 1000]]
    document = convert("a.xlsx", workbook(Prices=prices, Notes=[["Only words."], ["And more."]], Empty=[]))
    assert document.content == (
        "## Prices\n\nPrices in May\n\n| name | price |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n\n"
        "| city | people |\n| --- | --- |\n| X | 1000 |\n\n## Notes\n\nOnly words.\n\nAnd more."
    )
    assert document.format == "markdown"
    assert document.title == "Prices in May"
    assert places(document, "sheet") == [("Prices", "## Prices"), ("Notes", "## Notes")]
    assert records(document) == [
        {"name": "a", "price": "1"},
        {"name": "b", "price": "2"},
        {"city": "X", "people": "1000"},
    ]


def test_tables_beside_one_another() -> None:
    rows = [
        ["Parts", None, None, "Cities", None],
        ["part", "price", None, "city", "people"],
        ["nut", 5, None, "Bern", 134000],
        [None, None, None, "Chur", 38000],
    ]
    document = convert("a.xlsx", workbook(Data=rows))
    assert document.content == (
        "Parts\n\n| part | price |\n| --- | --- |\n| nut | 5 |\n\n"
        "Cities\n\n| city | people |\n| --- | --- |\n| Bern | 134000 |\n| Chur | 38000 |"
    )
    assert places(document, "row") == [(3, "| nut | 5 |"), (3, "| Bern | 134000 |"), (4, "| Chur | 38000 |")]
    assert records(document)[1:] == [{"city": "Bern", "people": "134000"}, {"city": "Chur", "people": "38000"}]
    halves = [["day", "tide", None, "day", "tide"], ["Monday", 1, None, "Tuesday", 2]]
    assert convert("a.xlsx", workbook(Data=halves)).content == (
        "| day | tide |\n| --- | --- |\n| Monday | 1 |\n\n| day | tide |\n| --- | --- |\n| Tuesday | 2 |"
    )


@pytest.mark.parametrize(
    "rows",
    [
        [["item", "unit", None, "note", "price"], ["nut", "kg", None, "new", 5], ["nail", "kg", None, "old", 6]],
        [["item", "note", None, 2023, 2024], ["sales", "a", None, 5, 6], [None, None, None, 5, 6]],
        [["item", "unit", None, "price", "tax"], ["nut", "kg", None, 5, 6], [None, None, None, 5, 6]],
        [["item", "unit", None, "note", "by"], ["nut", "kg", None, "new", "Ann"], ["nail", "kg", None, None, "Bob"]],
    ],
    ids=["same height", "years", "sums", "gaps"],
)
def test_an_empty_column_within_a_table(rows: list[list[Any]]) -> None:
    lines = convert("a.xlsx", workbook(Data=rows)).content.split("\n")
    assert len(lines) == len(rows) + 1 and {line.count("|") for line in lines} == {5}


def test_columns_that_are_empty_are_left_out() -> None:
    rows = [[None, "name", None, "price", None], [None, "a", None, 1, None], [None, "b", None, 2, None]]
    document = convert("a.xlsx", workbook(Data=rows))
    assert document.content == "| name | price |\n| --- | --- |\n| a | 1 |\n| b | 2 |"
    assert records(document) == [{"name": "a", "price": "1"}, {"name": "b", "price": "2"}]


def test_percentages_and_a_cell_in_the_last_corner() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["rate", "x"])
    sheet.append([0.125, 1])
    sheet["A2"].number_format = "0.0%"
    sheet["XFD1048576"] = "far away"
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content == ("| rate | x |  |\n| --- | --- | --- |\n| 12.5% | 1 |  |\n|  |  | far away |")
    assert [value for _, value in document.locations["row"]] == [2, 1_048_576]


def test_cells_that_are_merged_downwards_are_in_each_of_their_rows() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Figures"],
        [],
        ["Region", "City", "People"],
        ["North", "Kiel", 1],
        [None, "Lübeck", 2],
        ["South", "Ulm", 3],
    ):
        sheet.append(row)
    for area in ("A1:C1", "A4:A5", "C6:C9"):
        sheet.merge_cells(area)
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content == (
        "Figures\n\n| Region | City | People |\n| --- | --- | --- |\n"
        "| North | Kiel | 1 |\n| North | Lübeck | 2 |\n| South | Ulm | 3 |"
    )
    assert records(document)[1] == {"Region": "North", "City": "Lübeck", "People": "2"}


@pytest.mark.parametrize(
    ("areas", "header"),
    [
        (("B2:C2", "D2:E2", "A2:A3"), ["Month", "Income Plan", "Income Actual", "Costs Plan", "Costs Actual"]),
        (("A1:E1", "B2:C2", "D2:E2"), ["Month", "Income Plan", "Income Actual", "Costs Plan", "Costs Actual"]),
        ((), ["Month", "Income", "", "Costs", ""]),
    ],
)
def test_names_of_groups_are_parts_of_the_names_of_columns(areas: tuple[str, ...], header: list[str]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Budget"],
        ["Month", "Income", None, "Costs", None],
        [None if "A2:A3" in areas else "Month", "Plan", "Actual", "Plan", "Actual"],
        ["Jan", 1, 2, 3, 4],
        ["Feb", 5, 6, 7, 8],
    ):
        sheet.append(row)
    for area in areas:
        sheet.merge_cells(area)
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content.startswith(f"Budget\n\n| {' | '.join(header)} |\n")
    if areas:
        assert records(document)[1] == dict(zip(header, ["Feb", "5", "6", "7", "8"], strict=True))
        assert [row for row, _ in places(document, "row")] == [4, 5]


def test_the_unit_and_the_period_above_the_names_of_columns_are_no_names_of_their_own() -> None:
    # As in "Analyses by segment" of a half-year report: each period is a table, and nothing is merged.
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["In millions", None, None, "January-June 2023"],
        [None, "Sales", "Profit", "of which restructuring"],
        ["Water", 1672, 152, -2],
        ["Total", 46293, 7904, -262],
        [],
        ["In millions", None, None, "January-June 2022"],
        [None, "Sales", "Profit", "of which restructuring"],
        ["Water", 1792, 176, -4],
    ):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content == (
        "| In millions January-June 2023 | Sales | Profit | of which restructuring |\n| --- | --- | --- | --- |\n"
        "| Water | 1672 | 152 | -2 |\n| Total | 46293 | 7904 | -262 |\n\n"
        "| In millions January-June 2022 | Sales | Profit | of which restructuring |\n| --- | --- | --- | --- |\n"
        "| Water | 1792 | 176 | -4 |"
    )
    assert records(document)[0]["Sales"] == "1672"


def test_formulas_without_values_show_themselves() -> None:
    parts = unzipped(workbook(Data=[["item", "net", "gross"], ["a", 1, "=B2*1.19"], ["b", 2, "=B3*1.19"]]))
    part = "xl/worksheets/sheet1.xml"
    content = convert("a.xlsx", zipped(parts)).content
    assert content.split("\n")[2:] == ["| a | 1 | =B2*1.19 |", "| b | 2 | =B3*1.19 |"]
    text = re.sub(r"(B3\*1.19</f>)<v ?(?:/>|></v>)", r"\1<v>2.38</v>", parts[part].decode())
    text = text.replace('<c r="C2"><f>', '<c r="C2" t="str"><f>')  # its value is an empty text
    content = convert("a.xlsx", zipped({**parts, part: text})).content
    assert content.split("\n")[2:] == ["| a | 1 |  |", "| b | 2 | 2.38 |"]


def test_notes_on_cells() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["name", "price"], ["a", 1]):
        book.active.append(row)
    book.active["B2"].comment = openpyxl.comments.Comment("Ann:\nTo be checked", "Ann")
    book.active["A2"].comment = openpyxl.comments.Comment("[Threaded comment] Your version", "tc={1}")
    stream = io.BytesIO()
    book.save(stream)
    parts = unzipped(stream.getvalue())
    relations = "xl/worksheets/_rels/sheet1.xml.rels"
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    more = f'<Relationship Id="t1" Type="{kind}" Target="../threadedComments/threadedComment1.xml"/></Relationships>'
    parts[relations] = parts[relations].decode().replace("</Relationships>", more).encode()
    space = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    document = convert(
        "a.xlsx",
        zipped(
            {
                **parts,
                "xl/threadedComments/threadedComment1.xml": (
                    f'<ThreadedComments {space}><threadedComment ref="A2" personId="p"><text>Why a?</text>'
                    "</threadedComment></ThreadedComments>"
                ),
                "xl/persons/person.xml": f'<personList {space}><person id="p" displayName="Bo Ek"/></personList>',
            }
        ),
    )
    table = "| name | price |\n| --- | --- |\n| a | 1 |"
    assert document.content == f"{table}\n\nNote on B2 by Ann: To be checked\nNote on A2 by Bo Ek: Why a?"
    damaged = convert("a.xlsx", zipped({**parts, "xl/comments/comment1.xml": "<comments"}))
    assert damaged.content == table


def test_cells_far_from_the_others() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["name", "price"], ["a", 1], ["b", 2]):
        sheet.append(row)
    for number, *cells in ((20_000, "name", "price"), (20_001, "c", 3), (20_002, "d", 4)):
        for column, value in enumerate(cells, 1):
            sheet.cell(number, column, value)
    sheet.cell(20_002, 3_000, "right")
    alone = book.create_sheet("Alone")
    alone["XFD1048576"] = "in the corner"
    stream = io.BytesIO()
    book.save(stream)
    document = convert("a.xlsx", stream.getvalue())
    assert document.content == (
        "## Sheet\n\n| name | price |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n\n"
        "| name | price |  |\n| --- | --- | --- |\n| c | 3 |  |\n| d | 4 | right |\n\n## Alone\n\nin the corner"
    )
    assert document.metadata["sheets"] == ["Sheet", "Alone"]
    assert records(document)[-1] == {"name": "d", "price": "4", "column_3": "right"}


def test_cells_on_a_diagonal_make_no_giant_table() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for number in range(1, 2_000):
        book.active.cell(number, number, f"cell {number}")
    stream = io.BytesIO()
    book.save(stream)
    content = convert("a.xlsx", stream.getvalue()).content
    assert len(content) < 100_000
    assert content.split("\n\n")[1_000] == "cell 1001"


def test_a_sheet_for_a_chart_that_has_none() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_chartsheet("Chart", 0)
    book.active = 1
    book["Sheet"].append(["only", "these"])
    book["Sheet"].append(["words", "here"])
    stream = io.BytesIO()
    book.save(stream)
    parts = unzipped(stream.getvalue())
    assert not any(name.startswith("xl/chartsheets/_rels") for name in parts)
    document = convert("a.xlsx", zipped(parts))
    assert document.content == "| only | these |\n| --- | --- |\n| words | here |"
    assert document.metadata["sheets"] == ["Sheet"]


def strict(data: bytes) -> bytes:
    """A workbook in the strict form of the format."""
    spaces = {
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main": b"http://purl.oclc.org/ooxml/spreadsheetml/main",
        b"http://schemas.openxmlformats.org/officeDocument/2006/relationships": (
            b"http://purl.oclc.org/ooxml/officeDocument/relationships"
        ),
    }
    parts = unzipped(data)
    for old, new in spaces.items():
        parts = {name: part.replace(old, new) for name, part in parts.items()}
    return zipped(parts)


def test_the_strict_form_is_read_like_the_usual_one() -> None:
    rows = [["name", "when"], ["a", date(2024, 1, 2)], ["b", datetime(2024, 5, 6, 7, 8)]]
    usual = workbook(Data=rows, More=[["words"]])
    assert strict(usual) != usual
    one, other = convert("a.xlsx", strict(usual)), convert("a.xlsx", usual)
    assert (one.content, one.metadata, one.locations) == (other.content, other.metadata, other.locations)
    assert (
        records(one)
        == records(other)
        == [{"name": "a", "when": "2024-01-02"}, {"name": "b", "when": "2024-05-06 07:08:00"}]
    )
    dated = unzipped(usual)
    sheet = dated["xl/worksheets/sheet1.xml"].decode()
    found = re.search(r'<c r="B2"[^>]*><v>[^<]*</v></c>', sheet)
    assert found is not None
    dated["xl/worksheets/sheet1.xml"] = sheet.replace(
        found[0], '<c r="B2" t="d"><v>2024-01-02T00:00:00</v></c>'
    ).encode()
    assert convert("a.xlsx", zipped(dated)).content == convert("a.xlsx", usual).content


def test_numbers_are_shown_as_their_formats_say() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    shown = [
        (0.5, "0.0%", "50%"),
        (45292, "yyyy-mm-dd", "2024-01-01"),
        (45292.75, "dd.mm.yyyy hh:mm", "2024-01-01 18:00:00"),
        (0.75, "h:mm", "18:00:00"),
        (59, "d-mmm-yy", "1900-02-28"),
        (61, "d-mmm-yy", "1900-03-01"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (-0.125, "[h]:mm", "-3:00:00"),
        (7, '0 "days"', "7"),
        (1000.5, '#,##0.00 "€"', "1000.5 €"),
        (-5, "[$$-409]#,##0.00;[Red]-[$$-409]#,##0.00", "-$5"),
        (7, '_("£"* #,##0.00_)', "£7"),
        (7, '"CHF" 0.00', "CHF 7"),
        (7, r"#,##0\ [$€-407]", "7 €"),
        (7, "[$-409]0.00", "7"),
        (7, "[Red]0.00", "7"),
        (7, "0_d", "7"),
        (7, r"0\h", "7"),
        (-7, "yyyy-mm-dd", "1899-12-23"),
        (1e9, "yyyy-mm-dd", "#VALUE!"),
        (True, "General", "TRUE"),
        (0.1 + 0.2, "General", "0.3"),
    ]
    book.active.append(["value", "x"])
    for row, (value, code, _) in enumerate(shown, 2):
        cell = book.active.cell(row, 1, value)
        cell.number_format = code
        book.active.cell(row, 2, "x")
    stream = io.BytesIO()
    book.save(stream)
    lines = convert("a.xlsx", stream.getvalue()).content.split("\n")[2:]
    assert [line.split("|")[1].strip() for line in lines] == [text for _, _, text in shown]
    book.epoch = openpyxl.utils.datetime.MAC_EPOCH
    book.active["A2"], book.active["A2"].number_format = 43830, "yyyy-mm-dd"
    stream = io.BytesIO()
    book.save(stream)
    assert "| 2024-01-01 | x |" in convert("a.xlsx", stream.getvalue()).content


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def test_rich_texts_escapes_and_cells_without_a_place() -> None:
    parts = unzipped(workbook(Data=[["one", "two"], ["three", 4]]))
    strings = (
        "<si><r><t>ri</t></r><r><rPr><b/></rPr><t>ch_x000D__x000A_text</t></r><rPh><t>spoken</t></rPh></si>"
        "<si><t> two </t></si>"
    )
    parts["xl/sharedStrings.xml"] = f"<sst xmlns='{SHEET}'>{strings}</sst>".encode()
    shared = b"<Relationship Id='r9' Type='x/sharedStrings' Target='sharedStrings.xml'/></Relationships>"
    relations = "xl/_rels/workbook.xml.rels"
    parts[relations] = parts[relations].replace(b"</Relationships>", shared)
    rows = (
        "<row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row>"
        "<row><c t='inlineStr'><is><t>in the cell</t></is></c><c t='e'><v>#N/A</v></c><c><v>odd</v></c></row>"
    )
    controls = "<controls><from><row>7</row></from></controls>"
    parts["xl/worksheets/sheet1.xml"] = (
        f"<worksheet xmlns='{SHEET}'><sheetData>{rows}</sheetData>{controls}</worksheet>".encode()
    )
    assert convert("a.xlsx", zipped(parts)).content == (
        "| rich text | two |  |\n| --- | --- | --- |\n| in the cell | #N/A | odd |"
    )
    parts["xl/sharedStrings.xml"] = f"<sst xmlns='{SHEET}'/>".encode()
    assert reason("a.xlsx", zipped(parts)) == "it is damaged: it has no text number 0"


@pytest.mark.parametrize("number", ["9" * 5000, "-1", "x", ""])
def test_rows_whose_number_is_none_come_one_after_the_other(number: str) -> None:
    parts = unzipped(workbook(Data=[["name", "value"], ["a", 1], ["b", 2]]))
    sheet = "xl/worksheets/sheet1.xml"
    for row in (2, 3):
        parts[sheet] = parts[sheet].replace(f'<row r="{row}"'.encode(), f'<row r="{number}"'.encode())
    document = convert("a.xlsx", zipped(parts))
    assert document.content == "| name | value |\n| --- | --- |\n| a | 1 |\n| b | 2 |"
    assert [number for number, _ in places(document, "row")] == [2, 3]


def test_an_odd_style_costs_nothing() -> None:
    parts = unzipped(workbook(Data=[["name", "when"], ["a", date(2024, 1, 2)]]))
    styles = parts["xl/styles.xml"].decode()
    parts["xl/styles.xml"] = re.sub("<cellStyles?[ >].*</cellStyles>", "<cellStyles odd='1'/>", styles).encode()
    parts["xl/styles.xml"] = parts["xl/styles.xml"].replace(b"<fonts", b"<fonts ODD='x'")
    assert "| a | 2024-01-02 |" in convert("a.xlsx", zipped(parts)).content


def test_text_boxes_and_diagrams_follow_the_cells() -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    drawing = (
        "<wsDr xmlns='http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing'"
        " xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'"
        f" xmlns:r='{office}' xmlns:m='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        "<grpSp><sp><txBody><a:p><a:r><a:t>Read </a:t></a:r><a:r><a:t>this:</a:t></a:r></a:p><a:p/>"
        "<a:p><a:r><a:t>mind</a:t></a:r><a:br/><a:r><a:t>the step</a:t></a:r></a:p></txBody></sp></grpSp>"
        "<m:AlternateContent><m:Choice><sp><txBody><a:p><a:r><a:t>once</a:t></a:r></a:p></txBody></sp></m:Choice>"
        "<m:Fallback><sp><txBody><a:p><a:r><a:t>once</a:t></a:r></a:p></txBody></sp></m:Fallback></m:AlternateContent>"
        "<graphicFrame><relIds r:dm='d1'/></graphicFrame></wsDr>"
    )
    diagram = "<dataModel><ptLst><pt><t><p><r><x>First</x></r></p></t></pt><pt><t>Second</t></pt></ptLst></dataModel>"
    relation = "<Relationships><Relationship Id='d1' Type='x/{}' Target='{}'/></Relationships>"

    def drawn(**sheets: list[Any]) -> dict[str, bytes | str]:
        return {
            **unzipped(workbook(**sheets)),
            "xl/worksheets/_rels/sheet1.xml.rels": relation.format("drawing", "../drawings/drawing1.xml"),
            "xl/drawings/drawing1.xml": drawing,
            "xl/drawings/_rels/drawing1.xml.rels": relation.format("diagramData", "../diagrams/data1.xml"),
            "xl/diagrams/data1.xml": diagram,
        }

    text = "Read this:\nmind the step\n\nonce\n\n- First\n- Second"
    alone = convert("a.xlsx", zipped(drawn(Data=[])))
    assert (alone.content, alone.format, alone.metadata["sheets"]) == (text, "markdown", ["Data"])
    table = drawn(Data=[["a", "b"], [1, 2]], More=[["c", "d"], [3, 4]])
    assert convert("a.xlsx", zipped(table)).content == (
        f"## Data\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n{text}\n\n## More\n\n| c | d |\n| --- | --- |\n| 3 | 4 |"
    )
    table["xl/drawings/drawing1.xml"] = "no XML"
    assert convert("a.xlsx", zipped(table)).content.startswith(
        "## Data\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## More"
    )


def test_names_of_parts_with_backslashes_or_in_two_cases() -> None:
    parts = unzipped(workbook(Data=[["a", "b"], [1, 2]]))
    wanted = convert("a.xlsx", zipped(parts)).content
    parts["xl/worksheets/Sheet1.xml"] = f"<worksheet xmlns='{SHEET}'/>".encode()
    assert convert("a.xlsx", zipped(parts)).content == wanted
    del parts["xl/worksheets/Sheet1.xml"]
    assert convert("a.xlsx", zipped({name.replace("/", "\\"): part for name, part in parts.items()})).content == wanted


def test_titles_of_charts_follow_the_cells() -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Sales")
        for row, cells in enumerate((("Region", "Sales"), ("East", 3), ("West", 4))):
            sheet.write_row(row, 0, cells)
        sheet.write("D1", "From a cell")
        for title in ({"name": "Sales by region"}, {"name": "=Sales!$D$1"}, {"none": True}):
            chart = book.add_chart({"type": "column"})
            chart.add_series({"categories": "=Sales!$A$2:$A$3", "values": "=Sales!$B$2:$B$3"})
            chart.set_title(title)
            sheet.insert_chart("F2", chart)
    read = convert("a.xlsx", stream.getvalue())
    assert read.content.endswith("| West | 4 |  |\n\nSales by region\n\nFrom a cell")
    assert [record["Region"] for record in records(read)] == ["East", "West"]
