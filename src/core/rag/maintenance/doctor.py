"""Runs all checks of the environment and of the graph, in the order in which they depend on each other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.rag.arguments import check_flags
from core.rag.dbhandler.embedded.commitlog import log_folder
from core.rag.dbhandler.embedded.endmark import forget_end
from core.rag.dbhandler.embedded.engine import lock_file
from core.rag.dbhandler.embedded.header import missing_end
from core.rag.dbhandler.embedded.opening import is_there
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.vectors import BUILDING
from core.rag.embedder.base import known_dimension
from core.rag.errors import ConfigurationError, EmbeddingError, StoreError
from core.rag.maintenance import environment
from core.rag.maintenance.conversations import ConversationSoundness
from core.rag.maintenance.findings import Check, DoctorReport, Level
from core.rag.maintenance.flaws import Flaw, mend_all, some
from core.rag.maintenance.knowledge import KnowledgeSoundness
from core.rag.maintenance.places import graph_file
from core.rag.maintenance.reembed import ReembedReport, chunks_of_other_text, fill, fill_messages
from core.rag.maintenance.soundness import Soundness
from core.rag.maintenance.wording import WordSoundness
from core.rag.schema import EMBEDDED_LABELS
from core.rag.sizes import size

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.store import GraphStore
    from core.rag.embedder import EmbeddingService
    from core.rag.settings import Settings

_REPAIR = "mgrag doctor --repair repairs this."
_NOT_MADE = "The server has not made it; the notes about the database, or its log, may say why."
_LARGE_LOG = 1 << 30


async def examine(
    uri: str | None = None, *, namespace: str | None = None, model: str | None = None, repair: bool = False
) -> DoctorReport:
    """Check everything, even if the graph cannot be opened; nothing is created if there is no graph.

    Args:
        uri: The graph; ``None``: that of the settings.
        namespace: Check only this one; ``None``: all.
        model: Embedding model; ``None``: that of the settings.
        repair: Repair what can be repaired.

    Returns:
        The checks.

    Raises:
        InvalidInputError: if the namespace is not allowed.
    """
    from core.rag.dbhandler import MemGraphClient
    from core.rag.dbhandler.base import check_namespace
    from core.rag.settings import load_settings

    if namespace is not None:
        check_namespace(namespace)
    check_flags(repair=repair)
    report = DoctorReport()
    report.checks += environment.check_python()
    report.checks += environment.check_packages()
    try:
        settings = load_settings()
    except ConfigurationError as error:
        report.checks.append(Check("environment", "settings", "problem", str(error), "Correct them; see .env.example."))
        return report
    report.checks += environment.check_settings(settings)
    embedder, problems = environment.check_model(model, settings)
    report.checks += problems
    try:
        if embedder is not None:
            report.checks += await environment.check_embedder(embedder)
        named = uri is not None or settings.memgraph_uri is not None
        try:
            file = graph_file(uri, settings)
        except StoreError as error:
            report.checks.append(_check("location", "problem", str(error)))
            return report
        if file is not None:
            report.checks += environment.check_disk(file.parent, file if is_there(file) else None)
            if not is_there(file):
                report.checks.append(_missing(file, named=named))
                return report
            if repair and not settings.read_only and file.is_file():
                report.checks += await asyncio.to_thread(_accept_end, file)
        client = MemGraphClient(uri, namespace=namespace, settings=settings)
        try:
            await client.connect()
            report.checks += await _examine_graph(client, embedder, repair=repair, everywhere=namespace is None)
        except (StoreError, ConfigurationError) as error:
            report.checks.append(_check("database", "problem", str(error)))
        finally:
            await client.close()
    finally:
        if embedder is not None:
            await embedder.close()
    return report


def _missing(file: Path, *, named: bool) -> Check:
    if reason := environment.why_not_made(file.parent):
        message = f"There is no graph at {file}, and none can be created: {reason}."
        return _check("location", "problem", message, "Name a graph elsewhere (--db), or make that folder writable.")
    message = f"There is no graph at {file}: nothing has been ingested yet."
    return _check("location", "problem" if named else "note", message, "mgrag ingest PATH_OR_URL creates one.")


def _accept_end(file: Path) -> list[Check]:
    """Let a graph be opened that lacks the end of its log."""
    try:
        with lock_file(file) as free:
            if not free or not (message := missing_end(file)):
                return []
            forget_end(file)
    except OSError:
        return []  # opening it says why
    return [_check("graph file", "mended", f"{message} What is left can be used.", "Put in again what is missing.")]


async def examine_open(
    client: MemGraphClient,
    embedder: EmbeddingService | None,
    settings: Settings,
    *,
    repair: bool,
    everywhere: bool,
) -> DoctorReport:
    """See :meth:`core.rag.KnowledgeBase.doctor`."""
    check_flags(repair=repair, everywhere=everywhere)
    report = DoctorReport()
    report.checks += environment.check_python()
    report.checks += environment.check_packages()
    report.checks += environment.check_settings(settings)
    if embedder is not None:
        report.checks += await environment.check_embedder(embedder)
    store = await client.connect()
    if isinstance(store, EmbeddedStore) and store.path is not None:
        report.checks += environment.check_disk(store.path.parent, store.path)
    report.checks += await _examine_graph(client, embedder, repair=repair, everywhere=everywhere)
    return report


async def _examine_graph(
    client: MemGraphClient, embedder: EmbeddingService | None, *, repair: bool, everywhere: bool
) -> list[Check]:
    store = await client.connect()
    engine = store.capabilities
    checks = [
        _check(
            "database",
            "ok",
            f"{engine.engine} {engine.version} at {engine.location} can be opened, and its schema is complete.",
        )
    ]
    checks += [_check("database", "problem" if note in engine.problems else "note", note) for note in engine.notes]
    if isinstance(store, EmbeddedStore):
        checks += await _check_file(store)
    known = await client.namespaces()
    for name in known if everywhere else [client.namespace]:
        if name not in known:
            checks.append(_check(f"namespace {name}", "note", "Nothing has been ingested there yet."))
            continue
        inside = client.in_namespace(name)
        checks += await _check_model(inside, embedder)
        unfinished = await _check_imports(inside)
        checks += unfinished
        mend = repair and not unfinished  # what an import has yet to connect looks like what nothing needs
        checks += await _check_soundness(inside, repair=mend)
        checks += await _check_vectors(inside, embedder, repair=mend)
        checks += await _check_vector_indexes(inside, repair=repair)
    checks += await _check_indexes(store, repair=repair)
    return checks


async def _check_file(store: EmbeddedStore) -> list[Check]:
    found = await store.exclusively(lambda db: (db.checkpoint_status(), db.validate()), "Checking the graph file")
    checkpoints, errors = found
    checks = []
    if checkpoints["failures"]:
        checks.append(
            _check(
                "graph file",
                "problem",
                f"The last {checkpoints['failures']} checkpoints failed: {checkpoints['last_error']}.",
                "Free space on the disk, then close the graph and open it again.",
            )
        )
    if errors:
        checks.append(
            _check(
                "graph file",
                "problem",
                f"The engine finds {len(errors)} faults: {errors[0].get('message', errors[0])}.",
                "Make an export (mgrag export), restore a backup (mgrag restore), or ingest again.",
            )
        )
    log = _log_bytes(store.path)
    if log > _LARGE_LOG:
        message = f"The log beside the graph file has {size(log)}: no checkpoint was written for long."
        checks.append(_check("graph file", "note", message, "It is emptied when the graph is closed."))
    return checks or [_check("graph file", "ok", "The engine finds no errors in it.")]


def _log_bytes(file: Path | None) -> int:
    folder = log_folder(file) if file is not None else None
    if folder is None or not folder.is_dir():
        return 0
    return sum(part.stat().st_size for part in folder.iterdir() if part.is_file())


async def _check_model(client: MemGraphClient, embedder: EmbeddingService | None) -> list[Check]:
    name = f"{client.namespace}: model"
    stores = await client.vector_stores()
    checks = [
        _check(
            name,
            "note",
            f"The change to the model {store.model} was not completed.",
            "Run mgrag reembed with that model again, or continue with the old one.",
        )
        for store in stores
        if store.status == BUILDING
    ]
    if not stores or embedder is None:
        return checks
    there = stores[0]
    dimension = known_dimension(embedder)
    same = [store for store in stores if store.model == embedder.model and dimension in (None, store.dimension)]
    if any(store.status != BUILDING for store in same):
        checks.append(_check(name, "ok", f"It was built with {there.model} ({there.dimension} dimensions)."))
    else:
        checks.append(
            _check(
                name,
                "problem",
                f"It was built with {there.model} ({there.dimension} dimensions), but the settings say"
                f" {embedder.model}.",
                f"Set MGRAG_EMBEDDING_MODEL={there.model}, or change the graph's model: mgrag reembed.",
            )
        )
    return checks


async def _check_imports(client: MemGraphClient) -> list[Check]:
    paths = await client.being_imported()
    if not paths:
        return []
    return [
        _check(
            f"{client.namespace}: imports",
            "problem",
            f"{len(paths)} documents are not complete: an import is running, or was interrupted: {some(paths)}.",
            "Wait for its end, or repeat it; or ingest these documents again, or delete them. Nothing else of the"
            " namespace is repaired before.",
        )
    ]


async def _check_soundness(client: MemGraphClient, *, repair: bool) -> list[Check]:
    checks: list[Check] = []
    parts = (Soundness(client), WordSoundness(client), KnowledgeSoundness(client), ConversationSoundness(client))
    for name, look in (check for part in parts for check in part.checks()):
        flaws = [flaw async for flaw in look()]
        left: Sequence[Flaw] = ()
        if repair and any(flaw.mend is not None for flaw in flaws):
            await mend_all(flaws)
            left = [flaw async for flaw in look()]
        checks += _described(f"{client.namespace}: {name}", flaws, left, repair=repair)
    return checks


def _described(name: str, flaws: Sequence[Flaw], left: Sequence[Flaw], *, repair: bool) -> list[Check]:
    if not flaws:
        return [_check(name, "ok", "No problems found.")]
    remaining = {flaw.message for flaw in left}
    checks = []
    for flaw in flaws:
        if repair and flaw.mend is not None and flaw.message not in remaining:
            checks.append(_check(name, "mended", flaw.message, flaw.advice))
        elif flaw.harmless:
            checks.append(_check(name, "note", flaw.message))
        else:
            advice = flaw.advice if flaw.mend is None or repair else _REPAIR
            checks.append(_check(name, "problem", flaw.message, advice))
    return checks


async def _check_vectors(client: MemGraphClient, embedder: EmbeddingService | None, *, repair: bool) -> list[Check]:
    name = f"{client.namespace}: embeddings"
    stores = await client.vector_stores()
    if not stores:
        return []
    store = stores[0]
    fits = embedder is not None and (embedder.model, known_dimension(embedder)) == (store.model, store.dimension)
    checks = []
    bare, mute = await client.chunks_without_vector(store), await client.messages_without_vector(store)
    aged = await chunks_of_other_text(client, embedder, store) if embedder is not None and fits else []
    without = f"have no vector of {store.model}, so only their words are searched."
    other = "have vectors of another text than this version of memgraph-rag embeds."
    ways: list[tuple[Level, str, list[str], Callable[..., Awaitable[None]]]] = [
        ("problem", f"{len(bare)} chunks {without}", bare, fill),
        ("problem", f"{len(aged)} chunks {other}", aged, fill),
        # Messages that were added without a model have no vectors, which is no problem.
        ("note", f"{len(mute)} messages {without}", mute, fill_messages),
    ]
    for level, message, ids, give in ways:
        if not ids:
            continue
        if repair and embedder is not None and fits:
            try:
                await give(client, embedder, store, ids, ReembedReport(store.model, store.dimension))
            except EmbeddingError as error:  # what was embedded before is stored
                checks.append(_check(name, level, f"{message} {error}", "Repeat mgrag doctor --repair later."))
            else:
                checks.append(_check(name, "mended", message))
        else:
            needed = (
                f"Set MGRAG_EMBEDDING_MODEL={store.model} and {'repeat' if repair else 'run'} mgrag doctor --repair."
            )
            checks.append(_check(name, level, message, _REPAIR if fits else needed))
    return checks or [_check(name, "ok", "Every chunk has a vector.")]


async def _check_vector_indexes(client: MemGraphClient, *, repair: bool) -> list[Check]:
    """Report vectors without an index on a server; if it has no vector search at all, its notes say so."""
    graph = await client.connect()
    if not graph.capabilities.vector_search:
        return []
    checks = []
    for store in await client.vector_stores():
        for label in EMBEDDED_LABELS:
            index = store.index(label)
            rows = await client.read(f"MATCH (v:{index.label}) RETURN count(v) AS n")
            if not rows[0]["n"] or await graph.has_vector_index(index):
                continue
            message = (
                f"The vector index of {label} for {store.model} is missing: the client compares all vectors itself."
            )
            if repair:
                await graph.ensure_vector_index(index)
            mended = repair and await graph.has_vector_index(index)
            name = f"{client.namespace}: vector indexes"
            advice = _NOT_MADE if repair else _REPAIR
            checks.append(_check(name, "mended", message) if mended else _check(name, "problem", message, advice))
    return checks


async def _check_indexes(store: GraphStore, *, repair: bool) -> list[Check]:
    found = await store.check_indexes(repair=repair)
    if not found:
        return [_check("indexes", "ok", "They agree with the graph.")]
    left = await store.check_indexes() if repair else found
    return [
        _check("indexes", "problem", text, _REPAIR) if text in left else _check("indexes", "mended", text)
        for text in found
    ]


def _check(name: str, level: Level, message: str, advice: str = "") -> Check:
    return Check("graph", name, level, message, advice)
