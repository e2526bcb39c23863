"""The Grafeo dialect: index definitions, vector and text search, shortest path.

Facts about the engine that the code relies on are those of Grafeo 0.6.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.rag.bm25 import K1, B
from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.misuse import other_dimension
from core.rag.schema import PROPERTY_INDEXES, Label, TextIndex, VectorIndex
from libs.regexes import regex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


#: The tokenizer that keeps every word: which ones count was decided when the text was analysed. The default one drops
#: single letters and common English words.
TOKENIZER = "standard"

# More nodes than a graph has.
_ALL = 1 << 40

# A search of many vectors looks at this many first, to learn from which score on the others are worth sorting.
_FIRST_LOOK = 1024

# How many nodes, and how many of their words, tell whether a text index agrees with the graph. Long words: few others
# have those, and a search looks at all that do.
_SAMPLE = 50
_SAMPLE_WORDS = 5

_DDL_NAME = regex(r"[^A-Za-z0-9]+")


class Runner(Protocol):
    """The part of ``grafeo.GrafeoDB`` that this dialect calls."""

    def execute_cypher(self, query: str, params: dict[str, Any] | None = None) -> Any:
        """Run a statement."""
        ...

    def text_search(self, label: str, property: str, query: str, k: int) -> list[tuple[int, float]]:  # noqa: A002
        """Search a text index."""
        ...

    def create_text_index(
        self,
        label: str,
        property: str,  # noqa: A002
        k1: float,
        b: float,
        tokenizer: str,
        stop_words: list[str],
    ) -> Any:
        """Create, or make anew, a text index."""
        ...

    def get_property_batch(self, node_ids: list[int], property: str) -> list[Any]:  # noqa: A002
        """Return a property of several nodes, ``None`` for those that do not exist any more."""
        ...

    def drop_text_index(self, label: str, property: str) -> bool:  # noqa: A002
        """Drop a text index; whether there was one."""
        ...


def schema_statements() -> list[str]:
    """Return the statements that create every constraint and property index; each may be repeated."""
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
    """Return whether an index exists. The engine cannot list indexes, but refuses to search a missing one."""
    try:
        db.text_search(index.partition, "terms", "x", 1)
    except RuntimeError as error:
        if _is_missing_text_index(error):
            return False
        raise
    return True


def lacks_text_index(db: Runner, index: TextIndex) -> bool:
    """Return whether an index is missing that would not be empty: a process was killed before it recreated it."""
    return not has_text_index(db, index) and has_more_than(db, index.partition, 0)


def create_text_index(db: Runner, index: TextIndex) -> None:
    """Create the index over the nodes of the namespace."""
    db.create_text_index(index.partition, "terms", K1, B, TOKENIZER, [])


def drop_text_index(db: Runner, index: TextIndex) -> None:
    """Drop the index if it is there."""
    db.drop_text_index(index.partition, "terms")


def check_text_indexes(db: Runner, *, repair: bool) -> list[str]:
    """Compare keyword indexes with the graph: nodes that are not in theirs, and, by a sample, words that are not found.

    Args:
        db: The engine.
        repair: Put the nodes in, and make such indexes anew.

    Returns:
        What did not agree, one sentence each.
    """
    problems = []
    for label in Label:
        statement = f"MATCH (n:{label}) WHERE n.terms IS NOT NULL RETURN DISTINCT n.namespace AS namespace"
        for namespace in sorted(row["namespace"] for row in db.execute_cypher(statement) if row["namespace"]):
            index = TextIndex(label, namespace)
            outside = _nodes_outside(db, index)
            lost = 0 if outside else _lost(db, index)
            if not outside and not lost:
                continue
            problems.append(
                f"The keyword index of {label} in namespace {namespace!r} lacks {outside or lost} nodes of the graph"
                f"{'' if outside else ' out of a sample'}."
            )
            if repair:
                statement = (
                    f"MATCH (n:{label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL SET n:{index.partition}"
                )
                db.execute_cypher(statement, {"namespace": namespace})
                drop_text_index(db, index)
                create_text_index(db, index)
    return problems


def _nodes_outside(db: Runner, index: TextIndex) -> int:
    counts = []
    for label in (index.label.value, index.partition):
        statement = f"MATCH (n:{label}) WHERE n.namespace = $namespace AND n.terms IS NOT NULL RETURN count(n) AS n"
        counts.append(next(iter(db.execute_cypher(statement, {"namespace": index.namespace})))["n"])
    return int(counts[0] - counts[1])


def _lost(db: Runner, index: TextIndex) -> int:
    """Return how many nodes of a sample are not found by their own words."""
    if not has_text_index(db, index):
        return count(db, index.partition)
    statement = (
        f"MATCH (n:{index.partition}) WHERE n.terms IS NOT NULL AND n.terms <> '' "
        f"WITH n ORDER BY n.id LIMIT {_SAMPLE} RETURN id(n) AS node, n.terms AS terms"
    )
    lost = 0
    for row in db.execute_cypher(statement):
        words = " ".join(heapq.nlargest(_SAMPLE_WORDS, set(row["terms"].split()), key=len))
        lost += all(node != row["node"] for node, _ in word_search(db, index, words))
    return lost


def text_search(db: Runner, index: TextIndex, terms: Mapping[str, float], k: int) -> list[tuple[str, float]]:
    """Search by BM25 over weighted terms: one search per distinct weight, added up; ties in the engine's order."""
    by_weight: dict[float, list[str]] = {}
    for term, weight in terms.items():
        by_weight.setdefault(weight, []).append(term)
    # Only the sum decides the order: each part has to give all where there are several; the engine scores all anyway.
    wanted = k if len(by_weight) == 1 else _ALL
    scores: dict[int, float] = {}
    for weight, words in by_weight.items():
        for node, score in word_search(db, index, " ".join(words), wanted):
            scores[node] = scores.get(node, 0.0) + weight * score
    return ids_of(db, heapq.nsmallest(k, scores.items(), key=lambda item: (-item[1], item[0])))


def word_search(db: Runner, index: TextIndex, words: str, k: int = _ALL) -> list[tuple[int, float]]:
    """Return the engine's own nodes with any of some words and what they score; nothing without such an index."""
    try:
        return db.text_search(index.partition, "terms", words, k)
    except RuntimeError as error:
        if _is_missing_text_index(error):
            return []
        raise


def ids_of(db: Runner, nodes: Sequence[tuple[int, float]]) -> list[tuple[str, float]]:
    """Return the ids of the engine's own nodes, with their scores; those that were deleted since are left out."""
    ids = db.get_property_batch([node for node, _ in nodes], "id")
    return best_first([(key, score) for key, (_, score) in zip(ids, nodes, strict=True) if key is not None])


def vector_search(db: Runner, index: VectorIndex, query: tuple[float, ...], k: int) -> list[tuple[str, float]]:
    """Exact cosine over the whole index.

    Sorting is half of the cost, so where there are many vectors, the k-th best of some of them is found first: what is
    below it cannot be among the k best of all.
    """
    look = max(_FIRST_LOOK, 8 * k)
    if has_more_than(db, index.label, 4 * look):
        statement = (
            f"MATCH (v:{index.label}) WITH v LIMIT {look} WITH cosine_similarity(v.embedding, $query) AS score "
            f"WHERE score IS NOT NULL RETURN score ORDER BY score DESC LIMIT {k}"
        )
        scores = [row["score"] for row in db.execute_cypher(statement, {"query": query})]
        if len(scores) == k:
            statement = (
                f"MATCH (v:{index.label}) WHERE cosine_similarity(v.embedding, $query) >= $floor "
                f"RETURN v.id AS id, cosine_similarity(v.embedding, $query) AS score ORDER BY score DESC LIMIT {k}"
            )
            found = list(db.execute_cypher(statement, {"query": query, "floor": scores[-1]}))
            if len(found) == k:  # else some were deleted in between
                return best_first([(row["id"], row["score"]) for row in found])
    statement = (
        # A null score (a vector of another dimension, or none) would sort first.
        f"MATCH (v:{index.label}) WITH v.id AS id, cosine_similarity(v.embedding, $query) AS s WHERE s IS NOT NULL "
        f"RETURN id, s AS score ORDER BY score DESC LIMIT {k}"
    )
    return best_first([(row["id"], row["score"]) for row in db.execute_cypher(statement, {"query": query})])


def cosines(db: Runner, index: VectorIndex, query: tuple[float, ...], ids: Sequence[str]) -> list[tuple[str, float]]:
    """Return the cosines of those of the vectors that are in the index."""
    statement = (
        f"UNWIND $ids AS i MATCH (v:{index.label} {{id: i}}) "
        "WITH v.id AS id, cosine_similarity(v.embedding, $query) AS score WHERE score IS NOT NULL RETURN id, score"
    )
    rows = db.execute_cypher(statement, {"ids": list(ids), "query": query})
    return [(row["id"], row["score"]) for row in rows]


def vector_nodes(db: Runner, index: VectorIndex, skip: int, limit: int) -> list[tuple[int, str]]:
    """Return numbers and ids of some vectors of an index, in the engine's order; those skipped take time, too."""
    statement = f"MATCH (v:{index.label}) RETURN id(v) AS node, v.id AS id SKIP {skip} LIMIT {limit}"
    return [(row["node"], row["id"]) for row in db.execute_cypher(statement)]


def vectors_of(
    db: Runner, index: VectorIndex, nodes: Sequence[tuple[int, str]]
) -> tuple[list[tuple[int, str]], NDArray[np.float32]]:
    """Return the vectors of some nodes.

    Properties by the numbers of nodes are read in a third of the time of a statement.

    Args:
        db: The engine.
        index: The index that they belong to.
        nodes: The engine's own number and the id of each.

    Returns:
        Those with a vector to compare, and a row for each of these.
    """
    vectors = db.get_property_batch([node for node, _ in nodes], "embedding")
    usable = [
        (node, vector)
        for node, vector in zip(nodes, vectors, strict=True)
        if vector is not None and len(vector) == index.dimension and any(vector)
    ]
    matrix = float_rows([vector for _, vector in usable])
    return [node for node, _ in usable], matrix.reshape(len(usable), index.dimension)


def best_first(found: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Sort by score, equal ones by id."""
    return sorted(found, key=lambda item: (-item[1], item[0]))


def has_more_than(db: Runner, label: str, number: int) -> bool:
    """Return whether a label has that many nodes; to count all takes longer than to skip some."""
    return bool(list(db.execute_cypher(f"MATCH (n:{label}) RETURN 1 AS one SKIP {number} LIMIT 1")))


def count(db: Runner, label: str) -> int:
    """Number of nodes of a label."""
    return int(next(iter(db.execute_cypher(f"MATCH (n:{label}) RETURN count(n) AS n")))["n"])


def check_dimension(db: Runner, index: VectorIndex) -> None:
    """Refuse an index whose vectors have another dimension.

    Raises:
        ModelMismatchError: naming both.
    """
    statement = f"MATCH (v:{index.label}) WHERE v.embedding IS NOT NULL RETURN v.embedding AS embedding LIMIT 1"
    for row in db.execute_cypher(statement):
        if len(row["embedding"]) != index.dimension:
            raise other_dimension(index, len(row["embedding"]))


def shortest_path(
    db: Runner, start_id: str, end_id: str, edge_types: Sequence[str], max_depth: int, namespace: str
) -> list[str] | None:
    """Return one of the shortest undirected paths, as ids."""
    if start_id == end_id:
        statement = "MATCH (a {id: $start}) WHERE a.namespace = $namespace RETURN [a.id] AS ids LIMIT 1"
        found = list(db.execute_cypher(statement, {"start": start_id, "namespace": namespace}))
        return found[0]["ids"] if found else None
    types = "|".join(edge_types)
    statement = (
        "MATCH (a {id: $start}), (b {id: $end}) WHERE a.namespace = $namespace AND b.namespace = $namespace "
        f"MATCH p = shortestPath((a)-[:{types}*1..{max_depth}]-(b)) RETURN [n IN nodes(p) | n.id] AS ids LIMIT 1"
    )
    rows = list(db.execute_cypher(statement, {"start": start_id, "end": end_id, "namespace": namespace}))
    return rows[0]["ids"] if rows else None


def _is_missing_text_index(error: RuntimeError) -> bool:
    return "no text index" in str(error)
