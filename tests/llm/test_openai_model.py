"""Whole and structured answers: what is sent, what is read, and what happens where a server knows less."""

from __future__ import annotations

import json
import traceback
from typing import Any

import pytest
from pydantic import BaseModel, Field

from core.rag.errors import (
    ConfigurationError,
    InvalidInputError,
    LanguageModelAuthError,
    LanguageModelError,
    LanguageModelInputError,
    StructuredOutputError,
)
from core.rag.llm import Message, Usage, open_language_model
from tests.dbhandler.kit import make_settings
from tests.fakes.clock import Clock
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, change, drop, fail, raw
from tests.llm.conftest import KEY, MakeModel

ASKED = [Message("system", "Be brief."), Message("user", "Does it rain?")]


class Weather(BaseModel):
    """The weather."""

    rain: bool
    degrees: int = Field(ge=-90, le=60)


async def test_a_whole_answer(chat: Chat, model: MakeModel) -> None:
    chat.then("Yes, it does.")
    answer = await model().complete(ASKED, temperature=0.1, max_tokens=50)
    assert answer.text == "Yes, it does."
    assert answer.parsed is None
    assert answer.finish_reason == "stop"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (5, 3)
    assert (answer.usage.requests, answer.usage.retries, answer.usage.cost) == (1, 0, None)
    sent = chat.bodies[0]
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Does it rain?"},
    ]
    assert (sent["temperature"], sent["max_tokens"], sent["model"]) == (0.1, 50, "m")


@pytest.mark.parametrize(
    "refusal",
    [
        "System role not supported",
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ],
)
async def test_a_model_without_a_system_role_gets_one_message(
    server: OpenAIServer, chat: Chat, model: MakeModel, refusal: str
) -> None:
    server.then(fail(400, refusal))
    chat.then("perhaps", '{"rain": true, "degrees": 12}', "Yes.")
    asked = model()
    answer = await asked.complete(ASKED, temperature=0, max_tokens=9, schema=Weather)
    assert answer.parsed == Weather(rain=True, degrees=12)
    assert [message["role"] for message in chat.bodies[-1]["messages"]] == ["user", "assistant", "user"]
    assert [part.text async for part in asked.stream(ASKED, temperature=0, max_tokens=9)] == ["Yes. ", ""]
    assert chat.bodies[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nDoes it rain?"}]


async def test_prices_make_costs_and_calls_add_up(chat: Chat, model: MakeModel) -> None:
    asked = model(MGRAG_LLM_PRICE_INPUT=2.0, MGRAG_LLM_PRICE_OUTPUT=10.0)
    chat.then("one two", "three")
    first = await asked.complete(ASKED, temperature=0, max_tokens=9)
    await asked.complete(ASKED, temperature=0, max_tokens=9)
    assert first.usage.cost == pytest.approx((5 * 2 + 2 * 10) / 1_000_000)
    assert asked.usage.requests == 2
    assert asked.usage.completion_tokens == 3
    assert asked.usage.cost == pytest.approx((10 * 2 + 3 * 10) / 1_000_000)


async def test_structured_output_asks_for_a_strict_schema(chat: Chat, model: MakeModel) -> None:
    chat.then('{"rain": true, "degrees": 12}')
    answer = await model().complete(ASKED, temperature=0, max_tokens=50, schema=Weather)
    assert answer.parsed == Weather(rain=True, degrees=12)
    form = chat.bodies[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "refused, key",
    [
        ({"response_format": "json_schema"}, "tools"),
        ({"response_format": "json_schema", "tools": None}, "response_format"),
        ({"response_format": None, "tools": None}, None),
    ],
)
async def test_a_server_that_knows_no_schemas_is_asked_otherwise(
    server: OpenAIServer, model: MakeModel, refused: dict[str, Any], key: str | None
) -> None:
    chat = Chat(server, refuses=refused)
    chat.default = '{"rain": false, "degrees": 3}'
    asked = model()
    for _ in range(2):
        answer = await asked.complete(ASKED, temperature=0, max_tokens=50, schema=Weather)
        assert answer.parsed == Weather(rain=False, degrees=3)
    last = chat.bodies[-1]
    assert [name for name in ("tools", "response_format") if name in last] == ([key] if key else [])
    if key != "tools":
        assert '"degrees"' in last["messages"][-1]["content"]
    # What was learnt is kept: the second answer took one request.
    assert answer.usage.requests == 1


@pytest.mark.parametrize(
    "text",
    [
        'Here it is:\n```json\n{"rain": true, "degrees": 12}\n```\nHave a nice day {smile}.',
        '<think>{"rain": false}?</think> {"rain": true, "degrees": 12}',
        'Sure! {"rain": true, "degrees": 12} is the answer.',
    ],
)
async def test_words_around_json_do_no_harm(chat: Chat, model: MakeModel, text: str) -> None:
    chat.then(text)
    answer = await model().complete(ASKED, temperature=0, max_tokens=50, schema=Weather)
    assert answer.parsed == Weather(rain=True, degrees=12)
    assert answer.usage.requests == 1


async def test_a_malformed_answer_is_sent_back_once_with_what_is_wrong(chat: Chat, model: MakeModel) -> None:
    chat.then('{"rain": "perhaps", "degrees": 99}', '{"rain": true, "degrees": 9}')
    answer = await model().complete(ASKED, temperature=0, max_tokens=50, schema=Weather)
    assert answer.parsed == Weather(rain=True, degrees=9)
    assert answer.usage.requests == 2
    *_, said, asked_again = chat.bodies[1]["messages"]
    assert said == {"role": "assistant", "content": '{"rain": "perhaps", "degrees": 99}'}
    assert "rain:" in asked_again["content"]
    assert "degrees:" in asked_again["content"]


@pytest.mark.parametrize("text", ["", "no", "{", '{"rain": true', "[1, 2]", "null", '{"rain": true, "degrees": "hot"}'])
async def test_an_answer_that_stays_malformed_is_a_typed_failure(chat: Chat, model: MakeModel, text: str) -> None:
    chat.default = text
    with pytest.raises(StructuredOutputError) as caught:
        await model().complete(ASKED, temperature=0, max_tokens=50, schema=Weather)
    assert caught.value.text == text
    assert len(chat.bodies) == 2
    assert "\n" not in str(caught.value)


async def test_parameters_that_a_model_refuses_are_left_out(server: OpenAIServer, model: MakeModel) -> None:
    chat = Chat(server, refuses={"max_tokens": None, "temperature": None})
    chat.default = "Yes."
    asked = model()
    assert (await asked.complete(ASKED, temperature=0.3, max_tokens=50)).text == "Yes."
    assert chat.bodies[-1]["max_completion_tokens"] == 50
    assert "temperature" not in chat.bodies[-1]
    assert (await asked.complete(ASKED, temperature=0.3, max_tokens=50)).usage.requests == 1


@pytest.mark.parametrize(
    "fault",
    [
        fail(429),
        fail(500),
        fail(503),
        drop(),
        raw(b'{"choices": [{"mess', cut=10),
        raw(b"<html>Bad gateway</html>", "text/html"),
        raw(b'{"choices": []}'),
        raw(b'{"choices": [{"message": {"content": 7}}]}'),
        raw(b'{"choices": [{"message": 7}]}'),
        raw(b'{"choices": [7]}'),
        raw(b'{"error": {"message": "overloaded"}}'),
        change(lambda answer: answer.pop("choices")),
    ],
)
async def test_a_fault_is_tried_again(
    server: OpenAIServer, chat: Chat, model: MakeModel, clock: Clock, fault: Any
) -> None:
    chat.default = "Yes."
    server.then(fault)
    answer = await model(clock).complete(ASKED, temperature=0, max_tokens=9)
    assert answer.text == "Yes."
    assert (answer.usage.requests, answer.usage.retries) == (2, 1)


@pytest.mark.parametrize(
    "fault, kind, words",
    [
        (fail(401, f"Incorrect API key: {KEY}"), LanguageModelAuthError, "OPENAI_API_KEY"),
        (fail(404, "no such model"), LanguageModelError, "MGRAG_LLM_MODEL"),
        (fail(400, "maximum context length is 8192 tokens"), LanguageModelInputError, "context length"),
        (fail(429, "You exceeded your quota", "insufficient_quota"), LanguageModelError, "quota"),
        (fail(500, "down"), LanguageModelError, "MGRAG_LLM_TIMEOUT"),
        (fail(429, "slow down"), LanguageModelError, "MGRAG_LLM_CONCURRENCY"),
        (raw(b"no json"), LanguageModelError, "did not answer"),
    ],
)
async def test_a_fault_that_stays_says_what_to_do(
    server: OpenAIServer, chat: Chat, model: MakeModel, clock: Clock, fault: Any, kind: type[Exception], words: str
) -> None:
    server.always = fault
    with pytest.raises(kind) as caught:
        await model(clock).complete(ASKED, temperature=0, max_tokens=9)
    assert words in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_an_answer_in_typed_parts(server: OpenAIServer, chat: Chat, model: MakeModel) -> None:
    parts = [{"type": "text", "text": "Yes, "}, {"type": "text", "text": "it does."}, "?"]
    server.then(change(lambda answer: answer["choices"][0]["message"].update(content=parts)))
    assert (await model().complete(ASKED, temperature=0, max_tokens=9)).text == "Yes, it does."


async def test_a_refusal_is_an_error(server: OpenAIServer, chat: Chat, model: MakeModel) -> None:
    server.then(change(lambda answer: answer["choices"][0]["message"].update(content=None, refusal="I must not.")))
    with pytest.raises(LanguageModelInputError, match="I must not"):
        await model().complete(ASKED, temperature=0, max_tokens=9)


async def test_azure_is_asked_at_its_deployment(server: OpenAIServer, chat: Chat) -> None:
    chat.default = "Yes."
    settings = make_settings(
        AZURE_OPENAI_API_KEY="azure-key",
        AZURE_OPENAI_ENDPOINT=server.azure_endpoint,
        AZURE_OPENAI_CHAT_DEPLOYMENT="mine",
        MGRAG_LLM_MODEL="gpt-4o-mini",
    )
    opened = open_language_model(settings=settings)
    assert opened is not None
    assert (await opened.complete(ASKED, temperature=0, max_tokens=9)).text == "Yes."
    assert server.requests[0].deployment == "mine"
    await opened.close()


def test_without_a_model_there_is_none_and_without_a_key_it_says_what_to_set() -> None:
    assert open_language_model(settings=make_settings()) is None
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        open_language_model("gpt-4o", make_settings())
    with pytest.raises(ConfigurationError, match="MGRAG_LLM_MODEL"):
        open_language_model(" ", make_settings())
    with pytest.raises(InvalidInputError, match="name of a model must be text, not int"):
        open_language_model(3)  # type: ignore[arg-type]


async def test_nothing_to_ask_is_refused_and_half_characters_are_sent_as_text(chat: Chat, model: MakeModel) -> None:
    with pytest.raises(InvalidInputError):
        await model().complete([], temperature=0, max_tokens=9)
    await model().complete([Message("user", "file \udcff")], temperature=0, max_tokens=9)
    assert json.dumps(chat.bodies[-1]["messages"][0]["content"]) == '"file ?"'


def test_usage_adds_up_where_only_some_costs_are_known() -> None:
    total = Usage(1, 2, 1, 0, 0.5, 1.0) + Usage(3, 4, 2, 1, None, 2.0)
    assert total == Usage(4, 6, 3, 1, 0.5, 3.0)
