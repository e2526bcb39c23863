"""Tables and records: CSV, TSV, JSON, JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataloader.filetools import convert, places, records
from tests.growth import check_growth


def test_many_columns_with_one_name_take_no_time() -> None:
    check_growth(lambda size: convert("a.csv", "a|" * size + "\n" + "1|" * size), 8_000)
    document = convert("a.csv", "a|a_2|a|a|a_2||a\n" + "1|" * 7)
    assert document.metadata["columns"][:7] == ["a", "a_2", "a_3", "a_4", "a_2_2", "column_6", "a_5"]


def test_short_rows_below_a_very_long_one_take_no_time() -> None:
    def read(size: int) -> None:
        header = "".join(f"n{number}," for number in range(size))
        document = convert("a.csv", f"{header}\n" + "Ada,x\n" * size)
        assert sum(len(record) for _, record in document.records) == 2 * size
        assert document.content.count("n0: Ada\nn1: x") == size

    check_growth(read, 2_500)


def test_short_rows_below_very_many_columns_with_one_name_take_no_time() -> None:
    def read(size: int) -> None:
        document = convert("a.csv", "name" + ",name" * size + "\n" + "Ada,x\n" * size)
        assert {tuple(record["name"]) for _, record in document.records} == {("Ada", "x")}

    check_growth(read, 2_500)


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
    line = ",".join(f"cell {number}" for number in range(30_000))
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


def test_an_object_that_is_like_a_row_becomes_a_record() -> None:
    data = {"name": "Ann", "title": "Miller", "since": 2020, "tags": ["x", "y"], "left": None}
    document = convert("a.json", json.dumps(data))
    assert (document.content, document.format) == ("name: Ann\ntitle: Miller\nsince: 2020\ntags: x, y", "records")
    assert document.title == "Ann"
    assert records(document) == [data]
    wrapped = convert("a.json", json.dumps({"people": [data]}))
    assert (wrapped.content, records(wrapped)) == (document.content, [data])


@pytest.mark.parametrize(
    "data",
    [
        {"title": "The Mill", "body": "It turns with the ebb. " * 30},
        {"title": "The Mill", "body": "It turns.\nSo it does."},
        {"name": "pkg", "needs": {"a": "1"}},
        {"name": "pkg", "files": [{"path": "a"}]},
        {"names": ["Ann", "Bob"]},
        {"name": "Ann", "title": None},
    ],
)
def test_an_object_with_more_than_a_row_has_is_no_record(data: dict[str, object]) -> None:
    assert convert("a.json", json.dumps(data)).records == ()


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


def test_a_long_object_has_headings_and_lines_that_say_what_they_are() -> None:
    data = {
        "Harbour": {
            "Location": {"text": "at the mouth of the Ebb"},
            "Depth": {"at low water": {"text": "2.1 m"}, "at high water": {"text": "6.4 m"}},
            "History": {"text": "Built of larch and granite. " * 30},
        },
        "Trade": {"Exports": {"#text": "herring"}, "notes": ["# none", {"year": 1931, "by": {"text": "Ada"}}]},
        "updated": "2026-03-01",
    }
    document = convert("a.json", json.dumps(data))
    assert document.content == (
        "updated: 2026-03-01\n\n# Harbour\n\nLocation: at the mouth of the Ebb\n\n"
        "Depth.at low water: 2.1 m\nDepth.at high water: 6.4 m\n\n"
        f"History: {'Built of larch and granite. ' * 29}Built of larch and granite.\n\n"
        "# Trade\n\nExports: herring\n\nnotes[1]: # none\nnotes[2].year: 1931\nnotes[2].by: Ada\n"
    )
    assert document.format == "markdown:lines"


def test_parameters_deep_in_a_long_object_are_paragraphs_of_their_own() -> None:
    told = ("What turns in the mill while the tide goes out. It stops when the tide comes in again. " * 3).strip()
    fields = {name: {"type": "string", "description": told} for name in ("North", "South", "West")}
    data: dict[str, Any] = {"schema": {"type": "object", "properties": fields}}
    for key in ("form", "content", "body", "post", "wheels", "paths"):
        data = {key: data}
    document = convert("a.json", json.dumps(data))
    assert document.content.strip().split("\n\n")[-4:] == [
        "schema.type: object",
        *(f"schema.properties.{name}.type: string\nschema.properties.{name}.description: {told}" for name in fields),
    ]


def test_long_objects_in_a_list_are_named() -> None:
    step = {"what": "Open the sluice, then wait until the wheel turns by itself. " * 6, "who": "the miller"}
    data = {"mill": {"steps": [{"name": "Start", **step, "then": step}, {**step, "then": step}, {"name": "Stop"}]}}
    lines = convert("a.json", json.dumps(data)).content.split("\n")
    assert [line for line in lines if line.startswith("#")] == ["# mill", "## steps", "### Start", "### steps 2"]
    assert "name: Stop" in lines
    assert "# heading" not in convert("a.json", json.dumps({"a": {"b": "x" * 700, "c": "# heading"}})).content.split(
        "\n"
    )


def test_an_object_with_a_list_beside_much_else_is_no_list_of_records() -> None:
    answer = {"description": "The tides of a day, highest first, as far as they are known. " * 6}
    data = {
        "info": {"title": "Tides"},
        "tags": [{"name": "harbour"}, {"name": "mill"}],
        "paths": {"/tides": {"get": {"responses": {"200": answer, "404": answer}}}, "/wheels": {"get": answer}},
    }
    document = convert("a.json", json.dumps(data))
    assert (document.format, document.title, document.records) == ("markdown:lines", "Tides", ())
    assert "\n# paths\n\n/wheels.get.description: The tides" in document.content
    assert "\n## /tides\n" in document.content


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
    assert convert("a.json", text).content.startswith("# a\n\n## a\n")
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
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
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


def test_rows_have_the_numbers_that_a_spreadsheet_shows() -> None:
    document = convert(
        "a.csv", '# Mill\nReport,,\n\ngate,built,by\n\nUpper,1802,Ida\n"Low\ner",1811,Jon\n,,\nOld,1700,Ann\n'
    )
    assert places(document, "row") == [
        (6, "| Upper | 1802 | Ida |"),
        (7, "| Low er | 1811 | Jon |"),
        (9, "| Old | 1700 | Ann |"),
    ]
