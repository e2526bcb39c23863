"""Answers from notebooks: code is said with what it printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.rag import KnowledgeBase
from core.rag.answering.extracts.blocks import block_at, cell_at, printed

HEAD = [["", "city", "people"], ["0", "Elmford", "120"], ["1", "Ashby", "340"], ["2", "Wick", "560"]]
TEXT = "Before.\n\n```python\nlen(mills)\n```\n\n```\n42\n```\n\n```bash\nls\n```\n\nAfter.\n\n```\nfree\n```"


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def value(text: str) -> dict[str, Any]:
    return {"output_type": "execute_result", "data": {"text/plain": text}}


def frame(rows: list[list[str]]) -> dict[str, Any]:
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
    return {"output_type": "execute_result", "data": {"text/html": table, "text/plain": "..."}}


async def first_item(folder: Path, question: str) -> str:
    """The first item of the answer from two notebooks."""
    text = "The towns along the river, and a model of their mills."
    cells = [
        {"cell_type": "markdown", "source": f"# Mills\n\n{text}\n\n## Towns"},
        code("towns = pd.read_csv('towns.csv')\ntowns.head(3)", frame(HEAD)),
        {"cell_type": "markdown", "source": "## A forest of trees"},
        code(
            "from sklearn.metrics import accuracy_score\n\naccuracy_score(y_test, forest.predict(X_test))",
            value("0.913"),
        ),
        code("plot_confusion(y_test, forest)"),
    ]
    other = [{"cell_type": "markdown", "source": "# Sails\n\nThis notebook uses wind, and the sails that it computes."}]
    (folder / "mills.ipynb").write_text(json.dumps({"cells": cells}))
    (folder / "sails.ipynb").write_text(json.dumps({"cells": other}))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([folder])
        answer = await kb.ask(question, extracts=True)
    return f"\n{answer.text}".split("\n- ")[1]


def test_what_code_printed_belongs_to_it() -> None:
    block = block_at(TEXT, TEXT.index("len(mills)"))
    assert block is not None
    output = printed(TEXT, block)
    assert output is not None
    assert TEXT[output.start : output.end].strip() == "42"
    assert cell_at(TEXT, TEXT.index("42")) == block
    command = block_at(TEXT, TEXT.index("ls\n"))
    assert command is not None
    assert printed(TEXT, command) is None
    free = block_at(TEXT, TEXT.index("free"))
    assert cell_at(TEXT, TEXT.index("free")) == free


async def test_a_value_is_said_with_the_code_that_gave_it(tmp_path: Path) -> None:
    item = await first_item(tmp_path, "What accuracy did the forest reach?")
    assert "accuracy_score(y_test, forest.predict(X_test))" in item
    assert "0.913" in item


async def test_a_row_is_said_with_the_code_that_showed_it(tmp_path: Path) -> None:
    item = await first_item(tmp_path, "How many people live in Ashby?")
    assert item.startswith("`towns.head(3)` → 1 | city: Ashby | people: 340")


async def test_the_columns_of_a_table_are_an_answer(tmp_path: Path) -> None:
    assert "city | people" in await first_item(tmp_path, "Which columns do the towns have?")


async def test_of_what_code_printed_nothing_is_worked_out(tmp_path: Path) -> None:
    assert "340 (3 records)" not in await first_item(tmp_path, "What is the average people of towns?")


async def test_which_notebook_is_a_question_for_what_it_has(tmp_path: Path) -> None:
    assert "plot_confusion" in await first_item(tmp_path, "Which notebook uses plot_confusion?")


async def test_a_line_of_dots_announces_nothing(tmp_path: Path) -> None:
    (tmp_path / "mill.md").write_text("# Mill\n\n...\n\nThe mill turns at night.\n")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        assert "turns at night" in (await kb.ask("When does the mill turn?", extracts=True)).text


async def test_an_overview_of_a_notebook_has_no_code(tmp_path: Path) -> None:
    item = await first_item(tmp_path, "Summarize mills.ipynb")
    assert item.startswith("The towns along the river")
