"""Finds where a traversal begins: the nodes that a query names, and those most similar to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from core.rag.analysis import analyze, query_terms
from core.rag.analysis.language import detect_language
from core.rag.analysis.words import fold, is_stop_word
from core.rag.answering.drift.paths import Node
from core.rag.answering.drift.reader import PathReader
from core.rag.answering.drift.scoring import clamp
from core.rag.answering.drift.vectors import Vectors
from core.rag.answering.drift.words import QueryWords
from core.rag.answering.relevance.judging import judge
from core.rag.answering.types import Analysis, Knowledge
from core.rag.extraction.words import normalized_words
from core.rag.graph.hops import by_label
from core.rag.graph.similarity import Similarity
from core.rag.identity import entity_id
from core.rag.retrieval.hits import Hit
from core.rag.retrieval.retriever import Retriever
from core.rag.schema import Label
from core.rag.together import together

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: Number of best nodes that a traversal prefers when it follows edges.
LIKED = 64

_LONGEST_NAME = 8
_MOST_NAMES = 50
_MOST_TOKENS = 200
_SHORTEST_SCANNED_WORD = 3
#: If none of this many chunks may be relevant to a query, none is.
_JUDGED = 5

#: Finds a number of chunks for a query, best first.
ChunkSearch = Callable[[str, int], Awaitable[list[Hit]]]

#: Ids with labels and scores from 0 to 1, best first.
Ranked = list[tuple[str, Label, float]]


@dataclass(frozen=True, slots=True)
class Entries:
    """The entry points for a query.

    Attributes:
        nodes: The entry points, best first.
        liked: Ids of nodes that match the query; more than the entry points.
        hits: The chunks among them, best first, if they were searched for by meaning.
    """

    nodes: list[Node]
    liked: list[str]
    hits: list[Hit] = field(default_factory=list)


async def find_entries(
    client: MemGraphClient,
    vectors: Vectors,
    query: str,
    count: int,
    *,
    search: ChunkSearch | None,
) -> Entries:
    """Find the nodes that a query names and those that are most similar to it.

    Args:
        client: The graph.
        vectors: Knows whether chunks can be searched by meaning.
        query: The question, with at least one word.
        count: Maximum number of nodes.
        search: Finds chunks; ``None``: the default search of the namespace, unless none of its results is near.

    Returns:
        Named nodes, chunks and concepts in turn, so that no kind crowds out the others; if these are too few, also
        nodes whose names or descriptions have a word of the query. Empty if nothing matches.
    """
    named, (chunks, hits), concepts = await together(
        _named(client, query), _chunks(client, vectors, query, search), _concepts(client, query)
    )
    # Reading all names takes longer than everything else, so only if there are too few better entry points.
    partly = await _partly_named(client, QueryWords(query)) if len(named) + len(chunks) + len(concepts) < count else []
    mixed: dict[str, tuple[Label, float]] = {}
    for turn in zip_longest([*named, *partly], chunks, concepts):
        for item in turn:
            if item is not None and item[2] > 0.0:
                mixed.setdefault(item[0], (item[1], item[2]))
    first = dict(list(mixed.items())[:count])
    found = await PathReader(client).nodes(by_label((name, label) for name, (label, _) in first.items()))
    nodes = [replace(found[name][0], score=clamp(score)) for name, (_, score) in first.items() if name in found]
    return Entries(nodes, list(mixed)[:LIKED], hits)


async def _named(client: MemGraphClient, query: str) -> Ranked:
    """Return entities whose whole names are in the query, the longest first; none within a longer one."""
    tokens = normalized_words(query)[:_MOST_TOKENS]
    language = detect_language(query.split())
    grams = {
        " ".join(tokens[start : start + size])
        for size in range(1, _LONGEST_NAME + 1)
        for start in range(len(tokens) - size + 1)
        if size > 1 or not is_stop_word(fold(tokens[start]), language)
    }
    rows = await client.read(
        "UNWIND $ids AS i MATCH (e:Entity {id: i}) RETURN e.id AS id, e.normalized_name AS name",
        ids=[entity_id(client.namespace, gram) for gram in sorted(grams)],
    )
    kept: Ranked = []
    names: set[str] = set()
    for row in sorted(rows, key=lambda row: (-len(row["name"]), row["id"])):
        inside = any(f" {row['name']} " in f" {name} " for name in names if name != row["name"])
        if not inside:
            names.add(row["name"])
            kept.append((row["id"], Label.ENTITY, 1.0))
    return kept[:_MOST_NAMES]


async def _chunks(
    client: MemGraphClient, vectors: Vectors, query: str, search: ChunkSearch | None
) -> tuple[Ranked, list[Hit]]:
    """Return chunks by meaning, words and graph; only by words if there are no vectors."""
    embedder = client.embedder
    if embedder is not None and await vectors.store() is not None:
        if search is not None:  # the caller takes the conversation into account, and judges the results
            hits = await search(query, LIKED)
        else:
            hits = await Retriever(client, embedder).search(query, LIKED, "auto")
            found = Knowledge(hits=hits[:_JUDGED])
            await judge(Analysis(query, (), "factual", fallback=True), found, client)
            hits = hits if found.near else []
        return [(hit.chunk_id, Label.CHUNK, hit.score) for hit in hits], hits
    matches = await client.match_terms(dict.fromkeys(query_terms(query), 1.0), LIKED)
    best = max((match.score for match in matches), default=1.0)
    return [(match.id, Label.CHUNK, match.score / best) for match in matches], []


async def _concepts(client: MemGraphClient, query: str) -> Ranked:
    """Return nodes of the knowledge graph by meaning; nodes without vectors are embedded first."""
    if client.embedder is None or not await client.count_concepts():
        return []
    ranked = await Similarity(client, client.embedder).ranked(query, None, LIKED, 0.0, None, is_query=True)
    return [(name, Label.CONCEPT, score) for name, score in ranked]


async def _partly_named(client: MemGraphClient, words: QueryWords) -> Ranked:
    """Return other nodes whose names or descriptions have words of the query."""
    parts = [word for word in words.words if len(word) >= _SHORTEST_SCANNED_WORD]
    if not parts:
        return []
    ranked: Ranked = []
    for label, texts in _SCANNED:
        found = " OR ".join(f"n.{name} CONTAINS w" for name in texts)
        rows = await client.read(
            f"MATCH (n:{label}) WHERE n.namespace = $namespace AND any(w IN $words WHERE {found}) "
            f"WITH n, size([w IN $words WHERE {found}]) AS having, n.id AS id ORDER BY having DESC, id "
            f"LIMIT {_MOST_NAMES * 10} RETURN id, {', '.join(f'n.{name} AS {name}' for name in texts)}",
            words=sorted({*parts, *(part.capitalize() for part in parts), *(part.upper() for part in parts)}),
        )
        for row in rows:
            text = " ".join(str(row[name]) for name in texts if row[name])
            share = words.relevance(words.covered(analyze(text)))
            ranked.append((row["id"], label, 0.9 * share))
    return sorted(ranked, key=lambda item: (-item[2], item[0]))[:LIKED]


#: Labels, and the texts of their nodes, that are searched if vectors and whole names find nothing.
_SCANNED: tuple[tuple[Label, tuple[str, ...]], ...] = (
    (Label.ENTITY, ("name", "normalized_name", "summary")),
    (Label.CONCEPT, ("name", "description")),
    (Label.TOPIC, ("name", "description")),
    (Label.TOOL, ("name", "description")),
    (Label.SYMBOL, ("name",)),
)
