"""How the embedded engine searches: the same results by every way through the code, and scores by the book."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from core.rag.bm25 import K1, B
from core.rag.dbhandler.embedded import dialect
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.store import Match, Transaction
from core.rag.schema import Label, TextIndex, VectorIndex
from tests.dbhandler.kit import write

DIMENSION = 6
MANY = 5000
VECTORS = VectorIndex("index", "Vector_many", DIMENSION)
TEXT = TextIndex(Label.CHUNK, "default")


@pytest.fixture
async def store() -> Any:
    opened = await EmbeddedStore.open(":memory:")
    await opened.ensure_schema()
    yield opened
    await opened.close()


async def put_vectors(store: EmbeddedStore, matrix: np.ndarray[Any, Any], first: int = 0) -> None:
    rows = [{"id": f"v{first + i:05}", "embedding": tuple(vector)} for i, vector in enumerate(matrix.tolist())]

    async def work(tx: Transaction) -> None:
        await tx.run(
            f"UNWIND $rows AS row MERGE (v:Vector {{id: row.id}}) SET v:{VECTORS.label}, v.embedding = row.embedding",
            {"rows": rows},
        )

    await store.transaction(work)


def ids(matches: list[Match]) -> list[str]:
    return [match.id for match in matches]


async def test_a_search_of_many_vectors_is_exact(store: EmbeddedStore) -> None:
    """Where there are many, most are left out by a bound; that must not show."""
    generator = np.random.default_rng(11)
    matrix = generator.normal(size=(MANY, DIMENSION)).astype(np.float32)
    matrix[:1200] -= 3.0  # the ones that are looked at first are nothing like the query
    await put_vectors(store, matrix)
    # What cannot be compared must neither be found nor spoil the bound.
    await put_vectors(store, generator.normal(size=(40, DIMENSION - 1)), first=MANY)
    await write(store, f"UNWIND range(1, 40) AS i CREATE (v:Vector:{VECTORS.label} {{id: 'none' + toString(i)}})")
    assert await store.run(f"MATCH (v:{VECTORS.label}) RETURN count(v) AS n") == [{"n": MANY + 80}]
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    for shift in (3.0, -3.0, 0.0):
        query = generator.normal(size=DIMENSION).astype(np.float32) + np.float32(shift)
        scores = units @ (query / np.linalg.norm(query))
        order = [f"v{i:05}" for i in np.argsort(-scores, kind="stable")]
        for k in (1, 10, 100, 160, 700, 6000):
            matches = await store.vector_search(VECTORS, query.tolist(), k)
            assert len(matches) == min(k, MANY)
            assert ids(matches)[:10] == order[: min(10, k)]
            assert set(ids(matches)) == set(order[:k])
            assert [match.score for match in matches] == pytest.approx(np.sort(scores)[::-1][:k].tolist(), abs=1e-5)


async def test_a_search_of_many_vectors_sees_deletes_at_once(store: EmbeddedStore) -> None:
    generator = np.random.default_rng(5)
    matrix = generator.normal(size=(MANY, DIMENSION)).astype(np.float32)
    await put_vectors(store, matrix)
    query = matrix[0].tolist()
    before = ids(await store.vector_search(VECTORS, query, 20))
    assert before[0] == "v00000"
    await write(store, "UNWIND $ids AS i MATCH (v:Vector {id: i}) DETACH DELETE v", ids=before[:10])
    assert ids(await store.vector_search(VECTORS, query, 10)) == before[10:]


async def test_a_delete_in_the_middle_of_a_search_leaves_no_gap(store: EmbeddedStore) -> None:
    """The bound comes from a statement of its own; what it was learnt from may be gone when it is used."""
    matrix = np.random.default_rng(9).normal(size=(MANY, DIMENSION)).astype(np.float32)
    matrix[:1024] += 5.0
    matrix[1024:] -= 5.0
    await put_vectors(store, matrix)

    class Deleting:
        """The engine, with somebody who deletes as soon as a query has returned."""

        asked = 0

        def execute_cypher(self, query: str, params: dict[str, Any] | None = None) -> Any:
            rows = list(store._db.execute_cypher(query, params or {}))
            self.asked += 1
            if self.asked == 2:
                rows_before = [{"id": f"v{i:05}"} for i in range(1024)]
                store._db.execute_cypher(
                    "UNWIND $rows AS row MATCH (v:Vector {id: row.id}) DETACH DELETE v", {"rows": rows_before}
                )
            return rows

    query = (5.0,) * DIMENSION
    engine: Any = Deleting()
    found = dialect.vector_search(engine, VECTORS, query, 10)
    units = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    left = (units @ (np.asarray(query, dtype=np.float32) / np.linalg.norm(query)))[1024:]
    assert engine.asked > 2
    assert [score for _, score in found] == pytest.approx(np.sort(left)[::-1][:10].tolist(), abs=1e-5)


async def test_equal_vectors_among_many_are_not_lost(store: EmbeddedStore) -> None:
    matrix = np.tile(np.arange(1, DIMENSION + 1, dtype=np.float32), (MANY, 1))
    await put_vectors(store, matrix)
    matches = await store.vector_search(VECTORS, matrix[0].tolist(), 50)
    assert len(set(ids(matches))) == 50
    assert ids(matches) == sorted(ids(matches))
    assert {round(match.score, 6) for match in matches} == {1.0}


def bm25(texts: dict[str, str], terms: dict[str, float]) -> dict[str, float]:
    """Robertson and Zaragoza 2009, with the inverse document frequency that is never negative."""
    documents = {name: Counter(text.split()) for name, text in texts.items()}
    lengths = {name: sum(words.values()) for name, words in documents.items()}
    average = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for term, weight in terms.items():
        holding = [name for name, words in documents.items() if term in words]
        rarity = math.log(1 + (len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        for name in holding:
            frequency = documents[name][term]
            norm = 1 - B + B * lengths[name] / average
            part = frequency * (K1 + 1) / (frequency + K1 * norm)
            scores[name] = scores.get(name, 0.0) + weight * rarity * part
    return scores


async def put_texts(store: EmbeddedStore, texts: dict[str, str]) -> None:
    await write(
        store,
        f"UNWIND $rows AS row MERGE (n:DocumentChunk {{id: row.id}}) SET n:{TEXT.partition}, n.terms = row.terms",
        rows=[{"id": name, "terms": text} for name, text in texts.items()],
    )


async def test_scores_of_words_are_bm25(store: EmbeddedStore) -> None:
    generator = random.Random(2)
    words = [f"w{i}" for i in range(60)] + ["the", "a", "7", "日本"]
    texts = {
        f"t{i:03}": " ".join(generator.choices(words, weights=range(1, 65), k=generator.randint(3, 80)))
        for i in range(200)
    }
    await store.ensure_text_index(TEXT)
    await put_texts(store, texts)
    for number in range(12):
        terms = {word: round(generator.uniform(0.1, 3.0), 2) for word in generator.sample(words, number % 5 + 1)}
        if number % 2:
            terms = dict.fromkeys(terms, 1.0)
        scores = bm25(texts, terms)
        order = sorted(scores, key=lambda name: (-scores[name], name))
        for k in (5, 1000):
            matches = await store.text_search(TEXT, terms, k)
            assert [match.score for match in matches] == pytest.approx([scores[name] for name in order[:k]], rel=1e-5)
            assert {match.id: match.score for match in matches} == pytest.approx(
                {match.id: scores[match.id] for match in matches}, rel=1e-5
            )


async def test_a_weighted_sum_does_not_miss_what_no_word_puts_first(store: EmbeddedStore) -> None:
    """The best of a sum may be far down for each word alone."""
    texts = {f"alpha{i:03}": "alpha" for i in range(300)}
    texts |= {f"beta{i:03}": "beta" for i in range(300)}
    texts["both"] = "alpha beta"
    await store.ensure_text_index(TEXT)
    await put_texts(store, texts)
    scores = bm25(texts, {"alpha": 1.0, "beta": 0.999})
    alone = bm25(texts, {"alpha": 1.0})
    assert max(scores, key=lambda name: scores[name]) == "both"
    assert sum(score > alone["both"] for score in alone.values()) == 300
    assert ids(await store.text_search(TEXT, {"alpha": 1.0, "beta": 0.999}, 1)) == ["both"]
