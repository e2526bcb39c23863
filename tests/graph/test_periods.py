"""Facts that change: they hold for a time, end, and are seen as they were."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError
from core.rag.graph.drawing.graphml import to_graphml
from core.rag.graph.drawing.html import to_html
from core.rag.graph.drawing.mermaid import to_mermaid
from core.rag.graph.parts import GraphEdge
from libs.dataloader import Document
from tests.graphs import listen

ADA, BOB, MILL = "Ada Lane", "Bob Reed", "Harrow Mill"
#: Times that are past and to come for as long as anybody runs these tests.
PAST, PRESENT, FUTURE = "2018-01-01", "2021-05-01", "2999-01-01"

type Tell = Callable[..., Awaitable[object]]


@pytest.fixture
async def mill(kb: KnowledgeBase) -> KnowledgeBase:
    """A mill that was sold, and what has no times."""
    await kb.add_triples(
        [
            {"subject": ADA, "relation": "owns", "object": MILL, "valid_from": PAST, "valid_to": PRESENT},
            {"subject": BOB, "relation": "owns", "object": MILL, "valid_from": PRESENT},
            {"subject": "Carl Stone", "relation": "works_at", "object": MILL},
        ]
    )
    return kb


def said(edges: list[GraphEdge]) -> list[str]:
    return sorted(edge.said for edge in edges)


async def periods(kb: KnowledgeBase, node: str = ADA, at: str | None = "ever") -> list[str]:
    """The facts about a node."""
    return said((await kb.neighbors(node, at=at)).edges)


async def test_neighbours_are_those_of_a_time(mill: KnowledgeBase) -> None:
    async def there(at: Any) -> tuple[list[str], int]:
        page = await mill.neighbors(MILL, at=at)
        return [node.name for node in page.nodes], page.degree

    assert await there(None) == ([BOB, "Carl Stone"], 2)
    assert await there("ever") == ([ADA, BOB, "Carl Stone"], 3)
    for early in (PAST, date(2018, 1, 1), datetime(2021, 4, 30, 23, 59), "2021-05-01T01:59+02:00"):
        assert await there(early) == ([ADA, "Carl Stone"], 2), early
    east = timezone(timedelta(hours=2))
    for late in (PRESENT, "2021-05-01T00:00:00Z", datetime(2021, 5, 1, 2, 0, tzinfo=east)):
        assert await there(late) == ([BOB, "Carl Stone"], 2), late
    assert await there("2017-12-31T23:59:59.999999Z") == (["Carl Stone"], 1)


async def test_an_edge_says_when_it_holds(mill: KnowledgeBase) -> None:
    found = {edge.said: edge for edge in (await mill.edges(at="ever")).edges}
    assert set(found) == {"owns (from 2018-01-01 until 2021-05-01)", "owns (since 2021-05-01)", "works_at"}
    sold = found["owns (from 2018-01-01 until 2021-05-01)"].to_dict()
    assert (sold["valid_from"], sold["valid_to"]) == ("2018-01-01T00:00:00.000000Z", "2021-05-01T00:00:00.000000Z")
    assert found["works_at"].valid_from == found["works_at"].valid_to == ""
    assert said((await mill.edges()).edges) == ["owns (since 2021-05-01)", "works_at"]
    then = await mill.edges(relation="owns", at="2020-02-02")
    assert said(then.edges) == ["owns (from 2018-01-01 until 2021-05-01)"]
    noon = await mill.link(BOB, MILL, "sells", valid_to=datetime(2030, 1, 2, 12, 30, tzinfo=UTC))
    assert noon.said == "sells (until 2030-01-02 12:30 UTC)"


async def test_walks_and_paths_lead_through_what_holds(mill: KnowledgeBase) -> None:
    assert [node.name for node in (await mill.traverse(MILL, 1)).nodes] == [BOB, "Carl Stone"]
    assert [node.name for node in (await mill.traverse(BOB, 2, at="2019-01-01")).nodes] == []
    assert await mill.shortest_path(ADA, "Carl Stone") is None
    for weighted in (False, True):
        path = await mill.shortest_path(ADA, "Carl Stone", at="2019-01-01", weighted=weighted)
        assert path is not None and said(path.edges) == ["owns (from 2018-01-01 until 2021-05-01)", "works_at"]
    assert await mill.shortest_path(ADA, BOB, at="2019-01-01", relations=["owns"]) is None
    both = await mill.shortest_path(ADA, BOB, at="ever", relations=["owns"])
    assert both is not None and both.length == 2


async def test_a_longer_path_is_found_where_the_shortest_does_not_hold(mill: KnowledgeBase) -> None:
    await mill.link(ADA, "Carl Stone", "married_to", valid_to=PAST)
    await mill.link(ADA, "Dora Finch", "knows", create=True)
    await mill.link("Dora Finch", "Carl Stone", "knows")
    path = await mill.shortest_path(ADA, "Carl Stone")
    assert path is not None and [node.name for node in path.nodes] == [ADA, "Dora Finch", "Carl Stone"]
    before = await mill.shortest_path(ADA, "Carl Stone", at="2017-01-01")
    assert before is not None and before.length == 1


async def test_an_entity_whose_facts_have_ended_leads_to_the_texts_that_mention_it(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a.md", "Yesterday Ada Lane met Bob Reed at Harrow Mill.")])
    await kb.link(ADA, MILL, "owns")
    assert await kb.unlink(ADA, MILL, ended=PRESENT) == 1
    assert {node.label for node in (await kb.neighbors(ADA)).nodes} == {"DocumentChunk"}
    assert {node.label for node in (await kb.neighbors(ADA, at="ever")).nodes} == {"Entity"}


async def test_what_is_found_near_an_entity_is_what_holds(mill: KnowledgeBase) -> None:
    await mill.insert("letters", {"_id": "1", "name": "Ada Lane"})
    await mill.insert("letters", {"_id": "2", "name": "Bob Reed"})
    found = [hit.document["_id"] for hit in await mill.search_knowledge(MILL, "graph")]
    before = [hit.document["_id"] for hit in await mill.search_knowledge(MILL, "graph", at="2019-01-01")]
    assert (found, before) == (["2"], ["1"])
    now = [chunk.text for chunk in (await mill.ask_context(MILL, limit=10)).context_chunks]
    assert f"{BOB} (name) → owns (since 2021-05-01) → {MILL}".replace(" (name)", "") in [
        text.replace(" (name)", "").replace(" (person)", "").replace(" (letter)", "") for text in now
    ]
    assert not any(ADA in text for text in now)
    assert any(ADA in chunk.text for chunk in (await mill.ask_context(MILL, limit=10, at="ever")).context_chunks)


async def test_pictures_show_periods(mill: KnowledgeBase) -> None:
    piece = await mill.traverse(MILL, 1, at="ever")
    assert "since 2021-05-01" in to_html(piece)
    assert "owns #40;since 2021#45;05#45;01#41;" in to_mermaid(piece)
    assert "2018-01-01T00:00:00.000000Z" in to_graphml(piece)


async def test_facts_of_other_times_are_counted_apart(mill: KnowledgeBase) -> None:
    await mill.link(ADA, MILL, "visits", valid_from=FUTURE)
    stats = await mill.graph_stats()
    assert (stats.edges, stats.edges_by_type, stats.past) == (2, {"owns": 1, "works_at": 1}, 2)


async def test_an_ended_fact_stays_as_history(kb: KnowledgeBase) -> None:
    edge = await kb.link(ADA, MILL, "owns", create=True)
    await kb.link(ADA, MILL, "likes")
    assert await kb.unlink(edge.id, ended=PRESENT) == 1
    assert await periods(kb, at=None) == ["likes"]
    assert await periods(kb, at="2020-01-01") == ["likes", "owns (until 2021-05-01)"]
    assert await kb.unlink(ADA, MILL, "owns", ended="2022-01-01") == 0, "it has ended before"
    assert await kb.unlink(MILL, ADA, "owns", ended="2020-01-01") == 1, "it ended earlier than was thought"
    assert await kb.unlink(ADA, MILL, ended=PRESENT) == 1
    assert await periods(kb) == ["likes (until 2021-05-01)", "owns (until 2020-01-01)"]
    assert [node.name for node in (await kb.entities())[0]] == [ADA, MILL]
    assert await kb.unlink(ADA, MILL) == 2, "history can be removed"
    assert await kb.unlink(ADA, MILL, ended=PRESENT) == 0


async def test_a_fact_cannot_end_before_it_began(kb: KnowledgeBase) -> None:
    await kb.link(ADA, MILL, "owns", valid_from=PRESENT, create=True)
    with pytest.raises(InvalidInputError, match=r"began later \(since 2021-05-01\)"):
        await kb.unlink(ADA, MILL, ended=PAST)
    with pytest.raises(InvalidInputError, match=r"ended: '2022' does not say when .*: 2022-01-01 if .* 2023-01-01 if"):
        await kb.unlink(ADA, MILL, ended="2022")
    assert await periods(kb) == ["owns (since 2021-05-01)"]


async def triple(kb: KnowledgeBase, **times: str) -> object:
    return await kb.add_triples([{"subject": ADA, "relation": "owns", "object": MILL, **times}])


async def link(kb: KnowledgeBase, **times: str) -> object:
    return await kb.link(ADA, MILL, "owns", create=True, **times)  # type: ignore[arg-type]


#: What is stored, what is stated then, and what is there afterwards: or what the error says, and all is as it was.
SEVERAL: list[tuple[list[dict[str, str]], dict[str, str], list[str] | str]] = [
    # The same again
    ([{}], {}, ["owns"]),
    ([{"valid_from": PAST}], {"valid_from": PAST}, ["owns (since 2018-01-01)"]),
    ([{"valid_from": PAST}], {}, ["owns (since 2018-01-01)"]),
    ([{"valid_to": FUTURE}], {}, ["owns (until 2999-01-01)"]),
    # More is known
    ([{}], {"valid_from": PAST}, ["owns (since 2018-01-01)"]),
    ([{}], {"valid_to": PRESENT}, ["owns (until 2021-05-01)"]),
    ([{"valid_from": PAST}], {"valid_from": PAST, "valid_to": PRESENT}, ["owns (from 2018-01-01 until 2021-05-01)"]),
    ([{"valid_to": PRESENT}], {"valid_from": PAST, "valid_to": PRESENT}, ["owns (from 2018-01-01 until 2021-05-01)"]),
    ([{"valid_to": FUTURE}], {"valid_from": PAST}, ["owns (from 2018-01-01 until 2999-01-01)"]),
    # Another period
    (
        [{"valid_from": PAST, "valid_to": "2019-01-01"}],
        {"valid_from": PRESENT},
        ["owns (from 2018-01-01 until 2019-01-01)", "owns (since 2021-05-01)"],
    ),
    ([{"valid_to": PAST}], {"valid_from": PAST}, ["owns (since 2018-01-01)", "owns (until 2018-01-01)"]),
    ([{"valid_from": PRESENT}], {"valid_to": PAST}, ["owns (since 2021-05-01)", "owns (until 2018-01-01)"]),
    (
        [{"valid_to": PAST}, {"valid_from": PRESENT}],
        {},
        ["owns (since 2021-05-01)", "owns (until 2018-01-01)"],
    ),
    # What would lose history
    ([{"valid_to": PRESENT}], {}, "stored as no longer true (until 2021-05-01): give valid_from"),
    ([{"valid_to": PRESENT}], {"valid_from": PAST}, "stored as no longer true (until 2021-05-01)"),
    (
        [{"valid_from": PAST, "valid_to": PRESENT}],
        {"valid_from": PAST},
        "stored as no longer true (from 2018-01-01 until 2021-05-01)",
    ),
    ([{"valid_from": PAST}], {"valid_from": PRESENT}, "stored already (since 2018-01-01), and cannot hold since 2021"),
    ([{"valid_from": PRESENT}], {"valid_from": PAST}, "the periods of a fact do not overlap"),
    ([{"valid_from": PAST}], {"valid_to": PRESENT}, "the periods of a fact do not overlap"),
]


@pytest.mark.parametrize("tell", [triple, link])
async def test_what_is_stated_again_keeps_history_or_says_why_not(tell: Tell, kb: KnowledgeBase) -> None:
    for number, (before, then, after) in enumerate(SEVERAL):
        for times in before:
            await tell(kb, **times)
        stored = await periods(kb)
        if isinstance(after, str):
            with pytest.raises(InvalidInputError) as caught:
                await tell(kb, **then)
            assert after in str(caught.value), number
            assert await periods(kb) == stored, number
        else:
            await tell(kb, **then)
            assert await periods(kb) == after, number
        await kb.unlink(ADA, MILL)


async def test_facts_that_are_stated_together_are_told_apart(kb: KnowledgeBase) -> None:
    def owns(**times: str) -> dict[str, str]:
        return {"subject": ADA, "relation": "owns", "object": MILL, **times}

    first, later = owns(valid_from=PAST, valid_to="2019-01-01"), owns(valid_from=PRESENT)
    assert await kb.add_triples([owns(), first, later, later]) == 3
    assert await periods(kb) == ["owns (from 2018-01-01 until 2019-01-01)", "owns (since 2021-05-01)"]
    stored = await periods(kb)
    with pytest.raises(InvalidInputError, match="do not overlap"):
        await kb.add_triples([(BOB, "likes", MILL), owns(valid_from="2018-06-01")])
    assert await periods(kb) == stored
    assert BOB not in {node.name for node in (await kb.entities())[0]}, "nothing is stored then"


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ({"valid_from": "yesterday"}, "valid_from: 'yesterday' is not a time in ISO 8601.*A date is enough"),
        ({"valid_to": "2019"}, "valid_to: '2019' does not say when .*: 2019-01-01 if .* 2020-01-01 if it held until"),
        ({"valid_to": "2019-12"}, "valid_to: '2019-12' does not say when .*: 2019-12-01 if .* 2020-01-01 if it held"),
        ({"valid_to": "2019-13"}, "valid_to: '2019-13-01' is not a time"),
        ({"valid_to": "9999"}, "valid_to: '9999' is not a time"),
        ({"valid_from": "2019-13"}, "valid_from: '2019-13-01' is not a time"),
        ({"valid_from": 2019}, "valid_from: A time must be a datetime, a date or ISO 8601 text, not int"),
        ({"valid_from": PAST, "valid_to": PAST}, r"valid_from \(2018-01-01\) has to be before valid_to \(2018-01-01\)"),
    ],
)
async def test_times_that_are_none_are_refused(kb: KnowledgeBase, times: Any, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        await kb.link(ADA, MILL, "owns", create=True, **times)
    with pytest.raises(InvalidInputError, match=re.sub(r"^(valid_\w+)", r"\1 of triple 1", says)):
        await kb.add_triples([{"subject": ADA, "relation": "owns", "object": MILL, **times}])
    assert (await kb.entities())[0] == []


async def test_a_year_or_a_month_begins_with_its_first_day_and_is_all_of_it_for_a_read(kb: KnowledgeBase) -> None:
    await kb.link(ADA, MILL, "owns", valid_from="2018", valid_to="2021-05-01", create=True)
    await kb.link(BOB, MILL, "owns", valid_from="2021-05", create=True)
    assert await periods(kb) == ["owns (from 2018-01-01 until 2021-05-01)"]
    assert await periods(kb, BOB) == ["owns (since 2021-05-01)"]
    for at, owners in {
        "2017": [],
        "2018": [ADA],
        "2021": [ADA, BOB],
        "2021-04": [ADA],
        "2021-05": [BOB],
        "2021-12": [BOB],
        "9999": [BOB],
    }.items():
        assert sorted(node.name for node in (await kb.neighbors(MILL, at=at)).nodes) == owners, at
        path = await kb.shortest_path(ADA, MILL, at=at)
        assert (path is not None) == (ADA in owners), at
    assert await kb.unlink(BOB, MILL, ended="2024-02-01") == 1
    assert [node.name for node in (await kb.neighbors(MILL, at="2024-01")).nodes] == [BOB]
    assert (await kb.neighbors(MILL, at="2024-02")).nodes == []
    with pytest.raises(InvalidInputError, match="at: '2019-00-01' is not a time"):
        await kb.neighbors(MILL, at="2019-00")


async def test_links_of_concepts_have_no_times(kb: KnowledgeBase) -> None:
    for name in ("tide", "ebb"):
        await kb.create_or_get_concept(name)
    await kb.link("tide", "ebb")
    with pytest.raises(InvalidInputError, match="no times"):
        await kb.link("tide", "ebb", valid_from=PAST)
    with pytest.raises(InvalidInputError, match="no times"):
        await kb.unlink("tide", "ebb", ended=PAST)
    with pytest.raises(InvalidInputError, match="at: 'never' is not a time"):
        await kb.neighbors("tide", at="never")
    assert [node.name for node in (await kb.neighbors("tide", at=PAST)).nodes] == ["ebb"]


async def test_each_period_is_supported_by_its_own_chunks(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a.md", "Ada Lane bought Harrow Mill."), Document("b.md", "It is hers again.")])
    rows = await kb.client.read("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace RETURN c.path AS p, c.id AS id")
    chunks = {row["p"]: [row["id"]] for row in rows}
    owns = {"subject": ADA, "relation": "owns", "object": MILL}
    await kb.add_triples(
        [
            {**owns, "valid_from": PAST, "valid_to": "2019-01-01", "chunk_ids": chunks["a.md"]},
            {**owns, "valid_from": PRESENT, "chunk_ids": chunks["b.md"]},
        ]
    )
    await kb.delete("a.md")
    assert await periods(kb) == ["owns (since 2021-05-01)"]


async def test_an_export_has_periods_and_an_import_joins_them(mill: KnowledgeBase, tmp_path: Path) -> None:
    await mill.export(tmp_path / "mill.jsonl")
    async with KnowledgeBase.open("embedded::memory:", namespace=mill.namespace) as other:
        await other.link(ADA, MILL, "owns", valid_from="2023-01-01", create=True)
        await other.import_(tmp_path / "mill.jsonl")
        assert await periods(other) == ["owns (from 2018-01-01 until 2021-05-01)", "owns (since 2023-01-01)"]
        assert (await other.doctor()).healthy
    async with KnowledgeBase.open("embedded::memory:", namespace=mill.namespace) as fresh:
        await fresh.import_(tmp_path / "mill.jsonl")
        assert await periods(fresh, MILL, at=None) == ["owns (since 2021-05-01)", "works_at"]


async def test_a_graph_without_times_is_read_by_the_same_statements_as_ever(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kb.client.delete_everything()  # on a server, another test may have had it
    await kb.link(ADA, MILL, "owns", create=True)
    statements = listen(monkeypatch)
    await kb.neighbors(MILL)
    await kb.ask_context(MILL)
    assert statements and not any("valid_" in statement for statement in statements)
    await kb.link(ADA, MILL, "owns", valid_from=PAST)
    await kb.neighbors(MILL)
    assert any("valid_" in statement for statement in statements)


async def test_a_deleted_namespace_leaves_no_note_of_its_times(mill: KnowledgeBase) -> None:
    marks = "MATCH (m:SchemaVersion) WHERE m.id STARTS WITH 'dated' RETURN count(m) AS n"
    before = (await mill.client.read(marks))[0]["n"]
    await mill.delete_namespace(mill.namespace)
    assert (await mill.client.read(marks))[0]["n"] == before - 1
    await mill.link(ADA, MILL, "owns", valid_to=PAST, create=True)
    assert await periods(mill, at=None) == []
