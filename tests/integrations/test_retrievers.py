"""The retrievers for LlamaIndex and LangChain, with the real packages, from asynchronous and from plain programs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document as LangChainDocument
from langchain_core.runnables import ConfigurableField, RunnableLambda
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeRelationship, QueryBundle

from core.rag import KnowledgeBase
from core.rag.errors import ConfigurationError, FilterError, InvalidInputError, NotFoundError, StoreUnavailableError
from core.rag.integrations.langchain import KnowledgeBaseRetriever as LangChainRetriever
from core.rag.integrations.llamaindex import KnowledgeBaseRetriever as LlamaRetriever
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

TEXTS = {
    "docs/mill.md": "The tide mill grinds grain with the ebb of the sea.",
    "docs/wheel.md": "The wheel is built of oak and turns eleven times a minute.",
    "notes/ferry.md": "The ferry crosses the bay twice a day unless the wind is strong.",
}
LONG = "\n\n".join(f"# Part {number}\n\n{f'Words about number {number}. ' * 60}" for number in range(4))
QUERY = "wheel of oak"


def documents() -> list[Document]:
    return [
        *(Document(path=path, content=text, title=path, metadata={"year": 1825}) for path, text in TEXTS.items()),
        Document(path="long.md", content=LONG, format="markdown"),
    ]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(documents())
        yield opened


async def test_llamaindex_nodes_are_the_hits(kb: KnowledgeBase) -> None:
    retriever = LlamaRetriever(kb, k=3)
    hits = await kb.search(QUERY, k=3)
    for query in (QUERY, QueryBundle(QUERY)):
        nodes = await retriever.aretrieve(query)
        assert [(node.node_id, node.score) for node in nodes] == [(hit.chunk_id, hit.score) for hit in hits]
    best: Any = nodes[0].node
    assert best.text == TEXTS["docs/wheel.md"] == TEXTS["docs/wheel.md"][best.start_char_idx : best.end_char_idx]
    assert best.metadata["path"] == "docs/wheel.md"
    assert best.metadata["scores"] == hits[0].scores
    assert best.relationships[NodeRelationship.SOURCE].node_id == hits[0].document_id
    shown = best.get_content(MetadataMode.LLM)
    assert "docs/wheel.md" in shown
    assert "document_id" not in shown
    assert "scores" not in shown


async def test_llamaindex_neighbours_are_related(kb: KnowledgeBase) -> None:
    nodes = await LlamaRetriever(kb, k=10, filters="path:long").aretrieve("Words about number")
    by_id: dict[str, Any] = {node.node_id: node.node for node in nodes}
    assert len(by_id) > 2
    in_order = sorted(by_id.values(), key=lambda node: node.metadata["chunk_index"])
    assert NodeRelationship.PREVIOUS not in in_order[0].relationships
    assert NodeRelationship.NEXT not in in_order[-1].relationships
    for a, b in pairwise(in_order):
        assert a.relationships[NodeRelationship.NEXT].node_id == b.node_id
        assert b.relationships[NodeRelationship.PREVIOUS].node_id == a.node_id


async def test_llamaindex_pipelines_take_it(kb: KnowledgeBase) -> None:
    engine = RetrieverQueryEngine.from_args(
        LlamaRetriever(kb, k=2),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.0)],
    )
    response = await engine.aquery(QUERY)
    assert response.source_nodes[0].metadata["path"] == "docs/wheel.md"
    assert TEXTS["docs/wheel.md"] in str(response)  # the mock model repeats its prompt


async def test_langchain_documents_are_the_hits(kb: KnowledgeBase) -> None:
    retriever = LangChainRetriever(knowledge_base=kb, k=3)
    hits = await kb.search(QUERY, k=3)
    found = await retriever.ainvoke(QUERY)
    assert [document.id for document in found] == [hit.chunk_id for hit in hits]
    best = found[0]
    assert isinstance(best, LangChainDocument)
    assert best.page_content == TEXTS["docs/wheel.md"]
    assert best.metadata["source"] == "docs/wheel.md"
    assert best.metadata["score"] == hits[0].score
    assert (best.metadata["previous"], best.metadata["next"]) == (None, None)
    chain = retriever | RunnableLambda(lambda documents: documents[0].metadata["source"])
    assert await chain.ainvoke(QUERY) == "docs/wheel.md"
    assert [len(batch) for batch in await retriever.abatch([QUERY, "ferry"])] == [3, 3]


async def test_later_rows_of_a_table_come_with_the_names_of_its_columns(kb: KnowledgeBase) -> None:
    rows = "\n".join(f"| P-{number} | pump number {number} of the mill | {number * 3} |" for number in range(120))
    table = f"# Pumps\n\n| Code | Place | Power in kW |\n|---|---|---|\n{rows}\n"
    await kb.ingest([Document(path="pumps.md", content=table, format="markdown")])
    question = "What is the power of P-117?"
    (found,) = await LangChainRetriever(knowledge_base=kb, k=1).ainvoke(question)
    assert found.page_content.startswith("| Code | Place | Power in kW |\n|---|---|---|\n| P-")
    assert "| P-117 | pump number 117 of the mill | 351 |" in found.page_content
    (node,) = await LlamaRetriever(kb, k=1).aretrieve(question)
    assert "Power in kW" not in node.text
    assert "| Code | Place | Power in kW |" in node.node.get_content(MetadataMode.LLM)
    (whole,) = await LlamaRetriever(kb, k=1, expand=9).aretrieve(question)
    assert whole.node.get_content(MetadataMode.LLM).count("Power in kW") == 1


async def test_options_reach_the_search(kb: KnowledgeBase) -> None:
    nodes = await LlamaRetriever(kb, k=5, filters="path:notes/").aretrieve(QUERY)
    assert {node.metadata["path"] for node in nodes} == {"notes/ferry.md"}
    found = await LangChainRetriever(knowledge_base=kb, filters={"path": {"prefix": "notes/"}}).ainvoke(QUERY)
    assert {document.metadata["source"] for document in found} == {"notes/ferry.md"}
    narrow = (await LlamaRetriever(kb, k=1, mode="keyword", filters="path:long").aretrieve("number 2"))[0]
    wide = (await LlamaRetriever(kb, k=1, mode="keyword", filters="path:long", expand=1).aretrieve("number 2"))[0]
    assert len(wide.text) > len(narrow.text)
    assert await LlamaRetriever(kb, namespace=f"{kb.namespace}-other").aretrieve(QUERY) == []


async def test_errors_come_through(kb: KnowledgeBase) -> None:
    with pytest.raises(FilterError):
        await LlamaRetriever(kb, filters="colour:red").aretrieve(QUERY)
    with pytest.raises(InvalidInputError, match="k is 0"):
        await LangChainRetriever(knowledge_base=kb, k=0).ainvoke(QUERY)
    with pytest.raises(NotFoundError):
        await LlamaRetriever(kb, conversation_id="no such talk").aretrieve(QUERY)


async def test_what_is_no_knowledge_base_is_refused(kb: KnowledgeBase) -> None:
    for wrong, kind in ((kb.client, "MemGraphClient"), ("embedded:graph.grafeo", "str")):
        with pytest.raises(InvalidInputError, match=f"A {kind} is not a knowledge base: KnowledgeBase.open opens one"):
            LlamaRetriever(wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"A {kind} is not a knowledge base"):  # as pydantic says it
            await LangChainRetriever(knowledge_base=wrong).ainvoke(QUERY)


async def test_waiting_inside_of_the_loop_is_refused_not_a_deadlock(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="aretrieve"):
        LlamaRetriever(kb).retrieve(QUERY)
    with pytest.raises(InvalidInputError, match="ainvoke"):
        LangChainRetriever(knowledge_base=kb).invoke(QUERY)


async def test_waiting_in_another_thread_works(kb: KnowledgeBase) -> None:
    nodes = await asyncio.to_thread(LlamaRetriever(kb, k=1).retrieve, QUERY)
    assert nodes[0].metadata["path"] == "docs/wheel.md"
    found = await asyncio.to_thread(LangChainRetriever(knowledge_base=kb, k=1).invoke, QUERY)
    assert found[0].metadata["source"] == "docs/wheel.md"


def filled(tmp_path: Path) -> str:
    """A graph on the disk, made by a program that has ended."""
    uri = f"embedded:{tmp_path}/graph.grafeo"

    async def fill() -> None:
        async with KnowledgeBase.open(uri, embedder=HashEmbedder()) as kb:
            await kb.ingest(documents())

    asyncio.run(fill())
    return uri


def test_plain_programs_open_their_own(tmp_path: Path) -> None:
    uri = filled(tmp_path)
    with LlamaRetriever.from_uri(uri, k=2, embedder=HashEmbedder()) as llama:
        assert llama.retrieve(QUERY)[0].metadata["path"] == "docs/wheel.md"
        assert asyncio.run(llama.aretrieve(QUERY))[0].metadata["path"] == "docs/wheel.md"
    with LangChainRetriever.from_uri(uri, k=2, embedder=HashEmbedder()) as chain:
        assert chain.invoke(QUERY)[0].metadata["source"] == "docs/wheel.md"
        assert len(chain.batch([QUERY, "ferry", "mill"])) == 3
    chain.close()
    with pytest.raises(ConfigurationError, match="from_uri"):
        chain.invoke(QUERY)


@pytest.mark.parametrize("kind", [LlamaRetriever, LangChainRetriever])
def test_plain_programs_say_who_asks_in_which_conversation(tmp_path: Path, kind: Any) -> None:
    uri = filled(tmp_path)
    with kind.from_uri(uri, user_id="ann", conversation_id="no such talk", embedder=HashEmbedder()) as retriever:
        ask = retriever.retrieve if kind is LlamaRetriever else retriever.invoke
        with pytest.raises(NotFoundError, match="no such talk"):
            ask(QUERY)


async def test_options_of_a_langchain_retriever_can_be_changed(kb: KnowledgeBase) -> None:
    retriever = LangChainRetriever(knowledge_base=kb, k=3)
    retriever.k = 1
    assert len(await retriever.ainvoke(QUERY)) == 1
    assert len(await retriever.model_copy(update={"k": 2}).ainvoke(QUERY)) == 2


async def test_options_of_a_langchain_retriever_can_be_given_with_a_question(kb: KnowledgeBase) -> None:
    retriever = LangChainRetriever(knowledge_base=kb, k=3)
    assert len(await retriever.ainvoke(QUERY, k=1, filters="path:docs/")) == 1
    assert len(await asyncio.to_thread(retriever.invoke, QUERY, k=2)) == 2
    assert len(await retriever.ainvoke(QUERY)) == 3
    with pytest.raises(InvalidInputError, match="no option 'top_k'"):
        await retriever.ainvoke(QUERY, top_k=1)
    with pytest.raises(ValueError, match="top_k"):
        LangChainRetriever(knowledge_base=kb, top_k=1)  # type: ignore[call-arg]


async def test_options_of_a_langchain_retriever_can_be_configured(tmp_path: Path) -> None:
    uri = await asyncio.to_thread(filled, tmp_path)
    with LangChainRetriever.from_uri(uri, k=3, embedder=HashEmbedder()) as retriever:
        chain = retriever.configurable_fields(k=ConfigurableField(id="k"))
        assert len(chain.invoke(QUERY, config={"configurable": {"k": 1}})) == 1
        assert len(await chain.ainvoke(QUERY, config={"configurable": {"k": 2}})) == 2
    with pytest.raises(ConfigurationError, match="was closed"):
        chain.invoke(QUERY)


async def test_a_retriever_of_its_own_works_inside_of_a_loop(tmp_path: Path) -> None:
    uri = await asyncio.to_thread(filled, tmp_path)
    with LlamaRetriever.from_uri(uri, k=1, embedder=HashEmbedder()) as llama:
        assert llama.retrieve(QUERY)[0].metadata["path"] == "docs/wheel.md"
        assert (await llama.aretrieve(QUERY))[0].metadata["path"] == "docs/wheel.md"


def test_a_graph_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(NotFoundError):
        LlamaRetriever.from_uri(f"embedded:{tmp_path}/none.grafeo", embedder=HashEmbedder())
    assert not (tmp_path / "none.grafeo").exists()
    with LlamaRetriever.from_uri("embedded::memory:", embedder=HashEmbedder()) as llama:
        assert llama.retrieve("anything") == []
    for thread in set(threading.enumerate()) - before:
        thread.join(60)  # those of a closed pool end by themselves
        assert not thread.is_alive(), thread.name


@pytest.mark.parametrize("kind", [LlamaRetriever, LangChainRetriever])
def test_closing_ends_the_searches_that_run(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each waits for something inside of an asynchronous generator, which is closed before the loop ends."""
    searching, ended = threading.Barrier(4), []

    async def endless() -> AsyncIterator[None]:
        try:
            await asyncio.to_thread(searching.wait, 60)
            await asyncio.Event().wait()
            yield
        finally:
            await asyncio.sleep(0)
            ended.append("generator")

    async def search(self: KnowledgeBase, *args: Any, **options: Any) -> None:
        async for _ in endless():
            pass

    def work() -> None:
        try:
            (retriever.retrieve if kind is LlamaRetriever else retriever.invoke)(QUERY)
        except StoreUnavailableError:
            ended.append("search")

    retriever = kind.from_uri(filled(tmp_path), embedder=HashEmbedder())
    monkeypatch.setattr(KnowledgeBase, "search", search)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    searching.wait(60)
    retriever.close()
    retriever.close()
    for thread in threads:
        thread.join(10)
    assert sorted(ended) == ["generator"] * 3 + ["search"] * 3
    assert capfd.readouterr().err == ""
    with pytest.raises(ConfigurationError):
        (retriever.retrieve if kind is LlamaRetriever else retriever.invoke)(QUERY)


def test_a_retriever_that_cannot_be_made_leaves_no_thread(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="k"):
        LangChainRetriever.from_uri(filled(tmp_path), k="many", embedder=HashEmbedder())  # type: ignore[arg-type]
    assert not [thread for thread in threading.enumerate() if "retriever" in thread.name]


def test_a_closed_loop_is_said() -> None:
    async def make() -> LlamaRetriever:
        async with KnowledgeBase.open("embedded::memory:", embedder=HashEmbedder()) as kb:
            return LlamaRetriever(kb)

    retriever = asyncio.run(make())
    with pytest.raises(ConfigurationError, match="from_uri"):
        retriever.retrieve(QUERY)


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("llamaindex", "llama_index", "llama-index"), ("langchain", "langchain_core", "langchain")],
)
def test_without_the_package_the_error_names_the_install(module: str, package: str, extra: str) -> None:
    code = (
        "import sys\n"
        f"sys.modules[{package!r}] = None\n"
        "import core.rag\n"
        "try:\n"
        f"    import core.rag.integrations.{module}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'memgraph-rag[{extra}]'" in done.stdout


def test_nothing_is_imported_before_it_is_used() -> None:
    code = "import sys, core.rag, mgrag, core.rag.knowledge_base; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split()} & {"llama_index", "langchain_core", "langsmith"}
