"""A question may ask for a section by what it is for: what is needed, what to do, why, how long."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.analysis.purposes import purpose_asked
from libs.dataloader import Document

LOAF = (
    "# Rye loaf\n\n- Cook time: 50 min\n- Servings: 2 for a rye loaf\n\nA rye loaf is what you need for rye toast.\n\n"
    "## Ingredients\n\n- 300 g flour\n- 1 spoon of salt\n\n## Directions\n\n1. Mix it.\n2. Bake the rye loaf long.\n"
)
LAMP = (
    "# FloodGateOpen\n\n## Meaning\n\nThe alert FloodGateOpen fires when the gate is open for ten minutes.\n\n"
    "## Impact\n\nThe meadow below is wet.\n\n## Mitigation\n\nTurn the crank at the sluice until the lamp is green.\n"
)
OVEN = (
    "# The oven stays cold\n\n## Issue\n\nThe oven stays cold, though the oven is on.\n\n"
    "## Cause\n\nA fuse has blown.\n\n## Solution\n\nReplace the fuse in the cellar.\n"
)


@pytest.fixture
async def kb() -> AsyncIterator[KnowledgeBase]:
    documents = {"rye.md": LOAF, "FloodGateOpen.md": LAMP, "oven.md": OVEN}
    others = {
        "wheat.md": LOAF.replace("ye", "ow").replace("flour", "wheat").replace("50 min", "20 min"),
        "MillStopped.md": LAMP.replace("FloodGateOpen", "MillStopped").replace("crank", "key"),
    }
    async with KnowledgeBase.open("embedded::memory:") as opened:
        await opened.ingest(
            [Document(path=path, content=text, format="markdown") for path, text in (documents | others).items()]
        )
        yield opened


@pytest.mark.parametrize(
    ("question", "item"),
    [
        ("What do I need for a rye loaf?", "- Ingredients: ["),
        ("Which ingredients do I need for the rye loaf?", "- Ingredients: ["),
        ("Was brauche ich für rye loaf?", "- Ingredients: ["),
        ("How long does a rye loaf take?", "- Rye loaf: Cook time: 50 min ["),
        ("What should I do about FloodGateOpen?", "- Turn the crank at the sluice"),
        ("How do I fix FloodGateOpen?", "- Turn the crank at the sluice"),
        ("Was tun bei FloodGateOpen?", "- Turn the crank at the sluice"),
        ("When does FloodGateOpen fire?", "- The alert FloodGateOpen fires when the gate is open"),
        ("Why does the oven stay cold?", "- A fuse has blown."),
        ("What can I do if the oven stays cold?", "- Replace the fuse in the cellar."),
    ],
)
async def test_a_section_is_asked_for_by_what_it_is_for(kb: KnowledgeBase, question: str, item: str) -> None:
    answer = (await kb.ask(question)).text
    line = answer.splitlines()[2]
    assert line.startswith((item, f"- The oven stays cold: {item[2:]}")), answer


async def test_a_heading_that_ends_with_a_colon_has_one_only(kb: KnowledgeBase) -> None:
    await kb.ingest(
        [Document(path="lock.md", content="# The lock sticks\n\n## Solution:\n\nOil it.", format="markdown")]
    )
    answer = (await kb.ask("What can I do if the lock sticks?")).text
    assert "Oil it." in answer
    assert "::" not in answer


GATES = """# Gates

## The gate hums

### Symptom

You open the lower gate at spring tide, and the chain of it hums like a bee all night.

### Cause

The pawl is dry.

### Solution

#### With oil

Drip some on the pawl. Wait for a night until it has run down to the axle.

#### Without

Use tallow.

## The gate leaks

### Symptom

You open the upper gate, and water runs below the sill.

### Solution

Close the lower gate and caulk the sill.
"""


async def test_what_is_told_in_one_section_is_solved_in_the_section_beside_it() -> None:
    others = [
        Document(path=f"{name}.md", content=f"# {name} gate\n\n## Solution\n\nOpen the {name} gate.", format="markdown")
        for name in ("Wooden", "Iron", "Open")
    ]
    async with KnowledgeBase.open("embedded::memory:", chunk_size=32, chunk_overlap=0) as kb:
        await kb.ingest([Document(path="gates.md", content=GATES, format="markdown"), *others])
        question = "I open the lower gate at spring tide, and the chain hums all night. How can I solve this?"
        first, second = (await kb.search(question))[:2]
        assert first.heading.endswith("The gate hums > Solution > With oil")
        assert second.heading.endswith("The gate hums > Symptom")
        answer = (await kb.ask(question)).text
        assert "Drip some on the pawl." in answer.splitlines()[2], answer
        hits = await kb.search(question, filters="path:Iron.md")
        assert {hit.path for hit in hits} == {"Iron.md"}


async def test_the_minutes_of_the_day_are_asked_for_and_points_come_with_what_is_below_them() -> None:
    minutes = (
        "# Board\n\n## Members present\n\n- {name} (chair)\n- Wim Daal\n\n## Agenda\n\n- Paint for the lower gate "
        "[#{number}](https://example.com/{number})\n  - {name} asks for {number} offers\n    - Not by mail\n"
        "- Any other business\n"
    )
    names = {3: "Ada Lane", 10: "Olu Adeyemi", 17: "Kirsi Lahti"}
    documents = [
        Document(
            path=f"board/2024/board-05-{day:02}.md", content=minutes.format(name=name, number=day), format="markdown"
        )
        for day, name in names.items()
    ]
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(documents)
        for day, name in names.items():
            answer = (await kb.ask(f"Who attended the board meeting on {day} May 2024?")).text
            assert f"{name} (chair)" in answer.splitlines()[2] + answer.splitlines()[3], answer
            assert not [other for other in names.values() if other != name and f"{other} (chair)" in answer], answer
        answer = (await kb.ask("What was said about paint for the lower gate on 10 May 2024?")).text
        assert "  - Olu Adeyemi asks for 10 offers: Not by mail" in answer.splitlines(), answer


@pytest.mark.parametrize(
    ("question", "name", "is_of"),
    [
        ("What do I need for soup?", "2.1 Ingredients for the dough", True),
        ("What do I need for soup?", "Ingredient labels", False),
        ("De quoi ai-je besoin pour la soupe ?", "Ingrédients", True),
        ("Wie behebe ich den Fehler?", "Lösung", True),
        ("Comment corriger cette erreur ?", "Solution :", True),
        ("Pourquoi le four reste-t-il froid ?", "Cause", True),
        ("Wie lange dauert die Suppe?", "Zubereitungszeit", True),
        ("How long does the soup take?", "Timer", False),
        ("Who attended the board meeting on 3 May?", "Members present", True),
        ("Wer war bei der Sitzung am 3. Mai?", "Teilnehmerinnen und Teilnehmer", True),
        ("What did the board decide about the weir?", "Conclusion/Resolution", True),
        ("What was decided about the weir?", "Discussion", False),
        ("When is the next meeting?", "Upcoming Meetings", True),
        ("What are the symptoms of a blown fuse?", "2. Symptoms", True),
    ],
)
def test_sections_are_told_by_their_names(question: str, name: str, is_of: bool) -> None:
    purpose = purpose_asked(question)
    assert purpose is not None
    assert purpose.is_of(name) is is_of


@pytest.mark.parametrize(
    "question", ["What do I need to know of it?", "How long is the river?", "How do I make soup?", "Was ist das?"]
)
def test_most_questions_ask_for_no_such_section(question: str) -> None:
    assert purpose_asked(question) is None
