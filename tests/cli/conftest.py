"""A graph made once by the command itself; each test works on a copy, in an environment of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.rag.dbhandler.embedded.digest import Digest, digest_of_file
from tests.cli.command import Command
from tests.fakes.openai_chat import Chat
from tests.fakes.openai_server import OpenAIServer, in_thread

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
VARIABLES = ("MEMGRAPH_", "MGRAG_", "OPENAI_", "AZURE_OPENAI_")


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``corpus/`` and the graph file that was made of it."""
    folder = tmp_path_factory.mktemp("ingested")
    shutil.copytree(CORPUS, folder / "corpus")
    done = Command(folder)("ingest", "corpus", "--db", "graph.grafeo")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no settings."""
    import os

    for name in list(os.environ):
        if name.startswith(VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def mgrag(bare: Path) -> Command:
    """The command, where nothing was ingested yet."""
    return Command(bare)


@pytest.fixture
def graph(ingested: Path, bare: Path) -> Path:
    """A graph file of one's own, where commands look for it by default; the corpus lies beside."""
    target = bare / ".mgrag" / "graph.grafeo"
    target.parent.mkdir()
    shutil.copyfile(ingested / "graph.grafeo", target)
    (bare / "corpus").symlink_to(ingested / "corpus")
    return target


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch, bare: Path) -> Iterator[Chat]:
    """A language model that the settings name."""
    server = OpenAIServer()
    talking = Chat(server)
    with in_thread(server):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("MGRAG_LLM_MODEL", "m")
        monkeypatch.setenv("MGRAG_LLM_RETRY_DEADLINE", "0")
        talking.server = server  # type: ignore[attr-defined]
        yield talking


@pytest.fixture(scope="session")
def digest(ingested: Path) -> Digest:
    """What the graph holds."""
    return digest_of_file(ingested / "graph.grafeo")


@pytest.fixture
def unchanged(graph: Path, digest: Digest) -> Iterator[Path]:
    """The graph holds the same afterwards."""
    yield graph
    assert digest_of_file(graph) == digest
