"""Constants of programs answer what the default, the limit or the name of something is."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.constants import constant_below, is_constant
from tests.growth import check_growth


@pytest.mark.parametrize(
    "line",
    [
        "DEFAULT_TIMEOUT = Timeout(seconds=5.0)",
        "_LIMIT: Final[int] = 5",
        'const EnvMillMode = "MILL_MODE"',
        "export const retries = 3",
        "    public static final int LIMIT = 5;",
        "pub const MAX: usize = 3;",
        "#define LIMIT 5",
        "val LIMIT = 5",
    ],
)
def test_constants_are_told_by_their_names_and_values(line: str) -> None:
    assert is_constant(line, len(line) - len(line.lstrip()))


@pytest.mark.parametrize("line", ["limit = 5", "const x = grind()", "if LIMIT == 5:", "const app = mill", "LIMIT == 5"])
def test_other_statements_are_none(line: str) -> None:
    assert not is_constant(line, 0)


def test_names_in_a_block_of_go_are_constants_and_those_behind_it_are_none() -> None:
    block = "const (\n\tmaxSails = 6 // of wood\n\tmill = stone\n)\n\nsails = 4\n"
    assert [is_constant(block, block.index(name)) for name in ("maxSails", "mill", "sails =")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# How many sails.\nMAX_SAILS = 6\n", "MAX_SAILS = 6"),
        ("// millMode is where it grinds.\nvar millMode = time.Ebb\n", "var millMode = time.Ebb"),
        ("// How it grinds.\nvar millMode = time.Ebb\n", ""),
        ("# How many sails.\n\nMAX_SAILS = 6\n", ""),
        ("# How many sails.\nturn(MAX_SAILS)\n", ""),
        ("# How many sails.\nMAX_SAILS = " + "6 + " * 50 + "6\n", ""),
    ],
)
def test_a_comment_comes_with_the_constant_right_below_it(text: str, expected: str) -> None:
    assert constant_below(text, text.index(" ") + 1) == expected


def test_constants_are_found_in_linear_time() -> None:
    for hostile in ("const ", "A", "const (\n", "a.b", "pub(a) ", "const a: "):

        def find(size: int, text: str = hostile) -> bool:
            return is_constant(text * size, 0)

        check_growth(find, 50_000)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the default number of sails?", "- `DEFAULT_SAILS = Sails(number=4)`"),
        ("Which environment variable sets the wind?", '- `WIND_VARIABLE = "MILL_WIND"` The environment variable of'),
    ],
)
async def test_a_constant_is_an_answer(question: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "mill.py").write_text(
        '"""Grinds."""\n\nDEFAULT_SAILS = Sails(number=4)\n# The environment variable of the wind.\n'
        'WIND_VARIABLE = "MILL_WIND"\n\n\ndef turn(sails):\n    """Turn the sails, the default ones without any."""\n'
        "    return sails or DEFAULT_SAILS\n"
    )
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        answer = (await kb.ask(question)).text
        assert answer.splitlines()[2].startswith(expected), answer
