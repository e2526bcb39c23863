"""A graph says with which schema it was written, and code that does not know that schema leaves it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.embedded import engine as grafeo_engine
from core.rag.dbhandler.embedded.digest import digest_of_file
from core.rag.errors import StoreUnavailableError
from core.rag.schema import SCHEMA_VERSION


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    file = tmp_path / "graph.grafeo"
    async with MemGraphClient(f"embedded:{file}") as client:
        await client.create_document("a", "Alpha.")
    return file


def run(file: Path, statement: str) -> list[dict[str, Any]]:
    handles = [grafeo_engine.open_engine(file)]
    rows = list(handles[0].execute_cypher(statement))
    grafeo_engine.close_engine(handles)
    return rows


def version(file: Path) -> list[int]:
    return [row["version"] for row in run(file, "MATCH (v:SchemaVersion) RETURN v.version AS version")]


async def test_what_is_stored_says_with_which_schema(file: Path) -> None:
    assert version(file) == [SCHEMA_VERSION]


async def test_a_graph_of_newer_code_is_refused_and_left_as_it_is(file: Path) -> None:
    run(file, f"MATCH (v:SchemaVersion) SET v.version = {SCHEMA_VERSION + 1}")
    before = digest_of_file(file)
    with pytest.raises(StoreUnavailableError, match=r"graph\.grafeo was written by a newer .* Update this one"):
        async with MemGraphClient(f"embedded:{file}") as client:
            await client.create_document("b", "Beta.")
    assert digest_of_file(file) == before
    run(file, f"MATCH (v:SchemaVersion) SET v.version = {SCHEMA_VERSION}")  # it was let go of


async def test_a_graph_from_before_the_mark_is_marked_when_it_is_written_to(file: Path) -> None:
    run(file, "MATCH (v:SchemaVersion) DELETE v")
    async with MemGraphClient(f"embedded:{file}") as client:
        assert await client.find_document("a") is not None
    assert version(file) == []
    async with MemGraphClient(f"embedded:{file}") as client:
        await client.create_document("b", "Beta.")
        assert list(await client.namespaces()) == ["default"]
        assert (await client.counts())["nodes"] == {"Document": 2}
    assert version(file) == [SCHEMA_VERSION]
