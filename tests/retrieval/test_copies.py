"""Copies of a passage give way to other passages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from core.rag import KnowledgeBase
from core.rag.reranker import Reranker
from core.rag.retrieval.hits import MODES, SearchMode
from libs.dataloader import Document
from tests.dbhandler.kit import Engine

WHEEL = (
    "The wheel of the tide mill is built of oak and turns eleven times a minute when the ebb is at its strongest. It "
    "was replaced in 1825, and again in 1931, when the miller's sons brought the timber down the river on two barges."
)
OTHERS = {
    "notes/stones.md": (
        "The burr stones",
        "Two pairs of burr stones of the mill came from France. The wheel turns one.",
    ),
    "notes/pond.md": ("The mill pond", "The pond of the mill holds water for four hours. Then the wheel stands still."),
    "notes/museum.md": ("The museum", "The museum has the bearing of the wheel, a shell of bronze from the mill."),
}
BY_CONTENT = tuple(mode for mode in MODES if mode != "fuzzy")
COPIES = ("backup/wheel.md", "backup/2019/wheel.md", "wiki/the-wheel.md")


def _few() -> list[Document]:
    documents = [Document(path="docs/wheel.md", content=WHEEL, title="The mill wheel")]
    documents += [Document(path=path, content=WHEEL, title=f"The mill wheel {path}") for path in COPIES]
    return documents + [Document(path=path, content=text, title=title) for path, (title, text) in OTHERS.items()]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with engine.knowledge() as opened:
        await opened.ingest(_few())
        yield opened


@pytest.mark.parametrize("mode", BY_CONTENT)
async def test_a_text_is_one_hit_of_few(kb: KnowledgeBase, mode: SearchMode) -> None:
    hits = await kb.search("the wheel of the mill", k=4, mode=mode)
    assert len({hit.content for hit in hits}) == len(hits) == 4
    wheel = next(hit for hit in hits if hit.content == WHEEL)
    assert sorted([wheel.path, *wheel.also_in]) == sorted(["docs/wheel.md", *COPIES])
    assert all(hit.also_in == [] for hit in hits if hit is not wheel)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("mode", BY_CONTENT)
async def test_copies_are_hits_if_there_is_room(kb: KnowledgeBase, mode: SearchMode) -> None:
    hits = await kb.search("the wheel of the mill", k=20, mode=mode)
    assert sorted(hit.path for hit in hits) == sorted(["docs/wheel.md", *COPIES, *OTHERS])
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    six = await kb.search("the wheel of the mill", k=6, mode=mode)
    assert sum(hit.content == WHEEL for hit in six) == 3
    assert {hit.path for hit in six} > OTHERS.keys()


@pytest.mark.parametrize("mode", BY_CONTENT)
async def test_the_only_hit_names_its_copies(kb: KnowledgeBase, mode: SearchMode) -> None:
    (hit,) = await kb.search("the wheel is built of oak and turns eleven times a minute", k=1, mode=mode)
    assert sorted([hit.path, *hit.also_in]) == sorted(["docs/wheel.md", *COPIES])


@pytest.mark.parametrize("mode", ["auto", "hybrid", "keyword"])
async def test_hundreds_of_copies_leave_room_for_others(engine: Engine, mode: SearchMode) -> None:
    async with engine.knowledge() as kb:
        many = [Document(path=f"packages/{number}/wheel.md", content=WHEEL, title="Wheel") for number in range(240)]
        await kb.ingest([*many, *_few()])
        hits = await kb.search("the wheel of the mill", k=4, mode=mode)
        wheel = next(hit for hit in hits if hit.content == WHEEL)
        assert {hit.path for hit in hits if hit is not wheel} == OTHERS.keys()
        assert len(wheel.also_in) == 240 + len(COPIES)


async def test_only_copies_that_pass_a_filter_are_named(kb: KnowledgeBase) -> None:
    first, second = await kb.search("the wheel of the mill", k=2, mode="keyword", filters="path:backup/")
    assert {first.path, second.path} == {"backup/wheel.md", "backup/2019/wheel.md"}
    assert (first.also_in, second.also_in) == ([second.path], [])


async def test_a_name_finds_each_file_that_has_it(kb: KnowledgeBase) -> None:
    hits = await kb.search("the mill wheel", k=4, mode="fuzzy")
    assert sorted(hit.path for hit in hits) == sorted(["docs/wheel.md", *COPIES])


async def test_a_short_text_says_something_of_its_own_document(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        museums = {f"museums/{name}.md": name for name in ("Harrow", "Ebbing", "Selby")}
        closed = [Document(path=path, content="Closed on Mondays.", title=title) for path, title in museums.items()]
        await kb.ingest([*closed, Document(path="fair.md", content="The fair is on Mondays in May.", title="Fair")])
        hits = await kb.search("closed on mondays", k=3, mode="keyword")
        assert {hit.path for hit in hits} == museums.keys()
        assert all(hit.also_in == [] for hit in hits)


async def test_a_text_under_another_heading_is_no_copy(engine: Engine) -> None:
    async with engine.knowledge() as kb:
        licence = " ".join(f"Clause {number} of the licence is the same for all parts of it." for number in range(8))
        parts = "\n\n".join(f"# {name}\n\n{licence}" for name in ("Engine", "Driver"))
        await kb.ingest([Document(path="licences.md", content=parts, title="Licences", mime_type="text/markdown")])
        hits = await kb.search("clause of the licence", k=2, mode="keyword")
        assert {hit.heading for hit in hits} == {"Engine", "Driver"}


class _Oak(Reranker):
    """Prefers the copies, which have the word."""

    model = "oak"

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float("oak" in text) for text in texts]

    async def close(self) -> None: ...


async def test_a_reranker_brings_no_copies_back(engine: Engine) -> None:
    async with engine.knowledge(reranker=_Oak()) as kb:
        await kb.ingest(_few())
        hits = await kb.search("the wheel of the mill", k=4, mode="hybrid")
        assert hits[0].content == WHEEL
        assert {hits[0].path, *hits[0].also_in} == {"docs/wheel.md", *COPIES}
        assert {hit.path for hit in hits[1:]} == OTHERS.keys()


@pytest.mark.parametrize("expand", [0, 1])
async def test_ratings_bring_no_copies_back(kb: KnowledgeBase, expand: int) -> None:
    query = "the wheel of the mill"
    rated = COPIES[1]
    await kb.feedback(rated, 1.0, query)
    hits = await kb.search(query, k=4, mode="keyword", expand=expand)
    wheel = next(hit for hit in hits if hit.content == WHEEL)
    assert wheel.path == rated  # the copy that was found helpful
    assert {wheel.path, *wheel.also_in} == {"docs/wheel.md", *COPIES}
    assert {hit.path for hit in hits if hit is not wheel} == OTHERS.keys()
    assert len(await kb.search(query, k=4, mode="fuzzy")) == 4


async def test_what_only_quotes_a_text_gives_way_to_it(engine: Engine) -> None:
    marked = "\n".join(f"> {line}" for line in WHEEL.replace("It was", "It\nwas").split("\n"))
    twice = "\n".join(f"> {line}" for line in marked.split("\n"))
    quoting = {"a.eml": f"Ada wrote:\n\n{marked}", "b.eml": f"On Monday, Ada wrote:\n{marked}", "c.eml": twice}
    mails = [Document(path=path, content=text, title="Re: The mill") for path, text in quoting.items()]
    reply = Document(path="d.eml", content=f"{marked}\n\nThe third time the wheel was replaced by us, in 1987.")
    async with engine.knowledge() as kb:
        await kb.ingest([*_few()[:1], *_few()[4:], *mails, reply])
        hits = await kb.search("the wheel of the mill", k=5, mode="keyword")
        every = await kb.search("the wheel of the mill", k=20, mode="keyword")
    assert {hit.path for hit in hits} == {"docs/wheel.md", "d.eml", *OTHERS}
    assert sorted(next(hit.also_in for hit in hits if hit.content == WHEEL)) == ["a.eml", "b.eml", "c.eml"]
    assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    assert {hit.path for hit in every} == {hit.path for hit in hits} | quoting.keys()
