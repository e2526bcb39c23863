"""Removes documents that their sources no longer have, and tells which sources are one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from core.rag.identity import document_id, source_id, standardize_resource_uri
from libs.dataloader.paths import emptied_folder, folder_identity

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.indexing.report import IngestReport
    from core.rag.indexing.state import StateReader
    from libs.dataloader import Loader, SourceInfo

#: So many stored documents are not given up for a source in which nothing was found, or a site of which one page was.
#: One alone may have been that page, under another address.
_OTHERS = 2

#: If so many were not found for each page that was, the site is asked for some of them.
_SHARE = 0.5

#: Number of those pages.
_ASKED = 5

_SHUT = (
    "as when a site is down or asks for a login. If they are gone, delete them (mgrag delete --source) and ingest the"
    " site again"
)

_EMPTY = "A drive may not be mounted. If they are gone, delete them (mgrag delete --source {})"

_EMPTIED = (
    "Nothing at all is in {}, of which {:,} documents are stored. A drive may not be mounted, so they stay. If they are"
    " gone, remove that folder and ingest with --prune (prune=True)."
)


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read.

    Attributes:
        loader: The loader that read it.
        source: What it is.
        source_id: Id of its Source.
        seen: Ids of the documents that it has.
        gone: Ids of documents that it reported as gone.
    """

    loader: Loader
    source: SourceInfo
    source_id: str
    seen: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


async def prune(client: MemGraphClient, state: StateReader, read: Sequence[ReadSource], report: IngestReport) -> None:
    """Remove the documents that sources no longer have.

    Of a source that was not read completely, only documents that are certainly gone are removed.

    Args:
        client: The graph.
        state: Reads what is stored.
        read: The sources that were read.
        report: Receives the number of removed documents, and warnings.
    """
    for one in read:
        source = one.source
        if source.type == "documents":
            report.warnings.append("Documents passed directly are not pruned: they have no source to disappear from.")
            continue
        # Several loaders may have parts of one source.
        seen = set().union(*(other.seen for other in read if other.source_id == one.source_id))
        why = await _why_not_all(state, one, seen)
        if why:
            report.warnings.append(f"Of {source.uri} only what is certainly gone was pruned: {why}.")
        moved = (standardize_resource_uri(uri) for uri in getattr(one.loader, "moved", ()))
        certain = one.gone.union(document_id(client.namespace, uri) for uri in moved)
        gone = await _gone(state, one, seen, certain if why else None)
        if source.type == "folder":
            gone, notes = _without_emptied(gone)
            report.warnings += notes
        report.documents.deleted += await client.delete_documents(
            await state.vanished(one.source_id, source, gone, certain)
        )


async def kept_though_gone(client: MemGraphClient, state: StateReader, read: Sequence[ReadSource]) -> list[str]:
    """Notes on folders of which the graph has documents whose files are gone, after a run that did not prune."""
    notes = []
    for one in read:
        if one.source.type != "folder" or not getattr(one.loader, "complete", True):
            continue
        if await client.count_of_source(one.source_id) <= len(one.seen):
            continue
        gone = await state.gone(one.source_id, one.seen, getattr(one.loader, "covers", None))
        if one.seen:
            gone, emptied = _without_emptied(gone)
            notes += emptied
        if gone:
            first = min(row["uri"] for row in gone).removeprefix(one.source.uri).lstrip("/")
            which = f"{len(gone):,} documents, among them {first}, have" if len(gone) > 1 else f"{first} has"
            them = "them" if len(gone) > 1 else "it"
            way = "Ingest again with --prune (prune=True) to delete what is gone"
            if len(gone) >= _OTHERS and not one.seen:
                way = _EMPTY.format(one.source.uri)
            notes.append(
                f"Of {one.source.uri}, {which} no file any more, but searches still find what was in {them}. {way}."
            )
    return notes


async def doubled_folders(client: MemGraphClient, read: Sequence[ReadSource]) -> list[str]:
    """Notes on folders whose documents the graph has twice: under a second name (a link), or under a former one."""
    folders = [one for one in read if one.source.type == "folder"]
    if not folders:
        return []
    notes = []
    for uri in await client.folder_uris():
        if (identity := folder_identity(uri)) is None:
            notes += await _renamed(client, uri, folders)
        else:
            notes += [
                f"{one.source.uri} and {uri} are one folder: its documents are stored under both names, and searches"
                f" find them twice. To keep one of each, delete the others (mgrag delete --source {uri})."
                for one in folders
                if uri != one.source.uri and identity == folder_identity(one.source.uri)
            ]
    return notes


async def _renamed(client: MemGraphClient, gone: str, folders: Sequence[ReadSource]) -> list[str]:
    """Return a note if most documents of a missing folder are in another folder now, at the same places."""
    source = source_id(client.namespace, gone)
    stored = await client.count_of_source(source)
    # On a server, a folder may also be missing because it is on another machine: its documents are not read each time.
    if not (folders := [one for one in folders if 2 * len(one.seen) > stored]):
        return []
    places = [row["uri"].removeprefix(f"{gone}/") for row in await client.documents_of_source(source)]
    for one in folders:
        moved = sum(document_id(client.namespace, f"{one.source.uri}/{place}") in one.seen for place in places)
        if 2 * moved > len(places):
            return [
                f"{gone} is no longer there, and its documents are in {one.source.uri} ({moved:,} of {len(places):,})."
                " If the folder was renamed or moved, searches find them twice: delete those of the former name"
                f" (mgrag delete --source {gone})."
            ]
    return []


def _without_emptied(gone: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the missing documents without those of folders that are empty now, and a note on each such folder.

    A mount point is an empty folder as long as nothing is mounted there.
    """
    folder_of = cache(lambda folder: emptied_folder(f"{folder}/file"))
    left: list[dict[str, Any]] = []
    within: dict[str, list[dict[str, Any]]] = {}
    for row in gone:
        folder = folder_of(row["uri"].rpartition("/")[0])
        (left if folder is None else within.setdefault(folder, [])).append(row)
    notes = []
    for folder, rows in sorted(within.items()):
        if len(rows) < _OTHERS:
            left += rows
        else:
            notes.append(_EMPTIED.format(folder, len(rows)))
    return left, notes


async def _gone(
    state: StateReader, one: ReadSource, seen: set[str], only: set[str] | None = None
) -> list[dict[str, Any]]:
    """List the documents that a source no longer has; of a folder, also files in it that were ingested by their names.

    See :meth:`StateReader.gone`.
    """
    gone = await state.gone(one.source_id, seen, getattr(one.loader, "covers", None), only)
    if one.source.type == "folder" and only is None:
        listed = {row["id"] for row in gone}
        gone += [row for row in await state.gone_below(one.source.uri, seen) if row["id"] not in listed]
    return gone


async def _why_not_all(state: StateReader, one: ReadSource, seen: set[str]) -> str | None:
    """Why a source may have documents that were not seen; ``None`` if it has none."""
    if not getattr(one.loader, "complete", True):
        return getattr(one.loader, "why_incomplete", None) or "it was not read to the end"
    if seen and one.source.type != "web":
        return None
    others = [row["uri"] for row in await _gone(state, one, seen)]
    if len(others) < _OTHERS:
        return None
    if one.source.type != "web":
        return f"nothing was found in it, and {len(others):,} documents are stored. {_EMPTY.format(one.source.uri)}"
    # A site that is down, or wants a login, often answers every address with one page, which leads nowhere or to a few
    # others.
    if len(seen) <= 1:
        return f"only one page was found, and {len(others):,} others are stored, {_SHUT}"
    ask = getattr(one.loader, "why_doubtful", None)
    if ask is None or len(others) < _SHARE * len(seen):
        return None
    others.sort()
    why = await ask(others[:: max(1, len(others) // _ASKED)][:_ASKED])
    return f"{len(others):,} stored pages were not found, and {why}, {_SHUT}" if why else None
