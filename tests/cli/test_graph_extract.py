"""``mgrag graph extract``: a language model reads what is in the graph."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.fakes.openai_chat import Chat

OWNS = {"subject": "Ada Vane", "relation": "owns", "object": "Heron Mill", "sentence": "Ada Vane owns Heron Mill."}
SOLD = OWNS | {"relation": "sold", "object": "Otter Weir", "sentence": "Ada Vane sold Otter Weir."}
TYPES = {"Ada Vane": "person", "Heron Mill": "building", "Otter Weir": "weir"}


def say(body: dict[str, Any]) -> str:
    text = body["messages"][-1]["content"]
    facts = [fact for fact in (OWNS, SOLD) if fact["sentence"] in text]
    names = {fact[end] for fact in facts for end in ("subject", "object")}
    return json.dumps({"entities": [{"name": name, "type": TYPES[name]} for name in sorted(names)], "facts": facts})


@pytest.fixture
def notes(bare: Path, mgrag: Command, chat: Chat) -> Command:
    """The command, beside a graph of two notes that the model has not read."""
    (bare / "mill.md").write_text(f"# Mill\n\n{OWNS['sentence']}\n", "utf-8")
    (bare / "weir.md").write_text(f"# Weir\n\n{SOLD['sentence']}\n", "utf-8")
    assert mgrag("ingest", "mill.md", "weir.md").code == 0
    assert not chat.bodies
    chat.default = say
    return mgrag


def relations(mgrag: Command) -> set[str]:
    query = "MATCH (:Entity {name: 'Ada Vane'})-[r:RELATED]->(:Entity) RETURN r.type AS type"
    return {row["type"] for row in mgrag("cypher", query, "--json").json}


def test_chunks_that_were_not_read_are_read(notes: Command) -> None:
    first = notes("graph", "extract", "--limit", "1", "--json")
    assert (first.code, first.err) == (0, "")
    assert first.json == {
        "chunks": 1,
        "entities": 2,
        "facts": 1,
        "unwanted": 0,
        "unnamed": 0,
        "failed": [],
        "stopped": "",
    }
    assert notes("graph", "extract").out == "1 chunk read: 2 entities, 1 fact; 0 failed.\n"
    assert relations(notes) == {"owns", "sold"}
    assert notes("graph", "extract").out == "0 chunks read: 0 entities, 0 facts; 0 failed.\n"


def test_they_are_read_again_for_other_types_and_relations(notes: Command) -> None:
    assert notes("graph", "extract").code == 0
    done = notes("graph", "extract", "--again", "--type", "person", "--type", "building", "--relation", "owns")
    assert done.code == 0
    assert done.out == (
        "2 chunks read: 3 entities, 1 fact; 0 failed.\nLeft out, as other types and relations were asked for: 2.\n"
    )
    assert relations(notes) == {"owns"}


def test_what_fails_is_told_and_tried_again(notes: Command, chat: Chat) -> None:
    chat.default = "no JSON"
    done = notes("graph", "extract")
    assert done.code == 1
    assert len(re.findall(r"^failed  (?:mill|weir)\.md: m does not answer", done.out, re.MULTILINE)) == 2
    assert done.out.endswith("0 chunks read: 0 entities, 0 facts; 2 failed.\n")
    chat.default = say
    assert notes("graph", "extract", "--json").json["chunks"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--relation", "person > owns"), "is not a relation"),
        (("--type", "person", "--relation", "person > owns > mill"), "not among the types"),
        (("--limit", "0"), "--limit"),
    ],
)
def test_wrong_options_are_refused(notes: Command, chat: Chat, arguments: tuple[str, ...], message: str) -> None:
    done = notes("graph", "extract", *arguments)
    assert done.code == 2
    assert message in done.err
    assert not chat.bodies


def test_without_a_model_or_a_graph_nothing_is_done(notes: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notes("graph", "extract", "--db", "embedded:other.grafeo").code != 0
    assert not (notes.folder / "other.grafeo").exists()
    monkeypatch.delenv("MGRAG_LLM_MODEL")
    done = notes("graph", "extract")
    assert done.code == 2
    assert "MGRAG_LLM_MODEL" in done.err
