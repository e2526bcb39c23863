"""What a model thinks aloud before it answers is not a part of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.llm import Message
from core.rag.llm.thinking import ThinkingFilter, without_thinking
from fakes.openai_chat import Chat, Stream
from llm.conftest import MakeModel

ASKED = [Message("user", "Does it rain?")]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>\nDoes it? [1]\n</think>\n\nIt rains [1].", "It rains [1]."),
        (" <think></think>It rains.", "It rains."),
        ("<think>It never ends", ""),
        ("<thin ice", "<thin ice"),
        ("<", "<"),
        ("It rains. <think>Or not?</think>", "It rains. <think>Or not?</think>"),
        ("  It rains.\n", "  It rains.\n"),
        ("", ""),
    ],
)
async def test_an_answer_comes_without_the_thinking(chat: Chat, model: MakeModel, text: str, answer: str) -> None:
    asked = model()
    chat.then(text, Stream(list(text)))
    whole = await asked.complete(ASKED, temperature=0, max_tokens=99)
    parts = [part.text async for part in asked.stream(ASKED, temperature=0, max_tokens=99)]
    assert (whole.text, "".join(parts)) == (answer, answer)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "\n", " ", "a", "<"]), max_size=9))
def test_parts_say_what_the_whole_says(parts: list[str]) -> None:
    filtering = ThinkingFilter()
    assert "".join([filtering.feed(part) for part in parts]) + filtering.end() == without_thinking("".join(parts))


def test_what_is_no_thinking_is_passed_on_at_once() -> None:
    filtering = ThinkingFilter()
    assert [filtering.feed(part) for part in ("<think>", "hm</thi", "nk>\n", "It", " ", "rains")] == [
        *("", "", "", "It", " ", "rains"),
    ]
