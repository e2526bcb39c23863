"""Answers from references: what is below the name of a command, a function or an option is told with that name."""

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.entries import asks_for_entry, entry_of, is_entry

_CLI = """# millctl

Runs a mill from the command line.

## sluice

### sluice open

Lets water onto the wheel.

#### Options

| Name | Description |
|---|---|
| `--width N` | How far, in centimetres |

### sluice close

Takes the water off the wheel again, which stops it within a minute.

## stones dress

Sharpens the furrows of both stones. The mill has to stand still.

### Options

#### --depth, -d

Cuts the furrows deeper, in millimetres.

#### --dry-run

Only prints which furrows are worn.

## Background

Stones were dressed by hand for centuries. The furrows wear down within a few weeks.
"""
_LIBRARY = """# Mill library

## Grain

<h3 id="sift"><code>sift(grain, [mesh=2])</code></h3>
[&#x24C8;](src/sift.js)

Separates chaff from kernels.

#### Arguments
1. `grain` *(Array)*: What comes from the floor.

#### Example
```js
sift([1, 2, 3]);
```

<h3 id="weigh"><code>weigh(grain)</code></h3>

Gives the mass of the kernels in grams.
"""


async def _asked(folder: Path, question: str) -> list[str]:
    async with KnowledgeBase.open("embedded::memory:", chunk_size=64) as kb:
        await kb.ingest(folder)
        answer = await kb.ask(question)
    return [line for line in answer.text.splitlines() if line.startswith("- ")]


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    (tmp_path / "cli.md").write_text(_CLI)
    return tmp_path


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which command lets water onto the wheel?", "- millctl sluice open: Lets water onto the wheel. [1]"),
        ("How do I take the water off the wheel?", "- millctl sluice close: Takes the water off the wheel again"),
        ("How do I sharpen the stones?", "- millctl stones dress: Sharpens the furrows of both stones."),
        ("Which option cuts deeper furrows?", "- millctl stones dress --depth, -d: Cuts the furrows deeper"),
        ("How do I see which furrows are worn?", "- millctl stones dress --dry-run: Only prints which furrows"),
    ],
)
async def test_a_command_is_named_that_does_what_is_asked(reference: Path, question: str, first: str) -> None:
    items = await _asked(reference, question)
    assert items[0].startswith(first), items


async def test_rows_of_options_are_told_with_their_command(reference: Path) -> None:
    items = await _asked(reference, "Which option says how far, in centimetres?")
    assert items[0].startswith("- millctl sluice open: Name: `--width N` | Description: How far, in centi"), items


async def test_prose_is_no_entry(reference: Path) -> None:
    items = await _asked(reference, "How long do the furrows last?")
    assert any(item.startswith(("- Stones were dressed by hand", "- The furrows wear")) for item in items), items


async def test_a_function_below_a_heading_in_html_is_named(tmp_path: Path) -> None:
    (tmp_path / "lib.md").write_text(_LIBRARY)
    items = await _asked(tmp_path, "Which function separates the chaff?")
    assert items[0].startswith("- sift(grain, [mesh=2]): Separates chaff from kernels. [1]"), items
    items = await _asked(tmp_path, "How do I get the mass of the kernels?")
    assert items[0].startswith("- weigh(grain): Gives the mass of the kernels in grams. [1]"), items


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I turn grain into flour?", "- mill-grind: Turns grain into flour"),
        ("Which command stops the wheel?", "- halt: Stop the wheel at once"),
        ("How do I stop the wheel?", "- halt: Stop the wheel at once"),
        ("Which command fills sacks?", "- mill-sack: Fills sacks."),
    ],
)
async def test_a_page_of_one_command_is_named_by_its_title_or_file(tmp_path: Path, question: str, first: str) -> None:
    pages = {
        "mill-grind.md": "---\ntitle: mill-grind\n---\n\nTurns grain into flour, as fine as the stones allow.\n",
        "mill-sack.md": "# mill-sack(1)\n\n## NAME\n\nmill-sack - pack flour\n\n## DESCRIPTION\n\nFills sacks.\n",
        "halt.md": "Stop the wheel at once, without waiting for the hopper.\n",
    }
    for name, content in pages.items():
        (tmp_path / name).write_text(content)
    items = await _asked(tmp_path, question)
    assert items[0].startswith(first), items


async def test_messages_are_no_entries(tmp_path: Path) -> None:
    chat = "# help\n\nAda (2024-03-01 09:00): Morning!\n\nBo Quill (2024-03-01 09:05): Stop the wheel by its lever.\n"
    (tmp_path / "chat.md").write_text(chat)
    items = await _asked(tmp_path, "How do I stop the wheel?")
    assert items[0].startswith("- Bo Quill (2024-03-01 09:05): Stop the wheel by its lever."), items


@pytest.mark.parametrize(
    "name", ["store prune", "--port, -p", "sift(grain)", "mill.open", "`MILL_PORT`", "<Wheel>", "GET /mills/{id}"]
)
def test_names_of_code_are_entries(name: str) -> None:
    assert is_entry(name)


@pytest.mark.parametrize(
    "name", ["", "Getting started", "Options", "opciones", "参数", "4. Tests", "What is a mill?", "FAQ"]
)
def test_other_headings_are_none(name: str) -> None:
    assert not is_entry(name)


@pytest.mark.parametrize(
    ("above", "name"),
    [
        (["prune", "Commands", "mill store"], "mill store prune"),
        (["--all", "Options", "mill clean"], "mill clean --all"),
        (["cache clear", "cache"], "cache clear"),
        (["Examples", "sift(grain)", "Grain"], "sift(grain)"),
        (["Background", "mill"], ""),
        (["--otp &lt;code\\&gt;", "Options", "mill login"], "mill login --otp <code>"),
        (["sift [1] <all>", "Grain"], ""),
        (["sift(grain [1])", "Grain"], "sift(grain (1))"),
        (["Options"], ""),
        ([], ""),
    ],
)
def test_an_entry_has_the_name_of_its_command(above: list[str], name: str) -> None:
    assert entry_of(above) == name


@pytest.mark.parametrize(
    "question",
    [
        "Which command stops it?",
        "What option sets it?",
        "Which method sets it?",
        "Welche Funktion teilt?",
        "哪个命令删除缓存？",
        "Какая команда удаляет?",
    ],
)
def test_questions_for_entries(question: str) -> None:
    assert asks_for_entry(question)


@pytest.mark.parametrize(
    "question",
    ["What methods were used?", "What options are there?", "Which rules do visitors have to follow?", "Why?"],
)
def test_other_questions(question: str) -> None:
    assert not asks_for_entry(question)


def test_the_name_of_a_very_long_call_is_cut() -> None:
    assert entry_of([f"sift({'grain, ' * 27}mesh)"]) == "sift(…)"


_PAGES = {
    "mill.2": ("mill, millat - turn a mill", "The turning begins when the wind does. A mill may fail to turn."),
    "sluice.2": ("sluice - let water onto the wheel", "Its wheel has to stand still. Water is let in by the gate."),
    "miller.8": ("miller - look after a mill", "It turns the mill into the wind, and looks at the sluice, too."),
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I turn a mill?", "mill, millat - turn a mill"),
        ("Which system call lets water onto the wheel?", "sluice - let water onto the wheel"),
        ("Which program looks after a mill?", "miller - look after a mill"),
    ],
)
async def test_pages_of_manuals_say_what_they_are_for(tmp_path: Path, question: str, first: str) -> None:
    for name, (purpose, text) in _PAGES.items():
        page = f".TH {name[:-2].upper()} {name[-1]}\n.SH NAME\n{purpose}\n.SH DESCRIPTION\n{text}\n"
        (tmp_path / name).write_text(page)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        answer = await kb.ask(question)
        assert answer.text.split("\n- ")[1].rpartition(" [")[0] == first
        titles = {hit.title for hit in await kb.search("mill")}
        assert titles == {
            "mill(2) - turn a mill",
            "sluice(2) - let water onto the wheel",
            "miller(8) - look after a mill",
        }
