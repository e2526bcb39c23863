"""While documents are ingested, Python looks for cycles of garbage less often; before and after, as it did."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator

import pytest

from core.rag import KnowledgeBase
from core.rag.indexing.collecting import collected_seldom
from libs.dataloader import Document

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.enable()
    gc.set_threshold(*before)


async def test_an_ingest_puts_it_back() -> None:
    during = []

    async def documents() -> AsyncIterator[Document]:
        yield Document(path="mill.md", content="The mill grinds.")
        during.append(gc.get_threshold())

    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest(documents())

    assert during[0] > USUAL
    assert gc.get_threshold() == USUAL


async def test_an_ingest_that_fails_puts_it_back() -> None:
    async def documents() -> AsyncIterator[Document]:
        yield Document(path="mill.md", content="The mill grinds.")
        raise RuntimeError("no more")

    async with KnowledgeBase.open("embedded::memory:") as kb:
        with pytest.raises(RuntimeError, match="no more"):
            await kb.ingest(documents())

    assert gc.get_threshold() == USUAL


def test_of_ingests_that_overlap_the_last_one_puts_it_back() -> None:
    first, second = collected_seldom(), collected_seldom()
    with first:
        second.__enter__()
    assert gc.get_threshold() > USUAL
    second.__exit__(None, None, None)
    assert gc.get_threshold() == USUAL


@pytest.mark.parametrize("own", [(0, 10, 10), (200_000, 5, 5)])
def test_what_the_program_has_set_itself_stays(own: tuple[int, int, int]) -> None:
    gc.set_threshold(*own)
    with collected_seldom():
        assert gc.get_threshold() == own
    assert gc.get_threshold() == own


def test_what_the_program_sets_meanwhile_stays() -> None:
    with collected_seldom():
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)
