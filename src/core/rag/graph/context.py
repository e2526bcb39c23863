"""Builds the context for a question: relations in words, lines of records, and passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_number
from core.rag.dbhandler.knowledge.periods import Time
from core.rag.extraction.records import TOGETHER, record_line
from core.rag.graph.parts import GraphEdge
from core.rag.graph.passing import Passing, passing_of
from core.rag.graph.searching import KnowledgeHit, fields_of, search_around, shown
from core.rag.graph.sentences import Sentences
from core.rag.graph.sources import sources_of

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.graph.proximity import Surroundings

USAGE = "Paste contextChunks as system prompt context for your LLM"

_MAX_DEPTH = 4
_MAX_PASSAGE_CHARS = 2_000
#: The nearest edges that a filter is applied to.
_MOST_EDGES = 500


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """A line of context.

    Attributes:
        text: The text.
        relevance: Relevance to the question, 0 to 1.
        source_doc_id: Id of the record or document that it comes from; ``None`` for a link by hand without one.
    """

    text: str
    relevance: float
    source_doc_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values under camelCase names."""
        return {"text": self.text, "relevance": self.relevance, "sourceDocId": self.source_doc_id}


@dataclass(frozen=True, slots=True)
class GraphContext:
    """Context for a question.

    Attributes:
        context_chunks: Relations, records and passages, most relevant first.
        graph_path: Names of the entities: those in the question, then the others, nearest first.
        source_documents: The records and documents of the chunks, with ``_id``.
        usage: How a language model should use it.
    """

    context_chunks: list[ContextChunk] = field(default_factory=list)
    graph_path: list[str] = field(default_factory=list)
    source_documents: list[dict[str, Any]] = field(default_factory=list)
    usage: str = USAGE

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values under camelCase names: ``contextChunks``, ``graphPath`` …"""
        return {
            "contextChunks": [chunk.to_dict() for chunk in self.context_chunks],
            "graphPath": list(self.graph_path),
            "sourceDocuments": list(self.source_documents),
            "usage": self.usage,
        }

    def __getitem__(self, key: str) -> Any:
        """Return a part by its camelCase name or its attribute name."""
        plain = self.to_dict()
        return plain[key] if key in plain else asdict(self)[key]


async def ask_context(
    client: MemGraphClient,
    question: str,
    context_depth: int,
    limit: int,
    at: Time | None,
    filters: str | Mapping[str, Any] | None,
) -> GraphContext:
    """See :meth:`core.rag.KnowledgeBase.ask_context`."""
    context_depth = check_number("context_depth", context_depth, 0, _MAX_DEPTH)
    limit = check_number("limit", limit, 1, 100)
    passing = passing_of(client, filters)
    hits, around = await search_around(client, question, "hybrid", limit, context_depth, at, passing)
    relations, told = await _relations(client, around, hits, limit, passing)
    texts = await _lines(client, hits)
    kept = (limit + 1) // 2
    chosen = [*texts[:kept], *relations[: limit - kept]]
    rest = [*texts[kept:], *relations[limit - kept :]]
    chosen += rest[: limit - len(chosen)]
    chosen.sort(key=lambda chunk: -chunk.relevance)
    sources = {chunk.source_doc_id for chunk in chosen}
    documents = {hit.id: hit.document for hit in hits if hit.id in sources}
    missing = sorted(source for source in sources if source is not None and source not in documents)
    for key, record in (await client.records_by_id(missing)).items():
        documents[key] = fields_of(record)
    for key, document in (await client.documents_by_id([key for key in missing if key not in documents])).items():
        documents[key] = shown(document)
    chunks = [ContextChunk(chunk.text, chunk.relevance, _public(chunk.source_doc_id, documents)) for chunk in chosen]
    named = around.nodes if passing is None else told | await passing.naming(around.seeds)
    return GraphContext(chunks, _path(around, limit, named), list(documents.values()))


def _public(source: str | None, documents: dict[str, dict[str, Any]]) -> str | None:
    """Return the ``_id`` of a source among the documents: the record's own ``_id`` if it has one."""
    return None if source is None or source not in documents else str(documents[source]["_id"])


def _path(around: Surroundings, limit: int, named: Iterable[str]) -> list[str]:
    """Return names of entities, nearest first, starting with those in the question."""
    ranked = sorted(named, key=lambda key: (-around.closeness([key]), around.nodes[key].name, key))
    return [around.nodes[key].name for key in ranked[: 2 * limit]]


async def _relations(
    client: MemGraphClient, around: Surroundings, hits: list[KnowledgeHit], limit: int, passing: Passing | None
) -> tuple[list[ContextChunk], set[str]]:
    """Return the edges nearest to the entities in the question, as sentences with what states each; and their ends.

    With a filter, these are only those that something states which passes it.
    """
    best = max((around.closeness([edge.source, edge.target]) for edge in around.edges.values()), default=0.0) or 1.0

    def relevance(edge: GraphEdge) -> float:
        both = around.closeness([edge.source]) + around.closeness([edge.target])
        return both / (2 * best)

    def place(edge: GraphEdge) -> tuple[float, bool, float, tuple[str, str, str, str]]:
        # That somebody wrote a thing says more of the two than that a record has both.
        return -relevance(edge), edge.type == TOGETHER and not edge.fact, -edge.weight, edge.key

    ranked = sorted(around.edges.values(), key=place)[: limit if passing is None else _MOST_EDGES]
    sources = await sources_of(client, ranked, {hit.id for hit in hits}, passing)
    if passing is not None:
        ranked = await _as_passing([edge for edge in ranked if edge.key in sources][:limit], client, passing)
    ends = {end for edge in ranked for end in (edge.source, edge.target)}
    lines = [ContextChunk(_sentence(edge, around), min(relevance(edge), 1.0), sources.get(edge.key)) for edge in ranked]
    return lines, ends


async def _as_passing(edges: list[GraphEdge], client: MemGraphClient, passing: Passing) -> list[GraphEdge]:
    """Return edges with what the texts say of them that pass."""
    sentences = await Sentences.of(client, (edge.key[:3] for edge in edges if edge.fact))
    chunks = {edge.key: sentences.chunks(edge.key[:3], edge.fact) for edge in edges}
    first = set((await passing.first_chunks(chunks)).values())
    return [replace(edge, fact=sentences.among(edge.key[:3], edge.fact, first)) for edge in edges]


def _sentence(edge: GraphEdge, around: Surroundings) -> str:
    def name(key: str) -> str:
        node = around.nodes.get(key)
        return "?" if node is None else f"{node.name} ({node.type})" if node.type else node.name

    return f"{name(edge.source)} → {edge.said} → {name(edge.target)}"


async def _lines(client: MemGraphClient, hits: Iterable[KnowledgeHit]) -> list[ContextChunk]:
    """Return records as ``field: value, …``, and documents as their best passage."""
    found = list(hits)
    passages = await client.chunks_by_id([hit.chunk_id for hit in found if hit.chunk_id])
    lines = []
    for hit in found:
        if hit.kind == "record":
            text = record_line(hit.document)
        elif hit.chunk_id in passages:
            text = f"{hit.document['title']}: {passages[hit.chunk_id]['content']}"
        else:
            text = str(hit.document["title"])
        lines.append(ContextChunk(_short(text), hit.scores["hybrid"], hit.id))
    return lines


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_PASSAGE_CHARS else flat[: _MAX_PASSAGE_CHARS - 1] + "…"
