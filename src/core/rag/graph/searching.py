"""Searches records and documents by words, by graph proximity, and by both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from core.rag.analysis import query_terms
from core.rag.arguments import check_number, check_text
from core.rag.dbhandler.deeper import deeper
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.dbhandler.knowledge.record_rows import DOCUMENTS
from core.rag.errors import InvalidInputError
from core.rag.graph.attaching import attached
from core.rag.graph.doubles import Candidate, leave_out_doubles
from core.rag.graph.passing import Passing, passing_of
from core.rag.graph.proximity import Surroundings, surroundings
from core.rag.keyed import Keyed
from core.rag.retrieval.as_read import as_read
from core.rag.schema import Label

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

KnowledgeMode = Literal["keyword", "graph", "hybrid"]

MODES: tuple[KnowledgeMode, ...] = get_args(KnowledgeMode)

#: ``hybrid = 0.4 keyword + 0.6 graph``.
KEYWORD_WEIGHT = 0.4
GRAPH_WEIGHT = 0.6

#: Steps from the entities that the query names.
GRAPH_DEPTH = 2

_CANDIDATES = 200
#: With a filter that lets too little of it pass, so many times more is looked for.
_DEEPER = 7


@dataclass(frozen=True, slots=True)
class KnowledgeHit(Keyed):
    """A record or document that was found.

    Attributes:
        id: Its id.
        kind: ``record`` or ``document``.
        collection: Collection of the record; ``documents`` for a document.
        document: The fields of the record, or ``path``, ``title``, ``uri``, ``mime_type`` and ``metadata`` of the
            document; ``_id`` is the record's own ``_id`` if it has one, else the id.
        scores: ``keyword``, ``graph`` (each divided by the highest) and ``hybrid``; 0 to 1.
        chunk_id: The best passage of the document, if keywords found it.
    """

    id: str
    kind: str
    collection: str
    document: dict[str, Any]
    scores: dict[str, float] = field(default_factory=dict)
    chunk_id: str = ""


async def search_knowledge(
    client: MemGraphClient,
    query: str,
    mode: KnowledgeMode,
    limit: int,
    at: Time | None,
    filters: str | Mapping[str, Any] | None,
) -> list[KnowledgeHit]:
    """See :meth:`core.rag.KnowledgeBase.search_knowledge`."""
    hits, _ = await search_around(client, query, mode, limit, GRAPH_DEPTH, at, passing_of(client, filters))
    return hits


async def search_around(
    client: MemGraphClient,
    query: str,
    mode: KnowledgeMode,
    limit: int,
    depth: int,
    at: Time | None,
    passing: Passing | None = None,
) -> tuple[list[KnowledgeHit], Surroundings]:
    """Search as :func:`search_knowledge` does, and also return the entities around those in the query.

    These may be of any document: they belong to none.

    Raises:
        InvalidInputError: if the query is empty, the mode unknown, or a number invalid.
    """
    if mode not in MODES:
        raise InvalidInputError(f"There is no search mode {str(mode)[:50]!r}; the modes are {', '.join(MODES)}.")
    limit = check_number("limit", limit, 1, 1000)
    check_text("A query", query)
    query = as_read(query).encode("utf-8", "replace").decode()
    if not query.strip():
        raise InvalidInputError("The query is empty.")
    around = Surroundings({}) if mode == "keyword" else await surroundings(client, query, depth, at)
    found: dict[str, Candidate] = {}
    if mode != "graph":
        await _by_words(client, query, found, passing)
    if mode != "keyword":
        await _by_graph(client, around, found, passing)
    await leave_out_doubles(client, found)
    keyword = max((candidate.keyword for candidate in found.values()), default=0.0) or 1.0
    graph = max((candidate.graph for candidate in found.values()), default=0.0) or 1.0
    scored = [
        (_scores(candidate.keyword / keyword, candidate.graph / graph), key, candidate)
        for key, candidate in found.items()
    ]
    scored.sort(key=lambda item: (-item[0][mode], item[1]))
    top = [item for item in scored if item[0][mode] > 0][:limit]
    records = await client.records_by_id([key for _, key, candidate in top if candidate.kind == "record"])
    documents = await client.documents_by_id([key for _, key, candidate in top if candidate.kind == "document"])
    hits = []
    for scores, key, candidate in top:
        if key in records:
            hits.append(KnowledgeHit(key, "record", records[key]["collection"] or "", fields_of(records[key]), scores))
        elif key in documents:
            hits.append(KnowledgeHit(key, "document", DOCUMENTS, shown(documents[key]), scores, candidate.chunk))
    return hits, around


def _scores(keyword: float, graph: float) -> dict[str, float]:
    return {"keyword": keyword, "graph": graph, "hybrid": KEYWORD_WEIGHT * keyword + GRAPH_WEIGHT * graph}


def fields_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record with ``_id``: its own, else its id in the graph."""
    return {"_id": record["id"], **record["data"]}


def shown(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the public fields of a document, with its id as ``_id``."""
    wanted = ("path", "title", "uri", "mime_type", "metadata")
    return {"_id": document["id"], **{key: document[key] for key in wanted}}


async def _by_words(client: MemGraphClient, query: str, found: dict[str, Candidate], passing: Passing | None) -> None:
    """Score records and chunks by BM25; the best chunk counts for a document."""
    terms = dict.fromkeys(query_terms(query), 1.0)
    for row in await _matches(client, terms, Label.RECORD, passing):
        found[row["id"]] = Candidate("record", keyword=row["score"])
    for row in await _matches(client, terms, Label.CHUNK, passing):
        if row["of"] not in found:
            found[row["of"]] = Candidate("document", keyword=row["score"], chunk=row["id"])


async def _matches(
    client: MemGraphClient, terms: Mapping[str, float], label: Label, passing: Passing | None
) -> list[dict[str, Any]]:
    """Return the best records or chunks: ``id``, ``score``, and ``of``, the record or the document of the chunk."""
    rows: list[dict[str, Any]] = []
    for wanted in deeper(_CANDIDATES, _DEEPER):
        matches = await client.match_terms(terms, wanted, label)
        rows = [{"id": match.id, "score": match.score, "of": match.id} for match in matches]
        if label is Label.CHUNK:
            documents = await _documents_of(client, [row["id"] for row in rows])
            rows = [{**row, "of": documents[row["id"]]} for row in rows if row["id"] in documents]
        if passing is not None:
            rows = await passing.only(rows, "of")
        if passing is None or len(rows) >= _CANDIDATES or len(matches) < wanted:
            break
    return rows[:_CANDIDATES]


async def _documents_of(client: MemGraphClient, chunks: Sequence[str]) -> dict[str, str]:
    """Return the ids of the documents of chunks; without their texts, which are read of the best ones only."""
    columns = {"id": "c.id", "document": "d.id"}
    rows = await client.read_together(
        "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document)", columns, chunks, at_once=1000
    )
    return {row["id"]: row["document"] for row in rows}


async def _by_graph(
    client: MemGraphClient, around: Surroundings, found: dict[str, Candidate], passing: Passing | None
) -> None:
    """Score what has or mentions the entities reached, by their distance."""
    entities: dict[str, list[str]] = {}
    kinds: dict[str, str] = {}
    rows = await attached(client, around, list(found))
    for row in rows if passing is None else await passing.only(rows, "id"):
        entities.setdefault(row["id"], []).append(row["entity"])
        kinds[row["id"]] = "record" if row["label"] is Label.RECORD else "document"
    for key, of_it in entities.items():
        found.setdefault(key, Candidate(kinds[key])).graph = around.closeness(of_it)
