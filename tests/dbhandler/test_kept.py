"""The cache of what is computed from namespaces does not grow with their number."""

from __future__ import annotations

import pytest

from core.rag import MemGraphClient
from core.rag.dbhandler.kept import Kept
from core.rag.schema import Label
from tests.dbhandler.kit import Engine


async def test_only_the_namespaces_that_were_used_last_are_kept(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.rag.dbhandler.kept.MOST", 3)
    kept: Kept[str] = Kept({Label.DOCUMENT}, "MATCH (d:Document) WHERE d.namespace = $namespace RETURN count(d) AS n")
    made: list[str] = []

    async def value(number: int) -> str:
        async def make() -> str:
            made.append(name)
            return name

        name = names[number]
        return await kept.get(client.in_namespace(name), make)

    names = [engine.namespace() for _ in range(4)]
    async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=names[0]) as client:
        for number in (0, 1, 2, 0, 3, 0, 1):
            assert await value(number) == names[number]
    assert made == [names[number] for number in (0, 1, 2, 3, 1)]


async def test_without_statements_any_write_to_the_labels_counts_as_a_change(engine: Engine) -> None:
    kept: Kept[int] = Kept({Label.DOCUMENT})
    async with MemGraphClient(engine.uri, engine.username, engine.password, namespace=engine.namespace()) as client:

        async def count() -> int:
            return int(
                (await client.read("MATCH (d:Document) WHERE d.namespace = $namespace RETURN count(d) AS n"))[0]["n"]
            )

        assert await kept.get(client, count) == 0
        for number in (1, 2):
            await client.create_document(f"notes/{number}.md", "Text", f"Note {number}")
            assert [await kept.get(client, count) for _ in range(2)] == [number, number]
