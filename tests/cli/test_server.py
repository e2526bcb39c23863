"""The command on a server: the same, and one clear line with exit code 3 where the server cannot be used."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.dbhandler.kit import Engine
from tests.servers.neo4j import Neo4jServer
from tests.servers.ports import HOST, free_port

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
CONNECT_SECONDS = 5
#: What is repeated until then is not refused soon, however busy this machine is.
REPEAT_SECONDS = 600


@pytest.fixture
def engine(server_engine: Engine) -> Engine:
    return server_engine


def use(monkeypatch: pytest.MonkeyPatch, engine: Engine, **more: str) -> None:
    """Set the variables by which the command finds the server."""
    variables = {
        "MEMGRAPH_URI": engine.uri,
        "MEMGRAPH_USERNAME": engine.username or "",
        "MEMGRAPH_PASSWORD": engine.password or "",
        "MGRAG_CONNECT_TIMEOUT": str(CONNECT_SECONDS),
        "MGRAG_RETRY_DEADLINE": str(REPEAT_SECONDS),
    }
    for name, value in {**variables, **more}.items():
        monkeypatch.setenv(name, value)


def refused(mgrag: Command, *arguments: str) -> str:
    """Run a command that fails; what it says, which is one line that comes soon."""
    started = time.monotonic()
    done = mgrag(*arguments)
    assert done.code == 3, done.err
    assert time.monotonic() - started < REPEAT_SECONDS / 2
    assert len(done.err.strip().splitlines()) == 1
    assert done.out == ""
    return done.err


@pytest.mark.bolt
def test_a_bare_host_with_a_port(mgrag: Command, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    host, _, port = engine.uri.partition("://")[2].rpartition(":")
    use(monkeypatch, engine, MEMGRAPH_URI=host, MEMGRAPH_PORT=port, MGRAG_NAMESPACE=engine.namespace())
    assert mgrag("ingest", str(CORPUS / "operations.md")).code == 0
    status = mgrag("status", "--json").json
    assert status["engine"]["engine"] in {"neo4j", "memgraph"}
    assert status["location"] == engine.uri
    assert status["nodes"]["Document"] == 1
    assert mgrag("search", "pond", "--json").json


@pytest.mark.bolt
def test_a_missing_index_is_told_and_made_again(
    mgrag: Command, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, engine, MGRAG_NAMESPACE=engine.namespace())
    assert mgrag("ingest", str(CORPUS / "operations.md")).code == 0
    before = mgrag("search", "pond", "--mode", "vector", "--json").json
    status = mgrag("status", "--json").json
    assert status["engine"]["notes"] == []
    drop_vector_index(engine, status["vector_stores"][0]["index_name"])
    (note,) = mgrag("status", "--json").json["engine"]["notes"]
    assert "the client compares the vectors itself" in note
    assert note in " ".join(mgrag("status").out.split())
    assert mgrag("search", "pond", "--mode", "vector", "--json").json == before
    assert mgrag("status", "--json").json["engine"]["notes"] == []


@pytest.mark.bolt
def test_a_wrong_password(mgrag: Command, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    if not engine.username:
        return  # this server lets everybody in
    use(monkeypatch, engine, MEMGRAPH_PASSWORD="correct-horse")
    assert "MEMGRAPH_PASSWORD" in refused(mgrag, "status")
    assert "correct-horse" not in refused(mgrag, "search", "x")
    use(monkeypatch, engine)  # after three wrong ones in a row, a Neo4j refuses everybody for a while
    assert "engine" in mgrag("status", "--json").json


@pytest.mark.bolt
def test_tls_where_there_is_none(mgrag: Command, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    if not engine.uri.startswith("bolt://"):
        return  # it has
    use(monkeypatch, engine, MEMGRAPH_URI=engine.uri.replace("bolt", "bolt+s", 1))
    assert "TLS" in refused(mgrag, "ingest", str(CORPUS))


def test_where_nothing_listens(mgrag: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Engine(f"bolt://{HOST}:{free_port()}"))
    for arguments in (["status"], ["ingest", str(CORPUS)], ["search", "x"], ["list"], ["export", "e.jsonl"]):
        assert "Nothing listens" in refused(mgrag, *arguments)


@pytest.fixture(scope="module")
def narrow() -> Iterator[Neo4jServer]:
    """A server with little memory for a transaction."""
    with Neo4jServer(settings={"db.memory.transaction.max": "16m"}) as server:
        yield server


@pytest.mark.java
def test_no_memory_and_no_writes(mgrag: Command, narrow: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Engine(narrow.uri, narrow.user, narrow.password)
    use(monkeypatch, own)
    assert mgrag("ingest", str(CORPUS / "operations.md")).code == 0
    large = mgrag.folder / "large.txt"
    large.write_text("The mill turns with the ebb, and the pond is full. " * 70_000)
    assert "memory" in refused(mgrag, "ingest", str(large))
    assert [row["path"] for row in mgrag("list", "--json").json] == [str(CORPUS / "operations.md")]

    narrow.stop()
    read_only = Neo4jServer(
        home=narrow.home,
        port=narrow.port,
        password=narrow.password,
        settings={"server.databases.default_to_read_only": "true"},
    )
    with read_only:
        assert mgrag("search", "pond").code == 0
        assert "takes no writes" in refused(mgrag, "ingest", str(CORPUS / "diary.txt"))


def drop_vector_index(engine: Engine, name: str) -> None:
    """Drop an index behind the back of the command."""
    from neo4j import GraphDatabase

    auth = (engine.username, engine.password or "") if engine.username else None
    with GraphDatabase.driver(engine.uri, auth=auth) as driver:
        memgraph = "Memgraph" in driver.get_server_info().agent
        with driver.session() as session:
            session.run(f"DROP {'VECTOR INDEX' if memgraph else 'INDEX'} {name}").consume()
