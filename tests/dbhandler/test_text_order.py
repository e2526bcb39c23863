"""Pages by name, of names with characters that engines do not compare alike: emoji, and what is wider than usual."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.rag import KnowledgeBase
from tests.dbhandler.kit import Engine
from tests.embedders import HashEmbedder

NAMES = ["（株）灯台", "ab", "Ａ棟", "z", "😀 day", "𠮷野家", "😁", "\ue000"]


@pytest.fixture
async def kb(engine: Engine) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(
        engine.uri,
        username=engine.username,
        password=engine.password,
        namespace=engine.namespace(),
        embedder=HashEmbedder(),
    ) as opened:
        yield opened


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("folder", ["", "日報／"])
async def test_documents_are_listed_once_each(kb: KnowledgeBase, limit: int, folder: str) -> None:
    for name in NAMES:
        await kb.client.create_document(folder + name, name)
    for listing in (kb.client.list_documents, kb.documents):
        paths: list[str] = []
        while page := await listing(prefix=folder, limit=limit, after=paths[-1] if paths else ""):
            paths += [row["path"] for row in page]
        assert paths == sorted(folder + name for name in NAMES)


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_entities_and_neighbours_are_listed_once_each(kb: KnowledgeBase, limit: int) -> None:
    for name in NAMES:
        await kb.link(name, "hub", "near", create=True)
    for order in ("name", "mentions"):
        names: list[str] = []
        after = ""
        while True:
            entities, after = await kb.entities(limit=limit, after=after, order=order)
            names += [node.name for node in entities]
            if not after:
                break
        assert names == sorted([*NAMES, "hub"]), order
    names = []
    while True:
        page = await kb.neighbors("hub", limit=limit, after=after)
        names += [node.name for node in page.nodes]
        if not (after := page.next):
            break
    assert names == sorted(NAMES)


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_users_are_listed_once_each(kb: KnowledgeBase, limit: int) -> None:
    for name in NAMES:
        await kb.client.create_or_get_user(name)
    users: list[str] = []
    while page := await kb.users(limit, after=users[-1] if users else ""):
        users += [user["id"] for user in page]
    assert users == sorted(NAMES)
