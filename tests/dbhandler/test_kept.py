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


async def test_on_a_server_a_check_that_takes_long_is_made_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that takes longer than the patience would have everything checked again within itself."""
    clock = _Clock()
    monkeypatch.setattr("core.rag.dbhandler.kept.time", clock)
    graph = _Graph(clock)
    kept: Kept[int] = Kept({Label.ENTITY}, "MATCH (e:Entity) RETURN count(e) AS n", patience=1.0)

    async def checks_after(seconds: float, took: float) -> int:
        clock.now += seconds
        graph.took, before = took, graph.checks
        await kept.get(graph, graph.count)  # type: ignore[arg-type]
        return graph.checks - before

    assert await checks_after(0.0, took=0.01) == 1
    assert await checks_after(1.5, took=0.4) == 1  # the last one was quick
    assert await checks_after(1.5, took=0.4) == 0  # this was not
    assert await checks_after(7.0, took=10.0) == 1
    assert await checks_after(45.0, took=0.01) == 0
    assert await checks_after(10.0, took=0.01) == 1  # never later than after a minute


class _Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


class _Graph:
    """A client, and a store that others write to, too; to ask it takes a while."""

    namespace = "default"
    shared = True

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        self.took = 0.0
        self.checks = 0
        self.capabilities = self

    async def connect(self) -> _Graph:
        return self

    def commits(self, _: object) -> int:
        return 0

    async def read(self, _: str) -> list[dict[str, int]]:
        self.clock.now += self.took
        self.checks += 1
        return [{"n": 1}]

    async def count(self) -> int:
        return 1
