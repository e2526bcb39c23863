"""Searches without the engine: fetch vectors, or the texts that may match, in pages, and compare them here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from core.rag.dbhandler.store import GraphStore, Match
from core.rag.errors import InvalidVectorError
from core.rag.schema import TextIndex, VectorIndex, check_name

PAGE = 2_000

BM25_K1 = 1.2
BM25_B = 0.75

#: How many texts tell how long they are on average; ids are hashes, so the first by id are as good as drawn by lot.
_SAMPLE = 1_000


async def scan_search(store: GraphStore, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
    """The ``k`` vectors of an index that are most similar to a query, by cosine.

    The same ranking as an exact search in the engine; memory for one page and ``k`` results.

    Args:
        store: The graph.
        index: Which vectors.
        query: Checked, as long as ``index.dimension``.
        k: How many.
    """
    unit = np.asarray(query, dtype=np.float32)
    unit = unit / np.linalg.norm(unit)
    best: list[tuple[float, str]] = []
    after = ""
    while True:
        rows = await store.run(
            f"MATCH (v:{check_name(index.label)}) WHERE v.id > $after "
            f"WITH v ORDER BY v.id LIMIT {PAGE} RETURN v.id AS id, v.embedding AS embedding",
            {"after": after},
        )
        if not rows:
            break
        after = max(row["id"] for row in rows)
        usable = [row for row in rows if row["embedding"] is not None and len(row["embedding"]) == index.dimension]
        if usable:
            matrix = np.array([row["embedding"] for row in usable], dtype=np.float32)
            scores = (matrix @ unit) / np.maximum(np.linalg.norm(matrix, axis=1), 1e-30)
            best += [(float(score), row["id"]) for score, row in zip(scores, usable, strict=True)]
            best.sort(key=lambda item: (-item[0], item[1]))
            del best[k:]
        if len(rows) < PAGE:
            break
    return [Match(identifier, score) for score, identifier in best]


async def scan_text(store: GraphStore, index: TextIndex, words: Mapping[str, float], k: int) -> list[Match]:
    """The ``k`` best nodes of an index for some words, by BM25 (Robertson and Zaragoza 2009, section 3.2).

    Texts that hold none of the words are left in the graph, so the average length is that of a sample.

    Args:
        store: The graph.
        index: Which texts.
        words: Analysed words and their weights.
        k: How many.
    """
    parameters = {"namespace": index.namespace, "words": list(words)}
    total = await store.run(
        f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL RETURN count(n) AS n",
        parameters,
    )
    sample = await store.run(
        f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL "
        f"WITH n ORDER BY n.id LIMIT {_SAMPLE} RETURN n.terms AS terms",
        parameters,
    )
    if not sample:
        return []
    average = max(sum(len(row["terms"].split()) for row in sample) / len(sample), 1.0)
    found: list[tuple[str, dict[str, int], int]] = []
    documents: Counter[str] = Counter()
    after = ""
    while True:
        rows = await store.run(
            f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.id > $after AND n.terms IS NOT NULL "
            f"AND any(w IN $words WHERE n.terms CONTAINS w) WITH n ORDER BY n.id LIMIT {PAGE} "
            "RETURN n.id AS id, n.terms AS terms",
            {**parameters, "after": after},
        )
        for row in rows:
            text = row["terms"].split()
            counts = {word: count for word, count in Counter(text).items() if word in words}
            if counts:
                found.append((row["id"], counts, len(text)))
                documents.update(counts.keys())
        if len(rows) < PAGE:
            break
        after = max(row["id"] for row in rows)
    n = max(total[0]["n"], len(found))
    rarity = {word: math.log(1 + (n - held + 0.5) / (held + 0.5)) for word, held in documents.items()}
    scored = [(_bm25(counts, length / average, words, rarity), identifier) for identifier, counts, length in found]
    scored.sort(key=lambda item: (-item[0], item[1]))
    return [Match(identifier, score) for score, identifier in scored[:k]]


def _bm25(
    counts: Mapping[str, int], relative_length: float, weights: Mapping[str, float], rarity: Mapping[str, float]
) -> float:
    norm = BM25_K1 * (1 - BM25_B + BM25_B * relative_length)
    return math.fsum(
        weights[word] * rarity[word] * count * (BM25_K1 + 1) / (count + norm) for word, count in counts.items()
    )


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Cosine of the angle between two vectors.

    Returns:
        -1 to 1; 0 where one of them is all zeros.

    Raises:
        InvalidVectorError: when they differ in length.
    """
    if len(a) != len(b):
        raise InvalidVectorError(f"The vectors have {len(a)} and {len(b)} dimensions; only equal lengths compare.")
    scale = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    if scale == 0.0:
        return 0.0
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / scale))
