"""Feedback, what is kept of a person, and anonymizing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag import KnowledgeBase
from core.rag.dbhandler.messages import rows as message_rows
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.memory.anonymizing import Anonymizer
from core.rag.memory.forgetting import traces
from core.rag.retrieval.ordering.feedback import LARGEST_PUSH, chunk_pushes, pushed
from core.rag.times import iso
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(
            [
                Document(path="a", content="The tide mill turns with the ebb of the sea.", title="One"),
                Document(path="b", content="The tide mill turns with the flow of the sea.", title="Two"),
                Document(path="c", content="Invoices are sent on Monday.", title="Three"),
            ]
        )
        yield opened


async def order(kb: KnowledgeBase, query: str = "tide mill sea", **more: str) -> list[str]:
    return [hit.path for hit in await kb.search(query, k=3, **more)]  # type: ignore[arg-type]


async def test_users_are_listed_by_id_in_pages(kb: KnowledgeBase) -> None:
    await kb.remember("monday", "user", "I am Bob.", user_id="bob")
    await kb.remember("monday", "user", "I am Ann.", user_id="ann")
    await kb.remember("tuesday", "user", "It is Ann again.", user_id="ann")
    await kb.client.create_or_get_user("Zoë", "Zoë Vane")
    people = await kb.users()
    assert people[0].keys() == {"id", "name", "created_at", "updated_at", "conversations"}
    assert [(row["id"], row["name"], row["conversations"]) for row in people] == [
        ("Zoë", "Zoë Vane", 0),
        ("ann", None, 2),
        ("bob", None, 1),
    ]
    assert [row["id"] for row in await kb.users(1, after="Zoë")] == ["ann"]
    assert await kb.in_namespace(f"{kb.namespace}-other").users() == []
    await kb.forget(user_id="ann")
    assert [row["id"] for row in await kb.users()] == ["Zoë", "bob"]
    with pytest.raises(InvalidInputError, match="limit is 0"):
        await kb.users(0)


async def test_feedback_decides_between_equals_and_is_taken_back(kb: KnowledgeBase) -> None:
    before = await kb.search("tide mill sea", k=3)
    first, second = before[0].path, before[1].path
    await kb.feedback(second, 1, "tide mill sea", "ann")
    await kb.feedback(first, -1, "tide mill sea", "ann")
    assert (await order(kb))[:2] == [second, first]
    await kb.feedback(second, 0, "tide mill sea", "ann")
    await kb.feedback(first, 0, "tide mill sea", "ann")
    assert await kb.search("tide mill sea", k=3) == before


async def test_feedback_never_hides_a_perfect_match(kb: KnowledgeBase) -> None:
    for user in range(20):
        await kb.feedback("c", -1, "invoices sent Monday", f"user {user}")
        await kb.feedback("a", 1, "invoices sent Monday", f"user {user}")
    assert (await order(kb, "invoices sent Monday"))[0] == "c"


async def test_feedback_names_what_was_perhaps_meant(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path=path, content="Ann and Bob.") for path in ("docs/people.csv", "p")])
    with pytest.raises(NotFoundError, match=r"no chunk and no document 'people.csv' .* Similar: docs/people.csv\."):
        await kb.feedback("people.csv", 1)


async def test_ones_own_feedback_counts_first(kb: KnowledgeBase) -> None:
    first, second = (await order(kb))[:2]
    for user in range(5):
        await kb.feedback(second, 1, "tide mill sea", f"user {user}")
    await kb.feedback(second, -1, "tide mill sea", "ann")
    assert (await order(kb, user_id="user 1"))[:2] == [second, first]
    assert (await order(kb, user_id="ann"))[:2] == [first, second]


ratings = st.lists(
    st.fixed_dictionaries(
        {
            "chunk_id": st.sampled_from(["x", "y"]),
            "user": st.sampled_from(["u", "v", "w"]),
            "value": st.floats(-1, 1),
            "query": st.sampled_from(["", "tide mill", "mill", "other words"]),
            "rated_at": st.integers(0, 1000).map(lambda days: iso(NOW - timedelta(days=days))),
        }
    ),
    max_size=20,
)


@given(ratings, st.sampled_from([None, "u"]), st.floats(-10, 10))
def test_a_push_is_bounded(given_ratings: list[dict[str, object]], user: str | None, score: float) -> None:
    for push in chunk_pushes(given_ratings, "tide mill", user, NOW).values():
        assert -1 <= push <= 1
        assert abs(pushed(score, push) - score) <= LARGEST_PUSH * abs(score) + 1e-9


def test_a_rating_fades() -> None:
    def push(days: int) -> float:
        rating = {
            "chunk_id": "x",
            "user": "u",
            "value": 1.0,
            "query": "tide",
            "rated_at": iso(NOW - timedelta(days=days)),
        }
        return chunk_pushes([rating], "tide", None, NOW)["x"]

    assert push(0) == pytest.approx(1.0)
    assert push(90) == pytest.approx(0.5)
    assert push(900) < 0.01


async def test_everything_of_a_user_is_exported(kb: KnowledgeBase) -> None:
    talk = await kb.client.create_conversation("Mills", user_id="ann")
    await kb.client.add_message(talk, "When does it turn?", "user", references=["a"])
    await kb.client.create_conversation(conversation_id="team", user_id="bob")
    hits = await kb.search("tide mill", k=2)
    await kb.client.add_message("team", "I said this.", "user", references=["b"], retrieved=hits, user_id="ann")
    await kb.client.add_message("team", "Bob said this.", "user", user_id="bob")
    await kb.client.track_user_viewed_document("ann", "a")
    await kb.feedback("a", 1, "mill", "ann")

    export = json.loads(json.dumps(await kb.export_user("ann")))

    assert export["user"]["external_id"] == "ann"
    assert [message["content"] for message in export["conversations"][0]["messages"]] == ["When does it turn?"]
    [own], [elsewhere] = export["conversations"][0]["messages"], export["messages"]
    assert (own["references"], own["retrieved"]) == (["a"], [])
    assert (elsewhere["content"], elsewhere["references"]) == ("I said this.", ["b"])
    assert [(row["rank"], row["chunk_id"], row["path"], row["score"]) for row in elsewhere["retrieved"]] == [
        (rank, hit.chunk_id, hit.path, pytest.approx(hit.score)) for rank, hit in enumerate(hits, 1)
    ]
    assert [row["path"] for row in export["viewed"]] == ["a"] == [row["path"] for row in await kb.history("ann")]
    assert [row["value"] for row in export["ratings"]] == [1.0]
    assert "Bob said this." not in json.dumps(export)
    with pytest.raises(NotFoundError):
        await kb.export_user("nobody")


async def test_a_message_may_grow_when_it_is_made_anonymous(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(message_rows, "MAX_CONTENT_CHARS", 20)
    text = "I am Ann, Ann, Ann."
    await kb.remember("long", "user", text)
    [new] = (await kb.anonymize(conversation_id="long"))["conversations"]
    assert [memory.content for memory in await kb.memories(new)] == ["I am [person 1], [person 1], [person 1]."]
    with pytest.raises(InvalidInputError, match="at most 20 characters"):
        await kb.remember("long", "user", text + text)


async def test_anonymizing_cuts_every_link_and_keeps_what_was_said(kb: KnowledgeBase) -> None:
    user = await kb.client.create_or_get_user("ann-77", "Ann Harrow")
    talk = await kb.client.create_conversation("Talk with Ann", user_id="ann-77", conversation_id="ann-77-talk")
    old = await kb.client.add_message(
        talk,
        "I am Ann Harrow, write to ann@example.org or call +49 30 901820.",
        "user",
        metadata={"from": "ann@example.org"},
        references=["a", "https://example.org/ann-77"],
    )
    await kb.client.add_message(talk, "Thank you, Ann. It turns with the ebb.", "assistant", retrieved=[])
    await kb.client.track_user_viewed_document("ann-77", "a")
    await kb.feedback("a", 1, "mill of ann@example.org", "ann-77")

    report = await kb.anonymize(user_id="ann-77")

    clues = ["ann-77", "Ann", "Harrow", "ann@example.org", "901820", user, old]
    assert await traces(kb.client, clues) == []
    [new] = report["conversations"]
    messages = await kb.client.get_conversation_messages(new)
    assert messages[0]["content"] == "I am [person 1], write to [email 1] or call [phone 1]."
    assert messages[1]["content"] == "Thank you, [person 1]. It turns with the ebb."
    assert messages[0]["metadata"] == {"from": "[email 1]"}
    assert messages[0]["references"] == ["a"]
    assert report["replaced"]["email"] == 1
    counts = await kb.client.counts()
    assert counts["edges"]["VIEWED"] == counts["edges"]["RATED"] == 1
    assert "STARTED" not in counts["edges"]
    found = await kb.recall(new, "turns with the ebb", limit=1)
    assert found[0].id == messages[1]["id"]
    with pytest.raises(NotFoundError):
        await kb.anonymize(user_id="ann-77")
    with pytest.raises(InvalidInputError):
        await kb.anonymize()
    with pytest.raises(InvalidInputError, match="region 'Germany'"):
        await kb.anonymize(conversation_id=new, region="Germany")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mail a.b+c@mail.example.co.uk!", "mail [email 1]!"),
        ("pay DE89 3704 0044 0532 0130 00 now", "pay [account 1] now"),
        ("My account number is 123456789, yes", "My account number is [account 1], yes"),
        ("Kontonummer: 0532 0130 00; konto 532013000", "Kontonummer: [account 1]; konto [account 2]"),
        ("On account of 2026 they opened account 12.", "On account of 2026 they opened account 12."),
        ("card 4111 1111 1111 1111.", "card [card 1]."),
        ("card 4111 1111 1111 1112.", "card 4111 1111 1111 1112."),
        ("call (415) 555-2671", "call [phone 1]"),
        ("host 192.168.0.1, version 1.2.3", "host [address 1], version 1.2.3"),
        ("at 221 Baker Street, London", "at [address 1], London"),
        ("in der Hauptstraße 12a", "in der [address 1]"),
        ("Mr. Smith met Dr Anna Berg; Smith left.", "Mr. [person 1] met Dr [person 2]; [person 1] left."),
        ("Mein Name ist Jürgen Groß.", "Mein Name ist [person 1]."),
        ("Version: 1.2.3.4 on 10.0.0.7", "Version: 1.2.3.4 on [address 1]"),
        (
            "Меня зовут Иван Петров. Передайте Ивану Петрову, что Мария ждёт; Марии пора.",
            "Меня зовут [person 1]. Передайте [person 1], что [person 2] ждёт; [person 2] пора.",
        ),
        ("Роман лежит, а Роман Кузнецов пришёл вчера.", "[person 1] лежит, а [person 1] пришёл вчера."),
        ("Вера в себя, Новый Год, улица в Москве.", "Вера в себя, Новый Год, улица в Москве."),
        ("Здравствуйте, Фёкла! Олені добре.", "Здравствуйте, [person 1]! [person 2] добре."),
        ("山田太郎と申します。昨日は山田太郎が来た。", "[person 1]と申します。昨日は[person 1]が来た。"),
        ("私の名前は鈴木 花子です。鈴木さん。", "私の名前は[person 1]です。[person 1]さん。"),
        ("製品の名前はカメラです。", "製品の名前はカメラです。"),
        ("我叫王小明，电话在这里。", "我叫[person 1]，电话在这里。"),
        ("제 이름은 김민수입니다. 김민수가 왔어요.", "제 이름은 [person 1]입니다. [person 1]가 왔어요."),
        ("In 2026 the 12 mills made 3,000 sacks.", "In 2026 the 12 mills made 3,000 sacks."),
    ],
)
def test_what_is_replaced(text: str, expected: str) -> None:
    anonymizer = Anonymizer()
    anonymizer.learn(text)
    assert anonymizer.text(text) == expected


def test_known_names_are_found_in_scripts_without_spaces() -> None:
    anonymizer = Anonymizer(["山田 太郎", "Ann"], same=["佐藤花子"])
    assert anonymizer.text("昨日、山田太郎と佐藤花子が来た。Annie") == "昨日、[person 2]と[person 1]が来た。Annie"


@given(st.text(max_size=300))
def test_anonymizing_twice_changes_nothing_more(text: str) -> None:
    anonymizer = Anonymizer(["Ann Harrow"])
    anonymizer.learn(text)
    once = anonymizer.text(text)
    assert anonymizer.text(once) == once


@given(
    st.sampled_from(["ann@example.org", "4111 1111 1111 1111", "DE89370400440532013000", "Ann Harrow"]),
    st.text(" ,;\n", min_size=1, max_size=3),
)
def test_the_same_is_replaced_by_the_same_anywhere(secret: str, gap: str) -> None:
    anonymizer = Anonymizer(["Ann Harrow"])
    text = anonymizer.text(f"x{gap}{secret}{gap}y{gap}{secret}{gap}")
    assert secret not in text
    words = [part for part in text.replace("[", "\0[").replace("]", "]\0").split("\0") if part.startswith("[")]
    assert len(words) == 2
    assert len(set(words)) == 1
