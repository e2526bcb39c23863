"""The same operations give the same graph and the same results: on the model, and on any two engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from core.rag.dbhandler.store import Match
from tests.dbhandler.congruence import (
    DIMENSION,
    Commit,
    FindNear,
    FindPath,
    FindWords,
    Indexes,
    Model,
    Operation,
    Reopen,
    check_near,
    check_path,
    check_words,
    commit,
    dump,
    operations,
    scores_are_comparable,
)
from tests.dbhandler.kit import BOLT_URI, ENGINES, Corner, Engine, eventually

#: A server takes a hundred times longer for each.
EXAMPLES = 6 if BOLT_URI else 25

sequences = st.lists(operations, min_size=3, max_size=20)


class Subject:
    """An engine under test, beside the model of what it should hold."""

    def __init__(self, corner: Corner, indexes: Indexes) -> None:
        self.corner = corner
        self.indexes = indexes
        self.model = Model()

    @classmethod
    async def make(cls, engine: Engine) -> Subject:
        corner = Corner(engine, await engine.open())
        await corner.store.ensure_schema()
        return cls(corner, Indexes(await corner.text_index(), await corner.vector_index(DIMENSION)))

    async def do(self, operation: Operation) -> Any:
        """Do it and compare with the model; returns what an answer is about, for comparison with another engine."""
        corner, model = self.corner, self.model
        match operation:
            case Commit():
                self.model = await commit(corner, self.indexes, operation, model)
                return None
            case Reopen():
                if corner.engine.persistent:
                    await corner.store.close()
                    corner.store = await corner.engine.open()
                return None
            case FindWords(terms, k):
                found = await self.searched(
                    lambda: corner.store.text_search(self.indexes.text, dict(terms), k),
                    lambda matches: check_words(corner, operation, matches, model),
                )
                comparable = scores_are_comparable(corner, model)
                return [round(match.score, 3) for match in found] if comparable else len(found)
            case FindNear(query, k):
                found = await self.searched(
                    lambda: corner.store.vector_search(self.indexes.vectors, query, k),
                    lambda matches: check_near(corner, operation, matches, model),
                )
                return [round(match.score, 3) for match in found]
            case FindPath(start, end, types, depth):
                path = await corner.store.shortest_path(
                    corner.id(start[1]),
                    corner.id(end[1]),
                    edge_types=types,
                    max_depth=depth,
                    namespace=corner.namespace,
                )
                check_path(corner, operation, path, model)
                return None if path is None else len(path)

    async def searched(self, search: Any, check: Any) -> Sequence[Match]:
        """What a search gives once its index has followed; ``check`` raises until then."""

        def right(matches: Sequence[Match]) -> bool:
            try:
                check(matches)
            except AssertionError:
                return False
            return True

        if self.corner.engine.embedded:
            matches: Sequence[Match] = await search()
        else:
            matches = await eventually(search, right)
        check(matches)
        return matches

    async def end(self) -> Model:
        """Compare everything with the model and clean up; returns what the engine held."""
        found = await dump(self.corner)
        assert found == self.model
        await self.corner.clean()
        assert await dump(self.corner) == Model()
        return found


@asynccontextmanager
async def subject_on(engine: Engine) -> AsyncIterator[Subject]:
    subject = await Subject.make(engine)
    try:
        yield subject
    finally:
        await subject.corner.store.close()


@pytest.fixture
async def reference() -> Engine:
    """What other engines are compared with."""
    return Engine("embedded::memory:")


@hypothesis_settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sequences)
async def test_an_engine_does_what_the_model_does(engine: Engine, sequence: list[Operation]) -> None:
    async with subject_on(engine) as subject:
        for operation in sequence:
            await subject.do(operation)
        await subject.end()


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "embedded-memory"], indirect=True)
@hypothesis_settings(
    max_examples=EXAMPLES // 2,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sequences)
async def test_two_engines_do_the_same(engine: Engine, reference: Engine, sequence: list[Operation]) -> None:
    async with subject_on(reference) as one, subject_on(engine) as other:
        for operation in sequence:
            expected, answer = await one.do(operation), await other.do(operation)
            if type(answer) is type(expected):  # else scores of words count in one of them only
                assert answer == expected
        assert await one.end() == await other.end()
