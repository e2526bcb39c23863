"""Which files of a folder are loaded, and in which order."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from libs.dataloader import DocumentLoader, InvalidSourceError, Loader, NothingMatchedError, SourceNotFoundError
from tests.dataloader.filetools import load, tree

FILES = {
    "b.md": "b",
    "a.txt": "a",
    "sub/c.md": "c",
    "sub/deep/d.py": "d",
    ".hidden.md": "h",
    ".config/e.md": "e",
    "z/f.md": "f",
}


async def names(root: Path | str, **options: Any) -> list[str]:
    loaded = await load(root, **options)
    return [path.removeprefix(f"{root}/") for path in loaded.paths]


# -- order and names -----------------------------------------------------------------------------------------------


async def test_every_file_in_order(tmp_path: Path) -> None:
    tree(tmp_path, FILES)
    assert await names(tmp_path) == ["a.txt", "b.md", "sub/c.md", "sub/deep/d.py", "z/f.md"]
    assert await names(tmp_path, recursive=False) == ["a.txt", "b.md"]
    assert await names(tmp_path, hidden=True) == [
        ".config/e.md", ".hidden.md", "a.txt", "b.md", "sub/c.md", "sub/deep/d.py", "z/f.md",
    ]  # fmt: skip


async def test_hidden_files_that_are_to_be_copied(tmp_path: Path) -> None:
    tree(tmp_path, {".env": "KEY=1", ".env.example": "KEY=", "web/.htaccess.dist": "x", "c/.conf.yml.sample": "a: 1"})
    assert await names(tmp_path) == [".env.example", "c/.conf.yml.sample", "web/.htaccess.dist"]
    assert ".env" in await names(tmp_path, hidden=True)


async def test_places_that_are_passed_over(tmp_path: Path) -> None:
    tree(tmp_path, {**FILES, "sub/data.db": "x", "sub/data.db.log/1": "x", "z/data.db": "another"})
    (tmp_path / "linked").symlink_to(tmp_path / "sub" / "data.db")
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    tree(outside, {"data.db.log/1": "x", "kept": "y"})
    (tmp_path / "z" / "out").symlink_to(outside)
    log = tmp_path / "z" / "log"
    log.symlink_to(outside / "data.db.log")

    loader = DocumentLoader(tmp_path)
    places = [tmp_path / "z" / ".." / "sub" / "data.db", tmp_path / "sub" / "data.db.log", log]
    found = [result.path.removeprefix(f"{tmp_path}/") async for result in loader.without(places).load()]
    assert found == ["a.txt", "b.md", "sub/c.md", "sub/deep/d.py", "z/data.db", "z/f.md", "z/out/kept"]
    assert len([result async for result in loader.load()]) == len(found) + 3  # which itself is as it was


@pytest.mark.parametrize(
    ("given", "shown"),
    [("docs", "docs/a.md"), ("docs/", "docs/a.md"), ("./docs", "docs/a.md"), ("sub/../docs", "sub/../docs/a.md")],
)
async def test_paths_begin_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, shown: str) -> None:
    tree(tmp_path, {"docs/a.md": "# Title\n", "sub/x": "x"})
    monkeypatch.chdir(tmp_path)
    loader = DocumentLoader(given)
    loaded = await load(given)
    (document,) = loaded.documents.values()
    assert document.path == shown
    assert document.uri == f"file://{tmp_path}/docs/a.md"
    assert (loader.source.name, loader.source.type, loader.source.uri) == ("docs", "folder", f"file://{tmp_path}/docs")
    assert isinstance(loader, Loader)


async def test_the_current_folder_and_a_single_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"a.md": "a", ".secret/.hidden.md": "h", ".gitignore": "*\n"})
    monkeypatch.chdir(tmp_path)
    assert (await load(".", gitignore=False)).paths == ["a.md"]
    assert (await load(tmp_path / "a.md")).paths == [f"{tmp_path}/a.md"]
    assert (await load(".secret/.hidden.md")).paths == [".secret/.hidden.md"]
    assert (await load(f"file://{tmp_path}/a.md")).documents[f"{tmp_path}/a.md"].uri == f"file://{tmp_path}/a.md"
    source = DocumentLoader("a.md").source
    assert (source.name, source.type, source.uri) == ("a.md", "file", f"file://{tmp_path}/a.md")
    (document,) = (await load("a.md")).documents.values()
    assert document.metadata["size"] == 1
    assert document.metadata["modified"].endswith("+00:00")


async def test_uris_are_those_of_the_graph(tmp_path: Path) -> None:
    from core.rag.identity import standardize_resource_uri

    tree(tmp_path, {"sub dir/ä b#c?d%20.md": "words"})
    (document,) = (await load(tmp_path)).documents.values()
    assert document.uri == standardize_resource_uri(document.path) == f"file://{tmp_path}/sub dir/ä b#c?d%20.md"


async def test_links_lead_to_the_uris_of_other_files(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "a.md": "[b](sub/b%20c.md#x) [root](/d.html)",
            "sub/b c.md": "[up](../a.md)",
            "d.html": "<p>x <a href='a.md'>a</a>",
        },
    )
    documents = {Path(path).name: found for path, found in (await load(tmp_path)).documents.items()}
    uris = {name: found.uri for name, found in documents.items()}
    assert [link.target for link in documents["a.md"].links] == [uris["b c.md"], uris["d.html"]]
    assert [link.target for link in documents["b c.md"].links] == [uris["a.md"]]
    assert [link.target for link in documents["d.html"].links] == [uris["a.md"]]


# -- patterns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        (["*.md"], [], ["b.md", "sub/c.md", "z/f.md"]),
        ("*.md", (), ["b.md", "sub/c.md", "z/f.md"]),
        (["/*.md"], [], ["b.md"]),
        (["sub/**/*.py", "a.*"], [], ["a.txt", "sub/deep/d.py"]),
        (["*.{txt,py}"], [], ["a.txt", "sub/deep/d.py"]),
        (["sub/"], [], ["sub/c.md", "sub/deep/d.py"]),
        ([], ["*.md"], ["a.txt", "sub/deep/d.py"]),
        ([], ["sub"], ["a.txt", "b.md", "z/f.md"]),
        (["*.md"], ["z/", "b.*"], ["sub/c.md"]),
        (["*.md", "!b.md"], [], ["sub/c.md", "z/f.md"]),
    ],
)
async def test_include_and_exclude(tmp_path: Path, include: list[str], exclude: list[str], found: list[str]) -> None:
    assert await names(tree(tmp_path, FILES), include=include, exclude=exclude) == found


@pytest.mark.parametrize(
    ("given", "pattern"),
    [
        ("docs", "docs/private/"),
        ("docs", "./docs/private"),
        ("docs", "./private/"),
        ("./docs/", "docs/{private,nothing}"),
        (".", "./docs/private/"),
        (".", "docs/private"),
        ("docs", "{place}/docs/private"),
        ("{place}/docs", "docs/private"),
    ],
)
async def test_patterns_may_be_paths_as_a_shell_completes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, pattern: str
) -> None:
    tree(tmp_path, {"docs/a.md": "a", "docs/private/b.md": "b", "docs/sub/private/c.md": "c"})
    monkeypatch.chdir(tmp_path)
    given, pattern = (text.replace("{place}", str(tmp_path)) for text in (given, pattern))
    kept = (await load(given, exclude=[pattern])).documents
    assert [Path(document.uri or "").name for document in kept.values()] == ["a.md", "c.md"]
    taken = (await load(given, include=[pattern])).documents
    assert [Path(document.uri or "").name for document in taken.values()] == ["b.md"]


async def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    tree(tmp_path, FILES)
    with pytest.raises(NothingMatchedError, match=r"none of its 5 files matches \*\.pdf, \*\.docx"):
        await load(tmp_path, include=["*.pdf", "*.docx"])
    assert await names(tmp_path, exclude=["*"]) == []


async def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert (await load(tmp_path)).results == []
    assert (await load(tmp_path, include=["*.md"])).results == []


async def test_why_a_folder_has_nothing_to_load(tmp_path: Path) -> None:
    async def notes(name: str, **options: Any) -> tuple[str, ...]:
        loader = DocumentLoader(tmp_path / name, **options)
        assert all([result.path async for result in loader.load()])
        return loader.notes

    tree(tmp_path, {"hidden/.a.md": "a", "ignored/.gitignore": "*", "ignored/b.md": "b", "left/c.md": "c"})
    (tmp_path / "bare").mkdir()
    assert await notes("bare") == (f"{tmp_path}/bare has no files to load: it is an empty folder.",)
    (tmp_path / "deep" / "in").mkdir(parents=True)
    assert await notes("deep", recursive=False) == (
        f"{tmp_path}/deep has no files to load: 1 not entered (folders, with recursive=False).",
    )
    assert await notes("hidden") == (
        f"{tmp_path}/hidden has no files to load: 1 hidden (names that begin with a dot; --hidden loads them).",
    )
    assert "1 excluded by .gitignore (--no-gitignore loads them)" in (await notes("ignored"))[0]
    assert "1 excluded by --exclude" in (await notes("left", exclude=["*.md"]))[0]
    assert await notes("left") == await notes("ignored", gitignore=False) == ()


async def test_what_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path / "file" / "below"):
        tree(tmp_path, {"file": "x"})
        with pytest.raises(SourceNotFoundError, match="no such file or folder"):
            await load(path)
        with pytest.raises(SourceNotFoundError):
            _ = DocumentLoader(path).source


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (
            "ftp://x/y",
            r"ftp://x/y: ftp:// is not supported; give a web address \(http://, https://\), or a file or folder",
        ),
        ("s3://bucket/key.md", "s3:// is not supported"),
        ("sftp://me:secret@host/x", "sftp://host/x: sftp:// is not supported"),
        ("https://me:secret@example.org/x", "https://example.org/x: this is a web address, which WebLoader loads"),
        ("://x", "no such file or folder"),
        *(
            (address, r"no such file or folder \(a web address starts with http:// or https://\)$")
            for address in ("example.org", "example.org/docs", "www.example.com", "localhost:8000", "http:/example.org")
        ),
        *((name, "no such file or folder$") for name in ("notes.txt", "nothing", "a/b.md", "../x.html", "C:\\docs")),
    ],
)
async def test_an_address_that_is_no_path_says_so(address: str, said: str) -> None:
    with pytest.raises(SourceNotFoundError, match=said):
        await load(address)
    with pytest.raises(SourceNotFoundError, match=said):
        _ = DocumentLoader(address).source


@pytest.mark.parametrize(
    "text",
    [
        "The mill turns with the ebb, and stands still.",
        "The mill turns with the ebb.\n\nIt stands still with the flood",
        "The mill turns with the ebb " * 1000,
    ],
)
async def test_a_text_instead_of_a_path_is_told_from_a_missing_file(text: str) -> None:
    with pytest.raises(SourceNotFoundError, match=r"^The mill turns with the ebb.* …: .*Document\(path=…") as error:
        await load(text)
    assert len(str(error.value)) < 150


@pytest.mark.skipif(os.name == "nt", reason="no colons in names")
async def test_a_folder_may_be_called_like_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"ftp:/x/a.md": "a"})
    monkeypatch.chdir(tmp_path)
    assert [name.rpartition("/")[2] for name in await names("ftp://x")] == ["a.md"]


async def test_file_uris_as_in_the_graph_and_as_in_browsers(tmp_path: Path) -> None:
    tree(tmp_path, {"a b/ü.md": "u", "100%25/x.md": "literal", "100%/x.md": "decoded"})
    for uri in (f"file://{tmp_path}/a b", f"file://{tmp_path}/a%20b", f"file://localhost{tmp_path}/a%20b"):
        assert list((await load(uri)).documents) == [f"{tmp_path}/a b/ü.md"]
    assert list((await load(f"FILE://{tmp_path}/a%20b/%C3%BC.md")).documents) == [f"{tmp_path}/a b/ü.md"]
    assert list((await load(f"file://{tmp_path}/100%25")).documents) == [f"{tmp_path}/100%25/x.md"]


async def later(path: Path) -> str:
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": ""}, "the path is empty"),
        ({"path": "a\0b"}, "NUL"),
        ({"path": None}, "a path must be text or a Path, not NoneType"),
        ({"path": ["a", "b"]}, "a path must be text or a Path, not list"),
        ({"path": b"a"}, "a path must be text or a Path, not bytes"),
        ({"path": "a", "max_bytes": 0}, "max_bytes must be a whole number from 1 up, not 0"),
        ({"path": "a", "max_bytes": "5 MB"}, "max_bytes must be a whole number from 1 up, not '5 MB'"),
        ({"path": "a", "encoding": "utf-9"}, "there is no encoding called 'utf-9'"),
        ({"path": "a", "encoding": 8}, "there is no encoding called 8"),
        ({"path": "a", "readers": [later]}, "readers must be a mapping such as {'.hwp': reader}"),
        ({"path": "a", "readers": {3: str}}, "given by file extension, such as '.hwp', not 3"),
        ({"path": "a", "readers": {".x": "text"}}, "reader of '.x' must be a LlamaIndex reader .*, not str"),
        (
            {"path": "a", "readers": {".x": later}},
            "must be .* a plain function of a path, not an asynchronous function",
        ),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSourceError, match=said):
        DocumentLoader(**arguments)


# -- .gitignore ----------------------------------------------------------------------------------------------------


async def test_gitignore_files_are_respected(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n/top.md\n[broken\n!keep.log\n",
            "a.md": "a",
            "top.md": "t",
            "x.log": "x",
            "keep.log": "k",
            "build/out.md": "o",
            "sub/.gitignore": "secret.md\n!special.log\n",
            "sub/top.md": "t",
            "sub/secret.md": "s",
            "sub/special.log": "l",
            "sub/build/out.md": "o",
            ".git/config.md": "c",
        },
    )
    assert await names(tmp_path) == ["a.md", "keep.log", "sub/special.log", "sub/top.md"]
    everything = await names(tmp_path, gitignore=False)
    assert {"x.log", "build/out.md", "sub/secret.md"} <= set(everything)
    assert ".git/config.md" not in await names(tmp_path, hidden=True)


async def test_a_byte_order_mark_is_no_part_of_a_pattern(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "\ufeffsecret.txt\nother.txt\n", "a.txt": "a", "secret.txt": "s", "other.txt": "o"})
    assert await names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("everything", ["a/**", "/a/**", "**/a/**", "a/*", "a/**/ "])
async def test_gitignore_files_take_back_what_is_below(tmp_path: Path, everything: str) -> None:
    left = {"a/keep.md": "k", "b.md": "b"}
    tree(tmp_path, {".gitignore": f"{everything}\n!a/keep.md\n!a/b/c.md\n", "a/b/c.md": "c", **left})
    assert set(await names(tmp_path)) == {*left}


@pytest.mark.parametrize("folders", ["*/", "**/"])
async def test_gitignore_files_leave_out_all_folders(tmp_path: Path, folders: str) -> None:
    files = {"a/b/c.md": "c", "a/b/d.txt": "d", "a/e.md": "e", "f.md": "f"}
    tree(tmp_path, {".gitignore": f"{folders}\n!a/**\n", **files})
    assert await names(tmp_path) == ["f.md"]
    tree(tmp_path, {".gitignore": f"{folders}\n!a/\n"})
    assert await names(tmp_path) == ["a/e.md", "f.md"]
    tree(tmp_path, {".gitignore": "*.txt\n", "a/.gitignore": f"!{folders}\n"})  # folders are taken back, not files
    assert await names(tmp_path) == ["a/b/c.md", "a/e.md", "f.md"]


async def test_gitignore_files_above_count_unless_they_leave_out_what_was_asked_for(tmp_path: Path) -> None:
    tree(tmp_path, {".git/HEAD": "", ".gitignore": "a/\n*.log\n", "a/b/c.log": "c", "d/e.log": "e", "d/f.md": "f"})
    assert await names(tmp_path / "a" / "b") == ["c.log"]
    assert await names(tmp_path / "d") == ["f.md"]


async def test_gitignore_files_are_read_once_for_all_links(tmp_path: Path) -> None:
    tree(tmp_path, {"a/b/.gitignore": "\n".join(f"pattern{number}*.log" for number in range(1500)), "a/b/c.md": "c"})
    for number in range(200):
        (tmp_path / f"{number}.md").symlink_to(tmp_path / "a" / "b" / "c.md")
    begun = time.process_time()
    assert await names(tmp_path) == ["a/b/c.md"]
    assert time.process_time() - begun < 5


async def test_gitignore_files_name_classes_of_characters(tmp_path: Path) -> None:
    patterns = "v[[:digit:]].md\n[![:alnum:]_]*.txt\np[[:punct:]]q.md\n\\[[:alpha:]]*\n"
    left = {"va.md": "v", "a.txt": "a", "_b.txt": "b", "paq.md": "p"}
    tree(tmp_path, {".gitignore": patterns, "v1.md": "v", "-a.txt": "a", "p]q.md": "p", "p-q.md": "p", **left})
    assert set(await names(tmp_path)) == {*left}


async def test_gitignore_files_above_count_within_the_repository(tmp_path: Path) -> None:
    repository = tree(
        tmp_path / "repository",
        {
            ".git/info/exclude": "*.private\n",
            ".gitignore": "*.log\ndocs/drafts/\n/build/\n",
            "docs/a.md": "a",
            "docs/x.log": "x",
            "docs/y.private": "y",
            "docs/drafts/d.md": "d",
            "build/b.md": "b",
            "build/c.log": "c",
        },
    )
    assert await names(repository / "docs") == ["a.md"]
    # What is asked for by name is not ignored.
    assert await names(repository / "docs" / "drafts") == ["d.md"]
    assert await names(repository / "build") == ["b.md", "c.log"]
    tree(tmp_path, {".gitignore": "*.md\n"})  # above the repository
    assert await names(repository / "docs") == ["a.md"]


async def test_gitignore_files_end_where_another_repository_begins(tmp_path: Path) -> None:
    inner = {".git/HEAD": "", ".git/info/exclude": "*.private\n", ".gitignore": "*.tmp\n"}
    files = {"a.log": "a", "b.private": "b", "c.tmp": "c", "sub/d.log": "d"}
    tree(tmp_path, {".git/HEAD": "", ".gitignore": "*.log\nleft/\n", "e.log": "e", "f.tmp": "f"})
    for name in ("inner", "left"):
        tree(tmp_path / name, {**inner, **files})
    tree(tmp_path / "module", {".git": "gitdir: elsewhere\n", "g.log": "g"})  # as in a submodule
    assert await names(tmp_path) == ["f.tmp", "inner/a.log", "inner/sub/d.log", "module/g.log"]


async def test_patterns_of_gitignore_files_end_at_line_ends_only(tmp_path: Path) -> None:
    odd = "a\x0b*.md\x85*.txt\u2028*.py\r*.c"
    tree(tmp_path, {".gitignore": f"{odd}\r\n*.log\r\n", **dict.fromkeys(("b.md", "b.txt", "b.py", "b.c"), "b")})
    tree(tmp_path, {"b.log": "b"})
    assert await names(tmp_path) == ["b.c", "b.md", "b.py", "b.txt"]


# -- things that are no files --------------------------------------------------------------------------------------


async def test_pipes_sockets_and_devices_are_reported_and_never_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, {"a.md": "a", "z.md": "z"})
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        loaded = await load(tmp_path)
    assert [Path(path).name for path in loaded.documents] == ["a.md", "z.md"]
    assert {Path(path).name: reason for path, reason in loaded.failures.items()} == {
        "pipe.md": "it is a named pipe, not a file",
        "socket.md": "it is a socket, not a file",
    }
    assert "not a" in next(iter((await load(tmp_path / "pipe.md")).failures.values()))
    assert "not a" in next(iter((await load("/dev/null")).failures.values()))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_what_may_not_be_read_is_reported(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "a", "locked.md": "x", "folder/b.md": "b"})
    (tmp_path / "locked.md").chmod(0)
    (tmp_path / "folder").chmod(0)
    try:
        loaded = await load(tmp_path)
    finally:
        (tmp_path / "folder").chmod(0o700)
    assert set(loaded.failures.values()) == {"permission denied"}
    assert len(loaded.documents) == 1


async def test_errors_of_the_file_system_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(
        tmp_path, {"a.md": "a", "gone.md": "g", "locked.md": "l", "folder/b.md": "b", "vanished/c.md": "c", "z.md": "z"}
    )
    opened, listed = os.open, os.scandir

    def open_(path: str, *rest: int) -> int:
        if str(path).endswith("gone.md"):
            raise FileNotFoundError(2, "No such file", path)
        if str(path).endswith("locked.md"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *rest)

    def scandir(path: str) -> object:
        if str(path).endswith("folder"):
            raise PermissionError(13, "Permission denied", path)
        if str(path).endswith("vanished"):
            raise FileNotFoundError(2, "No such file", path)
        return listed(path)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "scandir", scandir)
    loaded = await load(tmp_path)
    assert [Path(path).name for path in loaded.documents] == ["a.md", "z.md"]
    assert {Path(path).name: reason for path, reason in loaded.failures.items()} == {
        "folder": "permission denied",
        "gone.md": "it was removed before it could be read",
        "locked.md": "permission denied",
    }
    assert [result.path for result in loaded.results if getattr(result, "gone", False)] == [f"{tmp_path}/gone.md"]


async def test_names_that_are_not_utf8_or_hold_newlines(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("latin")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    tree(tmp_path, {"two\nlines.md": "newline", "ünï.md": "unicode"})
    (tmp_path / os.fsdecode(b"fold\xff")).mkdir()
    (tmp_path / os.fsdecode(b"fold\xff/x.md")).write_text("inside")
    loaded = await load(tmp_path)
    assert {path.removeprefix(f"{tmp_path}/"): document.content for path, document in loaded.documents.items()} == {
        "caf%E9.md": "latin",
        "fold%FF/x.md": "inside",
        "two\nlines.md": "newline",
        "ünï.md": "unicode",
    }
    for document in loaded.documents.values():
        assert document.uri is not None
        document.uri.encode("utf-8")


async def test_no_two_files_are_one_document_by_their_names(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"\xe9.txt")).write_text("bytes")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    for name in (b"\xe9%E9.txt", b"%E9\xe9.txt", b"\xe9\xe9.txt"):
        (tmp_path / os.fsdecode(name)).write_text(repr(name))
    (tmp_path / "100%").mkdir()
    (tmp_path / "100%" / os.fsdecode(b"\xe9.txt")).write_text("deep")
    tree(tmp_path, {"%E9.txt": "percent", "100% é.txt": "ordinary"})
    loaded = await load(tmp_path)
    assert {path.removeprefix(f"{tmp_path}/"): document.content for path, document in loaded.documents.items()} == {
        "%E9.txt": "percent",
        "%E9%25E9.txt": repr(b"\xe9%E9.txt"),
        "%25E9%E9.txt": repr(b"%E9\xe9.txt"),
        "%E9%E9.txt": repr(b"\xe9\xe9.txt"),
        "100%/%E9.txt": "deep",
        "100% é.txt": "ordinary",
    }
    assert ["rename one of them" in reason for reason in loaded.failures.values()] == [True]
    alone = await load(tmp_path / os.fsdecode(b"\xe9.txt"))
    assert not alone.documents
    assert len(alone.failures) == 1


# -- links ---------------------------------------------------------------------------------------------------------


async def test_loops_of_links_end(tmp_path: Path) -> None:
    root = tree(tmp_path / "root", {"a.md": "a", "sub/b.md": "b"})
    (root / "sub" / "up").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "ping").symlink_to(root / "pong")
    (root / "pong").symlink_to(root / "ping")
    (root / "parent").symlink_to(tmp_path)
    loaded = await load(root)
    assert sorted(path.removeprefix(f"{root}/") for path in loaded.documents) == ["a.md", "sub/b.md"]
    assert {Path(path).name for path in loaded.failures} == {"self", "ping", "pong"}


async def test_a_folder_or_file_is_loaded_once_under_its_own_name(tmp_path: Path) -> None:
    root = tree(tmp_path / "root", {"z/real.md": "real"})
    outside = tree(tmp_path / "outside", {"o.md": "o", "inner/i.md": "i"})
    (root / "a").symlink_to(root / "z")
    (root / "b").symlink_to(outside / "inner")
    (root / "c").symlink_to(outside)
    (root / "d").symlink_to(outside)
    (root / "e.md").symlink_to(root / "z" / "real.md")
    (root / "f.md").symlink_to(outside / "o.md")
    (root / "g.md").symlink_to(outside / "o.md")
    (root / "h.md").symlink_to(tmp_path / "nowhere")
    loaded = await load(root)
    assert [path.removeprefix(f"{root}/") for path in loaded.documents] == ["b/i.md", "c/o.md", "f.md", "z/real.md"]
    assert loaded.failures == {f"{root}/h.md": "it is a broken symbolic link"}
    assert list((await load(root, include="*.md")).documents) == list(loaded.documents)


async def test_links_to_what_is_not_loaded_itself_are_followed(tmp_path: Path) -> None:
    root = tree(tmp_path, {".store/x.md": "x", "ignored/y.md": "y", ".gitignore": "ignored/\n", "b.txt": "z"})
    (root / "a").symlink_to(root / ".store")
    (root / "link.md").symlink_to(root / "ignored" / "y.md")
    (root / "b.md").symlink_to(root / "b.txt")
    assert await names(root, include=["*.md"]) == ["a/x.md", "b.md", "link.md"]


async def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    real = tree(tmp_path / "real", {"a.md": "a"})
    (tmp_path / "link").symlink_to(real)
    assert (await load(tmp_path / "link")).paths == [f"{tmp_path}/link/a.md"]
