"""Files that are made to break what reads them: each is refused with a reason, or read without harm."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import tracemalloc
from collections.abc import Callable
from email.message import EmailMessage

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.dataloader.formats import FORMATS, FileData, UnreadableError, read_document
from libs.dataloader.formats.registry import find_format
from tests.dataloader.filetools import convert, reason, unzipped, zipped
from tests.dataloader.odftools import flat
from tests.samples import samples

ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(2, 10)).replace("&lol1;", "&lol;")
    + "]>"
)
EXTERNAL = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ODF = "application/vnd.oasis.opendocument."
CONTAINERS = [".docx", ".pptx", ".xlsx", ".odt", ".ods", ".odp", ".epub"]


def word(body: str, head: str = "") -> dict[str, bytes | str]:
    return {"word/document.xml": f"{head}<w:document xmlns:w='{WORD}'><w:body>{body}</w:body></w:document>"}


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


# -- XML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [ENTITIES, EXTERNAL])
def test_entities_are_never_resolved(head: str) -> None:
    use = "&lol9;" if head is ENTITIES else "&secret;"
    for text in (paragraph(use), paragraph("harmless"), f"<w:p w:rsid='{'&lol9;' if head is ENTITIES else ''}'/>"):
        assert "entities" in reason("a.docx", zipped(word(text, head))) or "damaged" in reason(
            "a.docx", zipped(word(text, head))
        )
    odt = f"{head}<office><body><text><p>{use}</p></text></body></office>"
    assert "entities" in reason("a.odt", zipped({"content.xml": odt})) or "damaged" in reason(
        "a.odt", zipped({"content.xml": odt})
    )
    slides = {"ppt/presentation.xml": f"{head}<p>{use}</p>"}
    assert reason("a.pptx", zipped(slides))
    epub = {"META-INF/container.xml": f"{head}<container>{use}</container>", "a.xhtml": "<p>words</p>"}
    assert reason("a.epub", zipped(epub))


def test_entities_in_xml_html_and_flat_files_do_no_harm() -> None:
    assert convert("a.xml", f"{ENTITIES}<x>&lol9;</x>").content.endswith("<x>&lol9;</x>")
    page = convert("a.html", f"{ENTITIES}<html><body><p>words &lol9;</p></body></html>")
    assert "words" in page.content
    assert len(page.content) < 10_000
    assert "root:" not in convert("a.html", f"{EXTERNAL}<html><body><p>words &secret;</p></body></html>").content
    for use in ("&lol9;", "words"):
        assert "entit" in reason("a.fodt", f"{ENTITIES}<office><body><text><p>{use}</p></text></body></office>")


@pytest.mark.parametrize("forwarded", [12, 100])
def test_mail_that_was_forwarded_often(forwarded: int) -> None:
    mail = EmailMessage()
    mail["From"] = "a@example.org"
    mail.set_content("the first words")
    for number in range(forwarded):
        outer = EmailMessage()
        outer["From"] = f"b{number}@example.org"
        outer.set_content(f"see below, {number}")
        outer.add_attachment(mail)
        mail = outer
    lines = convert("a.eml", mail.as_bytes()).content.split("\n")
    assert [line for line in lines if line.startswith("see below")] == [
        f"see below, {number}" for number in reversed(range(forwarded))
    ]
    assert "the first words" in lines


def test_mail_nested_beyond_what_can_be_read_is_reported() -> None:
    deep = b"From: a@b.c\nContent-Type: message/rfc822\n\n" * 3000 + b"From: a@b.c\n\nwords\n"
    assert "nested too deeply" in reason("a.eml", deep)


def test_deep_and_long_xml() -> None:
    deep = "<w:sdt><w:sdtContent>" * 1000 + paragraph("innermost") + "</w:sdtContent></w:sdt>" * 1000
    try:
        assert "innermost" in convert("a.docx", zipped(word(deep))).content
    except UnreadableError as error:
        assert "damaged" in error.reason
    long = "x" * 11_000_000
    assert convert("a.docx", zipped(word(paragraph(long)))).content == long


# -- containers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", CONTAINERS)
def test_zip_bombs(ending: str) -> None:
    bomb = zipped({"word/document.xml": b"\x00" * 60_000_000, "content.xml": b"", "mimetype": b""})
    assert len(bomb) < 100_000
    assert "would expand to 60.0 MB; the limit is 40.0 MB" in reason(f"a{ending}", bomb, max_bytes=10_000_000)


@pytest.mark.parametrize("ending", CONTAINERS)
def test_a_zip_bomb_that_lies_about_its_size(ending: str) -> None:
    names = {".docx": "word/document.xml", ".pptx": "ppt/presentation.xml", ".xlsx": "xl/workbook.xml"}
    bomb = bytearray(
        zipped({names.get(ending, "content.xml" if ending.startswith(".od") else "a.opf"): b"<" + b" " * 60_000_000})
    )
    size = (60_000_001).to_bytes(4, "little")
    for _ in range(2):
        position = bomb.find(size)
        assert position > 0
        bomb[position : position + 4] = (1000).to_bytes(4, "little")
    tracemalloc.start()
    assert "damaged" in reason(f"a{ending}", bytes(bomb), max_bytes=10_000_000)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_a_container_with_too_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libs.dataloader.formats.archive._MAX_ENTRIES", 100)
    assert "101 parts; the limit is 100" in reason("a.epub", zipped({str(number): b"" for number in range(101)}))


def test_names_that_point_outside() -> None:
    parts = word(paragraph("words"))
    parts["../../../../tmp/evil"] = "x"
    parts["word/_rels/document.xml.rels"] = (
        "<Relationships><Relationship Id='r1' Type='x/image' Target='../../../etc/passwd'/></Relationships>"
    )
    assert convert("a.docx", zipped(parts)).content == "words"
    item = "<item id='a' href='../../../etc/passwd' media-type='text/html'/>"
    package = f"<package><manifest>{item}</manifest><spine><itemref idref='a'/></spine></package>"
    assert "no text" in reason("a.epub", zipped({"a.opf": package}))


def _much_text() -> dict[str, bytes | str]:
    """Small files whose text would be very long: what they have once is shown many times."""
    relation = "<Relationship Id='r{0}' Type='x/{1}' Target='{1}.xml'/>"
    relations = relation.format(1, "worksheet") + relation.format(2, "sharedStrings")
    cells = "<row><c t='s'><v>0</v></c><c><v>1</v></c></row>"
    book: dict[str, bytes | str] = {
        "xl/workbook.xml": "<workbook><sheets><sheet name='a' id='r1'/></sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/sharedStrings.xml": f"<sst><si><t>{'kestrel ' * 1_000}</t></si></sst>",
        "xl/worksheet.xml": f"<worksheet><sheetData>{cells * 200}</sheetData></worksheet>",
    }
    merged = "<w:tc><w:tcPr><w:vMerge{}/></w:tcPr>{}</w:tc><w:tc>{}</w:tc>"
    first = merged.format(" w:val='restart'", paragraph("kestrel " * 1_000), paragraph("x"))
    rows = [f"<w:tr>{row}</w:tr>" for row in (first, *[merged.format("", paragraph(""), paragraph("x"))] * 200)]
    wide = ",".join(f"{number} " + "kestrel " * 50 for number in range(100))
    key = "kestrel " * 1_000
    return {
        "a.xlsx": zipped(book),
        "a.docx": zipped(word(f"<w:tbl>{''.join(rows)}</w:tbl>")),
        "a.csv": wide + "\n" + ("1," * 99 + "1\n") * 30,
        "a.json": json.dumps([{key: [{"a": 1}] * 200}]),
        "b.json": json.dumps(
            {"a": 1, key: {"b": {"c": [[1]] * 200}}, "list": [{key: number} for number in range(200)]}
        ),
        "a.html": f"<table><tr><th>a<th>b<tr><td rowspan=200>{key}<td>x" + "<tr><td>x" * 200 + "</table>",
    }


def test_a_small_file_with_very_much_text(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _much_text()
    for name, data in files.items():
        assert len(convert(name, data).content) > 800_000, name
    monkeypatch.setattr("libs.dataloader.formats.base._MAX_CHARS", 500_000)
    monkeypatch.setattr("libs.dataloader.formats.check_length", lambda _: None)  # stopped before there is all of it
    for name, data in files.items():
        assert reason(name, data) == "its text is longer than 500,000 characters", name


@pytest.mark.parametrize("name", ["a.html", "a.fodt"])
def test_one_very_long_row_and_very_many_short_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libs.dataloader.formats.base._MAX_CHARS", 1_000_000)
    cell = "<b:table-cell><t:p>a</t:p></b:table-cell>"
    rows = "".join(f"<b:table-row>{cell * cells}</b:table-row>" for cells in (2_000, *[1] * 2_000))
    page = f"<table><tr>{'<th>a' * 2_000}{'<tr><td>b' * 2_000}</table>"
    data = page if name == "a.html" else flat("text", f"<b:table>{rows}</b:table>")
    tracemalloc.start()
    try:
        assert reason(name, data) == "its text is longer than 1,000,000 characters"
        assert tracemalloc.get_traced_memory()[1] < 20_000_000, "the table of all cells"
    finally:
        tracemalloc.stop()


# -- everything, damaged -------------------------------------------------------------------------------------------


SAMPLES: dict[str, bytes] = {}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_but_nothing_else(data: st.DataObject) -> None:
    if not SAMPLES:
        SAMPLES.update(samples())
    name = data.draw(st.sampled_from(sorted(SAMPLES)))
    raw = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(raw) - 1))
        action = data.draw(st.sampled_from(("change", "cut", "insert")))
        if action == "change":
            raw[position] = data.draw(st.integers(0, 255))
        elif action == "cut":
            del raw[position : position + data.draw(st.integers(1, 50))]
        else:
            raw[position:position] = data.draw(st.binary(min_size=1, max_size=20))
        if not raw:
            raw = bytearray(b"x")
    try:
        document = read_document(FileData(name, bytes(raw), "file:///x/a"))
    except UnreadableError as error:
        assert error.reason
        return
    document.content.encode("utf-8")
    assert document.content.strip()


@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "word/numbering.xml", "docProps/core.xml"])
def test_a_part_with_other_xml_in_it(part: str) -> None:
    parts = unzipped((SAMPLES or samples())["a.docx"])
    for xml in ("<x/>", "<x><y z='1'><w/></y>words</x>", "", "not xml"):
        try:
            assert convert("a.docx", zipped({**parts, part: xml})).content
        except UnreadableError as error:
            assert error.reason


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.binary(min_size=1, max_size=300))
def test_any_bytes_under_any_name(ending: str, data: bytes) -> None:
    try:
        read_document(FileData(f"a{ending}", data, "file:///x/a")).content.encode("utf-8")
    except UnreadableError as error:
        assert error.reason


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_compressed_files_are_read_as_what_they_hold(ending: str, compress: Callable[[bytes], bytes]) -> None:
    document = read_document(FileData(f"docs/a.md.{ending}", compress(b"# Mill\n\nIt turns.")))
    assert (document.path, document.title, document.format) == (f"docs/a.md.{ending}", "Mill", "markdown")
    assert document.content == "# Mill\n\nIt turns."
    assert convert(f"a.TXT.{ending.upper()}", compress(b"words")).content == "words"
    assert convert(f"a.{ending}", b"only called so").content == "only called so"
    assert "it is damaged" in reason(f"a.txt.{ending}", compress(b"words" * 100)[:-12])
    assert "it is empty" in reason(f"a.txt.{ending}", compress(b""))
    assert "a PNG image" in reason(f"a.{ending}", compress(b"\x89PNG\r\n\x1a\n" + bytes(200)))
    bomb = compress(bytes(9_000_000))
    assert "would expand to more than 4.0 MB" in reason(f"a.txt.{ending}", bomb, max_bytes=1_000_000)


def test_an_archive_is_named_though_it_is_compressed() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    assert reason("a.tar.gz", stream.getvalue()) == "it is a tar archive"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(range(256)), "a JPEG image"),
        (b"\x7fELF" + bytes(500), "a program (ELF)"),
        (b"\x1f\x8b\x08" + bytes(range(256)) * 2, "gzip-compressed data"),
        (gzip.compress(b"hello text", mtime=0), "gzip-compressed data"),
        (bz2.compress(b"hello text"), "bzip2-compressed data"),
        (b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;", "a GIF image"),
        (b"\0\0\1\0\1\0\x10\x10" + bytes(range(100, 140)), "an icon"),
        (b"\0asm\1\0\0\0\1\4\1\x60\0\0", "a WebAssembly module"),
        (b"SQLite format 3\x00" + bytes(1000), "an SQLite database"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(1000), "a video, audio or image file"),
        (zipped({"a": b"words"}), "a ZIP archive"),
        (zipped({"mimetype": ODF + "graphics"}, stored=["mimetype"]), "an OpenDocument drawing; save it as .pdf"),
        (zipped({"xl/workbook.bin": b"x"}), "a binary Excel workbook; save it as .xlsx"),
        (bytes(range(256)) * 8, "in an unknown binary format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old binary Office file"),
    ],
)
def test_binary_files_are_named(data: bytes, kind: str) -> None:
    for name in ("a", "a.bin", "a.txt", "a.py", "a.md"):
        assert kind in reason(name, data)


@pytest.mark.parametrize("text", ["BMÜ: was es regelt", "MZ", "ID3 of 1996", "GIF89a is a format", "PAR1 and PAR2"])
def test_texts_may_begin_like_binary_files(text: str) -> None:
    assert convert("a.txt", text.encode("cp1252")).content == text


@pytest.mark.parametrize("line", [b" \r\n", b"\t\n", b" a\r\r\n"])
def test_a_file_that_might_be_an_e_mail_is_soon_told(line: bytes) -> None:
    assert find_format("a", b"Subject: x\r\n" + line * 1000 + b"!") is FORMATS[".txt"]


def test_empty_files() -> None:
    for ending in sorted(FORMATS):
        assert reason(f"a{ending}", b"") == "it is empty"
    for name in ("a.txt", "a.md", "a.html", "a.csv", "a.json", "a"):
        assert reason(name, " \n\t \r\n") == "it has no text"
    assert "built by scripts in the browser" in reason(
        "a.html", "<title>Acme</title><div id='root'></div><script src='/a.js'>"
    )
    assert "image" in reason("a.svg", "<svg/>")
