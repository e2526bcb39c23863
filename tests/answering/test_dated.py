"""When something was is said by the heading above it: of a release, of the minutes of a day."""

from __future__ import annotations

import pytest

from core.rag.answering.extracts.composing import extract
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit

CHANGES = (
    "# Changes\n\n## Version 2.3.0\n\n- The `--slow` option and the `pace` setting, which it set, are removed.\n\n"
    "## Version 2.2.0\n\n- The `--slow` option is deprecated, as is the `pace` setting, in favour of the sluice.\n"
)
MINUTES = "# Meeting of the trust, 2024-09-18\n\n## Agenda\n\n- Chris gave the mill stones to the museum.\n"
SECTIONS = "# 2.10.1 Stones of the mill\n\nThe stones were given to the museum by the family of Chris.\n"


def _passage(number: int, text: str, title: str, path: str = "a.md") -> Passage:
    return Passage(number, Hit(str(number), f"d{number}", path, title, "", text, 0, 0, len(text), 1.0))


@pytest.mark.parametrize(
    ("question", "text", "item"),
    [
        ("When was --slow removed?", CHANGES, "Version 2.3.0: The `--slow` option and the"),
        ("When was --slow deprecated?", CHANGES, "Version 2.2.0: The `--slow` option is deprecated"),
        ("Wann wurde --slow entfernt?", CHANGES, "Version 2.3.0: The `--slow` option and the"),
        ("Why was --slow removed?", CHANGES, "The `--slow` option and the"),
        ("When did Chris give the stones?", MINUTES, "Meeting of the trust, 2024-09-18: Chris gave"),
        ("When did Chris give the stones?", SECTIONS, "The stones were given"),
        ("Which meeting was about stones?", MINUTES, "Meeting of the trust, 2024-09-18 > Agenda: Chris"),
        ("In welcher Sitzung ging es um stones?", MINUTES, "Meeting of the trust, 2024-09-18 > Agenda: Chris"),
    ],
)
async def test_a_heading_that_says_when_is_shown_if_that_is_asked(question: str, text: str, item: str) -> None:
    answer, _ = await extract(question, "factual", [_passage(1, text, "")], None)
    assert answer.splitlines()[2].startswith(f"- {item}"), answer


async def test_the_name_of_the_file_of_a_day_says_when() -> None:
    note = _passage(1, "The new stones of the mill have arrived by barge.", "2024-05-17", "2024-05-17.md")
    answer, _ = await extract("When did the stones arrive?", "factual", [note], None)
    assert answer.splitlines()[2] == "- 2024-05-17: The new stones of the mill have arrived by barge. [1]"


async def test_a_day_in_the_sentence_is_not_said_twice() -> None:
    minutes = _passage(1, "# Meeting of 2024-09-18\n\nThe stones of the mill left on 12 March 2023.", "")
    answer, _ = await extract("When did the stones leave?", "factual", [minutes], None)
    assert answer.splitlines()[2] == "- The stones of the mill left on 12 March 2023. [1]"
