"""Replaces a graph with a backup."""

from __future__ import annotations

import asyncio
import filecmp
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from core.rag.arguments import check_flags
from core.rag.dbhandler.embedded.commitlog import discard, log_folder, sync_file, sync_folder
from core.rag.dbhandler.embedded.digest import Digest, digest_of_file, is_empty
from core.rag.dbhandler.embedded.engine import KEPT, close_engine, lock_file, open_engine
from core.rag.dbhandler.embedded.opening import is_there
from core.rag.dbhandler.finishing import finish
from core.rag.dbhandler.store import READING_ONLY
from core.rag.dbhandler.transfer.file import GRAPH_MAGIC, check_export
from core.rag.dbhandler.versions import check_version
from core.rag.errors import (
    BackupError,
    MGRagError,
    StoreDamagedError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from core.rag.file_status import status_of
from core.rag.maintenance.archive import export_namespaces, import_namespaces
from core.rag.maintenance.backup import BackupReport, main_labels, sums
from core.rag.maintenance.places import graph_file

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.settings import Settings


async def restore(
    uri: str | None, file: str | os.PathLike[str], *, force: bool = False, settings: Settings | None = None
) -> BackupReport:
    """Replace a graph, which must not be open, by a backup.

    An embedded graph is replaced as a whole, with all namespaces, in one step, after the new one was written beside it
    and verified. On a server, the namespaces in the backup are replaced one after the other.

    Args:
        uri: The graph; ``None``: that of the settings.
        file: A file written by :meth:`KnowledgeBase.backup` or :meth:`KnowledgeBase.export`.
        force: Replace a graph that is not empty. The old one is kept under its name with the date.
        settings: ``None``: read from the environment.

    Returns:
        The contents of the graph, and the place of the graph that was replaced.

    Raises:
        BackupError: if the backup is damaged, or the graph is not empty and ``force`` is false; nothing is changed.
        StoreLockedError: if the graph is open elsewhere.
        StoreReadOnlyError: if the settings say that nothing is stored.
        StoreFullError: if there is no room for what an export holds; nothing is changed.
    """
    from core.rag.settings import settings_for

    check_flags(force=force)
    settings = settings_for(settings)
    if settings.read_only:
        raise StoreReadOnlyError(READING_ONLY)
    source = _existing(file)
    target = graph_file(uri, settings)
    is_graph = await asyncio.to_thread(_is_graph, source)
    if target is None:
        if is_graph:
            raise BackupError(
                f"{source} is a copy of an embedded graph, which a server cannot take in. Turn it into an export first"
                f" (mgrag export FILE --all-namespaces --db {source}), and restore that."
            )
        return await _restore_into_server(uri, source, settings, force=force)
    if source == target or (target.exists() and source.samefile(target)):
        raise BackupError(f"{source} is the graph itself; name a backup of it.")
    part = target.with_name(f".{target.name}.restoring")
    swapping = False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove(part)
        if is_graph:
            expected = await _to_its_end(_copy_graph, source, part, stop=Event())
        else:
            expected = await _import_graph(source, part, settings)
        swapping = True
        aside = await _to_its_end(partial(_swap, force=force), part, target)
    except OSError as error:
        unsure = swapping and not part.exists() and target.exists()
        left = "the new or the old one; see mgrag status" if unsure else "as it was"
        reason = error.strerror or error
        raise BackupError(f"{target} could not be restored: {reason}. The graph is {left}.") from error
    finally:
        _remove(part)
    return BackupReport(
        source,
        "graph" if is_graph else "export",
        source.stat().st_size,
        main_labels(expected.nodes),
        expected.edges,
        expected.checksum,
        aside,
    )


async def _to_its_end[T](function: Callable[..., T], *files: Path, stop: Event | None = None) -> T:
    """Call a function in a thread. When cancelled, wait for it first: it would go on with files that are removed.

    Args:
        function: What to call.
        files: Its arguments.
        stop: A further argument, which is set when cancelled, so that the function ends early.
    """
    with ThreadPoolExecutor(1) as thread:
        if stop is None:
            return await finish(asyncio.wrap_future(thread.submit(function, *files)))
        return await finish(asyncio.wrap_future(thread.submit(function, *files, stop)), stop.set)


def _existing(file: str | os.PathLike[str]) -> Path:
    try:
        source = Path(file).expanduser().absolute()
        status = status_of(source)
    except PermissionError as error:
        raise BackupError(f"{source} cannot be read: this user may not enter its folder {source.parent}.") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise BackupError(f"{str(file)[:500]!r} cannot be the name of a backup: {str(error).rstrip('.')}.") from error
    if status is not None and stat.S_ISREG(status.st_mode):
        return source
    if status is not None:
        raise BackupError(f"{source} is not a file, and a backup is read twice: write it to a file first.")
    raise BackupError(f"There is no backup {str(source)[:500]}.")


def _is_graph(source: Path) -> bool:
    try:
        with source.open("rb") as raw:
            return raw.read(len(GRAPH_MAGIC)) == GRAPH_MAGIC
    except OSError as error:
        raise BackupError(f"{source} cannot be read: {error.strerror or error}.") from error


def _copy_graph(source: Path, part: Path, stop: Event) -> Digest:
    """Copy a graph file that is sound, and compare the copy with it."""
    log = log_folder(source.resolve())  # a link may lead to a graph
    if log.exists():
        raise BackupError(
            f"{source} is a graph in use, not a backup: part of it is in {log}. Make a backup of it"
            f" (mgrag backup FILE --db {source}), and restore that."
        )
    try:
        before = source.stat()
        expected = digest_of_file(source, stop)
    except StoreDamagedError as error:
        raise BackupError(f"The backup {source} is damaged, and was not restored: {error}") from error
    check_version(expected.version, str(source))
    shutil.copyfile(source, part)
    sync_file(part)
    after = source.stat()
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise BackupError(f"{source} was written to while it was read. The graph is as it was; repeat.")
    if not filecmp.cmp(source, part, shallow=False):
        raise BackupError(f"The copy of {source} differs from it; the disk may be failing. The graph is as it was.")
    return expected


async def _import_graph(source: Path, part: Path, settings: Settings) -> Digest:
    """Build a graph from an export, and compare its contents with those of the export."""
    from core.rag.dbhandler import MemGraphClient

    promised = await asyncio.to_thread(check_export, source)
    quick = settings.model_copy(update={"sync_every_commit": False})
    try:
        async with MemGraphClient(f"embedded:{part}", settings=quick) as client:
            await import_namespaces(client, source, everything=True)
    except StoreFullError as error:
        raise StoreFullError(
            f"{source} could not be restored: the disk has no room for the new graph beside the old one. The graph is"
            " as it was; free space and repeat."
        ) from error
    await asyncio.to_thread(sync_file, part)
    found = await _to_its_end(digest_of_file, part, stop=Event())
    nodes, edges = sums(promised)
    if (main_labels(found.nodes), found.edges) != (nodes, edges):
        raise BackupError(f"{source} could not be restored as a whole. The graph is as it was.")
    return found


def _swap(part: Path, target: Path, *, force: bool) -> Path | None:
    """Replace the old graph by the new one; the old one is kept unless it is empty."""
    aside: Path | None = None
    if is_there(target):
        empty = _settle(target, force=force)
        with _locked(target):
            if not empty:
                aside = _free_name(target)
                _keep(target, aside)
            log = log_folder(target)
            if log.exists():  # the log of a damaged graph, which the new graph must not use
                shutil.rmtree(log)
            part.replace(target)
            sync_folder(target.parent)
    else:
        part.rename(target)
        sync_folder(target.parent)
    return aside


def _settle(target: Path, *, force: bool) -> bool:
    """Open and close the old graph, so that all of it is in its file; return whether it is empty."""
    try:
        db = open_engine(target)
    except StoreLockedError:
        raise
    except (StoreDamagedError, StoreReadOnlyError, StoreUnavailableError) as error:
        if not force:
            raise BackupError(
                f"What is at {target} cannot be opened ({error}) Restore with --force to replace it; the old graph"
                " is kept."
            ) from error
        return False
    handles = [db]
    try:
        empty = is_empty(db)
    finally:
        del db
        close_engine(handles)
    if not empty and not force:
        raise BackupError(
            f"The graph {target} is not empty. Restore with --force to replace it; the old graph is kept under its name"
            " with the date."
        )
    return empty


def _keep(target: Path, aside: Path) -> None:
    """Give the old graph, and its log if it has one, a second name; the first one stays until it is replaced."""
    log = log_folder(target)
    if log.exists():
        shutil.copytree(log, log_folder(aside))
    if not target.exists():  # only a log is left
        return
    try:
        os.link(target, aside)
    except OSError:  # a file system without hard links
        shutil.copyfile(target, aside)
        sync_file(aside)
    sync_folder(aside.parent)


def _free_name(target: Path) -> Path:
    stamp = _stamp()
    for number in range(1000):
        name = f"{target.name}{KEPT}{stamp}" + (f"-{number}" if number else "")
        aside = target.with_name(name)
        if not is_there(aside):
            return aside
    raise BackupError(f"There are too many old graphs beside {target}; delete some of them.")


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Lock the old graph against being opened while it is replaced."""
    if not target.exists():
        yield
        return
    with lock_file(target) as free:
        if not free:
            raise StoreLockedError(f"{target} was opened by another process meanwhile. Close it there.")
        yield


def _remove(part: Path) -> None:
    discard(part)
    discard(part.with_name(part.name + ".creating"))  # where the disk was full before there was a graph
    shutil.rmtree(log_folder(part), ignore_errors=True)


async def _restore_into_server(uri: str | None, source: Path, settings: Settings, *, force: bool) -> BackupReport:
    from core.rag.dbhandler import MemGraphClient

    promised = await asyncio.to_thread(check_export, source)
    aside: Path | None = None
    async with MemGraphClient(uri, settings=settings) as client:
        there = [name for name in await client.namespaces() if name in promised]
        if there and not force:
            raise BackupError(
                f"The namespaces {', '.join(map(repr, there))} are not empty. Restore with --force to replace them;"
                " what is in them is written to a file first."
            )
        if there:
            stem = source.name.removesuffix(".gz").removesuffix(".jsonl")
            aside = source.with_name(f"{stem}.before-restore-{_stamp()}.jsonl.gz")
            await export_namespaces(client, aside, there)
        try:
            for name in there:
                await client.in_namespace(name).delete_everything()
            await import_namespaces(client, source, everything=True)
            await _compare(client, promised)
        except MGRagError as error:
            if aside is None:
                raise
            raise BackupError(
                f"{source} was not restored as a whole: {error} Repeat it with --force. What was there before is in"
                f" {aside}, and can be restored in the same way."
            ) from error
    nodes, edges = sums(promised)
    return BackupReport(source, "export", source.stat().st_size, nodes, edges, set_aside=aside)


async def _compare(client: MemGraphClient, promised: dict[str, Any]) -> None:
    for name, report in promised.items():
        found = await client.in_namespace(name).counts()
        if found != report.to_dict():
            raise BackupError(f"Namespace {name!r} holds {found} after the restore, instead of {report.to_dict()}.")
