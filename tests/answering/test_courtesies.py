"""Thanks and greetings ask nothing, so the last answer does not come again."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.answering.response import NOTHING_ASKED
from tests.answering.people import fill
from tests.dbhandler.kit import Engine


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await fill(opened)
        yield opened


@pytest.mark.parametrize(
    "remark",
    [
        "Thanks!",
        "Thank you so much, that was very helpful 🙏",
        "ok",
        "Great :D",
        "Hello there",
        "I see. Thanks for the help!",
        "Danke schön!",
        "Vielen Dank für die Hilfe.",
        "Merci beaucoup",
        "¡Muchas gracias!",
        "Спасибо!",
        "ありがとうございます。",
    ],
)
async def test_thanks_and_greetings_ask_nothing(kb: KnowledgeBase, remark: str) -> None:
    await kb.ask("Who is Alice?", conversation_id="talk")
    answer = await kb.ask(remark, conversation_id="talk")
    assert (answer.text, answer.found, answer.citations) == (NOTHING_ASKED, False, ())


@pytest.mark.parametrize("question", ["Thanks. And where does Alice work?", "OK, who is Alice?", "Is that all?"])
async def test_courtesies_before_a_question_do_not_hide_it(kb: KnowledgeBase, question: str) -> None:
    await kb.ask("Who is Alice?", conversation_id="talk")
    assert (await kb.ask(question, conversation_id="talk")).text != NOTHING_ASKED
