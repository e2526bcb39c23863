"""Definitions of terms: what their later sentences say is said of the term."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.extracts.constants import says_default

_PAGE = """.TH MILLD_CONFIG 5
.SH NAME
milld_config \\- configuration of the mill
.SH DESCRIPTION
.TP
MaxTurns
Specifies the maximum number of turns per minute. Further turns are logged. The default is 6.
.TP
GraceTime
The mill stops after this time if the miller has not come. If the value is 0, it turns on. The default is 120 seconds.
.TP
MaxSacks
Specifies the maximum number of sacks on the floor. MaxSacks and MaxTurns are read once. The default is 10.
"""


@pytest.mark.parametrize(
    ("question", "term", "first"),
    [
        ("What is the default of MaxTurns?", "MaxTurns", "The default is 6."),
        ("What is the default of GraceTime?", "GraceTime", "The default is 120 seconds."),
        ("What is the default of MaxSacks?", "MaxSacks", "The default is 10."),
        ("What does MaxTurns do?", "MaxTurns", "Specifies the maximum number of turns per minute."),
    ],
)
@pytest.mark.parametrize("name", ["milld_config.5", "milld.md"])
async def test_later_sentences_of_a_definition(tmp_path: Path, name: str, question: str, term: str, first: str) -> None:
    lines = _PAGE.split("\n")
    terms = "\n\n".join(f"{lines[at + 1]}\n: {lines[at + 2]}" for at, line in enumerate(lines) if line == ".TP")
    (tmp_path / name).write_text(_PAGE if name.endswith(".5") else f"# The mill\n\n## Settings\n\n{terms}\n")
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(tmp_path)
        answer = (await kb.ask(question)).text.split("\n- ")[1]
    assert first in answer
    assert term in answer


@pytest.mark.parametrize(
    ("question", "text", "is_told"),
    [
        ("What is the default of depth?", "The default is 2.", True),
        ("What does depth default to?", "Defaults to 2.", True),
        ("Is it on by default?", "The default value is yes.", True),
        ("What is the default of depth?", "Default: 2", True),
        ("What is the default of depth?", "By default it is deep.", False),
        ("How do I change the default?", "The default is 2.", False),
    ],
)
def test_what_says_a_default(question: str, text: str, *, is_told: bool) -> None:
    assert says_default(question, text) is is_told
