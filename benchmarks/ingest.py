"""Ingest end to end against its parts alone and against LlamaIndex, in turn, in one run."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.data import DataSet, load
from core.rag import KnowledgeBase
from core.rag.embedder import open_embedder
from core.rag.indexing import TextSplitter
from core.rag.indexing.texts import embedding_text
from core.rag.settings import Settings

ROUNDS = 3


def _settings(**variables: object) -> Settings:
    return Settings(_env_file=None, **variables)  # type: ignore[call-arg, arg-type]  # by the names of variables


async def main(folder: Path) -> None:
    """Print seconds and ratios."""
    data = load(folder, "2wiki_train500")
    settings = _settings()
    splitter = TextSplitter(settings.chunk_size, settings.chunk_overlap, whole_size=settings.whole_size)
    title_weight = open_embedder("wordllama").title_weight
    texts = [
        embedding_text(document.title, chunk, title_weight)
        for document in data.documents()
        for chunk in splitter.split(document)
    ]
    print(f"{len(data.passages)} documents, {len(texts)} chunks; median of {ROUNDS} rounds, each of all in turn")
    candidates: dict[str, Callable[[], Awaitable[dict[str, float]]]] = {
        "memgraph-rag": lambda: _ours(data),
        "memgraph-rag, with extraction": lambda: _with_extraction(data),
        "wordllama embed alone": lambda: _in_thread(
            _wordllama, texts, [document.content for document in data.documents()]
        ),
        "LlamaIndex, same parts": lambda: _in_thread(_llama_index, data, splitter),
        "LlamaIndex, its usual parts": lambda: _in_thread(_llama_index, data, None),
    }
    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for run in candidates.values():
            for name, value in (await run()).items():
                seconds.setdefault(name, []).append(value)
    ours = statistics.median(seconds["ingest, first"])
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:48} {median:8.2f} s   ours / this {ours / median:6.2f}")


async def _with_extraction(data: DataSet) -> dict[str, float]:
    """What the default does beyond what the others do: entities, and what mentions them."""
    with tempfile.TemporaryDirectory() as folder:
        async with KnowledgeBase.open(f"embedded:{folder}/graph.grafeo", settings=_settings()) as kb:
            await kb.embedder.get_embedding("load the model")
            results = {}
            for name in ("with extraction, first", "with extraction, unchanged"):
                documents = data.documents()
                started = time.perf_counter()
                await kb.ingest(documents)
                results[name] = time.perf_counter() - started
    return results


async def _ours(data: DataSet) -> dict[str, float]:
    """Splitting, embedding, graph and indexes, as the others do; without extraction."""
    settings = _settings(MGRAG_EXTRACTION=False)
    with tempfile.TemporaryDirectory() as folder:
        async with KnowledgeBase.open(f"embedded:{folder}/graph.grafeo", settings=settings) as kb:
            await kb.embedder.get_embedding("load the model")
            results = {}
            for name in ("ingest, first", "ingest, unchanged"):
                documents = data.documents()
                started = time.perf_counter()
                report = await kb.ingest(documents)
                results[name] = time.perf_counter() - started
                assert report.documents.added + report.documents.unchanged == len(documents)
            documents[7].content += " One more sentence."
            started = time.perf_counter()
            report = await kb.ingest(documents)
            results["ingest, one document changed"] = time.perf_counter() - started
            assert (report.documents.updated, report.documents.unchanged) == (1, len(documents) - 1)
    return results


async def _in_thread(function: Callable[..., dict[str, float]], *arguments: Any) -> dict[str, float]:
    return await asyncio.to_thread(function, *arguments)


def _wordllama(chunks: list[str], passages: list[str]) -> dict[str, float]:
    """Its own way, which pads: the longest text of 64 says how long they take, and some passages are several chunks."""
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    results = {}
    for name, texts in (("same chunks", chunks), ("passages, uncut", passages)):
        started = time.perf_counter()
        model.embed(texts, norm=True)
        results[f"wordllama's own embed of the {name}"] = time.perf_counter() - started
    return results


def _llama_index(data: DataSet, splitter: TextSplitter | None) -> dict[str, float]:
    from benchmarks.llama import run_pipeline

    with tempfile.TemporaryDirectory() as folder:
        embedder = open_embedder("wordllama") if splitter else None
        parts = "our splitter and embedder" if splitter else "SentenceSplitter, wordllama"
        name = f"LlamaIndex IngestionPipeline, {parts}"
        built, stored = run_pipeline(data, splitter, embedder, Path(folder))
    return {name: built, name + ", persisted": stored}
