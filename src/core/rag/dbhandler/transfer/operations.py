"""Moves a graph between engines: imports a namespace that was exported as JSON lines (``exporting.py``)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from core.rag.arguments import check_file
from core.rag.dbhandler.batches import batches, run_for_ids
from core.rag.dbhandler.documents.linking import relink_incoming
from core.rag.dbhandler.documents.superseding import count_of_gone, make_way, versions_of
from core.rag.dbhandler.finishing import finish
from core.rag.dbhandler.float_rows import float_rows
from core.rag.dbhandler.knowledge.edge_direction import EdgeKind, directed
from core.rag.dbhandler.knowledge.validity import has_times, mark_dated
from core.rag.dbhandler.messages.interactions import renumber_messages
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.transfer.exporting import PAGE, ExportOperations
from core.rag.dbhandler.transfer.file import ExportReader, TransferReport, check_export, reading_export
from core.rag.dbhandler.transfer.joining import join_edges, join_nodes, turned, with_guests
from core.rag.errors import BackupError, StoreConflictError
from core.rag.schema import Label, TextIndex, VectorIndex, check_name, text_partition
from core.rag.times import utc_now

# Number of replaced documents in one transaction; small, as they may have many chunks.
_DOCUMENTS = 100

#: ``pipeline`` of a document that is being imported: an ingest takes it for changed, as it may lack chunks.
_IMPORTING = "importing"

#: Labels in keyword indexes; their nodes have the second label of their namespace if the engine needs it.
TEXT_LABELS = frozenset({Label.CHUNK, Label.INTERACTION, Label.RECORD})


class TransferOperations(ExportOperations):
    """Export and import of one namespace."""

    async def import_graph(self, file: str | os.PathLike[str]) -> TransferReport:
        """Import everything in an export, updating what exists; it can be repeated.

        Derived data (counts, and links between entities) is not recomputed; :meth:`core.rag.KnowledgeBase.import_` and
        ``mgrag doctor --repair`` do that.

        Raises:
            BackupError: if the file is not an export, is truncated or damaged, or it or a node of it belongs to another
                namespace; the whole file is checked before anything is written.
        """
        source = check_file(file)
        found = await asyncio.to_thread(check_export, source)
        for namespace in found:
            if namespace != self._namespace:
                raise BackupError(
                    f"{source} holds the namespace {namespace!r}, not {self._namespace!r}. Ids belong to their"
                    f" namespace: import it with --namespace {namespace!r}."
                )
        for step in (self.check_ids, self.make_way, self.read_section):
            with reading_export(source) as reader:
                for _ in reader.sections():
                    await step(reader)
        return found[self._namespace]

    async def check_ids(self, reader: ExportReader) -> None:
        """Check that no node of a section is in the graph as one of another namespace; nothing is written.

        Raises:
            BackupError: if one is, as in a file that was changed by hand.
        """
        ids = await finish(asyncio.to_thread(_ids_in, reader))
        for label, wanted in ids.items():
            _refuse_taken(label, await self.read_for_ids(_taken(label), wanted))

    async def make_way(self, reader: ExportReader) -> None:
        """Prepare for :meth:`read_section`: remove parts of documents that the section's versions do not have.

        Raises:
            BackupError: if the section is truncated or damaged.
        """
        there = set(await self._ids(Label.DOCUMENT))
        versions, changed = await finish(asyncio.to_thread(versions_of, reader.entries(), there))
        async with self.removing_texts(partial(count_of_gone, self.read_for_ids, versions)):
            for part in batches(sorted(versions), max_rows=_DOCUMENTS):
                wanted = {identifier: versions[identifier] for identifier in part}
                changed += await self._write(partial(make_way, versions=wanted, namespace=self._namespace))
        # Either side may name titles of the other. Where the graph has more, the file may also say of a passage that it
        # mentions a title within a longer one, which only the graph has.
        if there and (changed or there - versions.keys()):
            await self._write_one(
                "MATCH (s:Source) WHERE s.namespace = $namespace SET s.unlinked = true, s.unlinked_last = $now",
                now=utc_now(),
            )

    async def read_section(self, reader: ExportReader) -> None:
        """Import the section of this namespace from a file; call :meth:`make_way` first.

        Raises:
            BackupError: if it is truncated or damaged.
            StoreConflictError: if somebody else removes what it writes.
        """
        joined = bool(await self._ids(Label.DOCUMENT))
        indexes: dict[tuple[str, str], VectorIndex] = {}
        pending: list[dict[str, Any]] = []
        kind: tuple[str, ...] = ()
        talks = await self.read(
            "MATCH (c:Conversation) WHERE c.namespace = $namespace RETURN c.id AS id, c.user_id AS user_id"
        )
        owners = {row["id"]: row["user_id"] or "" for row in talks}
        made: dict[str | None, list[str]] = {}  # ids of documents by how they were made
        continued: list[str] = []  # conversations that may have new messages in both the graph and the file
        concepts = False
        async with AsyncExitStack() as removing:
            for this, entry in with_guests(reader.entries(), owners):
                if this[:2] == ("node", Label.CONVERSATION.value) and entry["id"] in owners:
                    continued.append(entry["id"])
                concepts |= this[:2] == ("node", Label.CONCEPT.value)
                if pending and (this != kind or len(pending) >= 2 * PAGE):
                    await self._put_in(kind, pending, indexes)
                    pending = []
                if this != kind and this[0] == "node" and this[1] in TEXT_LABELS:
                    await self._make_room(Label(this[1]), removing)
                if this[:2] == ("node", Label.DOCUMENT.value):
                    pipeline = entry["props"].get("pipeline")
                    made.setdefault("" if pipeline == _IMPORTING else pipeline, []).append(entry["id"])
                    entry["props"]["pipeline"] = _IMPORTING
                kind = this
                pending.append(entry)
            if pending:
                await self._put_in(kind, pending, indexes)
        for conversation in continued:
            await self._write(
                partial(renumber_messages, conversation=conversation, namespace=self._namespace, now=utc_now())
            )
        if joined:
            await self._relink()
        if concepts and len(await self.vector_stores()) > 1:  # those of the file may have vectors of another model only
            await self._write_one("MATCH (s:VectorStore) WHERE s.namespace = $namespace SET s.concepts_marked = false")
        for pipeline, ids in made.items():
            await self._complete(ids, pipeline)

    async def being_imported(self) -> list[str]:
        """Return the paths of documents of which an import is running, or was interrupted."""
        rows = await self.read(
            "MATCH (d:Document) WHERE d.namespace = $namespace AND d.pipeline = $importing RETURN d.path AS path",
            importing=_IMPORTING,
        )
        return sorted(row["path"] for row in rows)

    async def _complete(self, documents: Sequence[str], pipeline: str | None) -> None:
        """Record how documents were made, unless somebody has written them again meanwhile."""
        statement = (
            "UNWIND $ids AS i MATCH (d:Document {id: i}) WHERE d.pipeline = $importing SET d.pipeline = $pipeline"
        )
        complete = partial(run_for_ids, statement=statement, importing=_IMPORTING, pipeline=pipeline)
        for part in batches(documents):
            await self._write(partial(complete, ids=part))

    async def _relink(self) -> None:
        """Redirect references from resources to documents that now exist with the same URI."""
        rows = await self.read("MATCH (d:Document) WHERE d.namespace = $namespace RETURN d.id AS id, d.uri AS uri")
        for part in batches(sorted((row["id"], row["uri"]) for row in rows)):
            await self._write(partial(relink_incoming, documents=part, namespace=self._namespace))

    async def _make_room(self, label: Label, removing: AsyncExitStack) -> None:
        """Let an embedded graph prepare for rewritten texts, each of which costs as much as a removed one."""
        await self._text_label(label)  # creates the index if missing

        async def there() -> int:
            return len(await self._ids(label))

        graph = await self.connect()
        await removing.enter_async_context(graph.removing_texts(TextIndex(label, self._namespace), there))

    async def _put_in(
        self,
        kind: tuple[str, ...],
        entries: list[dict[str, Any]],
        indexes: dict[tuple[str, str], VectorIndex],
    ) -> None:
        if kind[0] == "edge":
            await self._put_edges(kind, entries)
            return
        label = Label(kind[1])
        if label is Label.VECTOR:
            of_store: dict[str, list[dict[str, Any]]] = {}
            for entry in entries:
                of_store.setdefault(entry["props"].get("vector_store_id", ""), []).append(entry)
            for store_id, rows in of_store.items():
                index = await self._import_index(store_id, Label(kind[2]), indexes)
                await self._put_nodes(label, rows, f"n:{check_name(index.label)}, ")
        else:
            second = await self._text_label(label) if label in TEXT_LABELS else ""
            await self._put_nodes(label, entries, f"n{second}, " if second else "")

    async def _import_index(
        self, store_id: str, target: Label, indexes: dict[tuple[str, str], VectorIndex]
    ) -> VectorIndex:
        key = (store_id, target.value)
        if key not in indexes:
            store = next((store for store in await self.vector_stores() if store.id == store_id), None)
            if store is None:
                raise BackupError(f"The export has vectors of a vector store {store_id!r} that it does not hold.")
            indexes[key] = store.index(target)
            await self._ensure_vector_index(indexes[key])
        return indexes[key]

    async def _put_nodes(self, label: Label, entries: list[dict[str, Any]], second: str) -> None:
        rows: list[Row] = []
        for entry in entries:
            props = {key: value for key, value in entry["props"].items() if key != "embedding"}
            row = {"id": entry["id"], "props": {**props, "namespace": self._namespace}}
            if label in TEXT_LABELS and "terms" in props:
                row["props"]["partition"] = text_partition(self._namespace)
            if "embedding" in entry["props"]:
                # Of 32 bits again, since an export has only the digits that these need.
                row["embedding"] = tuple(float_rows([entry["props"]["embedding"]])[0].tolist())
            rows.append(row)
        vector = "n.embedding = row.embedding, " if label is Label.VECTOR else ""

        async def work(tx: Transaction) -> None:
            for part in batches(rows):
                # Again, as another section of the file, or another client, may have created it meanwhile.
                ids = [row["id"] for row in part]
                _refuse_taken(label, await tx.run(_taken(label), {"ids": ids, "namespace": self._namespace}))
                await tx.run(
                    f"UNWIND $rows AS row MERGE (n:{label} {{id: row.id}}) SET {second}{vector}n += row.props",
                    {"rows": await join_nodes(tx, label, part, self._namespace)},
                )

        await self._write(work)

    async def _put_edges(self, kind: tuple[str, ...], entries: list[dict[str, Any]]) -> None:
        _, edge, start, end, keyed = kind
        edges = EdgeKind(start, edge, end, *(("key", "key") if keyed else ()))

        async def work(tx: Transaction) -> bool:
            complete = True
            rows = [
                {"a": e["from"][1], "b": e["to"][1], "key": e["props"].get("key", ""), "props": e["props"]}
                for e in entries
            ]
            for part in batches(rows):
                async for backward, alike in directed(tx, edges, await turned(tx, edges, part)):
                    written = await tx.run(
                        f"UNWIND $rows AS row MATCH (a:{start} {{id: row.a}}) MATCH (b:{end} {{id: row.b}}) "
                        "WHERE a.namespace = $namespace AND b.namespace = $namespace "
                        f"{edges.merge(backward=backward)} SET r += row.props RETURN count(r) AS n",
                        {
                            "rows": await join_edges(tx, edges, alike, backward=backward),
                            "namespace": self._namespace,
                        },
                    )
                    complete &= written[0]["n"] >= len(alike)
            if any(has_times(row["props"]) for row in rows):
                await mark_dated(tx, self._namespace)
            return complete

        if not await self._write(work):
            raise StoreConflictError(
                f"The import is not complete: somebody has removed what it had just written, so that edges {edge} have"
                " no ends. Repeat it when nobody else writes to the namespace."
            )


def _ids_in(reader: ExportReader) -> dict[str, list[str]]:
    """Read a whole section; return the ids of its nodes by label."""
    ids: dict[str, list[str]] = {}
    for kind, entry in reader.entries():
        if kind[0] == "node":
            ids.setdefault(kind[1], []).append(entry["id"])
    return ids


def _taken(label: str) -> str:
    return (
        f"UNWIND $ids AS i MATCH (n:{check_name(label)} {{id: i}}) WHERE n.namespace <> $namespace "
        "RETURN n.id AS id, n.namespace AS namespace LIMIT 1"
    )


def _refuse_taken(label: str, taken: Sequence[Row]) -> None:
    if taken:
        raise BackupError(
            f"The {label} {taken[0]['id']} of the export is in the graph already, in the namespace"
            f" {taken[0]['namespace']!r}. Ids belong to their namespace: import the file that mgrag export wrote, as it"
            " was written."
        )
