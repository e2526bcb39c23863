"""Why a hit was found, where a filter leaves out what led to it; and what is read for a filter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.retrieval.filters import parse_filter
from core.rag.retrieval.hits import Because, Hit, SearchMode
from core.rag.retrieval.legs import Legs
from libs.dataloader import Document, SourceInfo
from tests.dbhandler.kit import Engine

CHAINS = {
    "Harvest of Glass (film)": "Harvest of Glass is a silent film. Its director was Ottoline Varga, of Tartu.",
    "Ottoline Varga": "Ottoline Varga came into the world in Kecskemet on a Sunday. She kept bees all her life.",
    "Corvan Society": "The Corvan Society was founded by Leopold Anstruther in a coffee house.",
    "Isolde Marchetti": "Isolde Marchetti danced at Verona.",
}
NOISE = {
    f"Director number {number}": f"Where was the director of a film born? Director {number} made film number {number}."
    for number in range(30)
}
DIRECTOR = "Where was the director of film Harvest of Glass born?"


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(Document(path=title, title=title, content=text) for title, text in (CHAINS | NOISE).items())
        yield opened


def _by_path(hits: list[Hit]) -> dict[str, Because | None]:
    return {hit.path: hit.because for hit in hits}


@pytest.mark.parametrize("mode", ["graph", "auto"])
async def test_what_a_filter_leaves_out_is_not_told_as_a_reason(kb: KnowledgeBase, mode: SearchMode) -> None:
    found = _by_path(await kb.search(DIRECTOR, k=1, mode=mode, filters='not title:"(film)"'))
    assert found == {"Ottoline Varga": Because("bridge", ("Ottoline Varga",), "", "Ottoline Varga")}
    told = _by_path(await kb.search(DIRECTOR, k=2, mode=mode, filters="not title:Corvan"))["Ottoline Varga"]
    assert told is not None
    assert told.path == ("Harvest of Glass (film)", "Ottoline Varga")
    assert told.sentence == "Its director was Ottoline Varga, of Tartu."


async def test_with_a_filter_a_fact_is_told_only_if_the_passage_states_it(kb: KnowledgeBase) -> None:
    fact = "Its patron is Isolde Marchetti"
    await kb.link("Corvan Society", "Isolde Marchetti", "patron", fact=fact)
    question = "Where did the patron of the Corvan Society dance?"
    for filters, sentence in ((None, fact), ("not path:films", "")):
        told = _by_path(await kb.search(question, k=5, mode="graph", filters=filters))["Isolde Marchetti"]
        assert told is not None
        assert (told.path, told.sentence) == (("Corvan Society", "Isolde Marchetti"), sentence)


async def test_where_few_documents_pass_a_filter_the_graph_is_no_reason(kb: KnowledgeBase) -> None:
    await kb.ingest(
        Document(path=f"films/{number}", title=f"Reel {number}", content=f"The director of film {number} was born.")
        for number in range(1_000)
    )
    [hit] = await kb.search(DIRECTOR, k=5, mode="graph", filters="path:Ottoline")
    assert (hit.path, hit.because) == ("Ottoline Varga", None)


async def test_for_a_filter_of_exact_paths_or_sources_no_other_documents_are_read(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = SourceInfo("archive", "folder", "file:///archive")
    await kb.client.create_document("notes", "Notes on bees", title="Notes", source=archive)
    source = (await kb.client.find_document("notes") or {})["source_id"]
    everything: list[int] = []
    read = MemGraphClient.read

    async def noted(self: MemGraphClient, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        rows = await read(self, statement, **parameters)
        everything.append(len(rows))
        return rows

    for filters, paths in (
        ("path=(notes, nowhere)", {"notes"}),
        (f"source_id={source}", {"notes"}),
        (f"source_id={source} path^=no title!=Notes", set()),
        ('path="Corvan Society" path=(notes, "Corvan Society", x)', {"Corvan Society"}),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(MemGraphClient, "read", noted)
            found = await Legs(kb.client, None).documents_where(parse_filter(filters))
        assert set(found.values()) == paths
    assert max(everything) == 1
