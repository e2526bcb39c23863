"""Which statements of source code, and which passages, only say what is used from elsewhere."""

from __future__ import annotations

import pytest

from core.rag import KnowledgeBase
from core.rag.extraction.imports import asks_for_imports, has_only_imports, is_import
from libs.dataloader import Document
from tests.growth import check_growth

IMPORTS = [
    "use std::fmt;\npub(crate) use crate::{\n    mill::{self, Wheel},\n    Pond,\n};\nuse ropey::Rope;\n\n",
    "from __future__ import annotations\n\nimport json\nfrom mill import (\n    Pond,\n    Wheel,\n)\n",
    'package mill\n\nimport (\n\t"fmt"\n\t"strings"\n)\n\nimport "os"\n',
    "/*\n * Licensed under the Apache License, Version 2.0.\n * See the licence for all that it says about it.\n */\n"
    "package org.mill;\n\nimport java.util.List;\nimport java.util.Map;\n",
    '#include <string>\n#include "mill/pond.h"\n\n#include <vector>  // for ponds\n\nusing namespace std;\n',
    'import type { Pond } from "./pond"\nimport {\n    Wheel,\n    Sluice,\n} from "./wheel"\nexport * from "./mill"\n',
    "const fs = require('fs');\nconst { join } = require('path');\nlet mill = require('./mill');\n",
    "using System;\nusing System.Text;\nusing Mill.Ponds;\n",
]
OTHERS = [
    "use std::fmt;\nuse ropey::Rope;\n",
    "import a\nimport b\nimport c\n\ndef grind(corn):\n    return a.turn(b, c, corn, wheel=True, stones=2)\n",
    '"""The mill, with its pond and all that lives in there."""\n\nimport json\nimport os\nimport sys\n',
    "// The number of ponds with the key, one or none.\nusing Base::count;\n\n// All ponds.\nusing Base::begin;\n"
    "using Base::end;\n",
    "using (var pond = new Pond())\n{\n}\nusing (var mill = new Mill())\n{\n}\nusing (x) { }\n",
    'const a = import("./a");\nimport.meta.hot.accept();\nimportant(a);\n',
    "The mill turns.",
    "",
]


@pytest.mark.parametrize("passage", IMPORTS)
def test_a_passage_of_imports_is_told(passage: str) -> None:
    assert has_only_imports(passage)
    assert is_import(next(line for line in passage.split("\n") if line and not line.startswith(("/*", " *"))))


@pytest.mark.parametrize("passage", OTHERS)
def test_a_passage_that_says_more_is_no_list_of_imports(passage: str) -> None:
    assert not has_only_imports(passage)


@pytest.mark.parametrize("piece", ["import a\n", "import (", "use {", "import {a", "from a import (\n", "/*\nuse a;\n"])
def test_passages_without_end_take_no_time(piece: str) -> None:
    check_growth(lambda size: has_only_imports("import a\nimport b\nimport c\n" + piece * size), 4_000)


def test_who_asks_what_is_used_is_told() -> None:
    assert asks_for_imports("Which files import the pond?") and asks_for_imports("Where is Pond used?")
    assert not asks_for_imports("What does the pond do?")


async def test_an_answer_about_a_thing_in_a_package_is_no_import() -> None:
    uses = [
        Document(
            path=f"tide-view/view{number}.rs",
            content="use tide_mill::Sluice;\nuse tide_mill::mill::Wheel;\nuse tide_mill::ebb::Ebb;\n"
            f"\npub fn view{number}(sluice: &Sluice) {{\n    draw(sluice, {number});\n}}\n",
        )
        for number in range(8)
    ]
    defined = "/// Lets water through a gate.\npub struct Sluice {\n    gate: Gate,\n}\n"
    async with KnowledgeBase.open("embedded::memory:", chunk_size=32, chunk_overlap=0) as kb:
        await kb.ingest([*uses, Document(path="tide-mill/sluice.rs", content=defined)])
        for question in ("What is a Sluice in tide-mill?", "What does Sluice do in tide-mill?"):
            assert (await kb.search(question, k=1))[0].path == "tide-mill/sluice.rs"
            answer = await kb.ask(question)
            assert "Lets water through a gate" in answer.text
            assert "use tide_mill" not in answer.text
