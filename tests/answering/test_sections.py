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
