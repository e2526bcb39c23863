"""Conversations, users and feedback through MemGraphClient, on every engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.rag import MemGraphClient
from core.rag.dbhandler.messages.rows import beginning_of, message_properties
from core.rag.errors import InvalidInputError, NotFoundError
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder
from tests.graphs import orphans, snapshot


@pytest.fixture
async def client(engine: Engine) -> AsyncIterator[MemGraphClient]:
    async with opened(engine) as client:
        yield client


def opened(engine: Engine, namespace: str | None = None) -> MemGraphClient:
    return MemGraphClient(
        engine.uri,
        engine.username,
        engine.password,
        namespace=namespace or engine.namespace(),
        embedder=HashEmbedder(),
    )


async def chain(client: MemGraphClient, conversation: str) -> list[str]:
    """Ids from the first message to the last, by FOLLOWS edges alone."""
    rows = await client.read(
        "MATCH (a:Interaction)-[:FOLLOWS]->(b:Interaction) WHERE a.namespace = $namespace AND a.session_id = $session "
        "RETURN a.id AS a, b.id AS b",
        session=conversation,
    )
    after = {row["b"]: row["a"] for row in rows}
    assert len(after) == len(rows), "no message is followed by two"
    firsts = set(after) - set(after.values())
    assert len(firsts) == (1 if rows else 0)
    order = sorted(firsts)
    while order and order[-1] in after:
        order.append(after[order[-1]])
    return order


async def test_the_integration_example_runs_as_it_is_written(client: MemGraphClient) -> None:
    graph_client = client
    embedding_service = HashEmbedder()
    for path, text in {"docs/mill.md": "The tide mill turns with the ebb.", "docs/sky.md": "The sky is blue."}.items():
        await client.create_document(path, text, embedding=await embedding_service.get_embedding(text))
    user_message = user_query = "when does the tide mill turn?"

    @dataclass
    class Response:
        content: str

    response = Response("With the ebb.")

    # Example integration flow:
    # 1. Create or continue conversation
    conversation_id = await graph_client.create_conversation()

    # 2. Store each message in the conversation
    message_id = await graph_client.add_message(
        conversation_id=conversation_id, content=user_message, role="user", timestamp=datetime.now()
    )

    # 3. Get relevant knowledge
    query_embedding = await embedding_service.get_embedding(user_query)
    knowledge = await graph_client.conversation_aware_search(
        query_embedding=query_embedding, conversation_id=conversation_id
    )

    # 4. Store assistant's response
    await graph_client.add_message(
        conversation_id=conversation_id,
        content=response.content,
        role="assistant",
        timestamp=datetime.now(),
        references=[doc["path"] for doc in knowledge],
    )

    messages = await client.get_conversation_messages(conversation_id)
    assert messages[0]["id"] == message_id
    assert [(m["role"], m["content"]) for m in messages] == [("user", user_message), ("assistant", "With the ebb.")]
    assert messages[1]["references"] == [doc["path"] for doc in knowledge]
    assert messages[1]["references"][0] == "docs/mill.md"


async def test_messages_are_in_order_with_times_in_utc(client: MemGraphClient) -> None:
    talk = await client.create_conversation("Mills", user_id="ann", conversation_id="talk-1")
    assert talk == "talk-1"
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    ids = [await client.add_message(talk, f"text {n}", "user", moment, tags=["t"], metadata={"n": n}) for n in range(5)]

    messages = await client.get_conversation_messages(talk)
    assert [message["id"] for message in messages] == ids
    assert [message["sequence"] for message in messages] == [1, 2, 3, 4, 5]
    assert messages[2]["metadata"] == {"n": 2}
    assert messages[2]["tags"] == ["t"]
    assert messages[2]["timestamp"] == "2026-01-02T03:04:05.000000Z"
    assert messages[2]["conversation_id"] == talk
    assert await chain(client, talk) == ids
    counts = await client.counts()
    assert counts["edges"]["PART_OF"] == counts["nodes"]["Vector"] == 5
    assert counts["edges"]["STARTED"] == 1


async def test_pages_go_forwards_and_backwards(client: MemGraphClient) -> None:
    talk = await client.create_conversation()
    ids = [await client.add_message(talk, f"text {n}", "user") for n in range(7)]

    async def page(**more: object) -> list[str]:
        return [message["id"] for message in await client.get_conversation_messages(talk, **more)]  # type: ignore[arg-type]

    assert await page(limit=3) == ids[-3:]
    assert await page(limit=3, before=ids[4]) == ids[1:4]
    assert await page(limit=3, before=5) == ids[1:4]
    assert await page(limit=2, after=ids[0]) == ids[1:3]
    assert await page(after=ids[1], before=ids[4]) == ids[2:4]
    assert [message["id"] for message in await client.recent_messages(talk, 4)] == ids[-4:]
    assert await client.recent_messages(await client.create_conversation()) == []
    with pytest.raises(NotFoundError):
        await page(before="no such message")
    with pytest.raises(InvalidInputError):
        await page(limit=0)


async def test_more_than_a_hundred_of_the_last_messages_are_returned(client: MemGraphClient) -> None:
    said = [message_properties(f"Number {number}", "user") for number in range(105)]
    ids = await client.remember_messages("long", said)
    for limit in (100, 103, 200):
        assert [message["id"] for message in await client.recent_messages("long", limit)] == ids[-limit:]


async def test_an_equal_message_id_adds_nothing_and_equal_texts_are_two_messages(client: MemGraphClient) -> None:
    talk = await client.create_conversation()
    first = await client.add_message(talk, "yes", "user", message_id="m1")
    assert await client.add_message(talk, "yes", "user", message_id="m1") == first
    await client.add_message(talk, "yes", "user")
    assert [message["sequence"] for message in await client.get_conversation_messages(talk)] == [1, 2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"role": " "},
        {"timestamp": "yesterday"},
        {"references": "docs/a"},
        {"references": [" "]},
        {"tags": "tag"},
        {"tags": [""]},
        {"metadata": {"x": object()}},
        {"metadata": ["x"]},
        {"content": "x" * 1_000_001},
        {"retrieved": [3]},
    ],
)
async def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    client: MemGraphClient, arguments: dict[str, object]
) -> None:
    talk = await client.create_conversation()
    with pytest.raises(InvalidInputError):
        await client.add_message(**{"conversation_id": talk, "content": "x", "role": "user", **arguments})  # type: ignore[arg-type]
    assert await client.get_conversation_messages(talk) == []


async def test_a_number_is_no_id(client: MemGraphClient) -> None:
    for call in (
        client.find_conversation(5),  # type: ignore[arg-type]
        client.find_user(5),  # type: ignore[arg-type]
        client.create_conversation(conversation_id=5),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInputError, match="text, not int"):
            await call


async def test_an_unknown_conversation_is_named(client: MemGraphClient) -> None:
    for call in (
        client.add_message("nowhere", "x", "user"),
        client.get_conversation_messages("nowhere"),
        client.rename_conversation("nowhere", "x"),
    ):
        with pytest.raises(NotFoundError, match="nowhere"):
            await call
    assert not await client.delete_conversation("nowhere")
    assert await client.find_conversation("nowhere") is None


async def test_references_become_edges_to_documents_and_resources(client: MemGraphClient) -> None:
    by_id = await client.create_document("docs/a", "Alpha.", embedding=await HashEmbedder().get_embedding("alpha"))
    await client.create_document("docs/b", "Beta.")
    chunk = (await client.get_document_chunks("docs/a"))[0]["chunk_id"]
    tool = await client.create_resource("https://example.org/tool", description="kept")
    talk = await client.create_conversation()
    message = await client.add_message(
        talk,
        "See there.",
        "assistant",
        references=["docs/b", by_id, chunk, "HTTPS://Example.org/new#x", tool],
        retrieved=[{"chunk_id": chunk, "score": 0.5}, chunk],
    )
    [found] = await client.get_conversation_messages(talk)
    assert found["references"] == ["docs/b", "docs/a", "https://example.org/new", "https://example.org/tool"]
    rows = await client.read(
        "MATCH (m:Interaction {id: $id})-[r:RETRIEVED]->(c:DocumentChunk) RETURN c.id AS c, r.rank AS k, r.score AS s",
        id=message,
    )
    assert rows == [{"c": chunk, "k": 1, "s": 0.5}]
    await client.record_retrieved(message, [{"chunk_id": chunk, "score": 0.25}])
    assert (await client.counts())["edges"]["RETRIEVED"] == 1

    await client.delete_conversation(talk)
    counts = await client.counts()
    assert counts["nodes"]["Resource"] == 1, "only what nothing else refers to goes"
    assert counts["nodes"]["Document"] == 2
    assert "REFERENCES" not in counts["edges"]


async def test_what_a_message_refers_to_may_come_go_and_come_back(client: MemGraphClient) -> None:
    async def targets() -> list[tuple[str, str]]:
        rows = await client.read(
            "MATCH (m:Interaction {id: $id})-[:REFERENCES]->(t) RETURN labels(t) AS labels, t.uri AS uri", id=message
        )
        return sorted((row["labels"][0], row["uri"]) for row in rows)

    await client.create_document("docs/a", "Text of a.")
    talk = await client.create_conversation()
    message = await client.add_message(talk, "see", "assistant", references=["docs/b", "docs/a", "https://x.org/"])
    named = (await client.get_conversation_messages(talk))[0]["references"]
    assert await targets() == [("Document", "docs/a"), ("Resource", "docs/b"), ("Resource", "https://x.org/")]
    await client.create_document("docs/b", "Text of b.")
    assert await targets() == [("Document", "docs/a"), ("Document", "docs/b"), ("Resource", "https://x.org/")]
    await client.delete_documents([row["id"] for row in await client.list_documents()])
    assert await targets() == [("Resource", "docs/a"), ("Resource", "docs/b"), ("Resource", "https://x.org/")]
    await client.create_document("docs/a", "Another text of a.")
    assert await targets() == [("Document", "docs/a"), ("Resource", "docs/b"), ("Resource", "https://x.org/")]
    assert (await client.get_conversation_messages(talk))[0]["references"] == named
    await client.delete_document("docs/a")
    await client.delete_conversation(talk)
    assert (await client.counts())["nodes"].keys() <= {"VectorStore"}


async def test_deleting_a_conversation_leaves_the_others_as_they_were(client: MemGraphClient) -> None:
    kept = await client.create_conversation("kept", user_id="ann")
    await client.add_message(kept, "the same text", "user", references=["https://example.org/shared"])
    before = await snapshot(client)
    gone = await client.create_conversation("gone", user_id="ann")
    for number in range(3):
        await client.add_message(
            gone, "the same text", "user", references=["https://example.org/shared", f"https://example.org/{number}"]
        )
    assert await client.delete_conversation(gone)
    assert await snapshot(client) == before
    assert not any((await orphans(client)).values())


async def test_a_message_in_the_middle_is_removed_and_the_chain_stays_whole(client: MemGraphClient) -> None:
    talk = await client.create_conversation()
    ids = [await client.add_message(talk, f"text {n}", "user") for n in range(6)]
    assert await client.remove_with_summaries(talk, [ids[1], ids[2], ids[5], "other"]) == 3
    ids = [ids[0], ids[3], ids[4]]
    assert await chain(client, talk) == ids
    ids.append(await client.add_message(talk, "last", "user"))
    assert await chain(client, talk) == ids
    assert [m["sequence"] for m in await client.get_conversation_messages(talk)] == [1, 4, 5, 7]
    assert (await client.find_conversation(talk) or {})["message_count"] == 4


async def test_sixteen_writers_make_one_chain(client: MemGraphClient) -> None:
    talk = await client.create_conversation()

    async def writer(number: int) -> list[str]:
        return [await client.add_message(talk, f"writer {number} text {n}", "user") for n in range(5)]

    written = await asyncio.gather(*(writer(number) for number in range(16)))
    messages = await client.get_conversation_messages(talk)
    ids = [message["id"] for message in messages]
    assert sorted(ids) == sorted(identifier for part in written for identifier in part)
    assert [message["sequence"] for message in messages] == list(range(1, 81))
    assert await chain(client, talk) == ids
    for part in written:
        assert sorted(part, key=ids.index) == part, "each writer's own order is kept"


async def test_conversations_of_a_user_are_listed_and_renamed(client: MemGraphClient) -> None:
    first = await client.create_conversation("First", user_id="ann")
    second = await client.create_conversation("Second", user_id="ann")
    await client.create_conversation("Other", user_id="bob")
    await client.add_message(first, "later", "user")
    await client.rename_conversation(second, "Renamed")
    listed = await client.list_conversations("ann")
    assert [row["title"] for row in listed] == ["Renamed", "First"]
    assert [row["message_count"] for row in listed] == [0, 1]
    assert [row["id"] for row in await client.list_conversations("ann", limit=1, offset=1)] == [first]
    assert len(await client.list_conversations()) == 3
    assert await client.list_conversations("nobody") == []


async def test_pages_of_conversations_lose_and_repeat_none_while_others_come_and_go(client: MemGraphClient) -> None:
    talks = [await client.create_conversation(f"Talk {number}") for number in range(5)]
    listed = await client.list_conversations(limit=2)
    assert [row["id"] for row in listed] == [talks[4], talks[3]]
    await client.create_conversation("New")
    await client.delete_conversation(talks[4])
    await client.add_message(talks[3], "It goes on.", "user")
    seen = []
    while listed:
        seen += [row["id"] for row in listed]
        listed = await client.list_conversations(limit=2, after=f"{listed[-1]['updated_at']} {listed[-1]['id']}")
    assert seen == talks[::-1]
    with pytest.raises(InvalidInputError, match="'page' is not a time"):
        await client.list_conversations(after="page 2")


async def test_conversations_without_a_title_are_listed_with_the_beginning_of_their_first_message(
    client: MemGraphClient,
) -> None:
    talk, titled, empty = [await client.create_conversation(title) for title in (None, "Mills", None)]
    long = await client.create_conversation()
    for identifier in (talk, titled):
        await client.add_message(identifier, "  When did the mill\nstand still?\n", "user")
        await client.add_message(identifier, "From 1936.", "assistant")
    await client.add_message(long, "水" * 200, "user")
    found = {row["id"]: row["beginning"] for row in await client.list_conversations()}
    assert found == {talk: "When did the mill stand still?", titled: "", empty: "", long: "水" * 60 + " …"}
    message, second = await client.get_conversation_messages(talk)
    await client.remove_with_summaries(talk, [message["id"]])
    assert (await client.list_conversations())[0]["beginning"] == second["content"]


@pytest.mark.parametrize(
    "content, begins",
    [("word " * 12, " ".join(["word"] * 12)), ("word " * 13, " ".join(["word"] * 12) + " …"), ("a" * 60, "a" * 60)],
)
def test_a_message_is_cut_behind_a_word(content: str, begins: str) -> None:
    assert beginning_of(content) == begins


async def test_a_conversation_goes_on_in_another_client(engine: Engine) -> None:
    if not engine.persistent:
        pytest.skip("a graph in memory ends with its client")
    namespace = engine.namespace()
    async with opened(engine, namespace) as client:
        talk = await client.create_conversation(conversation_id="s1", user_id="ann")
        first = await client.add_message(talk, "one", "user")
    async with opened(engine, namespace) as client:
        assert await client.create_conversation(conversation_id="s1", user_id="ann") == talk
        second = await client.add_message(talk, "two", "assistant")
        assert await chain(client, talk) == [first, second]


async def test_namespaces_do_not_share_conversations_or_users(client: MemGraphClient, engine: Engine) -> None:
    other = client.in_namespace(engine.namespace())
    await client.create_conversation(conversation_id="same", user_id="ann")
    await client.add_message("same", "secret", "user")
    assert await other.find_conversation("same") is None
    assert await other.find_user("ann") is None
    await other.create_conversation(conversation_id="same", user_id="ann")
    assert await other.get_conversation_messages("same") == []
    assert await other.delete_conversation("same")
    assert len(await client.get_conversation_messages("same")) == 1


async def test_users_views_and_ratings(client: MemGraphClient) -> None:
    user = await client.create_or_get_user("ann@example.org", "Ann")
    assert await client.create_or_get_user("ann@example.org") == user == await client.create_or_get_user(user)
    assert (await client.find_user("ann@example.org") or {})["name"] == "Ann"
    await client.create_document("docs/a", "Alpha.", embedding=await HashEmbedder().get_embedding("alpha"))
    views = await asyncio.gather(*(client.track_user_viewed_document("ann@example.org", "docs/a") for _ in range(8)))
    assert sorted(views) == list(range(1, 9))
    [viewed] = await client.viewed_documents(user)
    assert (viewed["path"], viewed["count"]) == ("docs/a", 8)
    with pytest.raises(NotFoundError, match="docs/b"):
        await client.track_user_viewed_document("ann@example.org", "docs/b")

    [chunk] = await client.rate("docs/a", 1, query="what?", user_id=user)
    await client.rate(chunk, -0.5, query=" What? ", user_id=user)
    await client.rate(chunk, 0.5, query="else", user_id=user)
    await client.rate(chunk, 0.25)
    assert sorted(row["value"] for row in await client.ratings_of_chunks([chunk])) == [-0.5, 0.25, 0.5]
    assert {row["query"] for row in await client.ratings_of_user(user)} == {"What?", "else"}
    await client.rate(chunk, 0, query="else", user_id=user)
    assert len(await client.ratings_of_user(user)) == 1
    for value in (1.1, -2, float("nan"), True):
        with pytest.raises(InvalidInputError):
            await client.rate(chunk, value)
    with pytest.raises(NotFoundError):
        await client.rate("docs/b", 1)


async def test_conversations_survive_an_export(client: MemGraphClient, tmp_path: Path) -> None:
    await client.create_document("docs/a", "Alpha.", embedding=await HashEmbedder().get_embedding("alpha"))
    talk = await client.create_conversation("Talk", user_id="ann")
    await client.add_message(talk, "what is alpha?", "user")
    chunk = (await client.get_document_chunks("docs/a"))[0]["chunk_id"]
    await client.add_message(talk, "a letter", "assistant", references=["docs/a", "https://x.org/"], retrieved=[chunk])
    await client.rate(chunk, 1, query="a", user_id="ann")
    await client.rate(chunk, -1, query="b", user_id="ann")
    await client.track_user_viewed_document("ann", "docs/a")
    before = await snapshot(client)
    file = tmp_path / "graph.jsonl"
    await client.export_graph(file)

    async with MemGraphClient("embedded::memory:", namespace=client.namespace, embedder=HashEmbedder()) as copy:
        await copy.import_graph(file)
        assert await snapshot(copy) == before
        await copy.add_message(talk, "and beta?", "user")
        assert len(await chain(copy, talk)) == 3


async def said(client: MemGraphClient, talk: str) -> list[tuple[int, str]]:
    return [(row["sequence"], row["content"]) for row in await client.get_conversation_messages(talk)]


async def test_an_older_export_does_not_set_a_conversation_back(client: MemGraphClient, tmp_path: Path) -> None:
    talk = await client.create_conversation("Talk")
    for text in ("one", "two"):
        await client.add_message(talk, text, "user")
    await client.export_graph(tmp_path / "graph.jsonl")
    for text in ("three", "four"):
        await client.add_message(talk, text, "user")
    await client.import_graph(tmp_path / "graph.jsonl")
    await client.add_message(talk, "five", "user")
    assert await said(client, talk) == [(1, "one"), (2, "two"), (3, "three"), (4, "four"), (5, "five")]
    assert len(await chain(client, talk)) == 5
    found = await client.find_conversation(talk)
    assert found is not None
    assert found["message_count"] == 5


async def test_a_conversation_that_went_on_in_two_places_becomes_one(client: MemGraphClient, tmp_path: Path) -> None:
    talk = await client.create_conversation("Talk")
    await client.add_message(talk, "one", "user")
    await client.export_graph(tmp_path / "here.jsonl")
    async with MemGraphClient("embedded::memory:", namespace=client.namespace, embedder=HashEmbedder()) as there:
        await there.import_graph(tmp_path / "here.jsonl")
        await client.add_message(talk, "here", "user", timestamp="2030-01-01T00:00:00+00:00")
        for text in ("there", "there again"):
            await there.add_message(talk, text, "user", timestamp="2030-01-02T00:00:00+00:00")
        await there.export_graph(tmp_path / "there.jsonl")
    for _ in range(2):
        await client.import_graph(tmp_path / "there.jsonl")
        assert await said(client, talk) == [(1, "one"), (2, "here"), (3, "there"), (4, "there again")]
        assert len(await chain(client, talk)) == 4
    await client.add_message(talk, "last", "user")
    assert (await said(client, talk))[-1] == (5, "last")


async def test_an_import_of_what_is_there_leaves_a_conversation_as_it_is(
    client: MemGraphClient, tmp_path: Path
) -> None:
    talk = await client.create_conversation("Talk")
    await client.create_conversation("Nothing was said")
    for text in ("one", "two"):
        await client.add_message(talk, text, "user")
    await client.export_graph(tmp_path / "before.jsonl")
    await client.import_graph(tmp_path / "before.jsonl")
    await client.export_graph(tmp_path / "after.jsonl")
    before, after = ((tmp_path / name).read_text("utf-8").splitlines() for name in ("before.jsonl", "after.jsonl"))
    assert len(before) > 6
    assert sorted(after[1:-1]) == sorted(before[1:-1])  # without the time and the sum of the file


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_comes_back_as_it_was(content: str, extra: list[str]) -> None:
    async with MemGraphClient("embedded::memory:", namespace="n", embedder=HashEmbedder()) as client:
        talk = await client.create_conversation()
        await client.add_message(talk, content, "user", metadata={"extra": extra})
        [message] = await client.get_conversation_messages(talk)
        assert message["content"] == content.replace("\0", "")
        assert message["metadata"] == {"extra": extra}
