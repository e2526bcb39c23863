"""Exports a namespace as JSON lines.

Second labels and indexes are not written: they belong to the engine and are recreated on import, so neither side needs
an embedding call.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from core.rag.arguments import check_file
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.finishing import finish
from core.rag.dbhandler.store import Row
from core.rag.dbhandler.transfer.file import ExportWriter, TransferReport, writing_export
from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.schema import Label

#: Number of nodes that are read or written at once.
PAGE = 500
_EDGE = {"type": "type(r)", "a": "a.id", "b": "b.id", "labels": "labels(b)", "props": "properties(r)"}


class ExportOperations(VectorStoreOperations):
    """Export of one namespace."""

    async def export_graph(self, file: str | os.PathLike[str]) -> TransferReport:
        """Write everything in the namespace to a file (compressed if its name ends in ``.gz``).

        The file is created only when it is complete. Writers to an embedded graph wait meanwhile; on a server nothing
        should write to the namespace.

        Raises:
            BackupError: if the file exists or cannot be written, or the namespace was written to meanwhile.
        """
        with writing_export(check_file(file)) as out:
            return await self.write_section(out)

    async def write_section(self, out: ExportWriter) -> TransferReport:
        """Write everything in the namespace as a section of a file.

        Raises:
            BackupError: if the namespace is written to meanwhile, which is impossible on an embedded graph.
        """
        store = await self.connect()
        async with store.undisturbed():
            out.begin(self._namespace)
            await self._write_nodes(out)
            await self._write_edges(out)
            for label in Label:
                out.check_there(label, await self._ids(label))
            return out.end()

    async def _write_nodes(self, out: ExportWriter) -> None:
        for label in Label:
            ids = await self._ids(label)
            targets = await self._vector_targets() if label is Label.VECTOR and ids else {}
            for page in batches(ids, max_rows=PAGE):
                nodes = await self.read_lists(f"MATCH (n:{label} {{id: i}})", ("n.id", "properties(n)"), page)
                await _beside(_put_nodes, out, label, nodes, targets)

    async def _ids(self, label: Label) -> list[str]:
        """Return the sorted ids of all nodes of a label, in one scan; each page by ``id >`` would need its own."""
        rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN collect(n.id) AS ids")
        return sorted(rows[0]["ids"])

    async def _vector_targets(self) -> dict[str, str]:
        """Return the label of the node that each vector embeds, for vectors that do not embed chunks."""
        found: dict[str, str] = {}
        for label in (Label.INTERACTION, Label.ENTITY, Label.CONCEPT):
            rows = await self.read(
                f"MATCH (v:Vector)-[:EMBEDDING_OF]->(t:{label}) WHERE v.namespace = $namespace "
                "RETURN DISTINCT v.id AS id"
            )
            found |= {row["id"]: label.value for row in rows}
        return found

    async def _write_edges(self, out: ExportWriter) -> None:
        for label in Label:
            for page in batches(await self._ids(label), max_rows=PAGE):
                rows = await self.read_together(f"MATCH (a:{label} {{id: i}})-[r]->(b)", _EDGE, page)
                await _beside(_put_edges, out, label, rows)


async def _beside(put: Callable[..., None], *arguments: object) -> None:
    """Write in a thread, as others in this process search meanwhile; the file stays open until it has ended."""
    await finish(asyncio.to_thread(put, *arguments))


def _put_nodes(out: ExportWriter, label: Label, nodes: Sequence[list[Any]], targets: Mapping[str, str]) -> None:
    for identifier, properties in sorted(nodes, key=itemgetter(0)):
        of = {"of": targets.get(identifier, Label.CHUNK.value)} if label is Label.VECTOR else {}
        out.node(label, identifier, properties, **of)


def _put_edges(out: ExportWriter, label: Label, rows: Sequence[Row]) -> None:
    for row in rows:
        row["label"] = _main_label(row["labels"])
    for _, same in groupby(sorted(rows, key=_edge), key=_edge):
        row, *others = same
        if others:  # there twice by mistake; an import makes one of it
            row = min([row, *others], key=lambda row: json.dumps(row["props"], sort_keys=True))
        out.edge(row["type"], [label.value, row["a"]], [row["label"], row["b"]], row["props"])


def _edge(row: Row) -> tuple[str, ...]:
    """Return what there is one edge of."""
    return row["type"], row["label"], row["a"], row["b"], row["props"].get("key", "")


def _main_label(labels: list[str]) -> str:
    return next(label for label in labels if label in Label)
