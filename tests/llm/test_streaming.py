"""Streamed answers: every part at once, cuts told of, and nothing left running."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.errors import LanguageModelError, LanguageModelInputError, StreamCutError
from core.rag.llm import Delta, Message
from core.rag.llm.openai_model import OpenAICompatibleModel
from core.rag.openai_events import MalformedAnswerError, server_sent_events
from tests.fakes.clock import Clock
from tests.fakes.openai_chat import Chat, Stream
from tests.fakes.openai_server import OpenAIServer, drop, fail, hang, raw
from tests.llm.conftest import MakeModel

ASKED = [Message("user", "Does it rain?")]


async def read(model: OpenAICompatibleModel) -> list[Delta]:
    return [part async for part in model.stream(ASKED, temperature=0.3, max_tokens=4096)]


async def test_parts_arrive_and_the_last_one_says_what_it_took(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream(["It ", "", "rains."]))
    *parts, last = await read(model(MGRAG_LLM_PRICE_INPUT=1.0, MGRAG_LLM_PRICE_OUTPUT=1.0))
    assert [part.text for part in parts] == ["It ", "rains."]
    assert (last.text, last.finish_reason) == ("", "stop")
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.requests) == (3, 2, 1)
    assert last.usage.cost == pytest.approx(5 / 1_000_000)


async def test_the_first_part_is_passed_on_while_the_rest_is_not_there_yet(chat: Chat, model: MakeModel) -> None:
    # The rest is only sent when the first part was received: a reader that waits for more would wait for ever.
    asked = model()
    chat.then("warm")
    await read(asked)
    waits = []
    for _ in range(5):
        plan = Stream(["It ", "rains."], proceed=asyncio.Event())
        chat.then(plan)
        async with contextlib.aclosing(asked.stream(ASKED, temperature=0, max_tokens=9)) as parts:
            assert (await anext(parts)).text == "It "
            waits.append(time.monotonic() - plan.sent[0])
            assert plan.proceed is not None
            plan.proceed.set()
            assert [part.text async for part in parts] == ["rains.", ""]
    assert min(waits) < 0.05


async def test_a_cut_stream_is_an_error_with_what_was_received(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream(["It ", "rains ", "in"], cut=True))
    received: list[str] = []
    with pytest.raises(StreamCutError) as caught:
        async for part in model().stream(ASKED, temperature=0, max_tokens=9):
            received += [part.text]
    assert caught.value.received == "".join(received) == "It rains in"
    assert "ended too early" in str(caught.value)


@pytest.mark.parametrize(
    "plan",
    [
        Stream(["It "], silent=True),
        Stream(["It "], after=b"data: {not json\n\n"),
        Stream(["It "], after=b'data: {"error": {"message": "the GPU is on fire"}}\n\n'),
        Stream(["It "], after=b"data: [1]\n\n"),
        Stream(["It "], after=b"data: \xff\n\n"),
        Stream(["It "], after=b'data: {"choices": [{"delta": {"content": "no end'),
    ],
)
async def test_a_stream_that_ends_badly_is_told_of(chat: Chat, model: MakeModel, plan: Stream) -> None:
    chat.then(plan)
    with pytest.raises(StreamCutError) as caught:
        await read(model())
    assert caught.value.received == "It "


@pytest.mark.parametrize(("last", "told"), [("length", "length"), ("stop", "stop"), (None, "")])
async def test_an_empty_finish_reason_is_none(chat: Chat, model: MakeModel, last: str | None, told: str) -> None:
    """Some servers send one with every part; an answer that is cut off would be taken for a whole one."""
    reasons = ["", "", *([last] if last else [])]
    parts = [{"choices": [{"delta": {"content": "It "}, "finish_reason": reason}]} for reason in reasons]
    chat.then(Stream([], after=b"".join(f"data: {json.dumps(part)}\n\n".encode() for part in parts)))
    if told:
        assert (await read(model()))[-1].finish_reason == told
    else:
        with pytest.raises(StreamCutError):
            await read(model())


async def test_done_without_a_finish_reason_is_an_end(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream(["It "], after=b"data: [DONE]\n\n"))
    assert (await read(model()))[-1].finish_reason == "stop"


async def test_an_answer_that_ran_out_of_tokens_says_so(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream(["It "], finish_reason="length"))
    assert (await read(model()))[-1].finish_reason == "length"


async def test_a_withheld_answer_is_an_error(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream([], finish_reason="content_filter"))
    with pytest.raises(LanguageModelInputError, match="refused"):
        await read(model())


async def test_a_refusal_is_an_error_with_its_reason(chat: Chat, model: MakeModel) -> None:
    event = b'data: {"choices": [{"delta": {"refusal": "Not that."}, "finish_reason": "stop"}]}\n\n'
    chat.then(Stream([], after=event))
    with pytest.raises(LanguageModelInputError, match="refused to answer: Not that"):
        await read(model())


async def test_the_arguments_of_a_function_that_nobody_offered_are_no_words(
    server: OpenAIServer, chat: Chat, model: MakeModel
) -> None:
    called = {"index": 0, "id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "rain"}'}}
    delta = {"choices": [{"delta": {"tool_calls": [called]}, "finish_reason": "tool_calls"}]}
    chat.then(Stream(["It ", "rains."], after=b"data: " + json.dumps(delta).encode() + b"\n\ndata: [DONE]\n\n"))
    assert "".join([part.text for part in await read(model())]) == "It rains."

    message = {"role": "assistant", "content": "It rains.", "tool_calls": [called]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    server.then(raw(json.dumps(whole).encode()))
    assert (await model().complete(ASKED, temperature=0, max_tokens=9)).text == "It rains."


@pytest.mark.parametrize("fault", [fail(429), fail(500), drop(), raw(b"", "text/event-stream"), raw(b"{}")])
async def test_a_fault_before_the_first_part_is_tried_again(
    server: OpenAIServer, chat: Chat, model: MakeModel, clock: Clock, fault: object
) -> None:
    chat.default = Stream(["It rains."])
    server.then(fault)  # type: ignore[arg-type]
    *parts, last = await read(model(clock))
    assert [part.text for part in parts] == ["It rains."]
    assert last.usage is not None
    assert (last.usage.requests, last.usage.retries) == (2, 1)


@pytest.mark.parametrize("reason, told", [("stop", "stop"), ("length", "length"), (None, "stop")])
async def test_a_server_without_streams_gives_its_answer_in_one_part(
    server: OpenAIServer, chat: Chat, model: MakeModel, reason: str | None, told: str
) -> None:
    message = {"role": "assistant", "content": "<think>Hm.</think>It rains."}
    answer = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    server.then(raw(json.dumps(answer).encode(), "application/json; charset=utf-8"))
    *parts, last = await read(model())
    assert [part.text for part in parts] == ["It rains."]
    assert last.finish_reason == told
    assert last.usage is not None
    assert (last.usage.completion_tokens, last.usage.requests) == (2, 1)


async def test_a_server_without_stream_options_is_asked_without(server: OpenAIServer, model: MakeModel) -> None:
    chat = Chat(server, refuses={"stream_options": None})
    chat.default = Stream(["It rains."])
    assert [part.text for part in await read(model())] == ["It rains.", ""]
    assert "stream_options" not in chat.bodies[-1]


async def test_silence_ends_after_the_time_out(server: OpenAIServer, chat: Chat, model: MakeModel) -> None:
    chat.default = Stream(["It ", "rains."], proceed=asyncio.Event())
    with pytest.raises(StreamCutError, match=r"within 0\.5 s"):
        await read(model(MGRAG_LLM_TIMEOUT=0.5))
    await asyncio.wait_for(server.gone.wait(), 5)


async def test_a_server_that_never_answers_is_given_up(server: OpenAIServer, chat: Chat, model: MakeModel) -> None:
    server.always = hang()
    with pytest.raises(LanguageModelError, match="MGRAG_LLM_TIMEOUT"):
        await read(model(MGRAG_LLM_TIMEOUT=0.1, MGRAG_LLM_RETRY_DEADLINE=0))


@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_who_stops_listening_stops_the_request(
    server: OpenAIServer, chat: Chat, model: MakeModel, way: str
) -> None:
    chat.then(Stream(["It ", "rains."], proceed=asyncio.Event()))
    first = asyncio.Event()

    async def listen() -> None:
        async with contextlib.aclosing(asked.stream(ASKED, temperature=0, max_tokens=9)) as parts:
            async for _ in parts:
                first.set()
                if way == "close":
                    return

    asked = model(MGRAG_LLM_CONCURRENCY=1)
    listening = asyncio.create_task(listen())
    await first.wait()
    if way == "cancel":
        await asyncio.sleep(0)
        listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await asyncio.wait_for(server.gone.wait(), 5)
    # The place that the request took is free again.
    chat.default = "Yes."
    assert (await asked.complete(ASKED, temperature=0, max_tokens=9)).text == "Yes."


async def test_a_cancelled_whole_answer_stops_the_request(server: OpenAIServer, chat: Chat, model: MakeModel) -> None:
    server.always = hang()
    asking = asyncio.create_task(model().complete(ASKED, temperature=0, max_tokens=9))
    await server.arrived.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(server.gone.wait(), 5)


@pytest.mark.parametrize("line", [b"data: " + b"x" * (1 << 20) + b"\n", b"x" * (1 << 20)])
async def test_an_event_without_an_end_is_an_error(line: bytes) -> None:
    async def lines() -> AsyncIterator[bytes]:
        yield b"data: whole\n\n"
        for _ in range(40):
            yield line

    events = server_sent_events(lines())
    assert await anext(events) == "whole"
    with pytest.raises(MalformedAnswerError, match="16 MB"):
        await anext(events)


LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)


@given(events=st.lists(LINES, max_size=5), sizes=st.lists(st.integers(1, 7)), ending=st.sampled_from(["\n", "\r\n"]))
async def test_events_are_the_same_in_whatever_pieces_they_arrive(
    events: list[str], sizes: list[int], ending: str
) -> None:
    body = "".join(f": a comment{ending}data: {event}{ending}{ending}" for event in events).encode()

    async def pieces() -> AsyncIterator[bytes]:
        rest = body
        for size in sizes:
            yield rest[:size]
            rest = rest[size:]
        yield rest

    assert [event async for event in server_sent_events(pieces())] == events


async def test_halves_of_characters_are_joined_across_parts(chat: Chat, model: MakeModel) -> None:
    chat.then(Stream(["Yes \ud83d", "", "\udc4d, é \ud83d", "no \udc4d", " \ud83d"]))
    *parts, _ = await read(model())
    assert [part.text for part in parts] == ["Yes ", "👍, é ", "\ufffdno \ufffd", " ", "\ufffd"]
    chat.then("Yes \ud83d\udc4d \ud83d")
    assert (await model().complete(ASKED, temperature=0, max_tokens=9)).text == "Yes 👍 \ufffd"
