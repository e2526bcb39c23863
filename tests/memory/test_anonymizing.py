"""Anonymizing where it touches what others said, summaries and what they stand for; names that texts give away."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.memory.anonymizing import Anonymizer
from core.rag.memory.forgetting import traces
from libs.dataloader import Document


async def test_what_a_person_said_elsewhere_and_what_others_said_of_them(kb: KnowledgeBase) -> None:
    await kb.client.create_or_get_user("ann-77", "Ann Harrow")
    await kb.remember("hers", "user", "I like tea.", user_id="ann-77")
    await kb.remember("team", "user", "Bob here. Mail bob@example.org, Ann.", user_id="bob")
    await kb.client.add_message("team", "Mine is harrow@example.org, call +49 30 901820.", "user", user_id="ann-77")
    last = await kb.client.add_message("team", "Thanks, Mrs. Harrow!", "user", user_id="bob")

    report = await kb.anonymize(user_id="ann-77")

    assert report["elsewhere"] == 3
    assert await traces(kb.client, ["ann-77", "Ann", "Harrow", "harrow@", "901820", last]) == []
    messages = await kb.client.get_conversation_messages("team")
    assert [(message["content"], message["user_id"]) for message in messages] == [
        ("Bob here. Mail bob@example.org, [person 1].", "bob"),
        ("Mine is [email 1], call [phone 1].", ""),
        ("Thanks, Mrs. [person 1]!", "bob"),
    ]
    assert [message["sequence"] for message in messages] == [1, 2, 3]
    assert (await kb.recall("team", "bob@example.org", limit=1))[0].id == messages[0]["id"]
    added = await kb.client.add_message("team", "And now?", "user", user_id="bob")
    recent = await kb.client.recent_messages("team", 9)
    assert [message["id"] for message in recent] == [*(message["id"] for message in messages), added]


async def test_what_others_said_in_conversations_of_a_person_stays_theirs(kb: KnowledgeBase) -> None:
    await kb.remember("team", "user", "My name is Ann Harrow, mail me at ann@example.org.", user_id="ann-77")
    await kb.remember("team", "user", "I am Bob Stone. Ann Harrow asked about Carla.", user_id="bob")
    await kb.remember("team", "user", "And I am Carla Gomez.", user_id="carla")
    await kb.remember("team", "assistant", "Noted, Ann.")

    [talk] = (await kb.anonymize(user_id="ann-77"))["conversations"]

    messages = await kb.client.get_conversation_messages(talk)
    assert [(message["content"], message["user_id"]) for message in messages] == [
        ("My name is [person 1], mail me at [email 1].", ""),
        ("I am Bob Stone. [person 1] asked about Carla.", "bob"),
        ("And I am Carla Gomez.", "carla"),
        ("Noted, [person 1].", ""),
    ]
    assert await traces(kb.client, ["ann-77", "Ann", "Harrow", "ann@"]) == []
    assert [memory.content for memory in await kb.recall(query="Carla", user_id="carla")] == ["And I am Carla Gomez."]
    [exported] = (await kb.export_user("bob"))["messages"]
    assert exported["content"].startswith("I am Bob Stone.")
    [talk] = (await kb.anonymize(conversation_id=talk))["conversations"]
    assert {message["user_id"] for message in await kb.client.get_conversation_messages(talk)} == {""}
    assert await traces(kb.client, ["Bob", "Carla"]) == []
    assert [user["conversations"] for user in await kb.users() if user["id"] in ("bob", "carla")] == [0, 0]


async def test_names_in_what_others_wrote_beside_messages(kb: KnowledgeBase) -> None:
    await kb.ingest([Document(path="tea", content="Tea is made with hot water.")])
    await kb.client.create_or_get_user("ann-77", "Ann Harrow")
    await kb.feedback("tea", 1, "how does Ann Harrow like it?", "bob")
    await kb.feedback("tea", 1, "how is it made?", "bob")
    await kb.client.create_conversation("Lunch with Ann", "bob", "bob-1")
    await kb.remember("bob-1", "user", "She was late.", tags=["Harrow", "lunch"], user_id="bob")
    await kb.remember("bob-1", "user", "He was not.", metadata={"with": ["Ann Harrow", "Carl"]}, user_id="bob")

    assert (await kb.anonymize(user_id="ann-77"))["elsewhere"] == 2

    assert await traces(kb.client, ["ann-77", "Ann", "Harrow"]) == []
    first, second = await kb.memories("bob-1")
    assert first.tags == ("[person 1]", "lunch")
    assert second.metadata == {"with": ["[person 1]", "Carl"]}
    assert (await kb.client.find_conversation("bob-1") or {})["title"] == "Lunch with [person 1]"
    asked = {rating["query"] for rating in (await kb.export_user("bob"))["ratings"]}
    assert asked == {"how does [person 1] like it?", "how is it made?"}
    await kb.feedback("tea", 0, "how does [person 1] like it?", "bob")
    assert len((await kb.export_user("bob"))["ratings"]) == 1


async def test_names_and_ids_in_small_letters(kb: KnowledgeBase) -> None:
    await kb.client.create_or_get_user("zara", "Mark Okafor")
    await kb.remember(
        "s", "user", "zara here, i will mark it for okafor.", tags=["okafor", "user:mark"], user_id="zara"
    )
    await kb.remember("s", "user", "Was it zara?", metadata={"mark": 3, "by": "mark"}, user_id="bob")

    (session,) = (await kb.anonymize(user_id="zara"))["conversations"]

    first, second = await kb.memories(session)
    # A sentence may have the word; what is no sentence has the name.
    assert first.content == "[person 1] here, i will mark it for okafor."
    assert first.tags == ("[person 1]", "user:[person 1]")
    assert (second.content, second.metadata) == ("Was it [person 1]?", {"mark": 3, "by": "[person 1]"})


async def test_an_id_that_is_any_word_is_not_replaced_in_sentences(kb: KnowledgeBase) -> None:
    await kb.remember("s", "user", "The user interface will do, rose agreed.", user_id="user")
    (session,) = (await kb.anonymize(user_id="user"))["conversations"]
    assert [memory.content for memory in await kb.memories(session)] == ["The user interface will do, rose agreed."]


async def test_summaries_and_what_they_stand_for_are_kept_and_anonymous(kb: KnowledgeBase) -> None:
    for number in range(6):
        await kb.remember("ann-s", "user", f"Day {number}: my name is Ann Harrow.", user_id="ann", tags=["Harrow"])
    await kb.compact("ann-s", keep=2)
    before = [memory.sequence for memory in await kb.memories("ann-s", compacted=True)]
    [new] = (await kb.anonymize(conversation_id="ann-s"))["conversations"]
    assert await kb.memories("ann-s") == []
    everything = await kb.memories(new, compacted=True)
    assert [memory.sequence for memory in everything] == before
    summary = everything[4]
    assert summary.role == "summary"
    assert [memory.compacted_into for memory in everything] == [summary.id] * 4 + [""] * 3
    assert everything[0].content == "Day 0: my name is [person 1]."
    assert await traces(kb.client, ["Harrow", "ann-s"]) == []
    counts = await kb.client.counts()
    assert counts["edges"]["SUMMARIZES"] == 4
    assert counts["nodes"]["Vector"] == 3
    assert counts["edges"]["FOLLOWS"] == 6
    assert summary.id in {memory.id for memory in await kb.recall(new, "day", limit=9)}


class Given:
    """A summary that somebody else has written."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def summarize(self, texts: Sequence[str]) -> str:
        return self._text


@pytest.mark.parametrize("summary", ["They talked of many things.", "Ann Harrow called, and it rained."])
async def test_summaries_in_conversations_of_others_still_stand_for_the_same(kb: KnowledgeBase, summary: str) -> None:
    await kb.client.create_or_get_user("ann-77", "Ann Harrow")
    for remark in ("Ann Harrow called.", "It rains.", "It rained."):
        await kb.remember("bob-1", "user", remark, user_id="bob")
    await kb.compact("bob-1", keep=0, summarizer=Given(summary))
    await kb.remember("bob-1", "user", "It rained.", user_id="bob")  # a memory of its own again
    await kb.anonymize(user_id="ann-77")
    called, rains, stands, rained = await kb.memories("bob-1", compacted=True)
    assert called.content == "[person 1] called."
    assert (called.compacted_into, rains.compacted_into, rained.compacted_into) == (stands.id, stands.id, "")
    assert [memory.id for memory in await kb.memories("bob-1")] == [stands.id, rained.id]
    assert await traces(kb.client, ["Harrow"]) == []


async def test_what_is_added_meanwhile_is_made_anonymous_too(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.remember("ann-s", "user", "I'm Ann Harrow.")
    read = kb.client.get_conversation_messages

    async def read_before_others_write(*args: Any, **more: Any) -> list[dict[str, Any]]:
        monkeypatch.undo()
        messages = await read(*args, **more)
        await kb.remember("ann-s", "user", "Write to ann@example.org, Zoe Quax, or Harrow.")
        return messages

    monkeypatch.setattr(kb.client, "get_conversation_messages", read_before_others_write)
    [new] = (await kb.anonymize(conversation_id="ann-s"))["conversations"]
    expected = ["I'm [person 1].", "Write to [email 1], [person 2], or [person 1]."]
    assert [memory.content for memory in await kb.memories(new)] == expected
    assert await traces(kb.client, ["ann-s", "Ann", "Harrow", "Quax"]) == []


async def test_somebody_without_a_conversation_is_found_by_what_they_said(kb: KnowledgeBase) -> None:
    await kb.remember("team", "user", "Bob here.", user_id="bob")
    await kb.client.add_message("team", "I am Ann Harrow.", "user", user_id="ann-77")
    assert (await kb.anonymize(user_id="ann-77"))["conversations"] == []
    assert (await kb.client.get_conversation_messages("team"))[1]["content"] == "I am [person 1]."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am Ann Lee, and Lee is short.", "I am [person 1], and [person 1] is short."),
        ("I'm Ann and I like tea.", "I'm [person 1] and I like tea."),
        ("I am German. I'm Happy to help.", "I am German. I'm Happy to help."),
        ("Dear Bob,\nit rains.\nBest regards,\nAnn Lee", "Dear [person 1],\nit rains.\nBest regards,\n[person 2]"),
        ("Dear Mr. Jones, Jones it is.", "Dear Mr. [person 1], [person 1] it is."),
        ("Hello World, hi there.", "Hello World, hi there."),
        ("Alice Johnson will call Peter.", "[person 1] will call [person 2]."),
        ("Rose likes roses. Mark Twain wrote.", "Rose likes roses. Mark Twain wrote."),
        ("Ask Grace Miller, and Juan Carlos García.", "Ask [person 1], and [person 2]."),
        ("ann.lee@example.org wrote; Lee did.", "[email 1] wrote; [person 1] did."),
        ("no-reply@example.org: Reply soon.", "[email 1]: Reply soon."),
        ("メールはtaro.abe@example.jpです。", "メールは[email 1]です。"),
        ("Frau Dr. Weber und Herr Prof. Dr. med. Klein.", "Frau Dr. [person 1] und Herr Prof. Dr. med. [person 2]."),
        ("Frau Dr. hat Zeit. Dear Madame, hello.", "Frau Dr. hat Zeit. Dear Madame, hello."),
        ("Madame Lefèvre, M. Durand.", "Madame [person 1], M. [person 2]."),
        ("El señor Rodríguez y la señorita Vega.", "El señor [person 1] y la señorita [person 2]."),
        ("Il signor Bianchi. La signora Conti.", "Il signor [person 1]. La signora [person 2]."),
        ("Je m’appelle Zoulou Kra. Ik heet Zus van den Oord.", "Je m’appelle [person 1]. Ik heet [person 2]."),
        ("Sanne de Vries met Der Vries.", "[person 1] met Der [person 1]."),
        ("Pieter van den Berg; Mr. van den Berg.", "[person 1]; Mr. [person 1]."),
        ("Sabine von Siemens, Den Haag.", "[person 1] von Siemens, Den Haag."),
        ("Ich heiße Karl Groß. Karls Haus, Karl's dog.", "Ich heiße [person 1]. [person 1] Haus, [person 1]'s dog."),
        ("Peter Klein und Frau Peters.", "[person 1] und Frau [person 2]."),
        ("Mio fratello. Pero no. Nada más. Love it.", "Mio fratello. Pero no. Nada más. Love it."),
    ],
)
def test_names_that_texts_give_away(text: str, expected: str) -> None:
    anonymizer = Anonymizer()
    anonymizer.learn(text)
    found = anonymizer.text(text)
    for number, word in enumerate(sorted(set(_words(found)), key=found.index), 1):
        found = found.replace(word, f"[person #{number}]")
    assert found.replace("#", "") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFFXXX", "IBAN [account 1] BIC COBADEFFXXX"),
        ("Pay NL91ABNA0417164300 GB29 NWBK 6016 1331 9268 19 I said", "Pay [account 1] [account 2] I said"),
        ("4111 1111 1111 1111 12/26 123", "[card 1] 12/26 123"),
        ("PIN 1234 4111 1111 1111 1111.", "PIN 1234 [card 1]."),
        ("PIN 1234 3782 822463 10005.", "PIN 1234 [card 1]."),
        ("In 2019 2020 2021 2022 2023, at 10:30:15, x[1::2]", "In 2019 2020 2021 2022 2023, at 10:30:15, x[1::2]"),
        ("From 2001:db8::ff00:42:8329 and fe80::1.", "From [address 1] and [address 2]."),
        ("My IP is 192.168.1.44. Or 10.0.0.7", "My IP is [address 1]. Or [address 2]"),
        ("Section 1.2.3.4.5 of 1.2.3", "Section 1.2.3.4.5 of 1.2.3"),
        ("Kurt-Schumacher-Straße 12a, Platz der Kurt-Straße", "[address 1], Platz der Kurt-Straße"),
        ("Prenzlauer Allee 44 oder Karl-Marx-Allee 1.", "[address 1] oder [address 2]."),
        ("Vivo en la Calle Mayor 15, Madrid.", "Vivo en la [address 1], Madrid."),
        ("Avenida de la Constitución, n.º 3; calle 15", "[address 1]; calle 15"),
        ("Abito in Via Giuseppe Garibaldi 10, Milano", "Abito in [address 1], Milano"),
        ("Rua dos Pinheiros 120. Via Zoom at 10", "[address 1]. Via Zoom at 10"),
        ("3 bis, avenue des Champs-Élysées", "[address 1]"),
        ("au 12 rue de l’Église", "au [address 1]"),
        ("At 12 Main Street, Springfield, IL 62704 since May.", "At [address 1] since May."),
        ("10 Downing Street, London SW1A 2AA.", "[address 1]."),
        ("221B Baker Street, London NW1 6XE or 12-14 Mill Lane", "[address 1] or [address 2]"),
        ("1600 Amphitheatre Parkway, Mountain View, CA 94043", "[address 1]"),
        ("1600 Pennsylvania Avenue NW, Washington, DC 20500!", "[address 1]!"),
        ("350 5th Ave, Apt. 4B, New York, NY 10118; 7 N. Main St #12", "[address 1]; [address 2]"),
        ("Dorfstraße 12A oder Hauptstraße 5 a, 10115 Berlin", "[address 1] oder [address 2]"),
        ("At Kirchweg 5 a path begins. The 3rd Trail", "[address 1] a path begins. The 3rd Trail"),
        ("Hauptstraße 5, 10115 Berlin ist schön", "[address 1] ist schön"),
        ("4 rue de la Paix, 75002 Paris; Dorfstr. 3, 8001 Zürich", "[address 1]; [address 2]"),
        (
            "5 Oak Lane in Hull. 12345 people; 12 Main Street 2019",
            "[address 1] in Hull. 12345 people; [address 2] 2019",
        ),
        ("Version 1.2.3.4 at 10.1.2.3", "Version 1.2.3.4 at [address 1]"),
    ],
)
def test_numbers_beside_other_words(text: str, expected: str) -> None:
    assert Anonymizer().text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call +1 (555) 123-4567, 555-123-4567 or (555) 123 4567.", "Call [phone 1], [phone 1] or [phone 1]."),
        ("It was 555.123.4567, and 555-0100.", "It was [phone 1], and [phone 2]."),
        ("Mobile: 07911 123456, or (020) 7946 0018", "Mobile: [phone 2], or [phone 1]"),
        ("Call me at 5551234567; Tel. 030/901820", "Call me at [phone 1]; Tel. [phone 2]"),
        ("+49 (0)30 901820, that is +49 30 901820", "[phone 1], that is [phone 1]"),
        ("Call on 2024-05-01 at 10:30:15, order 1234567890, 100 200 3000", ""),
        ("A call of 120 seconds, page 123-1234, ISBN 978-3-16-148410-0, cell 12", ""),
    ],
)
def test_phone_numbers_that_are_only_written_like_one(text: str, expected: str) -> None:
    assert Anonymizer().text(text) == (expected or text)


def test_a_number_is_counted_once_however_it_is_found() -> None:
    anonymizer = Anonymizer(region="DE")
    assert anonymizer.text("Call 030/901820 or +49 30 901820.") == "Call [phone 1] or [phone 1]."
    assert anonymizer.replaced == {"phone": 1}


def test_the_owner_of_something_is_named() -> None:
    anonymizer = Anonymizer()
    anonymizer.learn("Jane's sister and Bob’s dog; it’s John's")
    assert anonymizer.text("Jane's sister and Bob’s dog") == "[person 1]'s sister and [person 2]’s dog"
    assert Anonymizer().text("5 Rue de Rivoli, 75001 Paris") == "[address 1]"


def test_a_name_in_an_account_or_a_site() -> None:
    anonymizer = Anonymizer(["Ann Harlow", "Li Wei"])
    text = "https://annharlow.example.org, @ann_harlow, AnnHarlow's; channharlow, liwei"
    expected = "https://[person 1].example.org, @[person 1], [person 1]'s; channharlow, liwei"
    assert anonymizer.text(text) == expected


def test_a_name_in_an_address() -> None:
    anonymizer = Anonymizer(["Marta Kowalczyk", "Anne-Marie Lee"])
    text = "https://example.org/marta.kowalczyk and Anne-Marie-Lee; Marta. Kowalczyk came."
    expected = "https://example.org/[person 1] and [person 2]; [person 1]. [person 1] came."
    assert anonymizer.text(text) == expected


def _words(text: str) -> list[str]:
    return [f"[person {part.split(']')[0]}]" for part in text.split("[person ")[1:]]


def test_what_a_text_takes_does_not_grow_with_the_names_that_are_known() -> None:
    """Measured by the memory that it needs: a pattern of all names needs 100 times as much."""

    def needed(names: int) -> int:
        anonymizer = Anonymizer(f"Zor{number}x Kal{number}y" for number in range(names))
        assert anonymizer.text("Zor7x Kal7y met Kal8y.") == "[person 8] met [person 9]."
        tracemalloc.start()
        try:
            anonymizer.learn("My name is Ulmo Brandt. Zor9x Welling is here, and Kal3y.")
            assert anonymizer.text("Ulmo Brandt, Zor9x Welling") == f"[person {names + 1}], [person 10]"
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    needed(10)  # what is loaded once
    assert needed(4000) < 3 * needed(40)
