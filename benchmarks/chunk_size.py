"""Which chunk size and overlap find the most; ``python -m benchmarks.chunk_size --help``.

Two arrangements of each data set: every passage a document as it is, and passages joined (shuffled, 20 at a time) into
long documents, in which the chunk that holds the relevant passage has to be found. Ranking is that of the hybrid
search: half z-scores each of BM25 over the project's own words and of cosine over the default embedder's vectors.

Larger chunks win on the first five hits by sheer volume. So the same is measured at equal volume: the hits in their
order until so many characters are reached (the last one cut off), as they would fill the context of a model.

- ``recall@5``: share of the relevant documents among the first five different ones (passages as documents only).
- ``hit@N``: share of the relevant passages met within N characters: a chunk lies in the passage with half its length
  at least, or holds half of the passage.
- ``text@N``: share of the characters of the relevant passages that are within the N characters.
- ``answer@N``: share of the questions whose answer, word for word, is in what of a relevant passage is within the N
  characters (of the questions whose answer is in a relevant passage at all). The fairest of them.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import SETS, DataSet, load, recall
from core.rag.analysis import index_terms, query_terms
from core.rag.embedder import WordLlamaEmbedding
from core.rag.indexing import TextSplitter
from core.rag.indexing.texts import embedding_text
from core.rag.retrieval.bm25 import Bm25
from libs.dataloader import Document, DocumentChunk

SIZES = (64, 96, 128, 192, 256, 384, 512, 768, 1024)
SHARES = (0.0, 0.125, 0.25)
BUDGETS = (2000, 4000, 8000)
PASSAGES_PER_DOCUMENT = 20

#: A document's number, and a stretch of its text.
Stretch = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Documents made of passages.

    Attributes:
        name: How the passages are arranged.
        documents: The documents.
        places: Where each passage is.
    """

    name: str
    documents: list[Document]
    places: dict[str, Stretch]


def arrangements(data: DataSet, seed: int) -> Iterator[Arrangement]:
    """The passages as they are, and joined into long documents in an order that depends on the seed."""
    documents = data.documents()
    places = {row["id"]: (index, 0, len(row["text"])) for index, row in enumerate(data.passages)}
    yield Arrangement("passages", documents, places)
    shuffled = list(data.passages)
    random.Random(seed).shuffle(shuffled)
    joined: list[Document] = []
    places = {}
    for first in range(0, len(shuffled), PASSAGES_PER_DOCUMENT):
        content = ""
        for row in shuffled[first : first + PASSAGES_PER_DOCUMENT]:
            content += f"{row['title']}\n" if row.get("title") else ""
            places[row["id"]] = (len(joined), len(content), len(content) + len(row["text"]))
            content += f"{row['text']}\n\n"
        joined.append(Document(path=str(len(joined)), content=content))
    yield Arrangement("joined", joined, places)


class Ranking:
    """Chunks, ready to be searched."""

    def __init__(self, chunks: list[DocumentChunk], vectors: Any) -> None:
        self._vectors = vectors
        texts = (index_terms(chunk.title, chunk.heading, chunk.content) for chunk in chunks)
        self._words = Bm25((str(number), text) for number, text in enumerate(texts))

    def scores(self, query: str, vector: Any) -> dict[str, Any]:
        """The score of every chunk, by each leg and by their fusion."""
        keyword = self._words.scores(query_terms(query))
        dense = self._vectors @ vector
        return {"keyword": keyword, "vector": dense, "hybrid": _z(keyword) + _z(dense)}


def _z(scores: Any) -> Any:
    deviation = scores.std()
    return (scores - scores.mean()) / deviation if deviation > 0 else scores * 0


def within(order: Sequence[int], chunks: list[DocumentChunk], numbers: list[int], budget: int) -> list[Stretch]:
    """The stretches of text that fill a budget of characters, best chunk first."""
    taken: list[Stretch] = []
    left = budget
    for index in order:
        chunk = chunks[index]
        length = min(len(chunk.content), left)
        taken.append((numbers[index], chunk.start_char, chunk.start_char + length))
        left -= length
        if left <= 0:
            break
    return taken


def covered(passage: Stretch, taken: Sequence[Stretch]) -> int:
    """How many characters of a passage are within the stretches."""
    parts = sorted(
        (max(start, passage[1]), min(end, passage[2])) for number, start, end in taken if number == passage[0]
    )
    total, reached = 0, passage[1]
    for start, end in parts:
        if end > max(start, reached):
            total += end - max(start, reached)
            reached = end
    return total


def has_answer(query: dict[str, Any], arrangement: Arrangement, taken: Sequence[Stretch]) -> bool | None:
    """Whether the answer is in what was taken of the relevant passages; ``None`` if it is not in these at all."""
    answer = str(query.get("answer") or "").casefold()
    passages = [arrangement.places[name] for name in query["relevant"]]
    texts = [arrangement.documents[number].content for number, _, _ in passages]
    found = [
        (number, start, end) for text, (number, start, end) in zip(texts, passages, strict=True)
        if answer and answer in text[start:end].casefold()
    ]  # fmt: skip
    if not found:
        return None
    return any(
        answer in arrangement.documents[number].content[max(first, start) : min(last, end)].casefold()
        for number, start, end in found
        for taken_number, first, last in taken
        if taken_number == number
    )


def is_hit(passage: Stretch, taken: Sequence[Stretch]) -> bool:
    """Whether one of the stretches lies mostly in the passage, or holds most of it."""
    for number, start, end in taken:
        shared = min(end, passage[2]) - max(start, passage[1])
        if number == passage[0] and shared > 0 and 2 * shared >= min(end - start, passage[2] - passage[1]):
            return True
    return False


async def measure(
    arrangement: Arrangement, queries: list[dict[str, Any]], query_vectors: Any, size: int, overlap: int
) -> dict[str, float]:
    """Split, rank and count."""
    splitter = TextSplitter(size, overlap)
    chunks: list[DocumentChunk] = []
    numbers: list[int] = []
    for number, document in enumerate(arrangement.documents):
        found = splitter.split(document, str(number))
        chunks += found
        numbers += [number] * len(found)
    vectors = await WordLlamaEmbedding().get_embeddings([embedding_text(chunk.title, chunk) for chunk in chunks])
    ranking = Ranking(chunks, vectors)
    results: dict[str, list[float]] = {}
    for query, vector in zip(queries, query_vectors, strict=True):
        for leg, scores in ranking.scores(query["text"], vector).items():
            best = np.argpartition(-scores, min(400, len(chunks) - 1))[:400]
            order = best[np.argsort(-scores[best], kind="stable")].tolist()
            if arrangement.name == "passages":
                paths = [chunks[index].path for index in order]
                results.setdefault(f"{leg} recall@5", []).append(recall(paths, query["relevant"]))
            for budget in BUDGETS:
                taken = within(order, chunks, numbers, budget)
                places = [arrangement.places[name] for name in query["relevant"]]
                passages = [place for place in places if place[2] > place[1]]  # some have no text
                results.setdefault(f"{leg} hit@{budget}", []).append(
                    statistics.mean(is_hit(passage, taken) for passage in passages)
                )
                results.setdefault(f"{leg} text@{budget}", []).append(
                    statistics.mean(covered(passage, taken) / (passage[2] - passage[1]) for passage in passages)
                )
                answered = has_answer(query, arrangement, taken)
                if answered is not None:
                    results.setdefault(f"{leg} answer@{budget}", []).append(answered)
    return {"chunks": len(chunks)} | {name: 100 * statistics.mean(values) for name, values in results.items()}


async def main(options: argparse.Namespace) -> None:
    """Print a table for each arrangement of each data set."""
    for name in options.sets:
        data = load(options.folder, name)
        query_vectors = await WordLlamaEmbedding().get_embeddings([query["text"] for query in data.queries])
        for arrangement in arrangements(data, options.seed):
            if arrangement.name not in options.arrangements:
                continue
            recalls = ["hybrid recall@5"] if arrangement.name == "passages" else []
            kinds = ("answer", "hit", "text") if any(query.get("answer") for query in data.queries) else ("hit", "text")
            hits = [f"hybrid {what}@{budget}" for budget in BUDGETS for what in kinds]
            columns = ["chunks", *recalls, *hits, "keyword hit@4000", "vector hit@4000"]
            print(f"\n{name}, {arrangement.name}: {len(arrangement.documents)} documents")
            print("| size | overlap | " + " | ".join(column.removeprefix("hybrid ") for column in columns) + " |")
            print("| ---: | ---: |" + " ---: |" * len(columns), flush=True)
            for size in options.sizes:
                for share in options.shares:
                    found = await measure(arrangement, data.queries, query_vectors, size, int(size * share))
                    cells = [f"{found[column]:.{0 if column == 'chunks' else 1}f}" for column in columns]
                    print(f"| {size} | {int(size * share)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chunk_size", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/eval"), help="the data sets")
    parser.add_argument("--sets", nargs="+", default=SETS, help="which of them")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="tokens per chunk")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="overlap as a share of the size")
    parser.add_argument("--arrangements", nargs="+", default=("passages", "joined"), help="passages, joined")
    parser.add_argument("--seed", type=int, default=0, help="in which order passages are joined")
    asyncio.run(main(parser.parse_args()))
