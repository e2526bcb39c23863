"""The ranking functions alone: recall@5 and all@5 of analysis, BM25, embedder and fusion in memory, without an engine.

``python -m benchmarks.evaluation [FOLDER]`` takes a minute for all sets of a folder, and says what a change to the
analysis or to the fusion does before any graph is built.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data import DataSet, load, recall

#: What hybrid search looks at of each leg, and how many vectors tell the spread of the cosines.
CANDIDATES = 100
SAMPLE = 512

#: A search: text of the query and how many ids, best first.
Search = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the questions of a set, from 0 to 1."""

    recall: float
    all_found: float


def all_found(found: Sequence[str], relevant: Sequence[str], k: int = 5) -> bool:
    """Whether all relevant ids stand among the first ``k`` different ones."""
    return set(relevant) <= set(list(dict.fromkeys(found))[:k])


def evaluate(search: Search, queries: Sequence[dict[str, Any]], k: int = 5) -> Scores:
    """Run every question (``text``, ``relevant``) through a search."""
    rankings = [(list(search(query["text"], k)), query["relevant"]) for query in queries]
    return Scores(
        recall=sum(recall(found, relevant, k) for found, relevant in rankings) / len(rankings),
        all_found=sum(all_found(found, relevant, k) for found, relevant in rankings) / len(rankings),
    )


class MemorySearch:
    """Keyword, vector and hybrid search over a set in memory."""

    def __init__(self, data: DataSet) -> None:
        """Analyse and embed the passages."""
        import numpy as np

        from core.rag.analysis import index_terms
        from core.rag.embedder import embed_queries, embed_texts, open_embedder
        from core.rag.retrieval.bm25 import Bm25

        self._ids = [row["id"] for row in data.passages]
        started = time.process_time()
        terms = [(row["id"], index_terms(row.get("title"), None, row["text"])) for row in data.passages]
        self.analysis_seconds = time.process_time() - started
        self._keyword, self._texts = Bm25(terms), dict(terms)
        embedder = open_embedder()
        texts = [f"{row.get('title') or ''}\n{row['text']}".strip() for row in data.passages]
        questions = [query["text"] for query in data.queries]
        self._vectors = _unit(asyncio.run(embed_texts(embedder, texts)))
        self._questions = dict(zip(questions, _unit(asyncio.run(embed_queries(embedder, questions))), strict=True))
        self._vector_weight = embedder.vector_weight
        count = min(SAMPLE, len(self._ids))
        sample = np.random.default_rng(0).choice(len(self._ids), count, replace=False)
        self._sample = self._vectors[sample]
        self._sampled_words = [frozenset(terms[index][1].split()) for index in sample.tolist()]

    def keyword(self, query: str, k: int) -> list[str]:
        """By BM25."""
        return list(self._words(query, k))

    def vector(self, query: str, k: int) -> list[str]:
        """By cosine."""
        return list(self._nearest(self._vectors @ self._questions[query], k))

    def hybrid(self, query: str, k: int) -> list[str]:
        """By both."""
        from core.rag.analysis import query_terms
        from core.rag.retrieval.ordering.fusion import fuse_hybrid
        from core.rag.retrieval.ordering.term_proximity import best, near, proximities, shares

        question = self._questions[query]
        cosines = self._vectors @ question
        words = self._words(query, CANDIDATES)
        nearest = self._nearest(cosines, CANDIDATES)
        nearest.update((key, float(cosines[index])) for index, key in enumerate(self._ids) if key in words)
        sample = (self._sample @ question).tolist()
        weight = self._vector_weight
        fused = fuse_hybrid(nearest, words, sample=sample, total=len(self._ids), vector_weight=weight)
        scores = {item.id: item.score for item in fused}
        texts = {key: self._texts[key] for key in best(scores)}
        of_question = shares(texts.values(), dict.fromkeys(query_terms(query), 1.0), self._sampled_words)
        close = near(scores, proximities(texts, of_question), weight)
        return sorted(close, key=lambda key: (-close[key], key))[:k]

    def _words(self, query: str, k: int) -> dict[str, float]:
        from core.rag.analysis import query_terms

        return self._keyword.top(query_terms(query), k)

    def _nearest(self, cosines: Any, k: int) -> dict[str, float]:
        order = (-cosines).argsort(kind="stable")[:k]
        return {self._ids[index]: float(cosines[index]) for index in order.tolist()}


def _unit(vectors: Any) -> Any:
    import numpy as np

    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def find_sets(folder: Path) -> Iterator[str]:
    """The names of the sets in a folder."""
    for path in sorted(folder.iterdir()):
        if (path / "corpus.jsonl").is_file() and (path / "queries.jsonl").is_file():
            yield path.name


def main(folder: Path) -> None:
    """Print a table."""
    print(f"{'recall@5 x 100':18}{'passages':>9}{'keyword':>9}{'vector':>8}{'hybrid':>8}{'all@5':>7}{'analysis s':>12}")
    for name in find_sets(folder):
        data = load(folder, name)
        search = MemorySearch(data)
        keyword, vector, hybrid = (
            evaluate(leg, data.queries) for leg in (search.keyword, search.vector, search.hybrid)
        )
        print(
            f"{name:18}{len(data.passages):9}{100 * keyword.recall:9.1f}{100 * vector.recall:8.1f}"
            f"{100 * hybrid.recall:8.1f}{100 * hybrid.all_found:7.1f}{search.analysis_seconds:12.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/eval"))
