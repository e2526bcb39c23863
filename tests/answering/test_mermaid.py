"""Diagrams that a Mermaid parser accepts, whatever names contain.

What a label may consist of is tested always; the real parser is asked where Node and ``mermaid`` are there (``npm
install`` in ``tests/answering/mermaid``, or MGRAG_TEST_MERMAID names the folder with ``node_modules``).
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.answering.mermaid import MAX_LABEL_CHARS, MAX_NODES, mermaid_diagram
from core.rag.answering.types import FoundEntity, FoundFact
from core.rag.graph.drawing.mermaid import mermaid_label
from core.rag.graph.drawing.texts import printable

HERE = Path(__file__).parent / "mermaid"
MODULES = Path(os.environ.get("MGRAG_TEST_MERMAID", HERE)) / "node_modules"

HOSTILE = [
    'a "quoted" name',
    "]",
    '"] --> n1["',
    "a|b",
    '|"| n0',
    "end",
    "graph",
    "subgraph",
    "style n0 fill:#f00;",
    "classDef x:#a;",
    "click n0 call()",
    "%%{init: {}}%%",
    "%% comment",
    "---",
    "---\ntitle: x\n---",
    "`markdown`",
    "**bold**",
    "#34;",
    "#quot;",
    "&lt;b&gt;",
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "\\",
    "a\nb",
    "a\tb",
    "\x00",
    "\u202e",
    "\ud800",
    "ﬂ°°34¶ß",
    "ß",
    "ﬂ",
    "漢字かな交じり",
    "العربية",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "é",
    " ",
    "",
    "{a}",
    "(a)",
    "((a))",
    ">a]",
    "a;b",
    "a:b:c",
    "n0",
    "1",
    "$$x^2$$",
    "fa:fa-car",
    "a@{shape: circle}",
    "direction TB",
    "linkStyle 0 stroke:#ff3;",
    "''",
    "o--o",
    "x--x",
    "-.->",
    "==>",
    "~~~",
    "a & b",
    "x" * 500,
]

NAMES = st.one_of(st.text(max_size=80), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map(" ".join))


@given(NAMES)
def test_a_label_has_nothing_that_means_anything_to_the_grammar(name: str) -> None:
    label = mermaid_label(name)
    bare = re.sub(r"#\d{1,7};", "", label)
    assert label
    assert bare == "?" or all(character.isalnum() or character in " _" for character in bare)
    assert not set(bare) & set("ﬂß")
    label.encode()


@given(NAMES)
def test_a_label_shows_the_name(name: str) -> None:
    shown = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), mermaid_label(name))
    if all(character.isprintable() for character in name) and name.strip() and len(name) < MAX_LABEL_CHARS:
        assert shown == " ".join(name.split())


def _entity(number: int, name: str) -> FoundEntity:
    return FoundEntity(str(number), name)


def _facts(names: list[str]) -> list[FoundFact]:
    pairs = zip(enumerate(names), list(enumerate(names))[1:], strict=False)
    return [FoundFact(str(i), a, str(j), b, b or "RELATED", "") for (i, a), (j, b) in pairs]


def test_there_is_no_diagram_of_nothing() -> None:
    assert mermaid_diagram([], []) == ""


def test_large_graphs_are_cut_and_edges_are_drawn_once() -> None:
    entities = [_entity(number, f"e{number}") for number in range(100)]
    fact = FoundFact("1", "e1", "2", "e2", "KNOWS", "one way of saying it")
    drawn = mermaid_diagram(entities, [fact, FoundFact("1", "e1", "2", "e2", "KNOWS", "another")])
    assert drawn.count('["') == MAX_NODES
    assert drawn.count("-->") == 1


@pytest.mark.skipif(not (MODULES / "mermaid").is_dir() or shutil.which("node") is None, reason="no Mermaid parser")
def test_the_parser_of_mermaid_reads_every_diagram_back(tmp_path: Path) -> None:
    for file in HERE.glob("*.*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "node_modules").symlink_to(MODULES.resolve())
    chance = random.Random(7)
    fragments = [
        *HOSTILE,
        *string.punctuation,
        "RL",
        "TB",
        "direction",
        "end",
        "accTitle:",
        "\u00a0",
        "\u2028",
        "default",
    ]
    mixed = ["".join(chance.choices([*fragments, " "], k=4)) for _ in range(400)]
    groups = [[name] for name in (*HOSTILE, *mixed)] + [
        HOSTILE[start : start + 8] for start in range(0, len(HOSTILE), 8)
    ]
    diagrams = [mermaid_diagram([_entity(i, name) for i, name in enumerate(names)], _facts(names)) for names in groups]
    done = subprocess.run(
        ["node", "parse.mjs"], cwd=tmp_path, input="\n".join(map(json.dumps, diagrams)), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) == len(groups)
    for names, source, result in zip(groups, diagrams, results, strict=True):
        assert "error" not in result, source
        assert len(result["nodes"]) == len(names), source
        expected = [printable(name) for name in names]
        for (key, shown), name in zip(result["nodes"], expected, strict=True):
            assert re.fullmatch(r"n\d+", key)
            assert shown == (name or "?") or (len(name) > MAX_LABEL_CHARS and shown.endswith("…"))
        assert len(result["edges"]) == len(names) - 1
