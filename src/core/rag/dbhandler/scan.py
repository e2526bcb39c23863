"""Client-side search: reads vectors, or texts that may match, in pages and compares them here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import NamedTuple, Self

from core.rag.bm25 import K1, B, idf
from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.store import GraphStore, Match, Row
from core.rag.errors import InvalidVectorError
from core.rag.schema import TextIndex, VectorIndex, check_name
from core.rag.unit_vectors import unit_vectors

PAGE = 2_000

#: Up to this number, words are looked for in a text one by one, which is faster than counting all its words.
_FEW_WORDS = 16

#: Size of the sample for the average length; ids are hashes, so the first texts by id are as good as a random sample.
_SAMPLE = 1_000


async def scan_search(store: GraphStore, index: VectorIndex, query: Sequence[float], k: int) -> list[Match]:
    """Return the ``k`` vectors of an index that are most similar to a query, by cosine.

    The ranking is that of an exact search in the engine; it takes memory for one page and ``k`` results.

    Args:
        store: The graph.
        index: The vectors to search.
        query: A checked vector of length ``index.dimension``.
        k: How many.
    """
    import numpy as np

    unit = unit_vectors(np.asarray(query, dtype=np.float32))
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
            matrix = float_rows([row["embedding"] for row in usable])
            scores = np.vecdot(unit_vectors(matrix), unit)
            best += [(float(score), row["id"]) for score, row in zip(scores, usable, strict=True)]
            best.sort(key=lambda item: (-item[0], item[1]))
            del best[k:]
        if len(rows) < PAGE:
            break
    return [Match(identifier, score) for score, identifier in best]


class Text(NamedTuple):
    """The numbers of one text that BM25 needs.

    Attributes:
        id: Id of its node.
        counts: Number of occurrences of each searched word that it contains.
        length: Number of its words.
    """

    id: str
    counts: dict[str, int]
    length: int

    @classmethod
    def of(cls, identifier: str, terms: str, words: Mapping[str, float]) -> Self:
        """Count the words of a text, which are separated by single spaces.

        Most texts lack most of the words, which is found out much faster than a text is split.
        """
        if len(words) <= _FEW_WORDS:
            counts = {word: count for word in words if word in terms and (count := _times(word, terms))}
        else:
            counts = {word: count for word, count in Counter(terms.split(" ")).items() if word in words}
        return cls(identifier, counts, terms.count(" ") + 1)


def _times(word: str, terms: str) -> int:
    """Return how often a word is among the words of a text; longer words that contain it do not count."""
    count, at = 0, terms.find(word)
    while at >= 0:
        end = at + len(word)
        count += (at == 0 or terms[at - 1] == " ") and (end == len(terms) or terms[end] == " ")
        at = terms.find(word, end)
    return count


def bm25_scores(
    texts: Sequence[Text], words: Mapping[str, float], holding: Mapping[str, int], total: int, average: float
) -> list[float]:
    """Return the scores of texts by BM25 (Robertson and Zaragoza 2009, section 3.2).

    Args:
        texts: The texts to score.
        words: The words that are searched, with their weights.
        holding: Number of texts of the corpus that contain each word.
        total: Number of texts in the corpus.
        average: Average number of words per text, above zero.
    """
    rarity = {word: idf(max(total, holding[word]), holding[word]) * weight for word, weight in words.items()}
    scores = []
    for text in texts:
        norm = K1 * (1 - B + B * text.length / average)
        scores.append(
            math.fsum([rarity[word] * count * (K1 + 1) / (count + norm) for word, count in text.counts.items()])
        )
    return scores


async def scan_text(store: GraphStore, index: TextIndex, words: Mapping[str, float], k: int) -> list[Match]:
    """Return the ``k`` best nodes of an index for some words, by BM25.

    Texts without any of the words are not read, so the average length is that of a sample.

    Args:
        store: The graph.
        index: The texts to search.
        words: Analysed words and their weights.
        k: How many.
    """
    parameters = {"namespace": index.namespace}
    texts = f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL AND n.terms <> '' "
    total = await store.run(f"{texts}RETURN count(n) AS n", parameters)
    sample = await store.run(f"{texts}WITH n ORDER BY n.id LIMIT {_SAMPLE} RETURN n.terms AS terms", parameters)
    if not sample:
        return []
    average = max(sum(len(row["terms"].split()) for row in sample) / len(sample), 1.0)
    found: list[Text] = []
    holding: Counter[str] = Counter()
    async for row in _holding_any(store, index, words):
        text = Text.of(row["id"], row["terms"], words)
        if text.counts:
            found.append(text)
            holding.update(text.counts.keys())
    scores = bm25_scores(found, words, holding, max(total[0]["n"], len(found)), average)
    best = sorted(zip(scores, (text.id for text in found), strict=True), key=lambda item: (-item[0], item[1]))
    return [Match(identifier, score) for score, identifier in best[:k]]


async def scan_words(store: GraphStore, index: TextIndex, words: Collection[str]) -> set[str]:
    """Return those of some words that any node of an index has."""
    found: set[str] = set()
    async for row in _holding_any(store, index, words):
        found.update(set(row["terms"].split()).intersection(words))
    return found


async def _holding_any(store: GraphStore, index: TextIndex, words: Collection[str]) -> AsyncIterator[Row]:
    """Yield ``id`` and ``terms`` of the nodes that may have any of some words."""
    after = ""
    while words:
        rows = await store.run(
            f"MATCH (n:{index.label}) WHERE n.namespace = $namespace AND n.id > $after AND n.terms IS NOT NULL "
            f"AND any(w IN $words WHERE n.terms CONTAINS w) WITH n ORDER BY n.id LIMIT {PAGE} "
            "RETURN n.id AS id, n.terms AS terms",
            {"namespace": index.namespace, "words": list(words), "after": after},
        )
        for row in rows:
            yield row
        if len(rows) < PAGE:
            break
        after = max(row["id"] for row in rows)


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors.

    Returns:
        -1 to 1; 0 if one of them is all zeros.

    Raises:
        InvalidVectorError: if they differ in length.
    """
    if len(a) != len(b):
        raise InvalidVectorError(f"The vectors have {len(a)} and {len(b)} dimensions; only equal lengths compare.")
    scale = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    if scale == 0.0:
        return 0.0
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / scale))
