"""Facts that callers state with chunks as their support."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from core.rag.errors import InvalidInputError
from libs.dataloader import Document
from tests.dbhandler.kit import Engine
from tests.extraction.graphs import knowledge

MILL = "Margaret Harrow owns a tide mill."
PAID = "It is said that she paid Silas Quint."


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge(chunk_size=16, chunk_overlap=0) as opened:
        yield opened


async def chunks(kb: KnowledgeBase, path: str) -> list[str]:
    """Ids of the chunks of a document, in order."""
    rows = await kb.client.read(
        "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.path = $path "
        "RETURN c.id AS id, c.chunk_index AS place",
        path=path,
    )
    return [row["id"] for row in sorted(rows, key=lambda row: row["place"])]


async def cited(kb: KnowledgeBase) -> dict[str, list[str]]:
    """The chunks of each fact, by what it says."""
    rows = await kb.client.read(
        "MATCH (a:Entity)-[r:RELATED]->(:Entity) WHERE a.namespace = $namespace "
        "RETURN r.type AS type, r.chunk_ids AS chunks"
    )
    return {row["type"]: row["chunks"] for row in rows}


def fact(relation: str, *ids: str) -> dict[str, object]:
    return {"subject": "Margaret Harrow", "relation": relation, "object": "Silas Quint", "chunk_ids": ids}


async def test_a_stated_fact_goes_with_the_last_chunk_that_it_cites(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a", MILL), Document("b", PAID), Document("c", "Margaret Harrow met Silas Quint.")])
    fresh = await knowledge(kb.client)
    (a,), (b,) = await chunks(kb, "a"), await chunks(kb, "b")
    await kb.add_triples([fact("paid", a, b, a), fact("knew", b), fact("met")])
    assert await cited(kb) == {"paid": [a, b], "knew": [b], "met": []}
    await kb.delete("b")
    assert await cited(kb) == {"paid": [a], "met": []}
    await kb.delete("a")
    assert await cited(kb) == {"met": []}, "what cites no chunk is the caller's own"
    await kb.unlink("Margaret Harrow", "Silas Quint")
    await kb.ingest([Document("a", MILL), Document("b", PAID)])
    assert await knowledge(kb.client) == fresh


async def test_entities_that_only_a_stated_fact_kept_go_with_it(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a", MILL), Document("b", "So Margaret Harrow met Silas Quint.")])
    await kb.add_triples([fact("paid", *await chunks(kb, "a"))])
    await kb.delete("b")
    assert "silas quint" in {row["id"] for row in (await knowledge(kb.client))["entities"]}
    await kb.delete("a")
    assert (await knowledge(kb.client))["entities"] == []


async def test_a_changed_document_keeps_facts_of_the_chunks_that_remain(kb: KnowledgeBase) -> None:
    first, second = "# Mill\n\n" + MILL + " It stands by the sea.", "# Debt\n\n" + PAID + " Nobody knows why."
    await kb.ingest([Document("a", f"{first}\n\n{second}\n", format="markdown")])
    ids = await chunks(kb, "a")
    assert len(ids) > 1
    await kb.add_triples([fact("owns", ids[0]), fact("paid", ids[-1]), fact("both", ids[0], ids[-1])])
    await kb.ingest([Document("a", f"{first}\n\n# Rest\n\nNothing more is known of them.\n", format="markdown")])
    assert ids[0] in await chunks(kb, "a")
    assert await cited(kb) == {"owns": [ids[0]], "both": [ids[0]]}


@pytest.mark.parametrize("again", ["stated", "linked"])
async def test_a_fact_that_is_stated_again_without_chunks_stays(kb: KnowledgeBase, again: str) -> None:
    await kb.ingest([Document("a", MILL)])
    await kb.add_triples([fact("paid", *await chunks(kb, "a"))])
    if again == "stated":
        await kb.add_triples([fact("paid")])
    else:
        await kb.link("Margaret Harrow", "Silas Quint", "paid")
    await kb.delete("a")
    assert await cited(kb) == {"paid": []}


async def test_chunks_that_are_not_there_are_named_and_nothing_is_stored(kb: KnowledgeBase) -> None:
    await kb.ingest([Document("a", MILL)])
    (there,) = await chunks(kb, "a")
    many = [("Margaret Harrow", f"said {number}", "Silas Quint") for number in range(600)]
    with pytest.raises(InvalidInputError, match=r"There is no chunk 'nope' in namespace .*leave them out"):
        await kb.add_triples([*many, fact("paid", there, "nope")])
    assert await cited(kb) == {}


async def test_texts_of_triples_are_cleaned_as_those_of_links_are(kb: KnowledgeBase) -> None:
    await kb.add_triples([("  A  \n 1", "  works\nat\0 ", "B\t1")])
    edge = await kb.link("A 1", "B 1", "works at")
    (only,) = (await kb.edges()).edges
    assert (only.id, only.type) == (edge.id, "works at")
    assert sorted(node.name for node in (await kb.entities())[0]) == ["A 1", "B 1"]
    with pytest.raises(InvalidInputError, match="relation of triple 1 must have 1 to 200"):
        await kb.add_triples([("A", "\0", "B")])
