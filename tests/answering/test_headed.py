"""Lists directly below a heading, as extracts for a question that asks for what the heading names."""

from __future__ import annotations

import pytest

from core.rag.answering.extracts.composing import extract
from core.rag.answering.extracts.headed import asks_how_to, headed_lists
from core.rag.answering.types import Passage
from core.rag.retrieval.hits import Hit
from tests.growth import check_growth

STEPS = "1. Open the portal.\n2. Click on **Badges**.\n3. Confirm, and collect it at the desk."
SHOWN = ["  1. Open the portal.", "  2. Click on **Badges**.", "  3. Confirm, and collect it at the desk."]


async def lines(question: str, text: str, title: str = "", heading: str = "", path: str = "a.md") -> list[str]:
    passage = Passage(1, Hit("1", "d", path, title, heading, text, 0, 0, len(text), 1.0))
    answer, _ = await extract(question, "factual", [passage])
    return answer.splitlines()[2:]


@pytest.mark.parametrize(
    "heading",
    [
        "## Renewing a badge",
        "### Renewing a badge ###\n",
        "**Renewing a badge**\n",
        "__Renewing a badge__",
        "Renewing a badge\n----------------\n",
        "## Renewing a badge\n\nBadges last for two years,\nas a rule.\n",
        "## Renewing a badge\nBadges last for two years.",
    ],
)
async def test_steps_below_a_heading_are_the_answer(heading: str) -> None:
    text = f"{heading}\n{STEPS}\n\nBadges are blue."
    assert (await lines("How do I renew my badge?", text))[:4] == ["- Renewing a badge: [1]", *SHOWN]


async def test_what_is_noted_behind_a_heading_is_not_shown() -> None:
    text = f"## Renewing a badge {{ #renewing .wide }}\n\n{STEPS}\n\nBadges are blue."
    assert (await lines("How do I renew my badge?", text))[:4] == ["- Renewing a badge: [1]", *SHOWN]


async def test_what_is_no_step_is_a_list_of_what_is_asked() -> None:
    text = "## What to bring on the first day\n\n- Passport\n- Signed contract\n\n## Travel\n\n- By train on any day"
    shown = await lines("What do I have to bring on my first day?", text)
    assert shown == ["- What to bring on the first day: [1]", "  - Passport", "  - Signed contract"]


async def test_what_the_steps_lead_to_may_be_named_by_the_title_alone() -> None:
    ingredients, directions = "* 500 g rye\n* Salt", "1. Knead.\n2. Bake for an hour."
    text = f"Rye bread\n=========\n\n__Ingredients__\n\n{ingredients}\n\n__Directions__\n\n{directions}"
    steps = ["- Rye bread: Directions: [1]", "  1. Knead.", "  2. Bake for an hour."]
    assert (await lines("How do I make rye bread?", text, "Rye bread", "Rye bread"))[:3] == steps
    salt = await lines("Which ingredients does rye bread have?", text, "Rye bread", "Rye bread")
    assert salt[:3] == ["- Rye bread: Ingredients: [1]", "  - 500 g rye", "  - Salt"]
    assert not any("Directions" in line for line in salt)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many badges are blue?", f"## Renewing a badge\n\n{STEPS}\n\nTwelve badges are blue."),
        ("What are the dates for renewing a badge?", f"## Renewing a badge\n\nIn May.\n\n{STEPS}"),
        ("How do I renew my badge?", f"## Renewing a badge\n\nIn May.\n\nIn June.\n\n{STEPS}"),
        ("How do I renew my badge?", f"## Renewing a badge\n\nIn May.\n\n{STEPS.replace('1.', '-')}"),
        ("How do I renew my badge?", f"## Renewing a badge\n\nDirections\n---\n\n{STEPS}"),
        ("How do I make a house?", f"## Renewing a badge\n\n{STEPS}\n\n## Make a badge\n\n{STEPS}"),
        ("How do I sell a house?", f"## Renewing a badge\n\n{STEPS}"),
        ("How do I renew my badge?", f"```\n## Renewing a badge\n{STEPS}\n```\n\nAsk at the desk."),
    ],
)
async def test_other_lists_are_not_shown_as_a_whole(question: str, text: str) -> None:
    assert "- Renewing a badge: [1]" not in (shown := await lines(question, text))
    assert "- Make a badge: [1]" not in shown


async def test_source_code_has_no_such_headings() -> None:
    text = "# Renewing a badge\n# - open the portal\nrenew(badge)\n"
    assert not any(line.startswith("  - ") for line in await lines("How do I renew my badge?", text, path="a.py"))


@pytest.mark.parametrize(
    ("question", "is_one"),
    [
        ("How can we order a laptop?", True),
        ("how to order a laptop", True),
        ("What are the steps to order a laptop?", True),
        ("Wie bestelle ich einen Laptop?", True),
        ("Comment commander un ordinateur ?", True),
        ("¿Cómo se pide un portátil?", True),
        ("Ich wüsste gern, wie man einen Laptop bestellt.", True),
        ("So bestellen Sie einen Laptop", True),
        ("Comment je fais pour commander ?", True),
        ("Как заказать ноутбук?", True),
        ("如何订购笔记本电脑？", True),
        ("有没有办法订购笔记本电脑？", True),
        ("ノートパソコンを注文するにはどうすればいいですか？", True),
        ("ノートパソコンを注文する方法", True),
        ("怎么样？", False),
        ("Как дела?", False),
        ("How old is the laptop?", False),
        ("Wie alt ist der Laptop?", False),
        ("Comment s'appelle-t-elle ?", False),
    ],
)
def test_some_questions_ask_for_a_way_to_do_something(question: str, is_one: bool) -> None:
    assert asks_how_to(question) is is_one


@pytest.mark.parametrize("piece", ["# a # ", "**a", "\n\n", "**a**\n\n", "a\n---\n", "# a\n", "# a\nb\n", "# a\n\n\n"])
def test_headings_are_found_in_linear_time(piece: str) -> None:
    check_growth(lambda size: headed_lists("# b " + piece * size), 5_000)
