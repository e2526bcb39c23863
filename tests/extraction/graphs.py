"""What is known in a graph, by names instead of ids, so that graphs of two namespaces can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.rag.dbhandler import MemGraphClient
from core.rag.extraction.matching import NameTable

_PARTS = {
    "entities": (
        "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN e.normalized_name AS id, e.name AS name, "
        "e.type AS type, e.mention_count AS count, e.titled AS titled, e.forms AS forms, e.recorded AS recorded, "
        "e.origin AS origin"
    ),
    "mentions": (
        "MATCH (c:DocumentChunk)-[m:MENTIONS]->(e:Entity) WHERE c.namespace = $namespace "
        "RETURN c.path AS path, c.content AS content, c.chunk_index AS place, e.normalized_name AS entity, "
        "m.count AS count"
    ),
    "titles": (
        "MATCH (d:Document)-[t:TITLED]->(e:Entity) WHERE d.namespace = $namespace "
        "RETURN d.path AS path, e.normalized_name AS entity, t.text AS text"
    ),
    "references": (
        "MATCH (d:Document)-[r:REFERENCES]->(t) WHERE d.namespace = $namespace "
        "RETURN d.path AS path, labels(t)[0] AS label, t.uri AS uri, r.text AS text"
    ),
    "symbols": (
        "MATCH (s:Symbol)-[:DEFINED_IN]->(d:Document) WHERE s.namespace = $namespace "
        "RETURN d.path AS path, s.name AS name, s.kind AS kind, s.line AS line, s.signature AS signature"
    ),
    "calls": ("MATCH (a:Symbol)-[:CALLS]->(b:Symbol) WHERE a.namespace = $namespace RETURN a.name AS a, b.name AS b"),
    "imports": (
        "MATCH (d:Document)-[:IMPORTS]->(t) WHERE d.namespace = $namespace "
        "RETURN d.path AS path, labels(t)[0] AS label, t.uri AS uri"
    ),
    "records": (
        "MATCH (r:Record)-[h:HAS_ENTITY]->(e:Entity) WHERE r.namespace = $namespace "
        "RETURN r.collection AS collection, r.data AS data, h.field AS field, e.normalized_name AS entity"
    ),
    "facts": (
        "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace "
        "RETURN a.normalized_name AS a, b.normalized_name AS b, r.type AS type, r.fact AS fact, r.weight AS weight"
    ),
    "same": (
        "MATCH (a:Entity)-[r:SAME_AS]->(b:Entity) WHERE a.namespace = $namespace "
        "RETURN a.normalized_name AS a, b.normalized_name AS b"
    ),
    "resources": "MATCH (r:Resource) WHERE r.namespace = $namespace RETURN r.uri AS uri, r.type AS type",
    "unlinked": "MATCH (s:Source) WHERE s.namespace = $namespace AND s.unlinked IS NOT NULL RETURN s.uri AS uri",
}


async def knowledge(client: MemGraphClient) -> dict[str, list[dict[str, Any]]]:
    """Entities and all that leads to them, sorted."""
    return {part: sorted(await client.read(query), key=_key) for part, query in _PARTS.items()}


def _key(row: dict[str, Any]) -> str:
    return repr(sorted(row.items(), key=lambda item: item[0]))


async def mentioned(client: MemGraphClient, path: str) -> dict[str, int]:
    """The entities that the chunks of a document mention, and in how many chunks of the namespace each is."""
    rows = await client.read(
        "MATCH (c:DocumentChunk)-[:MENTIONS]->(e:Entity) WHERE c.namespace = $namespace AND c.path = $path "
        "RETURN DISTINCT e.name AS name, e.mention_count AS count",
        path=path,
    )
    return {row["name"]: row["count"] for row in rows}


def looked_at_again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of chunks that are looked at again at the end of runs, from here on."""
    again: list[str] = []
    extract_again = MemGraphClient.extract_again

    async def noted(client: MemGraphClient, chunks: Sequence[str], titles: NameTable) -> None:
        again.extend(chunks)
        await extract_again(client, chunks, titles)

    monkeypatch.setattr(MemGraphClient, "extract_again", noted)
    return again
