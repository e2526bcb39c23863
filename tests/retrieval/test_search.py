"""Searching through KnowledgeBase: modes, filters, neighbours, and strings that nobody should have to escape."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.rag import KnowledgeBase, MemGraphClient
from core.rag.errors import FilterError, InvalidInputError
from core.rag.retrieval import legs, retriever
from core.rag.retrieval.chunk_names import fuzzy_index
from core.rag.retrieval.hits import MODES, SearchMode
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.graphs import listen

TEXTS = {
    "docs/mill.md": ("The tide mill", "The tide mill grinds grain with the ebb of the sea.", {"year": 1612}),
    "docs/wheel.md": ("The wheel", "The wheel is built of oak and turns eleven times a minute.", {"year": 1825}),
    "docs/stones.md": ("Burr stones", "Two pairs of burr stones came from France by ship.", {"year": 1841}),
    "notes/ferry.md": ("The ferry", "The ferry crosses the bay twice a day unless the wind is strong.", {"year": 1990}),
    "notes/museum.md": ("County museum", "The museum keeps the bearing shell of the old wheel.", {"year": 2021}),
}


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(
            Document(path=path, content=content, title=title, metadata=metadata)
            for path, (title, content, metadata) in TEXTS.items()
        )
        yield opened


async def test_a_question_in_capitals_means_the_same() -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text) for path, (_, text, _) in TEXTS.items())
        question = "how often does the boat cross the water"
        found = [await kb.search(asked, k=5, mode="vector") for asked in (question, question.upper())]
        assert [(hit.path, hit.scores) for hit in found[0]] == [(hit.path, hit.scores) for hit in found[1]]


async def test_layout_is_no_meaning() -> None:
    words = "Capital spending of the mill in thousands Rebuilt the wheel 1200 New stones 800"
    laid_out = {
        "page.txt": "Capital spending of the mill\n \nin thousands\n\n\nRebuilt the wheel\n1200\n\nNew stones\n800",
        "table.txt": "Capital spending of the mill | in thousands |\n|---|---|\n"
        "| Rebuilt the wheel | 1200 |\n| New stones | 800 |",
    }
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text) for path, text in {"plain.txt": words, **laid_out}.items())
        hits = await kb.search("what did rebuilding the wheel cost", k=3, mode="vector")
    nearness = {hit.path: hit.scores["vector"] for hit in hits}
    assert nearness == pytest.approx(dict.fromkeys(nearness, nearness["plain.txt"]))


@pytest.mark.parametrize("mode", MODES)
async def test_every_mode_finds_the_obvious(kb: KnowledgeBase, mode: SearchMode) -> None:
    query = "Burr stnes" if mode == "fuzzy" else "burr stones from France"
    hits = await kb.search(query, k=3, mode=mode)
    best = hits[0]
    assert (best.path, best.title) == ("docs/stones.md", "Burr stones")
    assert best.content == TEXTS["docs/stones.md"][1][best.start_char : best.end_char]
    assert best["path"] == best.path
    assert set(best.scores) <= {"vector", "keyword", "fuzzy", "graph"}
    assert best.scores
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.chunk_id for hit in hits}) == len(hits)


async def test_hybrid_says_what_each_leg_found(kb: KnowledgeBase) -> None:
    hits = await kb.search("the wheel of oak", k=5, mode="hybrid")
    assert hits[0].path == "docs/wheel.md"
    assert set(hits[0].scores) == {"vector", "keyword"}
    assert hits[0].scores["vector"] <= 1.0
    assert 0.0 < hits[0].score <= 1.0


async def test_k_bounds_the_hits_and_is_checked(kb: KnowledgeBase) -> None:
    assert len(await kb.search("the wheel", k=2)) == 2
    for k in (0, -1, 10_001):
        with pytest.raises(InvalidInputError, match="k is"):
            await kb.search("the wheel", k=k)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("path:docs/", {"docs/mill.md", "docs/wheel.md", "docs/stones.md"}),
        ({"path": {"prefix": "notes/"}}, {"notes/ferry.md", "notes/museum.md"}),
        ("metadata.year>=1841 path:docs/", {"docs/stones.md"}),
        ({"metadata.year": {"<": 1700}}, {"docs/mill.md"}),
        ("not path:docs/", {"notes/ferry.md", "notes/museum.md"}),
        ("path:nowhere/", set()),
        ("created>=2000-01-01", set(TEXTS)),
        ("source:documents", set(TEXTS)),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "vector"])
async def test_filters_narrow_every_hit(
    kb: KnowledgeBase, mode: SearchMode, filters: object, expected: set[str]
) -> None:
    hits = await kb.search("the wheel of the mill and the bay", k=10, mode=mode, filters=filters)  # type: ignore[arg-type]
    assert {hit.path for hit in hits} == expected


async def test_a_filter_reaches_far_behind_the_best(kb: KnowledgeBase) -> None:
    await kb.ingest(
        Document(path=f"many/{number}", content=f"The wheel turns, note {number}.") for number in range(600)
    )
    hits = await kb.search("the wheel", k=2, mode="keyword", filters="path:notes/")
    assert [hit.path for hit in hits] == ["notes/museum.md"]


@pytest.mark.parametrize("mode", ["vector", "hybrid", "auto", "fuzzy"])
async def test_what_passes_a_filter_is_found_however_unlike_the_question(
    monkeypatch: pytest.MonkeyPatch, mode: SearchMode
) -> None:
    """More chunks pass than an index returns, and none of those that it returns."""
    monkeypatch.setattr(retriever, "MAX_K", 40)
    monkeypatch.setattr(retriever, "_FIRST_CANDIDATES", 4)
    texts = {"en": "The mill turns at night, and grinds corn", "de": "Die Mühle dreht sich nachts und mahlt Korn"}
    titles = {"en": "The mill", "de": "A mill of the harbour"}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(
            Document(path=f"{language}/{number}", content=f"{text} ({number}).", title=titles[language])
            for language, text in texts.items()
            for number in range(50)
        )
        for wanted in texts:
            question = "mill" if mode == "fuzzy" else "When does the mill grind corn?"
            hits = await kb.search(question, k=3, mode=mode, filters=f"path:{wanted}/")
            assert [hit.path.partition("/")[0] for hit in hits] == [wanted] * 3


async def test_a_bad_filter_says_where(kb: KnowledgeBase) -> None:
    with pytest.raises(FilterError):
        await kb.search("the wheel", filters="colour:red")


async def test_expand_adds_the_neighbours_without_repeating_them(kb: KnowledgeBase) -> None:
    content = "\n\n".join(
        f"# Part {number}\n\n{'Words about number ' + str(number) + '. '}" * 30 for number in range(4)
    )
    await kb.ingest(Document(path="long", content=content, format="markdown"))
    hit = (await kb.search("number 2", k=1, filters="path:long", mode="keyword"))[0]
    wide = (await kb.search("number 2", k=1, filters="path:long", mode="keyword", expand=1))[0]
    assert wide.start_char <= hit.start_char
    assert wide.end_char >= hit.end_char
    assert wide.content == content[wide.start_char : wide.end_char]
    with pytest.raises(InvalidInputError, match="expand"):
        await kb.search("x", expand=-1)


@pytest.mark.parametrize("reading", [1, 2])
async def test_expand_keeps_a_hit_whose_document_is_removed_meanwhile(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, reading: int
) -> None:
    """It may go before its neighbours are looked for, or before they are read."""
    read, readings = MemGraphClient.chunks_by_id, 0

    async def then_removed(client: MemGraphClient, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        nonlocal readings
        chunks = await read(client, ids)
        readings += 1
        if readings == reading:
            await kb.delete("docs/mill.md")
        return chunks

    monkeypatch.setattr(MemGraphClient, "chunks_by_id", then_removed)
    hits = await kb.search("the tide mill", k=1, mode="keyword", expand=1)
    assert [(hit.path, hit.content) for hit in hits] == [("docs/mill.md", TEXTS["docs/mill.md"][1])]


@pytest.mark.parametrize("mode", MODES)
async def test_a_document_that_is_replaced_before_it_is_read_is_found_as_it_is_now(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, mode: SearchMode
) -> None:
    read, text = MemGraphClient.chunks_by_id, "The tide mill was replaced by a larger tide mill in spring."

    async def after_it_was_replaced(client: MemGraphClient, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        monkeypatch.setattr(MemGraphClient, "chunks_by_id", read)
        await kb.ingest(Document(path="docs/mill.md", title=TEXTS["docs/mill.md"][0], content=text))
        return await read(client, ids)

    monkeypatch.setattr(MemGraphClient, "chunks_by_id", after_it_was_replaced)
    hits = await kb.search("tide mill", k=2, mode=mode)
    assert ("docs/mill.md", text) in [(hit.path, hit.content) for hit in hits]


async def test_an_empty_graph_finds_nothing(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        for mode in MODES:
            assert await kb.search("anything", mode=mode) == []


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
async def test_an_empty_query_is_refused(kb: KnowledgeBase, query: str) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        await kb.search(query)


HOSTILE = [
    '"',
    "'; MATCH (n) DETACH DELETE n //",
    "wheel AND (",
    "wheel~ AND [a TO z} ^^ :*?",
    "\x00wheel\x00",
    "🙂",
    "wheel " * 20_000,
    "(" * 1000,
    "data.terms:(x) OR +namespace:y",
    "\ud800wheel",
    "न ा ุ ‍‍‍",
    "$query {id: 1} `x`",
]


@pytest.mark.parametrize("mode", MODES)
async def test_hostile_queries_do_no_harm(kb: KnowledgeBase, mode: SearchMode) -> None:
    before = await kb.client.counts()
    for query in HOSTILE:
        hits = await kb.search(query, mode=mode)
        assert len(hits) <= 5
    assert await kb.client.counts() == before


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(min_size=1, max_size=200).filter(str.strip), mode=st.sampled_from(MODES))
async def test_any_query_is_safe(kb: KnowledgeBase, query: str, mode: SearchMode) -> None:
    assert len(await kb.search(query, k=3, mode=mode)) <= 3


async def test_unknown_modes_are_named(kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidInputError, match="telepathy"):
        await kb.search("x", mode="telepathy")  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
async def test_a_narrow_filter_ranks_just_what_passes(kb: KnowledgeBase, mode: SearchMode) -> None:
    await kb.ingest(
        Document(path=f"many/{number}", content=f"The wheel turns and turns, note {number}.") for number in range(1500)
    )
    hits = await kb.search("the old wheel turns", k=3, mode=mode, filters='path:"notes/museum.md"')
    assert [hit.path for hit in hits] == ["notes/museum.md"]
    assert hits[0].scores


async def test_fuzzy_search_finds_the_heading_of_a_chunk_that_was_just_added(kb: KnowledgeBase) -> None:
    assert await kb.search("Windmil restoraton", mode="fuzzy") == []
    await kb.client.create_document_chunk("docs/mill.md", "It took a year.", heading="Windmill restoration")
    assert [hit.heading for hit in await kb.search("Windmil restoraton", mode="fuzzy")] == ["Windmill restoration"]
    await kb.client.upsert_document("notes/ferry.md", TEXTS["notes/ferry.md"][1], title="Zeppelin handbook")
    assert [hit.path for hit in await kb.search("Zepelin handbok", mode="fuzzy")] == ["notes/ferry.md"]


async def test_names_are_read_again_only_of_documents_that_changed(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def found(query: str) -> list[str | None]:
        return [hit.path for hit in await kb.search(query, mode="fuzzy")]

    await kb.ingest([Document(path="notes/may.md", content="# Sheep fair\n\nIn May.", format="markdown")])
    assert await found("Shep fiar") == ["notes/may.md"]
    statements = listen(monkeypatch)
    await kb.ingest([Document(path="notes/may.md", content="# Cattle market\n\nIn May.", format="markdown")])
    assert await found("Catle markt") == ["notes/may.md"]
    assert await found("Shep fiar") == []
    await kb.ingest([Document(path="notes/barn.md", content="# Threshing barn\n\nOf 1790.", format="markdown")])
    assert await found("Treshing barn") == ["notes/barn.md"]
    await kb.delete("notes/may.md")
    assert await found("Catle markt") == []
    assert await found("Burr stnes") == ["docs/stones.md"]
    reading = [statement for statement in statements if "c.chunk_index = 0 OR" in statement]
    assert len(reading) == 2, "the one that was changed, and the one that was added"
    assert all("$ids" in statement for statement in reading)


async def test_samples_are_of_what_is_there(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legs, "SAMPLE_SIZE", 2)
    [store] = await kb.client.vector_stores()
    query = [1.0] * store.dimension
    sampled = legs.Legs(kb.client, store)
    assert len(await sampled.sampled_cosines(query)) == len(await sampled.sampled_words()) == 2
    await kb.client.delete_everything()
    assert (await sampled.sampled_cosines(query), await sampled.sampled_words()) == ([], [])


async def test_what_is_kept_for_searches_is_not_made_anew_for_a_message(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.remember("s", "user", "The first message makes an index.")
    await kb.search("Burr stnes", mode="fuzzy")
    statements = listen(monkeypatch)
    await kb.remember("s", "user", "Where are the burr stones from?")
    await kb.search("Burr stnes", mode="fuzzy")
    assert not any("c.heading <> ''" in statement for statement in statements)
    if not (await kb.client.connect()).capabilities.shared:
        assert not any("max(" in statement for statement in statements)
    await kb.ingest([Document(path="docs/new.md", content="# New\n\nIt is new.", format="markdown")])
    await kb.search("Burr stnes", mode="fuzzy")
    assert any("c.heading <> ''" in statement for statement in statements)


async def test_chunks_are_counted_anew_after_a_write(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    [store] = await kb.client.vector_stores()
    before = await legs.Legs(kb.client, store).total()
    await kb.client.create_document_chunk("docs/mill.md", "The mill has a new roof.")
    statements = listen(monkeypatch)
    assert [await legs.Legs(kb.client, store).total() for _ in range(3)] == [before + 1] * 3
    assert len(statements) == 1, "then it is known"


async def test_single_documents_are_asked_for_without_looking_at_every_edge(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = listen(monkeypatch)
    assert await kb.search("mill", filters="path:docs/ source:nowhere or path:docs/")
    assert await kb.documents(limit=2)
    assert await kb.client.list_documents(limit=2)
    assert len(statements) > 5
    slow = [statement for statement in statements if "OPTIONAL MATCH" in statement]
    assert not slow, "each of them looks at all edges"


async def test_many_who_search_at_once_do_not_all_look_whether_all_is_as_it_was(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await kb.client.connect()
    shared = replace(store.capabilities, shared=True)  # as if others could write, too
    monkeypatch.setattr(type(store), "capabilities", property(lambda _: shared))
    await fuzzy_index(kb.client)
    statements = listen(monkeypatch)
    await asyncio.gather(*(fuzzy_index(kb.client) for _ in range(10)))
    assert len(statements) <= 2, "the first one, and one after all had called, unless it was looked at a moment ago"
    await kb.client.create_document_chunk("docs/mill.md", "It took a year.", heading="Windmill restoration")
    statements.clear()
    found = await asyncio.gather(*(fuzzy_index(kb.client) for _ in range(10)))
    assert all(index.rank("Windmil restoraton", 1) for index in found)
    assert sum("max(" in statement for statement in statements) in {1, 2}
    assert sum("c.heading <> ''" in statement for statement in statements) == 1


@pytest.mark.parametrize("query", ["In 1975 who won the cup?", "Im Jahr 1975 wer gewann den Pokal?"])
async def test_a_function_word_behind_a_year_is_no_unit(query: str) -> None:
    async with KnowledgeBase.open("embedded::memory:") as kb:
        titles = {"who.md": "The Who", "wer.md": "Wer"}
        bands = [Document(path=path, title=title, content="London 1964.") for path, title in titles.items()]
        await kb.ingest(
            [*bands, Document(path="cup.md", title="Cup", content="Leeds won the cup (der Pokal) of 1975.")]
        )
        assert [hit.path for hit in await kb.search(query, mode="keyword")] == ["cup.md"]


@pytest.mark.parametrize("query", ["how fast is the laptop with 16GB", "how fast is the laptop with 16 GB"])
@pytest.mark.parametrize("written", ["16GB", "16 GB"])
async def test_a_number_and_its_unit_are_one_word_or_two(query: str, written: str) -> None:
    texts = {"a.md": f"This laptop is delivered with {written}.", "b.md": "This laptop is delivered with a bag."}
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(Document(path=path, content=text) for path, text in texts.items())
        first, second = await kb.search(query, k=2, mode="keyword")
        assert first.path == "a.md"
        assert first.score > second.score


@pytest.mark.parametrize("mode", MODES)
async def test_of_a_long_query_its_beginning_counts(kb: KnowledgeBase, mode: SearchMode) -> None:
    long = "\n ferry crosses the bay " + "起動する方法。" * 3_000
    cut = long.lstrip()[:20_000]
    asked = [(hit.path, hit.score) for hit in await kb.search(f"{long} grain, museum", mode=mode)]
    assert asked == [(hit.path, hit.score) for hit in await kb.search(cut, mode=mode)]
    assert mode == "fuzzy" or asked[0][0] == "notes/ferry.md"


async def test_of_a_long_query_to_the_graph_its_beginning_counts(kb: KnowledgeBase) -> None:
    long = "County Museum " + "起動する方法。" * 3_000
    cut = long[:20_000]
    assert await kb.search_knowledge(f"{long} ferry") == await kb.search_knowledge(cut) != []
    assert await kb.search_nodes(f"{long} ferry") == await kb.search_nodes(cut)
    assert await kb.ask_context(f"{long} ferry") == await kb.ask_context(cut)


ROMANCE = {
    "bureau.md": "Le code du portail est 4471. Le wifi du bureau est dans le couloir, et la salle a un vélo.",
    "menu.md": "Le menu du midi coûte 14 euros. Le café est compris, la tarte est à la poire.",
    "casa.md": "La casa del nonno è vicino al mare. Il vino rosso è in cantina, il pane nella credenza.",
    "gato.md": "El gato de la vecina duerme en la silla. El agua de la fuente es fría y la llave está rota.",
    "garage.md": "The car was parked by the gate, and the cars of the guests behind the house.",
    "nurse.md": "The nurse takes care of patients at night.",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("wifi", "bureau.md"),
        ("code wifi", "bureau.md"),
        ("café", "menu.md"),
        ("cafe", "menu.md"),
        ("vino", "casa.md"),
        ("agua gato", "gato.md"),
        ("care", "nurse.md"),
    ],
)
async def test_short_words_of_other_languages_are_found_by_themselves(engine: Engine, query: str, path: str) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([Document(path=name, content=text, title=name) for name, text in ROMANCE.items()])
        assert [hit.path for hit in await kb.search(query, mode="keyword")] == [path]
        assert (await kb.search(query, k=1))[0].path == path
        assert [hit.path for hit in await kb.search(query, mode="keyword", filters={"path": path})] == [path]


PORTS = {"proxy": 8443, "database": 5432}


@pytest.mark.parametrize("mode", ["auto", "graph", "hybrid", "keyword", "fuzzy"])
async def test_a_file_is_found_by_its_name(engine: Engine, mode: SearchMode) -> None:
    access = "# Access\n\n" + "\n\n".join(
        f"## {part}\n\nThe {part} listens on port {port}. Ask Ada for a key." for part, port in PORTS.items()
    )
    texts = {
        "notes/server-access.md": access,
        "docs/server.md": "# The server\n\nThe server gives access to files. A server has a proxy; access is logged.",
        "docs/access.md": "# Access control\n\nAccess to a server is by key. Without a key there is no access.",
        "notes/Q3 report.txt": "Sales of the third quarter rose by four percent.",
    }
    async with engine.knowledge() as kb:
        await kb.ingest(
            [
                Document(path=path, content=text, title=text.partition("\n")[0].strip("# "))
                for path, text in texts.items()
            ]
        )
        assert (await kb.search("server-access.md", k=1, mode=mode))[0].path == "notes/server-access.md"
        assert (await kb.search("notes/Server-Access.md", k=1, mode=mode))[0].path == "notes/server-access.md"
        assert (await kb.search("Q3 report.txt", k=1, mode=mode))[0].path == "notes/Q3 report.txt"
        if mode != "fuzzy":
            (hit,) = await kb.search("What is the port of the proxy in server-access.md?", k=1, mode=mode)
            assert (hit.path, "8443" in hit.content) == ("notes/server-access.md", True)
