"""Overviews of a graph: its status, its documents, one document, its namespaces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_limit, check_text
from core.rag.dbhandler.documents.naming import document_named
from core.rag.embedder.base import known_dimension
from core.rag.errors import NotFoundError
from core.rag.maintenance.places import bytes_on_disk

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.settings import Settings

#: Maximum number of paths that are compared with an unknown path.
_COMPARED = 20_000
_SIMILAR = 3
_SHOWN_FAILURES = 5
_SIMILAR_PERCENT = 70
#: A path of fewer characters resembles too much.
_SHORTEST = 3


async def status(client: MemGraphClient, embedder: EmbeddingService | None, settings: Settings) -> dict[str, Any]:
    """See :meth:`core.rag.KnowledgeBase.status`."""
    found = await client.status()
    engine = found["engine"]
    location = engine["location"]
    file = None if engine["shared"] or location == ":memory:" else Path(location)
    stores = found["vector_stores"]
    if embedder is not None:
        model: dict[str, Any] = {"model": embedder.model, "dimension": known_dimension(embedder)}
    elif stores:
        model = {"model": stores[0]["model"], "dimension": stores[0]["dimension"]}
    else:
        model = {"model": settings.embedding_model, "dimension": settings.embedding_dimension}
    return {
        "engine": engine,
        "location": location,
        "bytes": bytes_on_disk(file) if file is not None else None,
        "namespace": found["namespace"],
        "nodes": found["nodes"],
        "edges": found["edges"],
        "vector_stores": stores,
        "embedding_model": model,
        "facts": {**await client.fact_counts(), "failures": await client.fact_failures(_SHOWN_FAILURES)},
    }


async def documents(client: MemGraphClient, *, prefix: str, limit: int | None, after: str) -> list[dict[str, Any]]:
    """See :meth:`core.rag.KnowledgeBase.documents`."""
    if limit is not None:
        limit = check_limit(limit, 1)
    wanted = await client.document_paths(prefix=prefix, after=after)
    if limit is not None and len(wanted) > limit:
        last = wanted[limit - 1]["path"]
        wanted = wanted[:limit] + [row for row in wanted[limit:] if row["path"] == last]
    ids = [row["id"] for row in wanted]
    found = await client.documents_by_id(ids)
    sources = await client.sources_of(ids)
    return [{**found[identifier], "sources": sources[identifier]} for identifier in ids if identifier in found]


async def show(client: MemGraphClient, path: str) -> dict[str, Any]:
    """See :meth:`core.rag.KnowledgeBase.show`."""
    document = await client.find_document(path)
    if document is None and (named := await document_named(client, path)):
        document = await client.find_document(named)
    if document is None:
        raise NotFoundError(await not_found(client, path))
    identifier = document["id"]
    return {
        **document,
        "sources": (await client.sources_of([identifier]))[identifier],
        "references": await client.references_of(identifier),
        "chunks": await client.get_document_chunks(identifier),
    }


async def delete_namespace(client: MemGraphClient, name: str) -> int:
    """See :meth:`core.rag.KnowledgeBase.delete_namespace`."""
    known = await client.namespaces()
    if check_text("The name of a namespace", name) not in known:
        there = ", ".join(map(repr, known)) or "none"
        raise NotFoundError(f"There is no namespace {name[:200]!r} (there: {there}).")
    return await client.in_namespace(name).delete_everything()


async def not_found(client: MemGraphClient, path: str, what: str = "document") -> str:
    """Return a message about a document that does not exist, suggesting what is below it, or similar paths."""
    from rapidfuzz import fuzz, process

    check_text("A path", path)
    message = f"There is no {what} {path[:200]!r} in namespace {client.namespace!r}."
    paths = [row["path"] for row in await client.document_paths()]
    folder = path.rstrip("/") + "/"
    if below := sum(name.startswith(folder) for name in paths):
        those = f"--prefix {shlex.quote(folder)}"
        return f"{message} Documents below it: {below:,}; see mgrag list {those}, mgrag delete {those}"
    known = paths[:_COMPARED]
    long = [name for name in known if len(name) >= min(len(path), _SHORTEST)]
    similar = process.extract(path[:1000], long, scorer=fuzz.WRatio, limit=_SIMILAR, score_cutoff=_SIMILAR_PERCENT)
    if similar:
        return f"{message} Similar: {', '.join(name for name, _, _ in similar)}."
    return f"{message} See: mgrag list." if known else f"{message} Nothing has been ingested there yet."
