"""Faults of a provider: what is tried again, when, for how long, and what is said in the end."""

from __future__ import annotations

import asyncio
import base64
import logging
import re
import struct
import traceback
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest

from core.rag.embedder import OpenAICompatibleEmbedding, TextEmbedding3Small
from core.rag.errors import EmbeddingAuthError, EmbeddingError
from core.rag.settings import Settings
from tests.fakes.clock import Clock
from tests.fakes.openai_server import OpenAIServer, change, drip, drop, embed, fail, hang, raw

KEY = "sk-secret-0123456789abcdef"
MakeSettings = Callable[..., Settings]


def make(server: OpenAIServer, settings: MakeSettings, clock: Clock, **options: Any) -> TextEmbedding3Small:
    timing = clock.timing(options.pop("jitter", 0.0), options.pop("wall", 0.0))
    made = settings(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url, **options)
    return TextEmbedding3Small(settings=made, _timing=timing)


def put(value: Any) -> Any:
    """Replace the first embedding of an answer."""
    return change(lambda answer: answer["data"][0].update(embedding=value))


@pytest.mark.parametrize(
    "fault",
    [
        fail(408),
        fail(409),
        fail(429),
        fail(500),
        fail(502),
        fail(503),
        fail(529),
        drop(),
        raw(b'{"data": [{"index": 0, "embed', cut=10),
        raw(b'{"data": [{"index": 0, "embed'),
        raw(b"<html>Bad gateway</html>", "text/html"),
        raw(b"\xff\xfe", "application/json"),
        raw(b""),
        raw(b"[]"),
        raw(b'{"object": "list"}'),
        raw(b'{"data": [1]}'),
        change(lambda answer: answer["data"].pop()),
        change(lambda answer: answer["data"].append(answer["data"][0])),
        change(lambda answer: answer["data"][0].update(index=7)),
        change(lambda answer: answer["data"][0].update(index="0")),
        put(None),
        put([]),
        put("not base64!"),
        put("AAA="),
        put(["1"]),
        put([[1.0]]),
    ],
)
async def test_it_is_tried_again(fault: Any, server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.then(fault, fault)
    async with make(server, settings, clock) as embedder:
        vectors = await embedder.get_embeddings(["a", "b"])

    np.testing.assert_allclose(vectors, [embed("a", 1536), embed("b", 1536)], rtol=1e-6)
    assert len(server.requests) == 3
    assert clock.slept == [0.25, 0.5], "half of the longest delay, without jitter"
    assert (embedder.usage.requests, embedder.usage.retries, embedder.usage.tokens) == (3, 2, 2)


async def test_jitter_spreads_the_delays(server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.then(fail(503), fail(503), fail(503))
    async with make(server, settings, clock, jitter=1.0) as embedder:
        await embedder.get_embedding("a")

    assert clock.slept == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 8),
        ({"retry-after-ms": "1500", "Retry-After": "99"}, 1.5, 1.7),
        ({"Retry-After": formatdate(1_000_020, usegmt=True)}, 20, 21),
        ({"Retry-After": "0"}, 0.25, 0.5),
        ({"Retry-After": "soon"}, 0.25, 0.5),
        ({"Retry-After": "-5"}, 0.25, 0.5),
        ({"Retry-After": "nan"}, 0.25, 0.5),
        ({"Retry-After": "Mon, 01 Jan 2035 00:00:00 +" + "9" * 20}, 0.25, 0.5),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
async def test_the_server_says_when(
    status: int,
    headers: dict[str, str],
    least: float,
    most: float,
    server: OpenAIServer,
    settings: MakeSettings,
    clock: Clock,
) -> None:
    server.then(fail(status, headers=headers))
    async with make(server, settings, clock, jitter=1.0, wall=1_000_000.0) as embedder:
        await embedder.get_embedding("a")

    assert len(clock.slept) == 1 and least <= clock.slept[0] <= most


async def test_the_other_requests_wait_too(server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.then(fail(429, headers={"Retry-After": "30"}))
    clock.running.clear()
    async with make(server, settings, clock, MGRAG_EMBEDDING_BATCH_SIZE=1, MGRAG_EMBEDDING_CONCURRENCY=1) as embedder:
        task = asyncio.create_task(embedder.get_embeddings(["a", "b", "c"]))
        while len(clock.slept) < 2 and not (task.done() or len(server.requests) > 1):
            await asyncio.sleep(0)

        assert clock.slept == [30, 30] and len(server.requests) == 1
        clock.running.set()
        assert (await task).shape == (3, 1536)


async def test_a_rate_limit_is_waited_for_until_the_deadline_and_told_once(
    server: OpenAIServer, settings: MakeSettings, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    server.always = fail(429, "slow down")
    async with make(server, settings, clock, MGRAG_EMBEDDING_RETRY_DEADLINE=100) as embedder:
        with pytest.raises(EmbeddingError, match=r"limits the rate: slow down \(HTTP 429\), \d+ times.*CONCURRENCY"):
            await embedder.get_embedding("a")

    assert 60 < sum(clock.slept) <= 100
    (told,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert re.search(r"slow down \(HTTP 429\).* Asked again in \d+\.\d s\.$", told)


async def test_a_wait_beyond_the_deadline_is_not_begun(
    server: OpenAIServer, settings: MakeSettings, clock: Clock
) -> None:
    server.always = fail(429, headers={"Retry-After": "3600"})
    async with make(server, settings, clock) as embedder:
        with pytest.raises(EmbeddingError, match=r"it asks to come back in 60 minutes.*MGRAG_EMBEDDING_RETRY_DEADLINE"):
            await embedder.get_embedding("a")

    assert clock.slept == [] and len(server.requests) == 1


async def test_a_server_that_stays_away(server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.always = fail(500, "broken.")
    async with make(server, settings, clock) as embedder:
        with pytest.raises(EmbeddingError, match=r"does not answer: broken \(HTTP 500\), 6 times in a row"):
            await embedder.get_embedding("a")

    assert len(server.requests) == 6


async def test_nobody_listens(settings: MakeSettings, clock: Clock) -> None:
    async with OpenAIServer() as server:
        pass
    async with make(server, settings, clock) as embedder:
        with pytest.raises(EmbeddingError, match=r"cannot be reached.*6 times in a row"):
            await embedder.get_embedding("a")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (fail(400, "no such thing"), r"did not embed: no such thing \(HTTP 400\)"),
        (fail(401, "who are you"), r"rejected the key: who are you \(HTTP 401\)\. Check OPENAI_API_KEY"),
        (fail(403, "not you"), r"rejected the key: not you \(HTTP 403\)"),
        (fail(404, "no model"), r"does not know text-embedding-3-small: no model .*OPENAI_BASE_URL"),
        (fail(422, "what"), "did not embed: what"),
        (fail(501, "not here"), "not here"),
        (fail(429, "no money", code="insufficient_quota"), r"for this account: no money .*quota"),
        (fail(500, "never", headers={"x-should-retry": "false"}), "never"),
        (put([1.0, 2.0]), "dimension 2, not 1536"),
        (put([float("nan")] * 1536), "not finite for text number 0"),
        (put(base64.b64encode(struct.pack("<f", float("inf")) * 1536).decode()), "not finite for text number 0"),
    ],
)
async def test_it_is_not_tried_again(
    fault: Any, message: str, server: OpenAIServer, settings: MakeSettings, clock: Clock
) -> None:
    server.then(fault)
    async with make(server, settings, clock) as embedder:
        with pytest.raises(EmbeddingError, match=message) as caught:
            await embedder.get_embeddings(["a", "b"])

    assert clock.slept == [] and len(server.requests) == 1
    assert isinstance(caught.value, EmbeddingAuthError) == ("rejected the key" in message)


async def test_the_text_that_the_dimension_is_asked_with_is_named(settings: MakeSettings) -> None:
    async with OpenAIServer(2) as server:
        server.then(put([float("nan"), 1.0]))
        embedder = OpenAICompatibleEmbedding("local", server.url, settings=settings())
        with pytest.raises(EmbeddingError, match="not finite for the word that its dimension is asked with"):
            await embedder.prepare()
        await embedder.close()


async def test_malformed_answers_end_soon(server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.always = change(lambda answer: answer["data"].clear())
    async with make(server, settings, clock) as embedder:
        with pytest.raises(EmbeddingError, match="0 embeddings for 1 texts, 3 times in a row"):
            await embedder.get_embedding("a")


@pytest.mark.parametrize("fault", [hang(), drip(60, 0.05)])
async def test_no_answer_in_time(fault: Any, server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.then(fault)
    async with make(server, settings, clock, MGRAG_EMBEDDING_TIMEOUT=0.5) as embedder:
        vector = await embedder.get_embedding("a")

    np.testing.assert_allclose(vector, embed("a", 1536), rtol=1e-6)
    assert embedder.usage.retries >= 1


async def test_it_never_answers(server: OpenAIServer, settings: MakeSettings, clock: Clock) -> None:
    server.always = hang()
    async with make(server, settings, clock, MGRAG_EMBEDDING_TIMEOUT=0.05) as embedder:
        with pytest.raises(EmbeddingError, match=r"no answer within 0\.05 s, 6 times in a row"):
            await embedder.get_embedding("a")


async def test_a_vector_of_zeros_becomes_one_that_an_index_takes(
    server: OpenAIServer, settings: MakeSettings, clock: Clock
) -> None:
    server.then(put([0.0] * 1536))
    async with make(server, settings, clock) as embedder:
        vectors = await embedder.get_embeddings(["a", "b"])

    assert abs(float(np.linalg.norm(vectors[0])) - 1) < 1e-5


async def test_the_key_is_never_shown(
    server: OpenAIServer, settings: MakeSettings, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.keys = {"another"}
    made = settings(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    embedder = TextEmbedding3Small(settings=made, _timing=clock.timing())
    with pytest.raises(EmbeddingAuthError) as refused:
        await embedder.get_embedding("a")
    server.keys = None
    server.always = fail(503, f"overloaded while serving {KEY}")
    with pytest.raises(EmbeddingError) as failed:
        await embedder.get_embedding("a")
    server.always = raw(f"<html>{KEY}".encode())
    with pytest.raises(EmbeddingError) as malformed:
        await embedder.get_embedding("a")
    await embedder.close()

    shown = [repr(embedder), repr(vars(embedder)), repr(vars(embedder._api)), caplog.text]
    for caught in (refused, failed, malformed):
        shown += [str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value))]
    assert "Incorrect API key provided: ***" in str(refused.value)
    assert caplog.records, "something is logged"
    assert not [text for text in shown if KEY in text]


async def test_the_azure_key_is_never_shown(
    server: OpenAIServer, settings: MakeSettings, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.keys = {"another"}
    made = settings(AZURE_OPENAI_API_KEY=KEY, AZURE_OPENAI_ENDPOINT=server.azure_endpoint)
    async with TextEmbedding3Small(settings=made, _timing=clock.timing()) as embedder:
        with pytest.raises(EmbeddingAuthError, match="AZURE_OPENAI_API_KEY") as refused:
            await embedder.get_embedding("a")

    assert KEY not in caplog.text + repr(embedder) + "".join(traceback.format_exception(refused.value))
