"""What a model thinks aloud before it answers is not a part of the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.llm import Message
from core.rag.llm.thinking import ThinkingFilter, opened_before, without_thinking
from tests.fakes.openai_chat import Chat, Stream
from tests.llm.conftest import MakeModel

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
        ("It ends with `</think>` [1]. So it is cut there.", "It ends with `</think>` [1]. So it is cut there."),
        ("", ""),
    ],
)
async def test_an_answer_comes_without_the_thinking(chat: Chat, model: MakeModel, text: str, answer: str) -> None:
    asked = model()
    chat.then(text, Stream(list(text)))
    whole = await asked.complete(ASKED, temperature=0, max_tokens=99)
    parts = [part.text async for part in asked.stream(ASKED, temperature=0, max_tokens=99)]
    assert (whole.text, "".join(parts)) == (answer, answer)


async def test_thinking_that_the_chat_template_opened_is_known_by_its_end(chat: Chat, model: MakeModel) -> None:
    asked = model()
    thought = ["Does it? {x}", " [1]\n</th", "ink>\n", "\n", "It ", "rains."]
    plain = ["It ", "rains."]

    async def streamed(parts: list[str], finish_reason: str = "stop") -> list[str]:
        chat.then(Stream(parts, finish_reason=finish_reason))
        return [part.text async for part in asked.stream(ASKED, temperature=0, max_tokens=99) if part.text]

    chat.then("".join(thought))
    assert (await asked.complete(ASKED, temperature=0, max_tokens=99)).text == "It rains."
    assert await streamed(thought) == plain
    assert await streamed(["Does it? "], finish_reason="length") == []
    assert await streamed(thought) == plain
    assert await streamed(plain) == ["It rains."]
    assert await streamed(plain) == plain
    assert "".join(await streamed(thought)) == "".join(thought)  # not known any more until it ends
    assert await streamed(thought) == plain


@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "\n", " ", "a", "<"]), max_size=9))
def test_parts_say_what_the_whole_says(parts: list[str]) -> None:
    whole = "".join(parts)
    filtering = ThinkingFilter(opened=opened_before(whole))
    assert "".join([filtering.feed(part) for part in parts]) + filtering.end() == without_thinking(whole)


def test_what_is_no_thinking_is_passed_on_at_once() -> None:
    filtering = ThinkingFilter()
    assert [filtering.feed(part) for part in ("<think>", "hm</thi", "nk>\n", "It", " ", "rains")] == [
        *("", "", "", "It", " ", "rains"),
    ]
