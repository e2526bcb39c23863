"""OpenDocument spreadsheets."""

from __future__ import annotations

import io
from datetime import date, datetime

import pytest

from tests.dataloader.filetools import convert, places, reason, records, targets, zipped
from tests.dataloader.odftools import META, flat, packed, row, sheet, text, value

REPEATED = '<b:table-cell b:number-columns-repeated="{}"/>'


def content(*sheets: str, styles: str = "") -> str:
    return convert("a.fods", flat("spreadsheet", "".join(sheets), styles)).content


def test_one_sheet_like_that_of_a_workbook() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Data"
    for cells in (
        ["name", "when", "at", "value", "ok"],
        ["a", date(2024, 1, 2), datetime(2024, 5, 6, 7, 8), 1.5, True],
        [],
        ["b", None, None, 3, False],
    ):
        book.active.append(cells)
    stream = io.BytesIO()
    book.save(stream)
    ours = sheet(
        "Data",
        row("name", "when", "at", "value", "ok"),
        row(
            "a",
            value("date", "2024-01-02", "02.01.24"),
            value("date", "2024-05-06T07:08:00", "06.05.24 07:08"),
            value("float", "1.5", "1,50"),
            value("boolean", "true", "WAHR"),
        ),
        row(REPEATED.format(1024)),
        row("b", REPEATED.format(2), value("float", "3", "3"), value("boolean", "false", "FALSCH")),
        row(REPEATED.format(16384), attributes='b:number-rows-repeated="1048572"'),
    )
    excel = convert("a.xlsx", stream.getvalue())
    for read in (convert("a.ods", packed("spreadsheet", ours)), convert("a.fods", flat("spreadsheet", ours))):
        assert read.content == excel.content
        assert (read.format, read.locations, records(read)) == ("table", excel.locations, records(excel))
        assert read.metadata == {"sheets": ["Data"], "row_count": 2}
    assert read.locations["row"][-1][1] == 4


def test_several_sheets_and_tables() -> None:
    prices = sheet(
        "Prices",
        row("Prices in May"),
        row("name", "price"),
        row("a", value("float", "1", "1")),
        row(""),
        "<b:table-row-group><b:table-header-rows>" + row("city", "people") + "</b:table-header-rows>",
        row("X", value("float", "1000", "1.000")) + "</b:table-row-group>",
    )
    read = convert("a.fods", flat("spreadsheet", prices + sheet("Notes", row("Only words.")) + sheet("Empty")))
    assert read.content == (
        "## Prices\n\nPrices in May\n\n| name | price |\n| --- | --- |\n| a | 1 |\n\n"
        "| city | people |\n| --- | --- |\n| X | 1000 |\n\n## Notes\n\nOnly words."
    )
    assert places(read, "sheet") == [("Prices", "## Prices"), ("Notes", "## Notes")]
    assert places(read, "row") == [(3, "| a | 1 |"), (6, "| X | 1000 |")]
    assert (read.title, read.metadata["sheets"]) == ("Prices in May", ["Prices", "Notes"])


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (value("float", "1000.5", "1.000,50"), "1000.5"),
        (value("float", "-1234567", "-1'234'567"), "-1234567"),
        (value("float", "0.30000000000000004", "0.3"), "0.3"),
        (value("float", "42", "00042"), "00042"),
        (value("float", "5", "5 km"), "5 km"),
        (value("float", "0", "#DIV/0!"), "#DIV/0!"),
        (value("float", "0.5", ".5"), "0.5"),
        (value("float", "x", "odd"), "odd"),
        (value("percentage", "0.125", "13%"), "12.5%"),
        (value("currency", "1000.5", "1.000,50 €", 'o:currency="EUR"'), "1000.5 €"),
        (value("currency", "-5", "-$5.00", 'o:currency="USD"'), "-$5"),
        (value("currency", "7", "CHF 7.00", 'o:currency="CHF"'), "CHF 7"),
        (value("currency", "7", "7", 'o:currency="EUR"'), "EUR 7"),
        (value("date", "2024-01-02T18:00:00.000000000", "18:00"), "2024-01-02 18:00:00"),
        (value("date", "-0044-03-15", "15.03.44 v. Chr."), "15.03.44 v. Chr."),
        (value("time", "PT07H08M09S", "7:08"), "07:08:09"),
        (value("time", "PT36H00M00S", "36:00:00"), "36:00:00"),
        (value("time", "-PT03H00M00S", "-3:00"), "-3:00:00"),
        (value("time", "PT1087026H00M00S", "18:00"), "18:00"),
        ('<b:table-cell o:value-type="float" o:value="7"/>', "7"),
        ('<b:table-cell o:value-type="string" o:string-value="kept"/>', "kept"),
        ('<b:table-cell b:formula="of:=[.A1]*SUM([.B2:.B3])"/>', "=A1*SUM(B2:B3)"),
        (text("one</t:p><t:p>two"), "one two"),
        (text('rich <t:span t:style-name="T1">te</t:span>xt<t:line-break/>next'), "rich text next"),
    ],
)
def test_values(cell: str, shown: str) -> None:
    made = content(sheet("S", row("value", "x"), row(cell, "x"), row("y", "x")))
    assert made.split("\n")[2] == f"| {shown} | x |"


def test_cells_that_are_merged_or_repeated() -> None:
    covered = "<b:covered-table-cell/>"
    rows = (
        row(text("Region", 'b:number-rows-spanned="2"'), text("Goods", 'b:number-columns-spanned="2"'), covered),
        row(covered, "nuts", "nails"),
        row(text("North", 'b:number-rows-spanned="2"'), text("1", 'b:number-columns-repeated="2"')),
        row(covered, "3", "4"),
        row("South", "5", "6", attributes='b:number-rows-repeated="2"'),
    )
    read = convert("a.fods", flat("spreadsheet", sheet("S", *rows)))
    assert read.content.split("\n") == [
        "| Region | Goods nuts | Goods nails |",
        "| --- | --- | --- |",
        "| North | 1 | 1 |",
        "| North | 3 | 4 |",
        "| South | 5 | 6 |",
        "| South | 5 | 6 |",
    ]
    assert [number for number, _ in places(read, "row")] == [3, 4, 5, 6]


def test_notes_links_and_drawings() -> None:
    note = "<o:annotation><c:creator>Ann B</c:creator><c:date>2024-05-01</c:date><t:p>To be</t:p><t:p>checked</t:p>"
    link = '<t:a x:href="https://example.org/x">linked</t:a>'
    frame = "<d:frame><d:text-box><t:p>Read this:</t:p><t:p>mind the step</t:p></d:text-box></d:frame>"
    chart = '<d:frame><d:object x:href="./Object 1"/></d:frame>'
    nested = (
        "<o:chart><chart><title><t:p>Sales by region</t:p></title>"
        f"{sheet('local', row('a', 'b'), row('1', '2'))}</chart></o:chart>"
    )
    shape = "<d:custom-shape><t:p>in a shape</t:p></d:custom-shape>"
    rows = (
        row("name", "price"),
        row(text(link), f"<b:table-cell>{note}</o:annotation><t:p>1</t:p>{shape}</b:table-cell>"),
    )
    body = sheet("S", *rows, before=f"<b:shapes>{frame}{chart}<svg:desc xmlns:svg='s'>no text</svg:desc></b:shapes>")
    part = flat("x", "").replace("<o:x></o:x>", nested)
    read = convert("a.ods", packed("spreadsheet", body, **{"Object 1__content": part}))
    assert read.content == (
        "| name | price |\n| --- | --- |\n| linked | 1 |\n\nNote on B2 by Ann B: To be checked\n\n"
        "Read this:\n\nmind the step\n\nSales by region\n\nin a shape"
    )
    assert targets(read) == ["https://example.org/x"]


def test_properties_and_templates() -> None:
    body = sheet("S", row("words"))
    for name in ("a.ods", "a.ots", "a.xlsx", "a.bin", "a"):
        read = convert(name, packed("spreadsheet", body, meta=META))
        assert (read.title, read.content) == ("On Mills", "words")
        assert read.metadata["author"] == "Ann"
        assert read.metadata["keywords"] == "tide, mill"
        assert read.metadata["created"] == "2024-05-01T10:00:00"
        assert read.mime_type == "application/vnd.oasis.opendocument.spreadsheet"
    assert convert("a.fods", flat("spreadsheet", body, meta=META)).title == "On Mills"
    damaged = convert("a.ods", packed("spreadsheet", body, meta="<broken"))
    assert (damaged.content, damaged.title) == ("words", None)


def test_what_a_formula_needs_of_another_file_is_no_sheet() -> None:
    source = '<b:table-source x:href="other.ods"/>'
    assert content(sheet("S", row("a", "b"), row("1", "2")), sheet("'file:///x'", row("no"), before=source)) == (
        "| a | b |\n| --- | --- |\n| 1 | 2 |"
    )


# -- made to break it ----------------------------------------------------------------------------------------------


def test_a_million_repeated_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libs.dataloader.formats.ods._MOST_REPEATED", 10_000)
    million = row(text("x", 'b:number-columns-repeated="16384"'), attributes='b:number-rows-repeated="1048576"')
    read = convert("a.fods", flat("spreadsheet", sheet("S", million * 5, row("last", "row"))))
    assert len(read.content) < 200_000
    assert read.content.endswith("x: last\nx_2: row")
    assert read.locations["row"][-1][1] == 5 * 1_048_576 + 1


def test_rows_with_many_equal_cells_are_whole() -> None:
    zeros = value("float", "0", "0", 'b:number-columns-repeated="12"')
    read = content(sheet("S", *(row(f"Station {number}", zeros) for number in range(5_000))))
    assert read.count("| 0 ") == 60_000


def test_cells_in_opposite_corners() -> None:
    corner = row(REPEATED.format(16383), "far away")
    empty = row(REPEATED.format(16384), attributes='b:number-rows-repeated="1048574"')
    assert content(sheet("S", row("near", "by"), empty, corner)) == (
        "| near | by |  |\n| --- | --- | --- |\n|  |  | far away |"
    )


def test_very_many_sheets() -> None:
    read = convert("a.fods", flat("spreadsheet", "".join(sheet(f"S{n}", row("word")) for n in range(20_000))))
    assert read.content.count("## S") == 20_000
    assert len(read.metadata["sheets"]) == 100


def test_one_embedded_object_that_is_shown_very_often() -> None:
    frame = '<d:frame><d:object x:href="./Object 1"/></d:frame>'
    words = flat("text", "<t:p>" + "kestrel " * 1000 + "</t:p>")
    body = sheet("S", row("word"), before=f"<b:shapes>{frame * 10_000}</b:shapes>")
    read = convert("a.ods", packed("spreadsheet", body, **{"Object 1__content": words}))
    assert read.content.count("kestrel") == 1000


def test_files_that_are_encrypted_damaged_or_something_else() -> None:
    body = sheet("S", row("words"))
    encrypted = packed("spreadsheet", body, **{"META-INF__manifest": "<x><encryption-data/></x>"})
    assert reason("a.ods", encrypted) == "it is encrypted (a password is needed)"
    assert "it is damaged" in reason("a.ods", packed("spreadsheet", body)[:200])
    assert "content.xml is missing" in reason("a.ods", zipped({"mimetype": "x"}))
    assert reason("a.fods", flat("text", "<t:p>x</t:p>")) == "it is not an OpenDocument spreadsheet, despite its name"
    assert reason("a.fods", flat("spreadsheet", sheet("S"))) == "it has no text"
    for use in ("&a;", "words"):
        head = '<!DOCTYPE x [<!ENTITY a "b">]>'
        assert "entit" in reason("a.fods", head + flat("spreadsheet", sheet("S", row(use))))
