"""Models that cannot be used are told by the doctor, which examines the graph all the same."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from core.rag.maintenance.doctor import examine
from tests.maintenance.conftest import documents, opened

SMALL = "BAAI/bge-small-en-v1.5"


@pytest.fixture
async def built(file: Path) -> str:
    """The address of a graph that is closed."""
    async with opened(file) as kb:
        await kb.ingest(documents())
    return f"embedded:{file}"


@pytest.mark.parametrize(
    ("model", "told"), [(SMALL, "cannot be loaded from"), ("bge-smal-en-v1.5", f"for example {SMALL}")]
)
async def test_a_model_that_cannot_be_loaded(
    model: str, told: str, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MGRAG_EMBEDDING_PATH", str(tmp_path))
    report = await examine(built, model=f"fastembed:{model}")
    found = {check.name: check.message for check in report.checks if check.level == "problem"}
    assert told in found.pop("embedding model")
    assert [*found] == ["default: model"] and "It was built with words" in found["default: model"]
    examined = {check.name: check.level for check in report.checks}
    assert (examined["database"], examined["default: chunks"], examined["indexes"]) == ("ok", "ok", "ok")


async def test_a_provider_that_cannot_be_reached(built: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MGRAG_EMBEDDING_RETRY_DEADLINE", "0")
    report = await examine(built, model="words")
    found = {check.name: check.message for check in report.checks if check.level == "problem"}
    assert [*found] == ["embedding model"]  # the graph was built with a model of this name


async def test_the_package_of_the_language_model_is_missing(built: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "openai" else find(name, *rest)
    )
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("MGRAG_LLM_MODEL", "gpt")
    report = await examine(built)
    told = [check.message for check in report.checks if check.name == "language model"]
    assert told and "pip install 'memgraph-rag[openai]'" in told[0] and not report.healthy
