"""The engines that the conformance suite runs on."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.rag.dbhandler.store import GraphStore
from tests.dbhandler.kit import ENGINES, Corner, Engine, bolt_engine_for_a_test

MEMORY_DISK = Path("/dev/shm")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Where a graph is; what a test leaves in its namespaces is removed."""
    if request.param == "bolt":
        with bolt_engine_for_a_test() as server:
            yield server
    elif request.param == "embedded-file":
        # What is stored durably is tested elsewhere; here the disk would only make a hundred tests wait.
        with tempfile.TemporaryDirectory(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else tmp_path) as folder:
            yield Engine(f"embedded:{folder}/graph.grafeo")
    else:
        yield Engine("embedded::memory:")


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[GraphStore]:
    """An open store with its schema."""
    opened = await engine.open()
    try:
        await opened.ensure_schema()
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def corner(engine: Engine, store: GraphStore) -> AsyncIterator[Corner]:
    """A namespace of the store."""
    opened = Corner(engine, store)
    yield opened
    if not engine.embedded and opened.namespace in engine.namespaces:  # else the test has done it
        await opened.clean()


@pytest.fixture
def graph_file(tmp_path: Path) -> Path:
    """Where an embedded graph can be made."""
    return tmp_path / "graph.grafeo"


@pytest.fixture
async def file_store(graph_file: Path) -> AsyncIterator[GraphStore]:
    """An open store on a file, for what only the embedded engine has."""
    opened = await Engine(f"embedded:{graph_file}").open()
    try:
        await opened.ensure_schema()
        yield opened
    finally:
        await opened.close()
