"""The indexes of names and relations after changes: the same as those that are made anew."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rag.answering.graph_index import index as graph_index
from core.rag.answering.graph_index.merging import Merge
from core.rag.answering.graph_index.texts import Texts
from core.rag.answering.graph_index.trigrams import TrigramIndex
from core.rag.dbhandler.knowledge.validity import Validity
from core.rag.errors import NotFoundError
from libs.dataloader import Document
from tests.answering.drift_graph import put_entities
from tests.dbhandler.kit import Engine
from tests.graphs import listen

NAMES = ("Ada Lane", "Harrow Mill", "Ebb", "the Übersee-Mühle", "", "C++", "潮汐 mill", "O'Brien\nand Sons", "a_b")
IN_2020 = "2020-01-01T00:00:00.000000Z"
ASKED = ("mill", "ada", "a", "lane harrow", "müh", "潮", "obrien", "b")


def looked_at(texts: Texts) -> Any:
    return (
        texts.lengths,
        [texts.containing(part) for part in ASKED],
        [texts.with_accents(part) for part in (*ASKED, "the ubersee muhle", "obrien and sons")],
        [texts.similarities([part]).tolist() for part in ASKED],
        texts.similar(ASKED, 5, 0.1),
    )


@given(
    st.dictionaries(st.integers(0, 30), st.sampled_from(NAMES), max_size=12),
    st.lists(st.dictionaries(st.integers(0, 30), st.sampled_from(NAMES) | st.none(), max_size=6), max_size=4),
)
def test_changed_texts_are_those_that_are_prepared_anew(named: dict[int, str], steps: list[Any]) -> None:
    named = dict(sorted(named.items()))
    texts = Texts(list(named.values()))
    for step in steps:
        new = {key: name for key, name in sorted(step.items()) if name is not None}
        keys = list(named)
        gone = [place for place, key in enumerate(keys) if key in step]
        before = [sum(other < key for other in keys) for key in new]
        texts = texts.renewed(Merge(len(keys), gone, before), list(new.values()))
        named = dict(sorted(({key: name for key, name in named.items() if key not in step} | new).items()))
        assert looked_at(texts) == looked_at(Texts(list(named.values())))


def test_trigrams_of_a_word_do_not_depend_on_what_is_around_it() -> None:
    texts = ["", "mill", " ", "mill\nmill", "_mill_", "ab", "b\ta", "²x", "﹏é́", "漢字", "\U0001d400 \ud800"]
    together = TrigramIndex(texts)
    for text in texts:
        assert together.similarities(text).tolist() == [TrigramIndex([one]).similarities(text)[0] for one in texts]
    assert together.similarities("mill").tolist()[:5] == [0, 1, 0, 1, 1]


async def seen(index: graph_index.GraphIndex) -> Any:
    facts = [index.facts.fact(place, "pattern") for place in range(len(index.facts))]
    return (
        index.entity_ids,
        index.called,
        looked_at(index.names),
        facts,
        index.facts.similar(["owns", "runs"], 9, 0.1),
        sorted(index.facts.unseen(Validity(dated=True, windows=((IN_2020, IN_2020),)))),
    )


@pytest.mark.parametrize("renewals", [500, 3])
async def test_an_index_is_after_any_change_what_it_would_be_anew(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, renewals: int
) -> None:
    monkeypatch.setattr(graph_index, "_MOST_RENEWALS", renewals)
    choose = random.Random(5)
    people, places = ("Ada Lane", "Bob Reed", "Cem Orhan"), ("Harrow Mill", "Tide Café", "Long Pond")
    async with engine.knowledge() as kb:
        await kb.ingest([text(f"start/{number}", f"{name} stands there.") for number, name in enumerate(places * 4)])
        first = await graph_index.graph_index(kb.client)
        for step in range(60):
            person, place = choose.choice(people), choose.choice(places)
            match choose.randrange(9):
                case 0 | 1:
                    spelt = choose.choice([place, place.upper(), f"{place} Number {step}"])
                    await kb.ingest([text(f"d{choose.randrange(4)}", f"On Monday {person} saw {spelt} from afar.")])
                case 2:
                    with contextlib.suppress(NotFoundError):
                        await kb.delete(f"d{choose.randrange(4)}")
                case 3:
                    await kb.link(person, place, choose.choice(["owns", "runs"]), create=True)
                case 4:
                    await kb.insert("staff", {"id": choose.randrange(3), "name": person, "team": place})
                case 5:
                    with contextlib.suppress(NotFoundError):
                        await kb.unlink(person, place, "owns", ended=choose.choice([None, "2021-05-01"]))
                case 6:
                    fact = {"subject": person, "relation": "runs", "object": place, "fact": f"{person} runs it {step}."}
                    await kb.add_triples([fact | choose.choice([{}, {"valid_from": "2019-01-01"}])])
                case 7 if step % 2:
                    await put_entities(kb.client, {f"Stranger {step}": ""})  # without a time
                case 7:
                    await kb.ingest([text(f"start/{choose.randrange(12)}", f"{place} has gone {step}.")])
                case _:
                    await kb.remember("s", "user", f"{person} was here {step}.")
            index = await graph_index.graph_index(kb.client)
            assert await seen(index) == await seen(await graph_index._made(kb.client)), step
        assert index is not first


async def test_a_fact_that_lost_a_chunk_is_read_again(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        await kb.ingest([text("a", "Ada Lane owns Harrow Mill."), text("b", "It is hers, one said.")])
        chunks = [(await kb.client.get_document_chunks(path))[0]["chunk_id"] for path in "ba"]
        await kb.add_triples([{"subject": "Ada", "relation": "owns", "object": "It", "chunk_ids": chunks}])
        assert (await graph_index.graph_index(kb.client)).facts.fact(0, "pattern").chunk_ids == tuple(chunks)
        await kb.delete("b")
        assert (await graph_index.graph_index(kb.client)).facts.fact(0, "pattern").chunk_ids == (chunks[1],)


@pytest.mark.parametrize("related", [True, False])
async def test_a_change_reads_what_changed_alone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, related: bool
) -> None:
    async with engine.knowledge() as kb:
        names = [f"Mill of Place{number}" for number in range(30)]
        await put_entities(kb.client, dict.fromkeys([*names, "Ada Lane"], ""))
        if related:
            await kb.link(names[3], "Ada Lane", "owned by", create=True)
        before = await graph_index.graph_index(kb.client)
        statements = listen(monkeypatch)
        await kb.ingest([text("new", "Nobody saw Ellen Marsh.")])
        index = await graph_index.graph_index(kb.client)
        assert set(index.called) - set(before.called) == {"Ellen Marsh"}
        assert [index.facts.fact(0, "pattern").target] == ["Ada Lane"] if related else not len(index.facts)
        read = [statement for statement in statements if "e.updated_at >= $last" in statement or "r.fact" in statement]
        assert len(read) == 1


def text(path: str, content: str) -> Document:
    return Document(path=path, content=content)
