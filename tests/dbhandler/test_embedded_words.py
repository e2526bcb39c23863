"""What a store keeps of words between keyword searches: quicker, and never different."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.rag.dbhandler.embedded import dialect, word_scores
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.embedded.word_scores import changes_words
from core.rag.dbhandler.store import Transaction
from core.rag.schema import Label, TextIndex
from tests.dbhandler.kit import PATIENCE_SECONDS, write

INDEX = TextIndex(Label.CHUNK, "words")
OTHER = TextIndex(Label.INTERACTION, "words")
PUT = "UNWIND $rows AS row MERGE (c:DocumentChunk {id: row.id}) SET c:" + INDEX.partition + ", c.terms = row.terms"
TOUCH = "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) SET c.seen = $now"
DELETE = "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) DETACH DELETE c"
WORDS = [f"w{number}" for number in range(40)]


class Asked:
    """Counts the questions of each kind that reach the engine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.whole = 0
        self.words: list[str] = []
        text_search, word_search = dialect.text_search, dialect.word_search

        def whole(*arguments: Any) -> Any:
            self.whole += 1
            return text_search(*arguments)

        def word(db: Any, index: TextIndex, words: str, *rest: Any) -> Any:
            if " " not in words:
                self.words.append(words)
            return word_search(db, index, words, *rest)

        monkeypatch.setattr(dialect, "text_search", whole)
        monkeypatch.setattr(dialect, "word_search", word)


@pytest.fixture
async def store() -> AsyncIterator[EmbeddedStore]:
    opened = await EmbeddedStore.open(":memory:")
    await opened.ensure_schema()
    await opened.ensure_text_index(INDEX)
    yield opened
    await opened.close()


async def put(store: EmbeddedStore, texts: dict[str, str]) -> None:
    await write(store, PUT, rows=[{"id": name, "terms": terms} for name, terms in texts.items()])


async def found(store: EmbeddedStore, terms: dict[str, float], k: int = 10) -> list[tuple[str, float]]:
    return [(match.id, match.score) for match in await store.text_search(INDEX, terms, k)]


def some(number: int, seed: int = 0) -> dict[str, str]:
    """Texts in which the first words are the most frequent, many of them alike."""
    generator = random.Random(seed)
    weights = [1 / (1 + place) for place in range(len(WORDS))]
    texts = [" ".join(generator.choices(WORDS, weights, k=generator.randint(1, 12))) for _ in range(number)]
    return {f"c{seed}-{place:04}": generator.choice(texts) for place in range(number)}


@pytest.mark.parametrize("weights", [(1.0,), (2.5,), (1.0, 0.3, 0.09)])
async def test_words_give_what_the_engine_gives(store: EmbeddedStore, weights: tuple[float, ...]) -> None:
    await put(store, some(700))
    generator = random.Random(1)
    asked: set[str] = set()
    for _ in range(60):
        terms = {
            word: generator.choice(weights) for word in generator.sample([*WORDS, "none"], generator.randint(1, 7))
        }
        k = generator.choice((1, 3, 20, 2000))
        expected = dialect.text_search(store._db, INDEX, terms, k)
        assert await found(store, terms, k) == expected  # to the last bit, and equal ones in the same order
        asked |= terms.keys()
    assert store._words._indexes[INDEX].scores.keys() <= asked
    assert len(store._words._indexes[INDEX].scores) > 20


async def test_wide_numbers_give_the_same(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(store, some(300))
    terms = {"w0": 1.0, "w5": 1.0, "w9": 0.5}
    expected = dialect.text_search(store._db, INDEX, terms, 25)
    for spread in (0, 1 << 20):
        monkeypatch.setattr(word_scores, "_SPREAD", spread)
        assert await found(store, terms, 25) == expected
        assert await found(store, terms, 25) == expected


async def test_a_word_is_asked_for_until_it_is_kept(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(store, some(100))
    asked = Asked(monkeypatch)
    await found(store, {"w1": 1.0, "w2": 1.0})
    assert (asked.whole, asked.words) == (1, [])
    await found(store, {"w1": 1.0, "w3": 1.0})  # only w1 is kept
    await found(store, {"w3": 1.0, "w1": 1.0})
    await found(store, {"w1": 1.0, "w3": 1.0})
    assert (asked.whole, asked.words) == (1, ["w1", "w3", "w3"])
    await write(store, TOUCH, ids=["c0-0001"], now="now")
    await write(store, "MERGE (m:Interaction {id: 'i'}) SET m.terms = 'w1'")
    await found(store, {"w1": 1.0, "w3": 1.0})
    assert (asked.whole, asked.words) == (1, ["w1", "w3", "w3"])
    await write(store, DELETE, ids=["c0-0001"])
    await found(store, {"w1": 1.0, "w3": 1.0})
    assert (asked.whole, asked.words) == (2, ["w1", "w3", "w3"])


async def test_every_change_is_seen_by_the_next_search(store: EmbeddedStore) -> None:
    generator = random.Random(4)
    await put(store, some(60))
    kept = 0
    for step in range(150):
        match generator.randrange(7):
            case 0:
                await put(store, some(3, seed=1000 + step))
            case 1:
                rows = await store.run("MATCH (c:DocumentChunk) RETURN c.id AS id")
                await write(store, DELETE, ids=generator.sample(sorted(row["id"] for row in rows), 2))
            case 2:
                rows = await store.run("MATCH (c:DocumentChunk) RETURN c.id AS id")
                await put(store, {generator.choice(rows)["id"]: "w0 w1 w2"})
            case 3:
                await write(store, "MATCH (c:DocumentChunk) WITH c LIMIT 1 SET c += $props", props={"terms": "w3 w4"})
            case 4 if step % 5 == 0:
                await store.drop_text_index(INDEX)  # the search makes it again
        terms = dict.fromkeys(generator.sample(WORDS[:8], 3), 1.0)
        assert await found(store, terms) == dialect.text_search(store._db, INDEX, terms, 10), step
        kept += bool(store._words._indexes[INDEX].scores)
    assert 20 < kept < 145, "both ways have to be gone"


async def test_an_open_and_a_failed_transaction_change_nothing(store: EmbeddedStore) -> None:
    await put(store, some(50))
    terms = {"w0": 1.0, "w1": 1.0}
    before = await found(store, terms)
    assert await found(store, terms) == before

    async def work(tx: Transaction) -> None:
        await tx.run(PUT, {"rows": [{"id": "new", "terms": "w0 w1"}]})
        for other in (terms, terms | {"w7": 1.0}):
            assert "new" not in dict(await found(store, other))
        raise RuntimeError("roll back")

    with pytest.raises(RuntimeError, match="roll back"):
        await store.transaction(work)
    assert await found(store, terms) == before


async def test_words_that_were_read_before_a_commit_are_not_kept_after_it(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search in whose midst something is committed gives the state after it, not a mixture."""
    await put(store, some(50))
    await found(store, {"w0": 1.0, "w1": 1.0})
    real = dialect.word_search
    reading, committed = threading.Event(), threading.Event()

    def word_search(db: Any, index: TextIndex, words: str, *rest: Any) -> Any:
        part = real(db, index, words, *rest)
        if words == "w0":
            reading.set()
            assert committed.wait(PATIENCE_SECONDS)
        return part

    monkeypatch.setattr(dialect, "word_search", word_search)
    search = asyncio.create_task(found(store, {"w0": 1.0, "w1": 1.0}))
    assert await asyncio.to_thread(reading.wait, PATIENCE_SECONDS)
    await put(store, {"new": "w0 w1"})
    committed.set()
    expected = dialect.text_search(store._db, INDEX, {"w0": 1.0, "w1": 1.0}, 10)
    assert await search == expected
    assert store._words._bytes == 0
    assert not store._words._indexes.get(INDEX) or not store._words._indexes[INDEX].scores
    assert "new" in dict(await found(store, {"w0": 1.0, "w1": 1.0}, 100))


async def test_nothing_is_kept_while_something_is_committed(store: EmbeddedStore) -> None:
    await put(store, some(50))
    words, terms = store._words, {"w0": 1.0, "w1": 1.0}
    with words.changing([PUT]):
        for _ in range(3):
            assert words.search(store._db, INDEX, terms, 5) == dialect.text_search(store._db, INDEX, terms, 5)
        assert not words._indexes[INDEX].scores
    assert await found(store, terms, 5) == dialect.text_search(store._db, INDEX, terms, 5)
    assert words._indexes[INDEX].scores.keys() == terms.keys()


async def test_words_that_take_too_much_memory_go(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(store, some(400))
    monkeypatch.setattr(word_scores, "MAX_BYTES", 8000)
    for _ in range(3):
        for word in WORDS:
            terms = {word: 1.0, "w0": 1.0}
            assert await found(store, terms) == dialect.text_search(store._db, INDEX, terms, 10)
    words = store._words
    assert 0 < words._bytes <= 8000
    assert words._bytes == sum(nodes.nbytes + scores.nbytes for nodes, scores in words._indexes[INDEX].scores.values())
    await put(store, {"new": "w1"})
    assert words._bytes == 0


@pytest.mark.parametrize(
    ("statement", "chunks", "messages"),
    [
        (PUT, True, False),
        (DELETE, True, False),
        (TOUCH, False, False),
        ("UNWIND $ids AS i MATCH (m:Interaction {id: i}) SET m.last_accessed_at = $now", False, False),
        ("UNWIND $rows AS row MERGE (m:Interaction {id: row.id}) SET m += row.props", False, True),
        (
            "MATCH (c:Conversation {id: $c}) UNWIND $rows AS row MERGE (m:Interaction {id: row.id}) "
            "ON CREATE SET m.created_at = $now SET m:Interaction_x, m += row.props MERGE (m)-[:PART_OF]->(c)",
            False,
            True,
        ),
        (
            "MATCH (u:User {id: $u}) MATCH (c:DocumentChunk {id: $c}) MERGE (u)-[r:RATED {key: $key}]->(c) "
            "ON CREATE SET r.first_at = $now SET r.value = $value, r.query = $query",
            False,
            False,
        ),
        ("MATCH (c:DocumentChunk {id: $id}) SET c.chunk_count = 1, c.terms = ''", True, False),
        ("MATCH (c:DocumentChunk {id: $id}) SET c = $props", True, False),
        ("MATCH (c:DocumentChunk {id: $id}) SET c.a = 1, c:DocumentChunk_x", True, False),
        ("CREATE (c:DocumentChunk:DocumentChunk_x $props)", True, False),
        ("MATCH (d:Document {id: $id})<-[:CHUNK_OF]-(n) DETACH DELETE n", True, True),
        ("MATCH (d:Document {id: $id})-[r:REFERENCES]->() DELETE r", False, False),
        ("MATCH (n) WHERE n.namespace = $namespace DETACH DELETE n", True, True),
        ("match (n {id: $id}) detach delete n", True, True),
        ("MATCH (n {id: $id}) REMOVE n:DocumentChunk_x", True, True),
        ("UNWIND $rows AS row MERGE (d:Document {id: row.id}) SET d += row.props", False, False),
        ("MATCH (n) SET n.seen = 1", False, False),
    ],
)
def test_a_statement_tells_whether_it_changes_words(statement: str, chunks: bool, messages: bool) -> None:
    assert (changes_words(statement, Label.CHUNK), changes_words(statement, Label.INTERACTION)) == (chunks, messages)
