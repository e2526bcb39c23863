"""What was said by whom: comments on records, and messages; and questions to exports of trackers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dbhandler.kit import Engine


def _comment(who: str, day: int, text: str) -> dict[str, Any]:
    return {"id": f"IC_{day}", "author": {"login": who}, "createdAt": f"2026-03-{day:02}T09:00:00Z", "body": text}


def _issue(number: int, title: str, who: str, state: str, closed: str | None, *said: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": title,
        "body": f"It is about: {title.lower()}.",
        "author": {"id": f"U_{who}", "login": who, "is_bot": False},
        "labels": [{"id": "L_1", "name": "bug" if number % 2 else "wish", "color": "ededed"}],
        "state": state,
        "createdAt": f"2026-02-{number:02}T09:00:00Z",
        "closedAt": closed,
        "comments": list(said),
    }


ISSUES = [
    _issue(
        *(1, "Crash on startup with an empty folder", "ada", "CLOSED", "2026-04-02T09:00:00Z"),
        _comment("bo", 3, "I see this on two machines, ada has a third."),
        _comment("cyd", 4, "The reader took nothing for a file. It skips it now."),
    ),
    _issue(
        *(2, "Names of tides in Welsh", "bo", "OPEN", None),
        _comment("ada", 5, "Gwen has a list of them."),
        _comment("cyd", 6, "I can ask what ada thinks of crashes."),
    ),
    _issue(3, "The wheel is drawn twice", "ada", "OPEN", None),
    _issue(4, "Print the timetable", "bo", "CLOSED", "2026-05-07T09:00:00Z"),
]


async def _asked(engine: Engine, folder: Path, name: str, text: str, question: str) -> str:
    (folder / name).write_text(text)
    async with engine.knowledge() as kb:
        await kb.ingest([folder])
        answer: str = (await kb.ask(question)).text
    return answer.partition("\n\n- ")[2].partition("\n- ")[0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did ada say about the names of tides?", "ada (2026-03-05 09:00): Gwen has a list"),
        ("What did bo comment on the crash?", "bo (2026-03-03 09:00): I see this"),
        ("How was the crash on startup solved?", "cyd (2026-03-04 09:00): The reader took nothing"),
        ("Which issues are open and labelled bug?", "state = OPEN and labels.name = bug: 1 of 4"),
        ("Which issues are labelled bug?", "labels.name = bug: 2 of 4 records"),
        ("How many issues were closed in May 2026?", "closedAt in 2026-05: 1 of 4 records"),
        ("Which issues were reported by ada?", "author.login = ada: 2 of 4 records"),
    ],
)
async def test_issues_are_asked_as_people_do(engine: Engine, tmp_path: Path, question: str, expected: str) -> None:
    said = await _asked(engine, tmp_path, "issues.json", json.dumps(ISSUES), question)
    assert expected in said or ("1 of 4" in expected and "title: The wheel is drawn twice" in said), said


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many books are on the shelf to-read?", "Shelf = to-read: 2 of 4 records"),
        ("Which books are by Ada Lane?", "Author = Ada Lane: 2 of 4 records"),
    ],
)
async def test_records_are_called_what_is_numbered(
    engine: Engine, tmp_path: Path, question: str, expected: str
) -> None:
    rows = ["1,Salt,Ada Lane,read", "2,Ebb,Ada Lane,to-read", "3,Mills,Bo Hale,to-read", "4,Oak,Cy Wu,read"]
    text = "\n".join(["Book Id,Title,Author,Shelf", *rows])
    assert expected in await _asked(engine, tmp_path, "library_export.csv", text, question)


async def test_what_is_numbered_twice_is_not_what_records_are(engine: Engine, tmp_path: Path) -> None:
    rows = ["1,wheel,oak", "1,shaft,oak", "2,wheel,elm", "3,shaft,oak"]
    said = await _asked(
        engine, tmp_path, "parts.csv", "\n".join(["Mill Id,Part,Wood", *rows]), "How many mills have oak?"
    )
    assert "of 4 records" not in said


async def test_a_message_is_not_shown_as_said_by_who_wrote_the_one_before(engine: Engine, tmp_path: Path) -> None:
    log = [
        "[14/03/2026, 18:25:11] Bo Stone: When is the deadline for the timetable?",
        "[14/03/2026, 18:26:00] Ada Lane: Friday noon. Nothing is taken later.",
        "[14/03/2026, 18:27:00] Cyd Wu: I ask Ada about the deadline tomorrow.",
    ]
    said = await _asked(engine, tmp_path, "_chat.txt", "\n".join(log), "What did Ada say about the deadline?")
    assert said.startswith("Ada Lane (2026-03-14 18:26): Friday noon.")
