"""What the fault tests share: documents to ingest, a line to a server that can be broken, and what has to hold."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from core.rag import KnowledgeBase
from core.rag.dbhandler import MemGraphClient
from core.rag.dbhandler.documents.contents import CONTENT_COLUMNS, with_content
from core.rag.indexing.report import IngestReport
from core.rag.maintenance.soundness import Soundness
from libs.dataloader import Document
from tests.dbhandler.kit import Engine, make_settings
from tests.embedders import HashEmbedder

#: Long enough for a server that is slow to come back on a busy machine.
DEADLINE = 60.0

_WORDS = ["mill", "tide", "harbour", "grain", "stone", "rope", "ledger", "sluice", "dyke", "ebb", "oak", "barley"]


def documents(count: int, *, version: int = 1, prefix: str = "doc") -> list[Document]:
    """Documents of a few chunks each; another version has other words in each."""
    found = []
    for number in range(count):
        chosen = random.Random(f"{prefix}{number}/{version}")
        parts = [
            f"# Part {part}\n\n" + " ".join([f"{prefix}{number}", f"v{version}", *chosen.choices(_WORDS, k=60)])
            for part in range(3)
        ]
        found.append(Document(path=f"{prefix}/{number}.md", content="\n\n".join(parts), format="markdown"))
    return found


@asynccontextmanager
async def knowledge(
    engine: Engine, namespace: str, uri: str | None = None, embedder: HashEmbedder | None = None, **settings: Any
) -> AsyncIterator[KnowledgeBase]:
    """A knowledge base with settings by their environment names, by default one that is patient."""
    variables = {"MGRAG_RETRY_DEADLINE": DEADLINE, "MGRAG_QUERY_TIMEOUT": 60.0, "MGRAG_CHUNK_SIZE": 64, **settings}
    async with KnowledgeBase.open(
        uri or engine.uri,
        username=engine.username,
        password=engine.password,
        namespace=namespace,
        embedder=embedder or HashEmbedder(),
        settings=make_settings(**variables),
    ) as opened:
        yield opened


async def assert_sound(client: MemGraphClient, expected: Iterable[Document]) -> None:
    """No document lost, none twice, none half, nothing that hangs in the air, and nothing that a doctor would mend.

    Args:
        client: A client of the namespace.
        expected: What was reported as ingested, and nothing else.
    """
    contents = {document.path: document.content for document in expected}
    rows = await client.read(
        f"MATCH (d:Document) WHERE d.namespace = $namespace RETURN d.id AS id, d.path AS path, {CONTENT_COLUMNS}"
    )
    rows = await with_content(rows, client.read)
    assert Counter(row["path"] for row in rows) == Counter(contents.keys())
    assert {row["path"]: row["content"] for row in rows} == contents

    chunks = await client.read(
        "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace OPTIONAL MATCH (c)-[r:CHUNK_OF]->(d:Document) "
        "WITH c, count(r) AS parents, collect(d.path) AS paths OPTIONAL MATCH (c)<-[e:EMBEDDING_OF]-(:Vector) "
        "RETURN c.id AS id, c.chunk_index AS position, c.chunk_count AS total, parents, paths, count(e) AS vectors"
    )
    assert [row for row in chunks if row["parents"] != 1 or row["vectors"] != 1] == []
    positions: dict[str, list[int]] = {}
    totals: dict[str, set[int]] = {}
    for row in chunks:
        positions.setdefault(row["paths"][0], []).append(row["position"])
        totals.setdefault(row["paths"][0], set()).add(row["total"])
    assert set(positions) == set(contents)
    for path, found in positions.items():
        assert sorted(found) == list(range(len(found))), path
        assert totals[path] == {len(found)}, path

    hanging = {
        "vectors of nothing": "MATCH (v:Vector) WHERE v.namespace = $namespace OPTIONAL MATCH (v)-[r:EMBEDDING_OF]->() "
        "WITH v, count(r) AS k WHERE k = 0 RETURN count(v) AS n",
        "vectors in no store": "MATCH (v:Vector) WHERE v.namespace = $namespace "
        "OPTIONAL MATCH (v)-[r:STORED_IN]->(:VectorStore) WITH v, count(r) AS k WHERE k <> 1 RETURN count(v) AS n",
        "documents without a source": "MATCH (d:Document) WHERE d.namespace = $namespace "
        "OPTIONAL MATCH (d)-[r:SOURCED_FROM]->(:Source) WITH d, count(r) AS k WHERE k > 1 RETURN count(d) AS n",
    }
    assert {name: (await client.read(statement))[0]["n"] for name, statement in hanging.items()} == dict.fromkeys(
        hanging, 0
    )
    stores = await client.read("MATCH (s:VectorStore) WHERE s.namespace = $namespace RETURN s.id AS id")
    assert len(stores) == 1
    assert [flaw.message for _, look in Soundness(client).checks() async for flaw in look()] == []


async def assert_found(kb: KnowledgeBase, expected: Sequence[Document]) -> None:
    """Each of the documents is the best hit for its own words."""
    for document in expected:
        words = document.content.split("\n\n")[1]
        hits = await kb.search(words, k=3)
        assert hits, document.path
        assert document.path in {hit.path for hit in hits}


def reported(report: IngestReport, given: Sequence[Document]) -> list[Document]:
    """The documents of an ingest that it says are in the graph."""
    failed = {failure.path for failure in report.documents.failed}
    return [document for document in given if document.path not in failed]
