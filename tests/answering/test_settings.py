"""Answers from configurations: a setting, its comment, and what both are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.code_spans import code_spans, comment_on, declared_below
from core.rag.answering.extracts.settings import names_above
from tests.growth import check_growth

COMPOSE = """services:
  wheel:
    image: mills/wheel:1.4
    restart: unless-stopped
    ports:
      - 8081:80
  store:
    image: postgres:16
    restart: always
    environment:
      POSTGRES_DB: grain
"""
README = """# The mill

The wheel is a web server, and the store is a database. Both are images.

## Restart the wheel

Its image is pulled again by `docker compose pull`, and a restart opens its ports anew.

## Ports and firewalls of the mill

Only the wheel has to be reached from outside. Open its port in the firewall of the mill.
"""
VALUES = """# -- How many millers work at once
replicas: 3

gate:
  # Seconds that the gate stays open
  # after the last boat has passed.
  openFor: 90
  ## @param gate.keeper Name of who keeps the gate
  ## @param gate.colour Colour that the gate is painted with
  keeper: ada
  colour: green
"""
ENV = """# Which water the mill takes
#
# ebb => the outgoing one
MILL_WATER=ebb

# Port of the pond
POND_PORT=7000
"""
SLUICE = """variable "sluice_width" {
  description = "How wide the sluice is, in centimetres"
  type        = number
  default     = 120
}

output "sluice_id" {
  description = "What the sluice is called in the register"
  value       = sluice.this.id
}
"""
INI = "[pond]\n; Litres that the pond holds\nvolume = 5000\n\n[stream]\nvolume = 80\n"
DOCKERFILE = 'FROM rust:1.80 AS grind\nWORKDIR /mill\nEXPOSE 8081\nCMD ["grind", "--fine"]\n'

FILES = {
    "README.md": README,
    "compose.yaml": COMPOSE,
    "values.yaml": VALUES,
    "mill.env": ENV,
    "sluice.tf": SLUICE,
    "levels.ini": INI,
    "Dockerfile": DOCKERFILE,
}

QUESTIONS = [
    ("Which image does the wheel service use?", ("image: mills/wheel:1.4",)),
    ("What is the restart policy of store?", ("restart: always",)),
    ("Which ports does wheel publish?", ("8081:80",)),
    ("What does replicas set?", ("`replicas: 3` How many millers work at once",)),
    ("Which setting says how many millers work at once?", ("replicas: 3", "How many millers work at once")),
    ("What is the default of gate.openFor?", ("openFor: 90", "Seconds that the gate stays open")),
    ("What is gate.colour for?", ("colour: green", "Colour that the gate is painted with")),
    ("What does MILL_WATER do?", ("MILL_WATER=ebb", "Which water the mill takes")),
    ("What is the default of POND_PORT?", ("POND_PORT=7000", "Port of the pond")),
    ("What is the default of sluice_width?", ('variable "sluice_width" {', "= 120", "  }\n")),
    ("What is the volume of the stream?", ("stream", "volume = 80")),
    ("Which base image does the Dockerfile use?", ("FROM rust:1.80",)),
    ("What is the working directory in the Dockerfile?", ("WORKDIR /mill",)),
    # a section with more of the question in its name than settings have
    ("What about ports and firewalls of the mill?", ("Only the wheel has to be reached from outside.",)),
]


async def test_what_is_named_comes_first_a_setting_with_its_comment(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        first = {question: (await kb.ask(question)).text.split("\n- ")[1] + "\n" for question, _ in QUESTIONS}
    wrong = [question for question, said in QUESTIONS if not all(part in first[question] for part in said)]
    assert not wrong, [first[question] for question in wrong]


def test_what_a_line_is_in_is_told_by_its_indentation_or_section() -> None:
    assert names_above(COMPOSE, COMPOSE.index("POSTGRES_DB")) == ["services", "store", "environment"]
    assert names_above(INI, INI.rindex("volume")) == ["[stream]"]
    assert names_above(SLUICE, SLUICE.index("default")) == ["variable sluice_width"]
    assert names_above("steps:\n- name: Grind\n  run: mill\n", 26) == ["steps", "Grind"]
    assert names_above(ENV, ENV.index("POND_PORT")) == []


def test_what_closes_a_block_goes_with_it() -> None:
    said = [SLUICE[start:end] for start, end, _ in code_spans(SLUICE, nested=True)]
    assert said == [block.strip() for block in SLUICE.split("\n\n")]


@pytest.mark.parametrize(
    ("text", "words", "declared"),
    [
        (VALUES, "Seconds", "openFor: 90"),
        (VALUES, "@param gate.colour", "colour: green"),
        (VALUES, "@param gate.keeper", "keeper: ada"),
        ("tide: {}\n  # ebb: 1\nflood: 2\n", "ebb", ""),  # on what is above it
        ("# The tide\n\nflood: 2\n", "The", ""),
    ],
)
def test_the_setting_that_a_comment_documents(text: str, words: str, declared: str) -> None:
    assert declared_below(text, text.index(words), ("#",)) == declared


def test_the_comment_on_a_setting_is_at_its_margin() -> None:
    text = "weirs: []\n  # - name: lock\n# Where the tide comes from\ntide: sea\nebb:\n  # - west\nflood: 1\n"
    found = {
        name: comment_on(text, text.index(name), text.index(name) + len(name)) for name in ("tide: sea", "flood: 1")
    }
    place = found["tide: sea"]
    assert place is not None
    assert text[slice(*place)] == "Where the tide comes from"
    assert found["flood: 1"] is None


def test_names_above_are_found_in_linear_time() -> None:
    for hostile in ("a:\n", " a: [\n", "- ", "[a]\n", 'v "a" '):

        def find(size: int, text: str = hostile) -> list[str]:
            return names_above(text * size + "\nb: 1", len(text) * size + 1)

        check_growth(find, 20_000)
