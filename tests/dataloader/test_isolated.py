"""Files that are read in processes of their own: what goes wrong there costs the file, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from libs.dataloader import DocumentLoader
from libs.dataloader.formats import FileData, UnreadableError, convert
from libs.dataloader.formats.registry import PDF
from libs.dataloader.isolated import Limits, Readers
from libs.dataloader.types import Document, LoadFailure

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")


def pdf(*bodies: bytes, content: bytes) -> bytes:
    """A page with a content, and more objects from number 5 on; ``F`` is the first of them."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</XObject<</F 5 0 R>>>>/Contents 4 0 R>>"
    font = b"<</Font<</T 5 0 R>>>>"
    if not bodies:
        page = page.replace(b"<</XObject<</F 5 0 R>>>>", font)
        bodies = (b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream(content), *bodies]
    text, places = b"%PDF-1.5\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    return text + end % (len(objects) + 1, table, len(objects) + 1, len(text))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


def nested(levels: int, times: int = 8) -> bytes:
    """2 kB, a page of which draws a form that draws another one eight times, which draws another one eight times …"""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]"
    forms = [
        stream(b"/F Do " * times, form + b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + level))
        for level in range(levels)
    ]
    return pdf(*forms, stream(b"0 0 1 1 re f", form), content=b"/F Do")


GOOD = pdf(content=b"BT /T 12 Tf 20 100 Td (The mill turns with the ebb.) Tj ET")


@pytest.fixture
def readers() -> Iterator[Readers]:
    made = Readers(Limits(bytes=400 << 20))
    yield made
    made.close()


def test_it_reads_what_is_read_without_it(readers: Readers) -> None:
    file = FileData("a.pdf", GOOD)
    assert readers.read(file, PDF) == convert(file, PDF)
    assert "The mill turns with the ebb." in readers.read(file, PDF).text


def test_what_is_refused_without_it_is_refused_for_the_same_reason(readers: Readers) -> None:
    file = FileData("a.pdf", b"%PDF-1.5 no more")
    with pytest.raises(UnreadableError) as here:
        convert(file, PDF)
    with pytest.raises(UnreadableError) as there:
        readers.read(file, PDF)
    assert there.value.reason == here.value.reason


def test_a_file_that_needs_very_much_memory(readers: Readers) -> None:
    data = nested(9)
    assert len(data) < 3_000
    with pytest.raises(UnreadableError, match=r"(?i)memory"):
        readers.read(FileData("a.pdf", data), PDF)
    assert "The mill" in readers.read(FileData("b.pdf", GOOD), PDF).text


def test_a_file_that_takes_very_long() -> None:
    readers = Readers(Limits(seconds=0, seconds_per_megabyte=0))
    with pytest.raises(UnreadableError, match="takes too long"):
        readers.read(FileData("a.pdf", nested(9)), PDF)
    readers.close()


def test_a_process_that_was_killed_while_nobody_needed_it(readers: Readers) -> None:
    readers.read(FileData("a.pdf", GOOD), PDF)
    for process in readers._idle:
        process.kill()
        process.wait()
    assert "The mill" in readers.read(FileData("b.pdf", GOOD), PDF).text


def test_several_threads_at_once(readers: Readers) -> None:
    texts = [f"Number {number} of the mills." for number in range(40)]
    files = [pdf(content=b"BT /T 12 Tf 20 100 Td (%s) Tj ET" % text.encode()) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda data: readers.read(FileData("a.pdf", data), PDF).text, files))
    assert [text.strip() for text in found] == texts


def test_where_no_process_can_be_started(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    assert "The mill" in readers.read(FileData("a.pdf", GOOD), PDF).text
    assert not readers._idle


async def test_the_other_files_of_a_folder_are_read(
    tmp_path: Path, readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libs.dataloader.isolated._readers", readers)
    for name, data in (("a.pdf", GOOD), ("b.pdf", nested(9)), ("c.pdf", GOOD), ("d.md", b"# A pond")):
        (tmp_path / name).write_bytes(data)
    found = [result async for result in DocumentLoader(tmp_path).load()]
    assert [type(result) for result in found] == [Document, LoadFailure, Document, Document]


def test_nothing_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    """The pipe to this test closes when the last process that has it has ended, the one that reads among them."""
    (tmp_path / "a.pdf").write_bytes(nested(9))
    program = (
        "import os, pathlib, signal, sys, threading\n"
        "from libs.dataloader.formats import FileData\n"
        "from libs.dataloader.formats.registry import PDF\n"
        "from libs.dataloader.isolated import Limits, Readers\n"
        "readers = Readers(Limits(bytes=64 << 30))\n"
        "file = FileData('a.pdf', pathlib.Path(sys.argv[1]).read_bytes())\n"
        "started = threading.Event()\n"
        "take = readers._take\n"
        "readers._take = lambda: (take(), started.set())[0]\n"
        "threading.Thread(target=readers.read, args=(file, PDF)).start()\n"
        "started.wait()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.pdf")], capture_output=True, timeout=100, check=False
    )
    assert done.returncode == -9
