"""A server that tests are run on belongs to somebody: what is in it besides stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from neo4j import Driver, GraphDatabase

from tests.dbhandler.kit import BOLT_URI, bolt_engine

pytestmark = pytest.mark.bolt

ROOT = Path(__file__).parents[2]
#: Tests of all kinds: they write to several namespaces, make indexes, fail transactions, and leave things behind.
SOME = ("tests/dbhandler/test_store_vector_search.py", "tests/memory/test_people.py")


@pytest.fixture
def driver() -> Iterator[Driver]:
    if not BOLT_URI:
        pytest.skip("MGRAG_TEST_BOLT_URI names no server")
    engine = bolt_engine()
    auth = (engine.username, engine.password or "") if engine.username else None
    with GraphDatabase.driver(engine.uri, auth=auth, notifications_min_severity="OFF") as opened:
        yield opened


def asked(driver: Driver, statement: str) -> list[dict[str, object]]:
    with driver.session() as session:
        return session.run(statement).data()


def state(driver: Driver) -> dict[str, object]:
    """All nodes and edges by kind, and the names of all vector indexes."""
    memgraph = "Memgraph" in driver.get_server_info().agent
    shown = "SHOW VECTOR INDEX INFO" if memgraph else "SHOW VECTOR INDEXES"
    nodes = asked(driver, "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS n")
    edges = asked(driver, "MATCH ()-[r]->() RETURN type(r) AS type, count(r) AS n")
    return {
        "nodes": {str(row["label"]): row["n"] for row in nodes},
        "edges": {str(row["type"]): row["n"] for row in edges},
        "indexes": sorted(str(row.get("name") or row.get("index_name")) for row in asked(driver, shown)),
    }


def test_a_run_leaves_foreign_nodes_and_indexes_as_they_were(driver: Driver) -> None:
    mark = f"guest_{uuid4().hex[:12]}"
    memgraph = "Memgraph" in driver.get_server_info().agent
    index = (
        f'CREATE VECTOR INDEX {mark} ON :{mark}(embedding) WITH CONFIG {{"dimension": 2, "capacity": 9}}'
        if memgraph
        else f"CREATE VECTOR INDEX {mark} FOR (n:{mark}) ON (n.embedding) OPTIONS "
        "{indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
    )
    asked(driver, index)
    asked(
        driver,
        f"CREATE (a:{mark} {{id: '{mark}', embedding: [1.0, 0.0]}})-[:KNOWS]->(b:{mark}) "
        f"CREATE (d:Document {{id: '{mark}', namespace: '{mark}', path: 'theirs'}})<-[:CHUNK_OF]-"
        f"(c:DocumentChunk {{id: '{mark}', namespace: '{mark}', content: 'theirs'}})",
    )
    try:
        before = state(driver)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-m", "bolt", "-p", "no:cacheprovider", *SOME],
            cwd=ROOT,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert state(driver) == before
    finally:
        for label in (mark, "Document", "DocumentChunk"):
            where = "" if label == mark else f" {{id: '{mark}'}}"
            asked(driver, f"MATCH (n:{label}{where}) DETACH DELETE n")
        asked(driver, f"DROP {'VECTOR ' if memgraph else ''}INDEX {mark}")
