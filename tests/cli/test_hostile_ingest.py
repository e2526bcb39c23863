"""Hostile files and addresses: a failure with a reason each, and a graph that is as sound as before."""

from __future__ import annotations

import io
import os
import shutil
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Command, Done
from tests.cli.hostile import ESCAPE, INJECTION, SURROGATE, told


def zipped(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


BOMB = b"<!DOCTYPE l [" + b"".join(
    b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10 if i else b"lol") for i in range(12)
)


def bomb() -> bytes:
    """A small file that becomes a large one; not made before it is needed, as that takes a second."""
    return zipped(word__document__xml=b"\x00" * 210_000_000)


#: Name, bytes, and what the reason that is reported has to say; ``None`` where something can be read.
FILES: dict[str, tuple[bytes | Callable[[], bytes], str | None]] = {
    "empty.md": (b"", "empty"),
    "only-a-mark.txt": (b"\xef\xbb\xbf", "no text"),
    "blank.txt": (b" \n\t\r\n", ""),
    "zeros.bin": (b"\x00" * 5000, ""),
    "random.dat": (bytes(range(256)) * 40, ""),
    "program.exe": (b"MZ" + bytes(range(256)) * 40, ""),
    "damaged.pdf": (b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog" + b"\xff" * 500, ""),
    "no.docx": (b"this is no archive", ""),
    "empty-archive.docx": (zipped(), ""),
    "nothing-inside.xlsx": (zipped(mimetype=b"x"), ""),
    "bomb.docx": (bomb, ""),
    "laughs.docx": (
        zipped(**{"[Content_Types].xml": b"<Types/>", "word__document.xml": BOMB + b"]><l>&l11;</l>"}),
        "",
    ),
    "no.epub": (zipped(mimetype=b"application/epub+zip"), ""),
    "no.ipynb": (b'{"cells": 7}', ""),
    "broken.json": (b'{"a": [1, 2', None),
    "deep.json": (b"[" * 100_000 + b"]" * 100_000, None),
    "no.odt": (zipped(content__xml=b"<"), ""),
    "no.pptx": (b"PK\x03\x04" + b"\x00" * 100, ""),
    "quotes.csv": (b'a,b\n"x,y\n"z""', None),
    "deep.html": (b"<div>" * 20_000 + b"mill" + b"</div>" * 20_000, None),
    "escapes.md": (b"# \x1b[31mred\x1b[0m\n\n\x1b]0;owned\x07 mill", None),  # without them it is text
    "surrogates.txt": ("mill \ud800 wheel".encode("utf-16-le", "surrogatepass"), None),
    "not-utf-8.md": (b"# caf\xe9\n\nmill \xff\xfe\xfd", None),
    "wide.txt": (b"mill" * 100_000, None),
    "cypher.md": (f"# {INJECTION}\n\n[x]({INJECTION}) `MATCH (n) DETACH DELETE n`".encode(), None),
    "line\nbreak.md": (b"# mill", None),
    "\u202efdp.md": (b"# mill", None),
    ESCAPE.replace("/", "") + ".md": (b"# mill", None),
    "quote'\".md": (b"# mill", None),
    "x" * 240 + ".md": (b"# mill", None),
    "front.md": (b"---\na: &a [*a, *a]\nb: !!python/object/apply:os.system [id]\n---\n# mill", None),
}

ADDRESSES = {
    "no host": "http://",
    "brackets": "http://[",
    "blank": "http://exa mple/",
    "port": "http://127.0.0.1:99999/",
    "nobody listens": "http://127.0.0.1:1/",
    "credentials": "http://user:secret@127.0.0.1:1/",
    "metadata of clouds": "http://169.254.169.254/latest/",
    "zero": "http://0.0.0.0:1/",
    "mapped": "http://[::ffff:127.0.0.1]:1/",
    "script": "javascript:alert(1)",
    "file": "file:///etc/passwd-of-nobody",
    "ftp": "ftp://127.0.0.1/",
    "control": "http://127.0.0.1:1/\r\nX-Evil: 1",
    "half a character": f"http://127.0.0.1:1/{SURROGATE}",
    "long": "http://127.0.0.1:1/" + "a" * 100_000,
}


@pytest.fixture(scope="module")
def reported(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """What ingesting all of the files at once says."""
    folder = tmp_path_factory.mktemp("files")
    shutil.copyfile(ingested / "graph.grafeo", folder / "graph.grafeo")
    (folder / "in").mkdir()
    for name, (data, _) in FILES.items():
        (folder / "in" / name).write_bytes(data() if callable(data) else data)
    done = Command(folder)("ingest", "in", "--json", "--db", "graph.grafeo")
    shown = Command(folder)("--db", "graph.grafeo", "list", "--prefix", "in/")
    assert shown.code == 0
    assert "\x1b" not in shown.out
    assert len(shown.out.splitlines()) == 1 + done.json["documents"]["added"]
    assert Command(folder)("--db", "graph.grafeo", "doctor", "--json").json["healthy"]
    return done


@pytest.mark.parametrize("name", FILES, ids=range(len(FILES)))
def test_files(name: str, reported: Done) -> None:
    assert reported.code == 0, reported.err
    expected = FILES[name][1]
    reasons = [item["reason"] for item in reported.json["documents"]["failed"] if item["path"] == f"in/{name}"]
    if expected is None:
        assert reasons == []
    else:
        assert len(reasons) == 1
        assert expected in reasons[0]
        assert "Traceback" not in reasons[0]
        assert "\n" not in reasons[0]


@pytest.mark.parametrize("name", ["empty.md", "damaged.pdf", "laughs.docx"])
def test_a_bad_file_alone_is_a_failure(name: str, mgrag: Command, unchanged: Path) -> None:
    data, _ = FILES[name]
    assert isinstance(data, bytes)
    Path(name).write_bytes(data)
    done = mgrag("ingest", name, "--json")
    assert done.code == 1
    assert [item["path"] for item in done.json["documents"]["failed"]] == [name]


def test_things_that_are_no_files(mgrag: Command, graph: Path) -> None:
    folder = Path("in")
    (folder / "sub").mkdir(parents=True)
    (folder / "good.txt").write_text("A good file.")
    (folder / "sub" / "loop").symlink_to(Path("..").absolute() / "in", target_is_directory=True)
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "self.md").symlink_to("self.md")
    (folder / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.txt"))
        done = mgrag("ingest", "in", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"]["added"] == 1
    for name in ("pipe.txt", "dangling.md", "self.md", "zero.txt"):
        done = mgrag("ingest", f"in/{name}")
        assert done.code == 1
        assert name in done.out + done.err
    assert mgrag("doctor", "--json").json["healthy"]


def test_a_name_that_is_no_text(mgrag: Command, graph: Path) -> None:
    Path("in").mkdir()
    with open(b"in/caf\xe9.md", "wb") as file:
        file.write(b"# mill")
    (Path("in") / "good.txt").write_text("A good file.")
    done = mgrag("ingest", "in", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"]["added"] >= 1
    assert mgrag("list", "--json").code == 0
    assert mgrag("doctor", "--json").json["healthy"]


def test_a_file_that_is_too_large(mgrag: Command, graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MGRAG_MAX_FILE_BYTES", "1000")
    Path("large.md").write_text("mill " * 1000)
    done = mgrag("ingest", "large.md")
    assert done.code == 1
    assert "large" in done.out + done.err


@pytest.mark.parametrize("address", ADDRESSES.values(), ids=ADDRESSES)
def test_addresses(address: str, mgrag: Command, unchanged: Path) -> None:
    done = mgrag("ingest", "--json", "--", address)
    assert done.code in (1, 2), (done.code, done.out)
    assert "Traceback" not in done.err
    if done.out:
        assert len(done.json["documents"]["failed"]) == 1
    else:
        told(done, 1, 2)
    assert "secret" not in done.err + done.out


@pytest.mark.parametrize(
    "options",
    [
        ("--url-pattern", "["),
        ("--max-urls", "0"),
        ("--max-urls", "-5"),
        ("--chunk-size", "0"),
        ("--chunk-size", "-1"),
        ("--chunk-size", "20", "--chunk-overlap", "20"),
        ("--chunk-overlap", "-1"),
        ("--model", ""),
    ],
    ids=" ".join,
)
def test_options_of_ingest_that_make_no_sense(options: tuple[str, ...], mgrag: Command, unchanged: Path) -> None:
    address = "http://127.0.0.1:1/" if options[0].startswith(("--url", "--max")) else "corpus"
    told(mgrag("ingest", address, *options), 2)
