"""What programs mention: the words of their comments, and their own names."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.extraction.names import names_in
from core.rag.extraction.source_code import told
from libs.dataloader import Document

LICENCE = """/*
 * Copyright 2019 the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 *
 * Unless required by Law, software is distributed on an "AS IS" BASIS.
 */
"""
JAVA = (
    LICENCE
    + """package org.mill;

/** Opens the sluice of the Harrow Mill. Drawn by Ada Vane. */
public class SluiceGate extends Object {
    @Override
    public String tidal_range(List<String> Hours) { return this.waterLevel.toString(); }  // See Peter Tidewell.
}
"""
)


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        (
            "src/SluiceGate.java",
            JAVA,
            {"harrow mill", "ada vane", "sluicegate", "tidal range", "waterlevel", "tostring"},
        ),
        (
            "mill.py",
            '"""The Harrow Mill.\n\nLicensed under the MIT License.\n"""\nHOURS = List[Any]\ndef open_gate(): pass\n',
            {"harrow mill", "open gate"},
        ),
        ("mill.py", 'limitations under the License.\n"""\nfrom Mill import Gate\nGate(\'Ada Vane\')\n', set()),
        (
            "mill.js",
            "#!/usr/bin/env node\nconst Gate = MillGate.of(Level)  \n// By Ada Vane\n",
            {"ada vane", "millgate"},
        ),
        ("mill.txt", "Drawn by Ada Vane for the Harrow Mill.", {"ada vane", "harrow mill"}),
        ("mill.yaml", "owner: Ada Vane\n", {"ada vane"}),
    ],
)
def test_a_program_names_what_its_comments_and_identifiers_do(path: str, text: str, names: set[str]) -> None:
    assert set(names_in(told(text, path, {}))) == names


def test_of_a_record_the_names_of_its_fields_are_none() -> None:
    text = "node_id: 7\nuser.htmlUrl: -\nowner: Ada Vane\nbody: Mend the mill_gate: it leaks.\nbuilt_year: 1820\n"
    assert set(names_in(told(text, "issues.json", {"row": 1}))) == {"ada vane", "mill gate", "1820"}
    assert {"node id", "htmlurl"} <= set(names_in(told(text, "notes.txt", {})))


def test_lines_of_a_log_name_nothing_and_messages_of_people_do() -> None:
    row = "| 2025-10-09 04:06:18 | INFO | Mozilla met Ada Vane at GET |\n"
    of_log = {"row": 7, "table_header": "| time | level | message |"}
    assert told(row, "mill.log", of_log) == ""
    assert told(f"| time | level | message |\n| --- | --- | --- |\n{row}", "mill.log", {"row": 1}) == ""
    assert "ada vane" in names_in(told(row, "chat.csv", {"row": 7, "table_header": "| time | author | message |"}))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "Household Income: 7\nCtryNm: Peru\nCensus Region (Middle Atlantic): East\n\nCtryNm: -\nOwner: Ada Vane",
            {"ada vane"},
        ),
        ("title: -\nlog: it turns\nAda Vane: it leaks\nBen Holt: no\nAda Vane: mend it", {"ada vane", "ben holt"}),
    ],
)
def test_of_a_wide_row_names_of_columns_are_none_and_who_speaks_in_a_text_is(text: str, names: set[str]) -> None:
    found = set(names_in(told(text, "survey.csv", {"row": 1})))
    assert names <= found
    assert not {"household income", "ctrynm", "census region", "middle atlantic"} & found


async def test_types_and_licences_are_no_entities_of_programs() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([Document(path="src/SluiceGate.java", content=JAVA, format="code:java")])
        first = {entity.name for entity in (await kb.entities())[0]}
        await kb.ingest([Document(path="a.md", content="# Harrow Mill\n\nIt has a gate.", title="Harrow Mill")])
        mentioned = {entity.name for entity in (await kb.entities())[0]}
    assert {"Harrow Mill", "Ada Vane", "SluiceGate"} <= first
    assert not {"String", "Object", "Override", "License", "Apache License", "AS IS", "List"} & mentioned
