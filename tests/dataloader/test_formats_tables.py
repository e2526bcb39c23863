"""Tables and records: CSV, TSV, Excel, JSON, JSON Lines."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import date, datetime
from typing import Any

import pytest
from filetools import convert, places, reason, unzipped, zipped
from hypothesis import given
from hypothesis import strategies as st

from growth import check_growth
from libs.dataloader import Document


def records(document: Document) -> list[dict[str, Any]]:
    """The records, after checking that each begins where it says."""
    for start, _ in document.records:
        assert start == 0 or document.content[start - 1] == "\n"
    rows = [start for start, _ in document.locations.get("row", ())]
    assert [start for start, _ in document.records] == rows
    return [dict(record) for _, record in document.records]


def test_many_columns_with_one_name_take_no_time() -> None:
    check_growth(lambda size: convert("a.csv", "a|" * size + "\n" + "1|" * size), 8_000)
    document = convert("a.csv", "a|a_2|a|a|a_2||a\n" + "1|" * 7)
    assert document.metadata["columns"][:7] == ["a", "a_2", "a_3", "a_4", "a_2_2", "column_6", "a_5"]


# -- CSV and TSV ---------------------------------------------------------------------------------------------------


def test_csv_becomes_a_table() -> None:
    document = convert(
        "a.csv", 'name,note,price\nApple,"red, round",1.5\nPear,"two\nlines | pipe",\n\n"Quote ""q""",x,3\n'
    )
    assert document.content == (
        "| name | note | price |\n| --- | --- | --- |\n| Apple | red, round | 1.5 |\n| Pear | two lines \\| pipe |  |\n"
        '| Quote "q" | x | 3 |'
    )
    assert (document.format, document.mime_type, document.title) == ("table", "text/csv", None)
    assert records(document) == [
        {"name": "Apple", "note": "red, round", "price": "1.5"},
        {"name": "Pear", "note": "two\nlines | pipe", "price": ""},
        {"name": 'Quote "q"', "note": "x", "price": "3"},
    ]
    assert places(document, "row")[0] == (2, "| Apple | red, round | 1.5 |")
    assert document.metadata["row_count"] == 3
    assert document.records[-1][1]["price"] == "3"
    assert [record["name"] for _, record in document.records[:2]] == ["Apple", "Pear"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "a;b\n1;2,5\n3;4\n"),
        ("a.csv", "a\tb\n1\t2,5\n3\t4\n"),
        ("a.csv", "a|b\n1|2,5\n3|4\n"),
        ("a.csv", "sep=;\na;b\n1;2,5\n3;4\n"),
        ("a.csv", '"SEP=\t"\r\na\tb\r\n1\t2,5\r\n3\t4\r\n'),
        ("a.tsv", "sep=^\na^b\n1^2,5\n3^4\n"),
        ("a.tsv", "a\tb\n1\t2,5\n3\t4\n"),
        ("a.csv", "\ufeffa;b\r\n1;2,5\r\n3;4"),
    ],
)
def test_delimiters(name: str, text: str) -> None:
    document = convert(name, text)
    assert document.content == "| a | b |\n| --- | --- |\n| 1 | 2,5 |\n| 3 | 4 |"
    assert document.title is None
    assert [number for _, number in document.locations["row"]] == [2, 3]
    assert records(document) == [{"a": "1", "b": "2,5"}, {"a": "3", "b": "4"}]


def test_headers() -> None:
    assert convert("a.csv", "1,2\n3,4\n5,6\n").content.startswith("| column_1 | column_2 |\n| --- | --- |\n| 1 | 2 |")
    assert convert("a.csv", "country,2019,2020\nA,1,2\n").content.startswith("| country | 2019 | 2020 |")
    unnamed = convert("a.csv", "a,a,\n1,2,3\n")
    assert unnamed.content.startswith("| a | a |  |\n")
    assert records(unnamed) == [{"a": "1", "a_2": "2", "column_3": "3"}]
    ragged = [{"a": "1", "b": "", "column_3": ""}, {"a": "2", "b": "3", "column_3": "4"}]
    assert records(convert("a.csv", "a,b\n1\n2,3,4\n")) == ragged
    late = "a,b\n" + "1,2\n" * 50 + "3,4,5\n"  # wider than the rows that were looked at
    assert records(convert("a.csv", late))[-1] == {"a": "3", "b": "4,5"}


def test_lines_above_a_table() -> None:
    document = convert("a.csv", "Fruit prices,,\nname,color,price\nApple,red,1\nPear,green,2\n")
    assert document.content == (
        "Fruit prices\n\n| name | color | price |\n| --- | --- | --- |\n| Apple | red | 1 |\n| Pear | green | 2 |"
    )
    assert (document.format, document.title) == ("markdown", "Fruit prices")
    assert records(document)[0] == {"name": "Apple", "color": "red", "price": "1"}


def test_very_wide_tables_become_records() -> None:
    header = [f"a rather long column name {number}" for number in range(50)]
    rows = [[str(number * row) for number in range(50)] for row in range(3)]
    document = convert("a.csv", "\n".join(",".join(row) for row in [header, *rows]))
    assert document.format == "records"
    assert document.content.startswith("a rather long column name 0: 0\na rather long column name 1: 0\n")
    assert len(document.content.split("\n\n")) == 3
    assert records(document)[2]["a rather long column name 49"] == "98"


def test_tables_that_are_none() -> None:
    line = ",".join(f"cell {number}" for number in range(300_000))
    document = convert("a.csv", line)
    assert document.format == "text"
    assert document.content.startswith("cell 0\ncell 1\n")
    stray = 'a,b\n1,"never closed\n' + "x,y\n" * 50_000
    assert convert("a.csv", stray).content.endswith("| x | y |")
    assert convert("a.csv", "word " * 200_000).content.strip().endswith("word")
    assert convert("a.csv", "one\ntwo\nthree\n").content == "| one |\n| --- |\n| two |\n| three |"


FILMS = ["id\ttitle\tyear", *(f"{number}\tFilm {number}\t{1900 + number % 100}" for number in range(1000))]


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.tsv", "\t"), ("a.csv", ","), ("a.csv", ";"), ("a.csv", "|"), ("a.csv", "\t")]
)
@pytest.mark.parametrize(
    "titles",
    [
        {5: '"Unbalanced film'},
        {0: '"Unbalanced film'},
        {999: '"Unbalanced film'},
        {5: '"Unbalanced film', 6: '"Another'},
        {5: '"Unbalanced film', 6: 'A film called "Another"'},
        {5: '"Unbalanced film', 500: 'Screen 5"'},  # as if it ended the cell
        {5: 'Screen 5"', 500: '"Unbalanced film'},
        {number: f'"Film {number}' for number in range(1000)},
    ],
)
def test_a_stray_quote_swallows_nothing(name: str, delimiter: str, titles: dict[int, str]) -> None:
    rows = [line.split("\t") for line in FILMS]
    for number, title in titles.items():
        rows[number + 1][1] = title
    document = convert(name, "\n".join(delimiter.join(row) for row in rows) + "\n")
    assert document.metadata["row_count"] == 1000
    assert [list(record.values()) for record in records(document)] == rows[1:]


def test_stray_quotes_within_a_line_or_a_file_that_quotes_as_well() -> None:
    text = "id,first,second,year\n" + "".join(f'{number},"Red, round",x,1999\n' for number in range(20))
    text += '20,"Rome 11:00,"Rome 11:00,1952\n21,"Red, round","two\nlines",2000\n22,"Giliap,x,1975\n23,y,z,1976\n'
    found = records(convert("a.csv", text))
    assert [list(record.values()) for record in found[20:]] == [
        ["20", '"Rome 11:00', '"Rome 11:00', "1952"],
        ["21", "Red, round", "two\nlines", "2000"],
        ["22", '"Giliap', "x", "1975"],
        ["23", "y", "z", "1976"],
    ]
    assert found[19]["first"] == "Red, round"
    two = records(convert("a.csv", 'a,b\n1,"never closed\nx,y\nz,w\n'))
    assert two == [{"a": "1", "b": '"never closed'}, {"a": "x", "b": "y"}, {"a": "z", "b": "w"}]


@pytest.mark.parametrize(
    "cell",
    [
        "two\nlines",
        "12 Main St\nSpringfield, IL\nZip 1, USA",  # lines that look like rows
        "x, y\n" * 100,
        "\nx, y" * 100,
        "a,b,c\n" * 100,
        'says "hi, you"\nand "bye"',
        "\n\n\nlate",
    ],
)
@pytest.mark.parametrize("columns", [["id", "text"], ["text", "id"], ["id", "text", "other"]])
def test_quoted_cells_of_several_lines(cell: str, columns: list[str]) -> None:
    stream = io.StringIO()
    values = {"text": cell, "id": "1", "other": ""}
    csv.writer(stream, lineterminator="\n").writerows([columns, *[[values[name] for name in columns]] * 20])
    found = records(convert("a.csv", stream.getvalue()))
    assert found == [{name: values[name] for name in columns}] * 20


def test_a_cell_may_be_enormous() -> None:
    before = csv.field_size_limit(131_072)
    try:
        cell = "many words, " * 20_000
        document = convert("a.csv", f'id,text,year\n1,"{cell}",1999\n2,few,2000\n')
        assert document.format == "table"
        assert records(document)[0] == {"id": "1", "text": cell, "year": "1999"}
    finally:
        csv.field_size_limit(before)


cells = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\xad\u2028\u2029\ufeff"), max_size=20
)


@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=2, max_size=8))
def test_no_cell_is_lost(rows: list[list[str]]) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows([["first", "second", "third"], *rows])
    document = convert("a.csv", stream.getvalue().encode())
    found = [[value.strip() for value in record.values()] for record in records(document)]
    wanted = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if document.metadata.get("columns") == ["first", "second", "third"]:
        assert found == wanted
    for row in wanted:
        for cell in row:
            for word in cell.split():
                assert word.replace("|", "\\|") in document.content


# -- Excel ---------------------------------------------------------------------------------------------------------


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


def workbook(**sheets: list[list[Any]]) -> bytes:
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
    for row in ((20_000, "name", "price"), (20_001, "c", 3), (20_002, "d", 4)):
        for column, value in enumerate(row[1:], 1):
            sheet.cell(row[0], column, value)
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
        (1.5, "[h]:mm:ss", "1 day, 12:00:00"),
        (7, '0 "days"', "7"),
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

    def drawn(**sheets: list[list[Any]]) -> dict[str, bytes | str]:
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


# -- JSON ----------------------------------------------------------------------------------------------------------


def test_a_list_of_objects_becomes_records() -> None:
    data = [
        {"id": 1, "name": "Ann", "tags": ["x", "y"], "at": {"city": "Rome"}, "none": None},
        {"id": 2, "text": "a\n\nb"},
    ]
    document = convert("a.json", json.dumps(data))
    assert document.content == "id: 1\nname: Ann\ntags: x, y\nat.city: Rome\n\nid: 2\ntext: a\nb"
    assert document.format == "records"
    assert records(document) == data
    assert document.locations["row"] == [(0, 1), (document.content.index("id: 2"), 2)]
    assert document.metadata == {"row_count": 2}


def test_an_object_around_a_list() -> None:
    data = {"title": "Staff", "count": 2, "people": [{"name": "Ann"}, {"name": "Bob"}]}
    document = convert("a.json", json.dumps(data))
    assert document.content == "title: Staff\ncount: 2\n\nname: Ann\n\nname: Bob"
    assert document.title == "Staff"
    assert records(document) == data["people"]


def test_other_json_becomes_an_outline() -> None:
    data = {
        "name": "pkg",
        "on": True,
        "deps": {"a": "^1", "b": []},
        "list": [1, "two"],
        "deep": [{"x": 1, "y": [2]}, [3]],
    }
    document = convert("a.json", json.dumps(data))
    assert document.content == (
        "name: pkg\non: true\ndeps:\n  a: ^1\n  b:\nlist: 1, two\ndeep:\n  - x: 1\n    y: 2\n  - 3"
    )
    assert (document.format, document.title) == ("text", "pkg")
    assert convert("a.json", '"just a string"').content == "just a string"
    assert convert("a.json", "[1, 2, 3]").content == "- 1\n- 2\n- 3"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, // a comment\n}',
        '{"cut": [1, 2',
        "[" * 200_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        "{'single': 'quotes'}",
    ],
)
def test_what_is_no_json_is_still_text(text: str) -> None:
    document = convert("a.json", text)
    assert document.content == text
    assert document.format == "text"


def test_nesting_that_python_parses_but_nobody_reads() -> None:
    depth = 400
    text = '{"a":' * depth + "1" + "}" * depth
    assert convert("a.json", text).content.startswith("a:\n  a:\n")
    assert convert("a.json", f"[{text}]").format == "records"


def test_json_lines() -> None:
    text = '{"id": 1, "text": "one"}\n\n{"id": 2, "text": "two"}\nnot json\n' + '{"id": 3}\n' * 5
    document = convert("a.jsonl", text)
    assert document.format == "records"
    assert document.content.startswith("id: 1\ntext: one\n\nid: 2\ntext: two\n\nvalue: not json\n\nid: 3")
    assert [value for _, value in document.locations["row"]][:3] == [1, 3, 4]
    assert records(document)[0] == {"id": 1, "text": "one"}
    assert convert("a.json", text).content == document.content  # JSON Lines under the name of JSON
    assert convert("a.jsonl", "words only\nno json\n").content == "words only\nno json\n"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), json_values, max_size=4), min_size=1, max_size=5))
def test_records_are_those_of_the_file(data: list[dict[str, Any]]) -> None:
    from libs.dataloader.formats import UnreadableError

    try:
        document = convert("a.json", json.dumps(data))
    except UnreadableError:
        return  # nothing in it but empty values
    kept = [dict(record) for _, record in document.records]
    assert [record for record in data if record in kept] == kept


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (r'1;"He said \"go; now\"";5', ["1", 'He said "go; now"', "5"]),
        (r'1,"He said \"go, now\", then \\",5', ["1", r'He said "go, now", then \\', "5"]),
        ('1,"C:\\temp\\",5', ["1", "C:\\temp\\", "5"]),
        (r'1,"{""a"": ""x \""y, z\"" ""}",5', ["1", r'{"a": "x \"y, z\" "}', "5"]),
        (r"1,6\" disk,5", ["1", r"6\" disk", "5"]),
    ],
)
def test_quotes_behind_a_backslash(line: str, cells: list[str]) -> None:
    between = ";" if ";5" in line else ","
    document = convert("a.csv", f"id{between}text{between}n\n" + f"{line}\n" * 3)
    assert [list(record.values()) for _, record in document.records] == [cells] * 3
