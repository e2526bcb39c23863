"""Binary Excel workbooks."""

from __future__ import annotations

import io
import struct
from datetime import UTC, datetime

import pytest

from tests.dataloader.filetools import convert, places, reason, records, zipped
from tests.dataloader.xlstools import (
    EOF,
    bof,
    boolean,
    container,
    formula,
    label,
    merged,
    note,
    number,
    properties,
    record,
    shape,
    stream,
    texts,
    wide,
)

TABLE = label(0, 0, 0) + label(0, 1, 1) + label(1, 0, 2) + number(1, 1, 5)
SHARED = texts("name", "price", "nut")
SHOWN = "| name | price |\n| --- | --- |\n| nut | 5 |"


def book(*, workbook: str = "Workbook", **sheets: bytes) -> bytes:
    return container({workbook: stream(sheets, SHARED)})


def test_one_sheet() -> None:
    read = convert("a.xls", book(Data=TABLE))
    assert (read.content, read.format, read.mime_type) == (SHOWN, "table", "application/vnd.ms-excel")
    assert read.metadata == {"sheets": ["Data"], "row_count": 1}
    assert records(read) == [{"name": "nut", "price": "5"}]
    assert places(read, "row") == [(2, "| nut | 5 |")]
    for name in ("a.xlt", "a.xlsx", "a.doc", "a"):
        assert convert(name, book(Data=TABLE)).content == SHOWN
    assert convert("a.xls", book(workbook="Book", Data=TABLE)).content == SHOWN
    assert convert("a.xls", stream({"Data": TABLE}, SHARED)).content == SHOWN  # without a container


def test_several_sheets_and_one_for_a_chart() -> None:
    cells = label(0, 0, 0) + label(1, 0, 1)
    chart = record(0x100D, b"\x00\x00" + wide("no cell"))
    made = stream({"Data": TABLE, "Chart": chart, "Empty": b"", "Words": cells}, SHARED, kinds=(0, 2, 0, 0))
    read = convert("a.xls", container({"Workbook": made}))
    assert read.content == f"## Data\n\n{SHOWN}\n\n## Words\n\nname\n\nprice"
    assert read.metadata["sheets"] == ["Data", "Words"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (number(1, 0, 1.5), "1.5"),
        (number(1, 0, 0.1 + 0.2), "0.3"),
        (number(1, 0, 0.125, 1), "12.5%"),
        (number(1, 0, 45292, 2), "2024-01-01"),
        (number(1, 0, 45292.75, 3), "2024-01-01 18:00:00"),
        (number(1, 0, 1000.5, 4), "1000.5 €"),
        (number(1, 0, 1.5, 5), "36:00:00"),
        (number(1, 0, -5, 6), "-$5"),
        (record(0x027E, struct.pack("<HHHI", 1, 0, 0, 7 << 2 | 2)), "7"),
        (record(0x027E, struct.pack("<HHHI", 1, 0, 0, 1234 << 2 | 3)), "12.34"),
        (record(0x0204, struct.pack("<HHH", 1, 0, 0) + wide("Größe €")), "Größe €"),
        (boolean(1, 0, 1), "TRUE"),
        (boolean(1, 0, 0), "FALSE"),
        (boolean(1, 0, 0x07, error=True), "#DIV/0!"),
        (boolean(1, 0, 0x2A, error=True), "#N/A"),
        (formula(1, 0, "worked out"), "worked out"),
    ],
)
def test_values(cell: bytes, shown: str) -> None:
    head = label(0, 0, 0) + label(0, 1, 1)
    read = convert("a.xls", book(Data=head + cell + label(1, 1, 2)))
    assert read.content.split("\n")[2] == f"| {shown} | nut |"


def test_dates_from_1904() -> None:
    made = stream({"Data": label(0, 0, 0) + label(0, 1, 1) + number(1, 0, 43830, 2) + label(1, 1, 2)}, SHARED, mac=True)
    assert "| 2024-01-01 | nut |" in convert("a.xls", container({"Workbook": made})).content


def test_merged_cells() -> None:
    cells = label(0, 0, 0) + label(0, 1, 1) + label(1, 0, 2) + number(1, 1, 5) + number(2, 1, 6)
    read = convert("a.xls", book(Data=cells + merged((1, 2, 0, 0))))
    assert records(read) == [{"name": "nut", "price": "5"}, {"name": "nut", "price": "6"}]


def test_notes_and_text_boxes_follow_the_cells() -> None:
    drawn = shape(1, "Ann B:\nTo be checked €", 0x19) + shape(2, "Read this:\rmind the step") + note(1, 1, 1, "Ann B")
    read = convert("a.xls", book(Data=TABLE + drawn))
    assert read.content == f"{SHOWN}\n\nNote on B2 by Ann B: To be checked €\n\nRead this:\nmind the step"


def test_titles_of_charts_follow_the_cells() -> None:
    def words(shown: str, link: int) -> bytes:
        said = record(0x100D, struct.pack("<HBB", 0, len(shown), 0) + shown.encode("latin-1"))
        return record(0x1025, bytes(32)) + said + record(0x1027, struct.pack("<HHH", link, 0, 0))

    nameless = record(0x1025, bytes(32)) + record(0x1027, struct.pack("<HHH", 1, 0, 0))
    chart = bof(0x20) + words("Tons", 2) + nameless + words("Sales by region", 1) + EOF
    assert convert("a.xls", book(Data=TABLE + chart + shape(3, "beside"))).content == (
        f"{SHOWN}\n\nSales by region\n\nbeside"
    )


def test_properties() -> None:
    summary = properties(title="On Mills", author="Ann Mühl", created=datetime(2004, 5, 1, 10, tzinfo=UTC))
    made = {"Workbook": stream({"Data": TABLE}, SHARED), "\x05SummaryInformation": summary}
    read = convert("a.xls", container(made))
    assert read.title == "On Mills"
    assert read.metadata["author"] == "Ann Mühl"
    assert read.metadata["created"] == "2004-05-01T10:00:00+00:00"
    for cut in (0, 30, 60, 100):
        assert convert("a.xls", container({**made, "\x05SummaryInformation": summary[:cut]})).content == SHOWN


def test_texts_that_are_cut_into_several_records() -> None:
    long = "kestrel " * 1_500
    data = struct.pack("<II", 2, 2) + wide("name") + struct.pack("<HB", len(long), 1)
    left = long.encode("utf-16-le")
    shared = record(0x00FC, data + left[:8_000])
    for start in range(8_000, len(left), 8_000):
        shared += record(0x003C, b"\x01" + left[start : start + 8_000])
    made = stream({"Data": label(0, 0, 0) + label(1, 0, 1)}, shared)
    assert convert("a.xls", container({"Workbook": made})).content == f"name\n\n{long.strip()}"


def test_more_texts_are_told_than_there_are() -> None:
    shared = texts("name", "price", "nut", told=70_000)
    assert convert("a.xls", container({"Workbook": stream({"Data": TABLE}, shared)})).content == SHOWN


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"<html><body><table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        (b"a;b\n1;2\n3;4\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("a\tb\nx\tö\n".encode("utf-16"), "| a | b |\n| --- | --- |\n| x | ö |"),
        (b"{\\rtf1\\ansi words\\par}", "words"),
        (b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p>words</p>", "words"),
    ],
)
def test_other_tables_under_the_name_of_a_workbook(data: bytes, content: str) -> None:
    assert convert("a.xls", data).content == content


def test_new_workbooks_under_the_old_name_and_media_type() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for row in (["name", "price"], ["nut", 5]):
        made.active.append(row)
    target = io.BytesIO()
    made.save(target)
    assert convert("a.xls", target.getvalue()).content == SHOWN
    from libs.dataloader.formats import FileData, read_document

    kind = "application/vnd.ms-excel"
    assert read_document(FileData("a.csv", b"name,price\nnut,5\n"), kind).mime_type == "text/csv"  # by Windows
    assert read_document(FileData("export", b"name,price\nnut,5\n"), kind).content == SHOWN
    assert read_document(FileData("export", book(Data=TABLE)), kind).content == SHOWN


# -- damaged, or made to break it ----------------------------------------------------------------------------------


def test_files_that_are_encrypted_or_something_else() -> None:
    encrypted = stream({"Data": TABLE}, SHARED, record(0x002F, b"\x01\x00" + bytes(52)))
    assert reason("a.xls", container({"Workbook": encrypted})) == "it is encrypted (a password is needed)"
    for name in ("a.xls", "a.xlsx", "a"):
        assert reason(name, container({"EncryptedPackage": b"x"})) == "it is encrypted (a password is needed)"
    for name in ("a.xls", "a.doc", "a"):
        document = container({"WordDocument": b"x"})
        assert reason(name, document) == "it is an old Word document (.doc); save it as .docx"
        slides = container({"PowerPoint Document": b"x"})
        assert reason(name, slides) == "it is an old PowerPoint presentation (.ppt); save it as .pptx"
    assert reason("a.xls", b"\x00\x01\x02\xff" * 100) == "it is not an Excel workbook, despite its name"
    assert reason("a.xls", container({"Workbook": b"words"})) == "it is not an Excel workbook, despite its name"
    assert "ZIP" in reason("a.xls", zipped({"a": b"words"})) or "not an Excel" in reason("a.xls", zipped({"a": b"x"}))
    assert reason("a.xls", book(Data=b"")) == "it has no text"


def test_a_truncated_workbook_has_the_sheets_that_are_left() -> None:
    made = stream({"Data": TABLE, "More": TABLE, "Last": TABLE}, SHARED)
    assert convert("a.xls", made[:-40]).content == f"## Data\n\n{SHOWN}\n\n## More\n\n{SHOWN}\n\n## Last\n\nname"
    assert "damaged" in reason("a.xls", made[:150])


def test_one_damaged_sheet_costs_only_itself() -> None:
    broken = label(0, 0, 99)
    assert convert("a.xls", book(Broken=broken, Data=TABLE)).content == SHOWN
    assert reason("a.xls", book(Broken=broken)) == "it is damaged: none of its sheets can be read"


def test_a_container_that_leads_in_circles() -> None:
    data = bytearray(book(Data=TABLE))
    table = struct.unpack_from("<I", data, 76)[0]
    struct.pack_into("<I", data, 512 + table * 512 + 4 * 3, 2)  # a sector follows the one after it
    assert convert("a.xls", bytes(data)).content == SHOWN
    directory = 512 + struct.unpack_from("<I", data, 48)[0] * 512
    for side in (68, 72):  # an entry that is beside itself, twice
        struct.pack_into("<I", data, directory + 128 + side, 1)
    assert convert("a.xls", bytes(data)).content == SHOWN


def test_names_and_links_that_take_all_memory_are_not_read() -> None:
    doubled = b"".join(
        record(0x0018, struct.pack("<HBBHHHBBBB", 0, 0, 1, 11, 0, 0, 0, 0, 0, 0) + b"\x00n" + b"\x23" + bytes(10))
        for _ in range(40)
    )
    link = record(0x01B8, struct.pack("<HHHH", 0, 65_535, 0, 255) + bytes(60))
    made = stream({"Data": TABLE + link * 50}, SHARED, doubled)
    assert convert("a.xls", container({"Workbook": made})).content == SHOWN


def test_a_text_that_leads_back_to_itself_is_read_once() -> None:
    back = struct.pack("<HBi", 1, 4, -8) + b"x"  # the hint behind it has a length below zero
    shared = record(0x00FC, struct.pack("<II", 1, 2_000_000_000) + wide("name") + back)
    made = stream({"Data": label(0, 0, 0)}, shared)
    assert convert("a.xls", container({"Workbook": made})).content == "name"


def test_sheets_that_are_the_same_or_too_many_or_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    made = stream({"Data": TABLE}, SHARED)
    entry = struct.pack("<BB", 0, 0) + b"\x01\x00D"
    start = made.index(bof(0x10)) + 1_000 * len(record(0x0085, bytes(4) + entry))  # all of these are the one sheet
    twice = stream({"Data": TABLE}, SHARED, record(0x0085, struct.pack("<I", start) + entry) * 1_000)
    assert convert("a.xls", twice).content == SHOWN
    far = b"".join(label(65_535, column, 0) for column in (0, 255))
    assert convert("a.xls", book(Data=TABLE + far)).content.endswith("| name |  | name |")
    monkeypatch.setattr("libs.dataloader.formats.xls_records._MOST_ROWS", 100_000)
    assert "span more than 100,000 rows" in reason("a.xls", book(One=far, Two=far))
    assert "span more than 100,000 rows" in reason("a.xls", book(One=merged((0, 65_535, 0, 0)) * 1, Two=far))
    monkeypatch.setattr("libs.dataloader.formats.xls_records._MOST_SHEETS", 2)
    assert "it holds 3 sheets; the limit is 2" in reason("a.xls", book(A=TABLE, B=TABLE, C=TABLE))
    monkeypatch.setattr("libs.dataloader.formats.xls_records._MOST_STYLES", 10)
    assert "more than 10 styles" in reason("a.xls", book(Data=TABLE))


def test_a_sheet_without_its_end_is_read_to_the_next_one() -> None:
    made = stream({"One": TABLE, "Two": TABLE}, SHARED)
    place = made.rindex(bof(0x10)) - len(EOF)
    broken = made[:place] + record(0x0FFE) + made[place + 4 :]
    assert convert("a.xls", broken).content == f"## One\n\n{SHOWN}\n\n## Two\n\n{SHOWN}"
