"""Copies of a graph, verified after writing."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from core.rag.dbhandler.embedded.commitlog import discard
from core.rag.dbhandler.embedded.digest import Digest, digest, digest_of_file
from core.rag.dbhandler.embedded.engine import save
from core.rag.dbhandler.embedded.store import EmbeddedStore
from core.rag.dbhandler.transfer.file import check_export, give_name, new_file, part_of
from core.rag.errors import BackupError
from core.rag.maintenance.archive import export_namespaces

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient

#: What a backup is: a graph file that opens like any other, or JSON lines.
Kind = Literal["graph", "export"]


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written or restored, and verified.

    Attributes:
        file: The backup.
        kind: ``graph`` (a copy of an embedded graph) or ``export`` (JSON lines of all namespaces).
        bytes: Its size.
        nodes: Number of nodes by label.
        edges: Number of edges by type.
        checksum: Over all nodes and edges; empty for an export, which carries its own.
        set_aside: Where the graph is that a restore has replaced, or ``None``.
    """

    file: Path
    kind: Kind
    bytes: int
    nodes: dict[str, int]
    edges: dict[str, int]
    checksum: str = ""
    set_aside: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values that JSON can hold."""
        return {
            "file": str(self.file),
            "kind": self.kind,
            "bytes": self.bytes,
            "nodes": self.nodes,
            "edges": self.edges,
            "checksum": self.checksum,
            "set_aside": str(self.set_aside) if self.set_aside else None,
        }


async def backup(client: MemGraphClient, file: str | os.PathLike[str]) -> BackupReport:
    """See :meth:`core.rag.KnowledgeBase.backup`."""
    target = new_file(file)
    store = await client.connect()
    if isinstance(store, EmbeddedStore):
        stop = Event()
        found = await store.exclusively(lambda db: _copy(db, target, stop), f"A backup to {target}", stop.set)
        return BackupReport(
            target, "graph", target.stat().st_size, main_labels(found.nodes), found.edges, found.checksum
        )
    written = await export_namespaces(client, target, list(await client.namespaces()))
    read = await asyncio.to_thread(check_export, target)
    if read != written:
        target.unlink()
        raise BackupError(f"The backup {target} does not hold what was written to it; the disk may be failing.")
    nodes, edges = sums(read)
    return BackupReport(target, "export", target.stat().st_size, nodes, edges)


def sums(reports: dict[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Nodes by label and edges by type of all namespaces together."""
    nodes: dict[str, int] = {}
    edges: dict[str, int] = {}
    for report in reports.values():
        for total, part in ((nodes, report.nodes), (edges, report.edges)):
            for name, count in part.items():
                total[name] = total.get(name, 0) + count
    return dict(sorted(nodes.items())), dict(sorted(edges.items()))


def main_labels(nodes: dict[str, int]) -> dict[str, int]:
    """Without the second labels, which belong to the engine, and what is of the graph and in no namespace."""
    from core.rag.schema import Label

    return {name: count for name, count in nodes.items() if name in Label and name != Label.SCHEMA_VERSION}


def _copy(db: Any, target: Path, stop: Event) -> Digest:
    """Write a copy beside the target, compare it with the graph, and only then give it its name."""
    part = part_of(target)
    try:
        save(db, part, target)
        there, here = digest_of_file(part, stop), digest(db, stop)
        if there != here:
            raise BackupError(
                f"The backup to {target} was not kept: it does not hold what the graph does"
                f" ({_difference(here, there)}). Repeat it; if that does not help, the disk is failing (mgrag doctor)."
            )
        give_name(part, target)
    except OSError as error:
        raise BackupError(f"The backup to {target} could not be written: {error.strerror or error}.") from error
    finally:
        discard(part)
    return here


def _difference(here: Digest, there: Digest) -> str:
    for ours, theirs in ((here.nodes, there.nodes), (here.edges, there.edges)):
        for name in sorted({*ours, *theirs}):
            if ours.get(name, 0) != theirs.get(name, 0):
                return f"{theirs.get(name, 0)} instead of {ours.get(name, 0)} {name}"
    return "some properties differ"
