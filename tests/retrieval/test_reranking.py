"""Searches whose hits a reranker puts in order: the real client against a real server, and models of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase, open_reranker
from core.rag.errors import ConfigurationError, InvalidInputError, RerankerError
from core.rag.reranker.served import ServedReranker
from core.rag.settings import Settings
from libs.dataloader import Document
from tests.dbhandler.kit import make_settings
from tests.fakes.clock import Clock
from tests.fakes.openai_server import OpenAIServer, Reply, Request, as_json, error, fail, raw

TEXTS = ["Sails.", "The ebb turns the wheel.", "Grain is ground at night."]


def judged(text: str) -> float:
    """The judgement of the servers here: how often a text says "ebb", less for each character."""
    return text.lower().count("ebb") - len(text) / 10_000


def as_cohere(name: str = "results") -> Callable[[Request], Any]:
    async def answer(request: Request) -> Reply:
        body = request.json
        rows = [{"index": index, "relevance_score": judged(text)} for index, text in enumerate(body["documents"])]
        return as_json({name: sorted(rows, key=lambda row: -row["relevance_score"]), "model": body["model"]})

    return answer


async def as_tei(request: Request) -> Reply:
    body = request.json
    if "texts" not in body:
        return error(422, "Failed to deserialize the JSON body into the target type: missing field `texts`")
    if len(body["texts"]) > 4:
        return as_json({"error": f"batch size {len(body['texts'])} > maximum allowed batch size 4"}, 413)
    return as_json([{"index": index, "score": judged(text)} for index, text in enumerate(body["texts"])])


def made(server: OpenAIServer | None = None, **variables: Any) -> Settings:
    if server is not None:
        variables = {"MGRAG_RERANK_BASE_URL": server.url, "MGRAG_RERANK_MODEL": "judge"} | variables
    return make_settings(**variables)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        running.routes["rerank"] = as_cohere()
        yield running


@pytest.mark.parametrize("name", ["results", "data"])
async def test_scores_come_in_the_order_of_the_texts(name: str, server: OpenAIServer) -> None:
    server.keys = {"sk-judge"}
    server.routes["rerank"] = as_cohere(name)
    model = ServedReranker("judge", settings=made(server, MGRAG_RERANK_API_KEY="sk-judge", OPENAI_API_KEY="sk-all"))
    assert await model.scores("when?", TEXTS) == [judged(text) for text in TEXTS]
    assert await model.scores("when?", []) == []
    await model.close()
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/rerank")
    assert request.json == {"model": "judge", "query": "when?", "documents": TEXTS}


async def test_the_protocol_of_tei_and_its_small_batches(server: OpenAIServer) -> None:
    server.routes["rerank"] = as_tei
    model = ServedReranker("judge", settings=made(server))
    texts = [f"{'ebb ' * number}." for number in range(9)]
    assert await model.scores("when?", texts) == [judged(text) for text in texts]
    before = len(server.requests)
    assert await model.scores("when?", texts) == [judged(text) for text in texts]
    assert [len(request.json["texts"]) for request in server.requests[before:]] == [3, 3, 3]
    await model.close()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (fail(401, "no"), r"rejected the key: no \(HTTP 401\). Check MGRAG_RERANK_API_KEY"),
        (fail(404, "no such route"), r"does not know judge.*Check MGRAG_RERANK_BASE_URL"),
        (fail(400, "too long"), r"judge at http.* did not rerank: too long"),
        (raw(b'{"results": [{"index": 0, "relevance_score": 1}]}'), "not have a score for each of 3 texts"),
        (raw(b'{"results": [{"index": 0, "relevance_score": NaN}, {"index": 1}, {"index": 2}]}'), "not have a score"),
        (raw(b'"no"'), "no list of scores"),
    ],
)
async def test_failures_say_what_to_do(fault: Any, message: str, server: OpenAIServer) -> None:
    server.always = fault
    model = ServedReranker("judge", settings=made(server), _timing=Clock().timing(0.0, 0.0))
    with pytest.raises(RerankerError, match=message):
        await model.scores("when?", TEXTS)
    await model.close()


async def test_a_fault_is_tried_again(server: OpenAIServer) -> None:
    server.then(fail(503), fail(429, headers={"Retry-After": "7"}))
    model = ServedReranker("judge", settings=made(server), _timing=Clock().timing(0.0, 0.0))
    assert len(await model.scores("when?", TEXTS)) == 3 and len(server.requests) == 3
    await model.close()


def test_a_reranker_needs_a_server() -> None:
    assert open_reranker(settings=made()) is None
    with pytest.raises(ConfigurationError, match=r"judge needs a server.*MGRAG_RERANK_BASE_URL"):
        open_reranker("judge", made(OPENAI_API_KEY="sk-all"))
    with pytest.raises(ConfigurationError, match="empty"):
        open_reranker(" ", made())
    with pytest.raises(InvalidInputError, match="must be text"):
        open_reranker(3, made())  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="A str is not a reranker"):
        KnowledgeBase.open(reranker="judge")  # type: ignore[arg-type]


class Own:
    """A model of one's own: it likes what stands last."""

    model = "own"

    def __init__(self, **scores: float) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.given = scores
        self.closed = False

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        return [next((score for word, score in self.given.items() if word in text), 0.0) for text in texts]

    async def close(self) -> None:
        self.closed = True


def documents() -> list[Document]:
    """Notes on mills that differ in a word each."""
    words = ["rope", "sluice", "gravel", "lantern", "barley", "tallow", "anchor", "cradle"]
    return [Document(path=f"{word}.txt", content=f"notes on mills and the {word} of mills") for word in words]


async def test_hits_are_put_in_order_and_places_keep_their_scores(tmp_path: Path) -> None:
    own = Own(lantern=9.0, tallow=7.0)
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=made(), reranker=own) as kb:
        await kb.ingest(documents())
        plain = await kb.search("mills", k=8, rerank=False)
        assert not own.asked
        hits = await kb.search("mills", k=3)
        wide = await kb.search("mills", k=8, mode="hybrid", filters="path:lantern.txt OR path:rope.txt")
    assert own.closed

    assert [hit.path for hit in hits[:2]] == ["lantern.txt", "tallow.txt"]
    assert hits[2].path == next(hit.path for hit in plain if hit.path not in {"lantern.txt", "tallow.txt"})
    assert [hit.score for hit in hits] == [hit.score for hit in plain[:3]]
    assert [hit.scores["rerank"] for hit in hits] == [9.0, 7.0, 0.0]
    assert [hit.path for hit in wide] == ["lantern.txt", "rope.txt"]
    query, texts = own.asked[0]
    assert query == "mills" and len(texts) == 8, "it sees more than are asked for"
    assert any(text.endswith("notes on mills and the lantern of mills") for text in texts)


@pytest.mark.parametrize("mode", ["vector", "keyword", "fuzzy"])
async def test_the_modes_of_one_leg_show_that_leg(mode: Any, tmp_path: Path) -> None:
    own = Own()
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=made(), reranker=own) as kb:
        await kb.ingest(documents())
        assert await kb.search("lantern of mills", mode=mode)
    assert not own.asked


async def test_what_the_graph_led_to_keeps_its_place(tmp_path: Path) -> None:
    texts = {
        "Ada Lane": "Ada Lane founded the Cob Trust in 1909. She was a sailor.",
        "Cob Trust": "The Cob Trust owns the Osney Mill. It has four trustees.",
        "Osney Mill": "Osney Mill turns with the ebb.",
        "Weather": "A trust in the weather is founded on nothing, and nobody owns it.",
        "Tides": "Who owns the tides? The moon.",
    }
    own = Own(weather=9.0, tides=8.0)
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=made(), reranker=own) as kb:
        await kb.ingest([Document(path=f"{title}.txt", title=title, content=text) for title, text in texts.items()])
        question = "What does the trust that Ada Lane founded own?"
        before = await kb.search(question, k=5, mode="graph", rerank=False)
        after = await kb.search(question, k=5, mode="graph")
    led = {place: hit.path for place, hit in enumerate(before) if hit.because and hit.because.reason != "words"}
    assert len(led) >= 2 and {place: after[place].path for place in led} == led
    assert len(own.asked[0][1]) == 5 - len(led)


async def test_a_follow_up_question_is_not_judged_by_alone(tmp_path: Path) -> None:
    own = Own(lantern=9.0)
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=made(), reranker=own) as kb:
        await kb.ingest(documents())
        conversation = await kb.client.create_conversation("Mills")
        await kb.client.add_message(conversation, "What is the rope of mills for?", "user")
        await kb.client.add_message(conversation, "The rope of mills hoists grain.", "assistant")
        assert await kb.search("And who made it?", conversation_id=conversation)
    assert not own.asked


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], "own returned 1 scores for 8 texts"),
        ([0.1, float("nan"), *[0.2] * 6], "own returned the score nan"),
        ([float("inf")] * 8, "own returned the score inf"),
        ([None] * 8, "own did not return numbers"),
        (None, "own did not return numbers"),
    ],
)
async def test_scores_that_give_no_order_are_an_error(scores: Any, message: str, tmp_path: Path) -> None:
    class Wrong(Own):
        async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            return scores

    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=made(), reranker=Wrong()) as kb:
        await kb.ingest(documents())
        with pytest.raises(RerankerError, match=message):
            await kb.search("mills", mode="hybrid")


async def test_the_settings_name_a_reranker_for_searches_and_answers(server: OpenAIServer, tmp_path: Path) -> None:
    settings = made(server, MGRAG_RERANK_CANDIDATES=4)
    async with KnowledgeBase.open(f"embedded:{tmp_path}/g.grafeo", settings=settings) as kb:
        await kb.ingest([*documents(), Document(path="ebb.txt", content="notes on mills and the ebb of mills")])
        hits = await kb.in_namespace("default").search("mills and the ebb", k=2, mode="hybrid")
        assert hits[0].path == "ebb.txt" and len(server.requests) == 1
        assert len(server.requests[0].json["documents"]) == 4
        await kb.ask("What do notes say of the ebb of mills?")
    assert len(server.requests) > 1
