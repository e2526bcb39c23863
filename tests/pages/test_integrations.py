"""The Python of docs/integrations.md runs as it stands there: retrievers, a reader as a loader, models of one's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core import Document as LlamaDocument

from core.rag import KnowledgeBase
from core.rag.integrations.llamaindex import KnowledgeBaseRetriever as LlamaRetriever
from libs.dataloader import Document
from tests.pages.blocks import blocks_of, run

LLAMA_INDEX, LANGCHAIN, SYNCHRONOUS, LOADER, MODELS = blocks_of("docs/integrations.md")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with documents about what is asked for."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "install.md").write_text("# Installing\n\nIt is installed with pip, in a minute.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_the_retrievers_find_what_was_ingested(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = await run(LLAMA_INDEX, {})
    assert [left["found"].node.metadata["path"]] == ["docs/install.md"]
    assert "installed with pip" in capsys.readouterr().out
    async with KnowledgeBase.open("embedded:graph.grafeo") as kb:
        found = await run(LANGCHAIN, {"kb": kb})
    assert [document.metadata["source"] for document in found["documents"]] == ["docs/install.md"]
    opened = await run(SYNCHRONOUS, {"KnowledgeBaseRetriever": LlamaRetriever})
    assert [node.metadata["path"] for node in opened["nodes"]] == ["docs/install.md"]


async def test_a_reader_is_a_loader() -> None:
    class WikipediaReader:
        def load_data(self, pages: list[str]) -> list[LlamaDocument]:
            return [LlamaDocument(text=f"What a {page.lower()} is.") for page in pages]

    async with KnowledgeBase.open("embedded::memory:") as kb:
        left = await run(LOADER, {"kb": kb, "WikipediaReader": WikipediaReader})
        assert left["report"].documents.added == 1
        assert [document["path"] for document in await kb.documents()] == ["WikipediaReader/1"]


async def test_models_of_ones_own_answer_from_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scored: list[str] = []

    async def call_my_model(dialogue: list[tuple[Any, str]]) -> str:
        if any('"intent"' in text for _, text in dialogue):
            return json.dumps({"entities": ["tide mill"], "intent": "factual"})
        return "The mill turns with the ebb [1]."

    async def embed_with_mine(texts: Sequence[str]) -> list[Any]:
        return [np.eye(384)[len(text) % 384] for text in texts]

    async def score_with_mine(query: str, texts: Sequence[str]) -> list[float]:
        scored.extend(texts)
        return [float("mill" in text) for text in texts]

    names: dict[str, Any] = {
        "call_my_model": call_my_model,
        "embed_with_mine": embed_with_mine,
        "score_with_mine": score_with_mine,
    }
    exec(compile(MODELS, "docs/integrations.md", "exec"), names)
    async with names["kb"] as kb:
        mill = Document(path="mill", content="The tide mill of Harrow turns with the ebb. Ada Lane owns it.")
        await kb.ingest([mill, Document(path="bread", content="Bread is sold when it turns brown.")])
        assert [hit.path for hit in await kb.search("When does it turn?")] == ["mill", "bread"]
        answer = await kb.ask("When does the tide mill turn?")
    assert scored
    assert [citation.path for citation in answer.citations] == ["mill"]
