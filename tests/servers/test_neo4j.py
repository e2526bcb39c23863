"""Our own Neo4j: it serves, survives what tests do to it, keeps what it acknowledged, and leaves nothing behind."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import AsyncDriver, AsyncGraphDatabase
from neo4j.exceptions import ServiceUnavailable, SessionExpired

from tests.servers.jars import ServerError, have_jars, java
from tests.servers.neo4j import ROOT, Neo4jServer, answers_bolt
from tests.servers.ports import HOST
from tests.servers.proxy import BoltProxy, CommitMoment


def _missing() -> str:
    try:
        java()
    except ServerError as exc:
        return str(exc)
    return "" if have_jars() else "no jars: `python -m tests.servers.neo4j run -- true` downloads them"


pytestmark = [pytest.mark.java, pytest.mark.skipif(bool(_missing()), reason=_missing() or "nothing")]

COMMAND = (sys.executable, "-m", "tests.servers.neo4j")
PROBE = """
import os, sys
from neo4j import GraphDatabase
auth = os.environ["MGRAG_TEST_BOLT_USER"], os.environ["MGRAG_TEST_BOLT_PASSWORD"]
for uri in os.environ["MGRAG_TEST_BOLT_URI"].split():
    with GraphDatabase.driver(uri, auth=auth) as driver:
        home = driver.execute_query("SHOW SETTINGS 'server.directories.neo4j_home' YIELD value").records[0]["value"]
        print(uri, home)
sys.exit(7)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    with Neo4jServer() as server:
        yield server


def driver_of(server: Neo4jServer, uri: str = "") -> AsyncDriver:
    return AsyncGraphDatabase.driver(uri or server.uri, auth=(server.user, server.password))


async def count(server: Neo4jServer, mark: str) -> int:
    async with driver_of(server) as driver:
        result = await driver.execute_query("MATCH (n:Mark {id: $mark}) RETURN count(n) AS n", {"mark": mark})
        return int(result.records[0]["n"])


async def create(driver: AsyncDriver, mark: str) -> None:
    async with driver.session() as session, await session.begin_transaction() as transaction:
        await (await transaction.run("CREATE (:Mark {id: $mark})", {"mark": mark})).consume()
        await transaction.commit()


async def test_it_is_neo4j_5_26_and_routes(server: Neo4jServer) -> None:
    for uri in (server.uri, server.uri.replace("bolt://", "neo4j://")):
        async with driver_of(server, uri) as driver:
            assert (await driver.get_server_info()).agent == "Neo4j/5.26.0"


async def test_kill_and_restart_keep_what_was_committed_on_the_same_port(server: Neo4jServer) -> None:
    uri = server.uri
    async with driver_of(server) as driver:
        await create(driver, "kept")
    server.kill()
    assert not server.running
    assert not answers_bolt(HOST, server.port)
    server.start()
    assert server.uri == uri
    assert await count(server, "kept") == 1
    server.restart()
    assert await count(server, "kept") == 1


@pytest.mark.parametrize(("moment", "committed"), [("before", 0), ("during", None), ("answered", 1), ("after", 1)])
async def test_the_proxy_cuts_around_a_commit(server: Neo4jServer, moment: CommitMoment, committed: int | None) -> None:
    async with BoltProxy(server.uri) as proxy, driver_of(server, proxy.uri) as driver:
        await create(driver, f"{moment} 1")
        cut = proxy.cut_on_commit(moment, nth=2)
        await create(driver, f"{moment} 2")
        if moment == "after":
            await create(driver, f"{moment} 3")
        else:
            with pytest.raises((ServiceUnavailable, SessionExpired)):
                await create(driver, f"{moment} 3")
        await cut.wait()
        assert proxy.commits == 3
        counts = [await count(server, f"{moment} {i}") for i in (1, 2, 3)]
        assert counts[:2] == [1, 1]
        assert counts[2] in ((0, 1) if committed is None else (committed,))
        # The line is whole again for the same driver.
        assert (await driver.execute_query("RETURN 1 AS n")).records[0]["n"] == 1


def test_run_sets_the_variables_returns_the_exit_code_and_leaves_nothing() -> None:
    command = [*COMMAND, "run", "--servers", "2", "--", sys.executable, "-c", PROBE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    homes = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert len(homes) == 2
    for uri, home in homes.items():
        assert not answers_bolt(HOST, int(uri.rpartition(":")[2]))
        assert Path(home).name.startswith("mgrag-neo4j-")
        assert not Path(home).exists()


def test_a_server_that_cannot_start_says_why_and_is_gone(tmp_path: Path) -> None:
    server = Neo4jServer(home=tmp_path, settings={"server.memory.pagecache.size": "much"})
    with pytest.raises(ServerError, match=r"server\.memory\.pagecache\.size"):
        server.start()
    assert not server.running
