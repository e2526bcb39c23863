"""Looking at a whole graph in tests, and at what is read of it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from core.rag.dbhandler import MemGraphClient

_TIMES = ("created_at", "updated_at")


async def snapshot(client: MemGraphClient) -> list[str]:
    """Every node and edge of the namespace, without times, sorted: equal for equal graphs."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "graph.jsonl"
        await client.export_graph(file)
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:-1]]
    return sorted(json.dumps(_without_times(line), sort_keys=True) for line in lines)


def _without_times(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "props": {key: value for key, value in line["props"].items() if key not in _TIMES}}


async def orphans(client: MemGraphClient) -> dict[str, int]:
    """Nodes of the namespace that hang in the air, by kind; all zero in a sound graph."""
    checks = {
        "chunks without a document": "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace "
        "OPTIONAL MATCH (c)-[r:CHUNK_OF]->(:Document) "
        "WITH c, count(r) AS k WHERE k <> 1 RETURN count(c) AS n",
        "vectors of nothing": "MATCH (v:Vector) WHERE v.namespace = $namespace "
        "OPTIONAL MATCH (v)-[r:EMBEDDING_OF]->() "
        "WITH v, count(r) AS k WHERE k = 0 RETURN count(v) AS n",
        "vectors in no store": "MATCH (v:Vector) WHERE v.namespace = $namespace "
        "OPTIONAL MATCH (v)-[r:STORED_IN]->(:VectorStore) "
        "WITH v, count(r) AS k WHERE k <> 1 RETURN count(v) AS n",
        "chunks without a vector": "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace "
        "OPTIONAL MATCH (c)<-[r:EMBEDDING_OF]-(:Vector) "
        "WITH c, count(r) AS k WHERE k = 0 RETURN count(c) AS n",
        "documents without a source": "MATCH (d:Document) WHERE d.namespace = $namespace "
        "OPTIONAL MATCH (d)-[r:SOURCED_FROM]->(:Source) "
        "WITH d, count(r) AS k WHERE k = 0 RETURN count(d) AS n",
    }
    return {name: (await client.read(statement))[0]["n"] for name, statement in checks.items()}


def listen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that clients read with from now on; it grows as they do."""
    statements: list[str] = []
    read = MemGraphClient.read

    async def noted(self: MemGraphClient, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        statements.append(statement)
        return await read(self, statement, **parameters)

    monkeypatch.setattr(MemGraphClient, "read", noted)
    return statements
