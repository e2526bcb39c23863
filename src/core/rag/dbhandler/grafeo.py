"""The Grafeo dialect: index definitions, vector and text search, shortest path, and what its errors mean.

Facts about the engine that the code relies on are those of Grafeo 0.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from core.rag.errors import (
    QueryError,
    StoreConflictError,
    StoreConstraintError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from core.rag.schema import PROPERTY_INDEXES, Label, TextIndex, VectorIndex

BM25_K1 = 1.5
BM25_B = 0.75

#: How many vectors of an index are remembered to bound a search from below.
SAMPLE_SIZE = 512

_CODE = re.compile(r"GRAFEO-([A-Z]\d{3})")
_DDL_NAME = re.compile(r"[^A-Za-z0-9]+")


class Runner(Protocol):
    """The part of ``grafeo.GrafeoDB`` that this dialect calls."""

    def execute_cypher(self, query: str, params: dict[str, Any] | None = None) -> Any:
        """Run a statement."""
        ...

    def text_search(self, label: str, property: str, query: str, k: int) -> list[tuple[int, float]]:  # noqa: A002
        """Search a text index."""
        ...

    def create_text_index(self, label: str, property: str, k1: float, b: float, tokenizer: str) -> Any:  # noqa: A002
        """Create, or make anew, a text index."""
        ...

    def drop_text_index(self, label: str, property: str) -> bool:  # noqa: A002
        """Drop a text index; whether there was one."""
        ...


def schema_statements() -> list[str]:
    """The statements that create every constraint and property index; each may be repeated."""
    statements = []
    for label in Label:
        statements.append(f"CREATE CONSTRAINT {label}_id_unique IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
        # The constraint is not used to look ids up.
        statements.append(f"CREATE INDEX {label}_id IF NOT EXISTS FOR (n:{label}) ON (n.id)")
    for index in PROPERTY_INDEXES:
        name = _DDL_NAME.sub("_", f"{index.label}_{'_'.join(index.properties)}")
        properties = ", ".join(f"n.{name}" for name in index.properties)
        statements.append(f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{index.label}) ON ({properties})")
    return statements


def has_text_index(db: Runner, index: TextIndex) -> bool:
    """Whether the index is there. The engine lists no indexes, but refuses to search one that it does not have."""
    try:
        db.text_search(index.partition, "terms", "x", 1)
    except RuntimeError as error:
        if _is_missing_text_index(error):
            return False
        raise
    return True


def create_text_index(db: Runner, index: TextIndex) -> None:
    """Create the index over the nodes of the namespace."""
    db.create_text_index(index.partition, "terms", BM25_K1, BM25_B, "simple")


def text_search(db: Runner, index: TextIndex, terms: Mapping[str, float], k: int) -> list[tuple[str, float]]:
    """BM25 over weighted terms: one search per distinct weight, added up."""
    by_weight: dict[float, list[str]] = {}
    for term, weight in terms.items():
        by_weight.setdefault(weight, []).append(term)
    scores: dict[str, float] = {}
    # Only the sum decides the order, so each part has to give more than k where there are several.
    wanted = k if len(by_weight) == 1 else min(4 * k + 100, 10_000)
    for weight, words in by_weight.items():
        for identifier, score in _text_search_part(db, index, " ".join(words), wanted):
            scores[identifier] = scores.get(identifier, 0.0) + weight * score
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]


def _text_search_part(db: Runner, index: TextIndex, query: str, k: int) -> list[tuple[str, float]]:
    statement = (
        f"CALL grafeo.search.text('{index.partition}', 'terms', $query, {k}) YIELD node_id, score "
        "MATCH (n) WHERE id(n) = node_id RETURN n.id AS id, score"
    )
    try:
        rows = db.execute_cypher(statement, {"query": query})
    except RuntimeError as error:
        if _is_missing_text_index(error):
            return []
        raise
    return [(row["id"], row["score"]) for row in rows if row["id"] is not None]


def vector_sample(db: Runner, index: VectorIndex) -> list[list[float]]:
    """Up to ``SAMPLE_SIZE`` vectors; ids are hashes, so the first by id are as good as drawn by lot."""
    rows = db.execute_cypher(
        f"MATCH (v:{index.label}) WITH v.id AS id, v.embedding AS embedding ORDER BY id LIMIT {SAMPLE_SIZE} "
        "RETURN embedding"
    )
    return [row["embedding"] for row in rows if row["embedding"] is not None]


def vector_search(
    db: Runner, index: VectorIndex, query: tuple[float, ...], k: int, floor: float | None
) -> list[tuple[str, float]]:
    """Exact cosine over the whole index.

    Args:
        db: The engine.
        index: Which vectors.
        query: The query vector.
        k: How many.
        floor: A score that the k-th best is believed to reach. Sorting only what is above it saves half of the time;
            when fewer than k are, the search is repeated without.
    """
    if floor is not None:
        statement = (
            f"MATCH (v:{index.label}) WHERE cosine_similarity(v.embedding, $query) >= $floor "
            f"RETURN v.id AS id, cosine_similarity(v.embedding, $query) AS score ORDER BY score DESC LIMIT {k}"
        )
        rows = db.execute_cypher(statement, {"query": query, "floor": floor})
        found = [(row["id"], row["score"]) for row in rows]
        if len(found) >= k:
            return found
    statement = (
        # A null score (a vector of another dimension) would sort first.
        f"MATCH (v:{index.label}) WITH v.id AS id, cosine_similarity(v.embedding, $query) AS s WHERE s IS NOT NULL "
        f"RETURN id, s AS score ORDER BY score DESC LIMIT {k}"
    )
    return [(row["id"], row["score"]) for row in db.execute_cypher(statement, {"query": query})]


def shortest_path(
    db: Runner, start_id: str, end_id: str, edge_types: Sequence[str], max_depth: int, namespace: str
) -> list[str] | None:
    """One shortest undirected path, as ids."""
    types = "|".join(edge_types)
    statement = (
        "MATCH (a {id: $start}), (b {id: $end}) WHERE a.namespace = $namespace AND b.namespace = $namespace "
        f"MATCH p = shortestPath((a)-[:{types}*1..{max_depth}]-(b)) RETURN [n IN nodes(p) | n.id] AS ids LIMIT 1"
    )
    rows = list(db.execute_cypher(statement, {"start": start_id, "end": end_id, "namespace": namespace}))
    return rows[0]["ids"] if rows else None


def map_error(error: BaseException, what: str) -> StoreError:
    """Turn an engine error into this project's, by its code.

    Args:
        error: What the engine raised.
        what: What was being done, for the message.
    """
    text = str(error)
    match = _CODE.search(text)
    code = match[1] if match else ""
    first_line = text.splitlines()[0] if text else type(error).__name__
    if code == "T001" or (code == "Q006" and "the writer does not see it" in text):
        return StoreConflictError(f"{what} met a concurrent write: {first_line}")
    if code in {"T009", "S001"} and ("space" in text or "full" in text or "quota" in text):
        return StoreFullError(f"{what} failed: the disk is full. Nothing of it was stored; free space and repeat.")
    if code == "V001" and ("unique" in text.lower() or "constraint" in text.lower()):
        return StoreConstraintError(f"{what} would store a second node with the same id: {first_line}")
    if code == "S002" or "damaged" in text:
        return StoreDamagedError(
            f"{what} found the graph file damaged: {first_line}. Restore a backup (mgrag restore) or ingest again."
        )
    if "read-only" in text.lower() or "read only" in text.lower():
        return StoreReadOnlyError(f"{what} was refused: the graph is open for reading only.")
    if "closed" in text.lower():
        return StoreUnavailableError(f"{what} came after the graph was closed.")
    return QueryError(f"{what} was refused by the engine: {first_line}")


def _is_missing_text_index(error: RuntimeError) -> bool:
    return "no text index" in str(error)
