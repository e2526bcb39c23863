"""Moving a graph between engines: JSON lines of nodes and edges that are the same on every one.

The first line is a header. A node line holds its label, id and properties; an edge line its type, both ends and its
properties. Second labels and indexes are not written: they belong to the engine and are made anew on import, so neither
side needs an embedding call.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.errors import BackupError, InvalidNameError
from core.rag.schema import SCHEMA_VERSION, EdgeType, Label, VectorIndex, check_name, text_partition
from core.rag.times import utc_now

FORMAT = "memgraph-rag export"

_PAGE = 500

#: Labels whose nodes are found by keyword; they carry the second label of their namespace where the engine wants it.
TEXT_LABELS = frozenset({Label.CHUNK, Label.INTERACTION, Label.ENTITY, Label.RECORD})


@dataclass(slots=True)
class TransferReport:
    """What was written or read.

    Attributes:
        nodes: Number of nodes by label.
        edges: Number of edges by type.
    """

    nodes: Counter[str] = field(default_factory=Counter)
    edges: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """As plain values, ready for JSON."""
        return {"nodes": dict(sorted(self.nodes.items())), "edges": dict(sorted(self.edges.items()))}


class TransferOperations(VectorStoreOperations):
    """Export and import of one namespace."""

    async def export_graph(self, file: str | os.PathLike[str]) -> TransferReport:
        """Write everything in the namespace to a file (compressed where its name ends in ``.gz``).

        The file appears whole or not at all. Nobody should write to the namespace meanwhile.

        Raises:
            BackupError: when the file exists or cannot be written.
        """
        target = Path(file)
        if target.exists():
            raise BackupError(f"{target} exists; name a file that does not.")
        part = target.with_name(f".{target.name}.part")
        report = TransferReport()
        try:
            with _writing(part, compressed=target.suffix == ".gz") as out:
                _put(
                    out, {"format": FORMAT, "version": SCHEMA_VERSION, "namespace": self._namespace, "made": utc_now()}
                )
                await self._write_nodes(out, report)
                await self._write_edges(out, report)
                _put(out, {"end": report.to_dict()})
            part.rename(target)
        except OSError as error:
            raise BackupError(f"{target} cannot be written: {error.strerror or error}.") from error
        finally:
            part.unlink(missing_ok=True)
        return report

    async def import_graph(self, file: str | os.PathLike[str]) -> TransferReport:
        """Bring everything from an export into the graph; what is there already is updated, so it may be repeated.

        Raises:
            BackupError: when the file is no export, is cut short or damaged, or belongs to another namespace. What was
                read before stays; importing the whole file afterwards puts it right.
        """
        source = Path(file)
        try:
            with _reading(source) as lines:
                report = await self._import(source, lines)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise BackupError(f"{source} cannot be read: {error}.") from error
        return report

    async def _write_nodes(self, out: IO[str], report: TransferReport) -> None:
        for label in Label:
            ids = await self._ids(label)
            targets = await self._vector_targets() if label is Label.VECTOR and ids else {}
            for page in batches(ids, max_rows=_PAGE):
                rows = await self.read(
                    f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) RETURN n.id AS id, properties(n) AS props", ids=page
                )
                for row in sorted(rows, key=lambda row: row["id"]):
                    line = {"node": label.value, "id": row["id"], "props": row["props"]}
                    if label is Label.VECTOR:
                        line["of"] = targets.get(row["id"], Label.CHUNK.value)
                    _put(out, line)
                report.nodes[label.value] += len(rows)

    async def _ids(self, label: Label) -> list[str]:
        """Ids of all nodes of a label, in order: one scan, where pages by ``id >`` would be one scan each."""
        rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN n.id AS id")
        return sorted(row["id"] for row in rows)

    async def _vector_targets(self) -> dict[str, str]:
        """The label of what each vector embeds, for those that do not embed a chunk."""
        found: dict[str, str] = {}
        for label in (Label.INTERACTION, Label.ENTITY, Label.CONCEPT):
            rows = await self.read(
                f"MATCH (v:Vector)-[:EMBEDDING_OF]->(t:{label}) WHERE v.namespace = $namespace "
                "RETURN DISTINCT v.id AS id"
            )
            found |= {row["id"]: label.value for row in rows}
        return found

    async def _write_edges(self, out: IO[str], report: TransferReport) -> None:
        for label in Label:
            for page in batches(await self._ids(label), max_rows=_PAGE):
                rows = await self.read(
                    f"UNWIND $ids AS i MATCH (a:{label} {{id: i}})-[r]->(b) "
                    "RETURN type(r) AS type, a.id AS a, b.id AS b, labels(b) AS labels, properties(r) AS props",
                    ids=page,
                )
                for row in rows:
                    row["label"] = _main_label(row["labels"])
                    row["text"] = json.dumps(row["props"], sort_keys=True)
                for row in sorted(rows, key=lambda row: (row["type"], row["label"], row["a"], row["b"], row["text"])):
                    start, end = [label.value, row["a"]], [row["label"], row["b"]]
                    _put(out, {"edge": row["type"], "from": start, "to": end, "props": row["props"]})
                    report.edges[row["type"]] += 1

    async def _import(self, source: Path, lines: Iterator[str]) -> TransferReport:
        header = _parse(next(lines, ""), 1, source)
        if header.get("format") != FORMAT:
            raise BackupError(f"{source} is not an export of mgrag.")
        if header["version"] > SCHEMA_VERSION:
            raise BackupError(f"{source} was written by a newer version of memgraph-rag; update this one.")
        if header["namespace"] != self._namespace:
            raise BackupError(
                f"{source} holds the namespace {header['namespace']!r}, not {self._namespace!r}. Ids belong to their"
                f" namespace: import it with --namespace {header['namespace']!r}."
            )
        report = TransferReport()
        end: dict[str, Any] | None = None
        indexes: dict[tuple[str, str], VectorIndex] = {}
        pending: list[tuple[int, dict[str, Any]]] = []
        kind: tuple[str, ...] = ()
        for number, line in enumerate(lines, 2):
            entry = _parse(line, number, source)
            if "end" in entry:
                end = entry["end"]
                break
            this = _kind(entry, number, source)
            if pending and (this != kind or len(pending) >= 2 * _PAGE):
                await self._put_in(kind, [item for _, item in pending], report, indexes)
                pending = []
            kind = this
            pending.append((number, entry))
        if pending:
            await self._put_in(kind, [item for _, item in pending], report, indexes)
        if end is None:
            raise BackupError(f"{source} is cut short: its last line is missing. Export it again.")
        if end != report.to_dict():
            raise BackupError(f"{source} is damaged: it promises {end}, but holds {report.to_dict()}.")
        return report

    async def _put_in(
        self,
        kind: tuple[str, ...],
        entries: list[dict[str, Any]],
        report: TransferReport,
        indexes: dict[tuple[str, str], VectorIndex],
    ) -> None:
        if kind[0] == "edge":
            await self._put_edges(kind, entries)
            report.edges[kind[1]] += len(entries)
            return
        label = Label(kind[1])
        if label is Label.VECTOR:
            for store_id, rows in _grouped(entries, lambda entry: entry["props"].get("vector_store_id", "")):
                index = await self._import_index(store_id, Label(kind[2]), indexes)
                await self._put_nodes(label, rows, f"n:{check_name(index.label)}, ")
        else:
            second = await self._text_label(label) if label in TEXT_LABELS else ""
            await self._put_nodes(label, entries, f"n{second}, " if second else "")
        report.nodes[label.value] += len(entries)

    async def _import_index(
        self, store_id: str, target: Label, indexes: dict[tuple[str, str], VectorIndex]
    ) -> VectorIndex:
        key = (store_id, target.value)
        if key not in indexes:
            store = next((store for store in await self.vector_stores() if store.id == store_id), None)
            if store is None:
                raise BackupError(f"The export has vectors of a vector store {store_id!r} that it does not hold.")
            indexes[key] = store.index(target)
            await (await self.connect()).ensure_vector_index(indexes[key])
        return indexes[key]

    async def _put_nodes(self, label: Label, entries: list[dict[str, Any]], second: str) -> None:
        rows: list[Row] = []
        for entry in entries:
            props = {key: value for key, value in entry["props"].items() if key != "embedding"}
            row = {"id": entry["id"], "props": {**props, "namespace": self._namespace}}
            if label in TEXT_LABELS:
                row["props"]["partition"] = text_partition(self._namespace)
            if "embedding" in entry["props"]:
                row["embedding"] = tuple(map(float, entry["props"]["embedding"]))
            rows.append(row)
        vector = "n.embedding = row.embedding, " if label is Label.VECTOR else ""

        async def work(tx: Transaction) -> None:
            for part in batches(rows):
                await tx.run(
                    f"UNWIND $rows AS row MERGE (n:{label} {{id: row.id}}) SET {second}{vector}n += row.props",
                    {"rows": part},
                )

        await self._write(work)

    async def _put_edges(self, kind: tuple[str, ...], entries: list[dict[str, Any]]) -> None:
        _, edge, start, end, keyed = kind
        key = " {key: row.key}" if keyed else ""

        async def work(tx: Transaction) -> None:
            rows = [
                {"a": e["from"][1], "b": e["to"][1], "key": e["props"].get("key", ""), "props": e["props"]}
                for e in entries
            ]
            for part in batches(rows):
                await tx.run(
                    f"UNWIND $rows AS row MATCH (a:{start} {{id: row.a}}) MATCH (b:{end} {{id: row.b}}) "
                    f"MERGE (a)-[r:{edge}{key}]->(b) SET r += row.props",
                    {"rows": part},
                )

        await self._write(work)


def _kind(entry: dict[str, Any], number: int, source: Path) -> tuple[str, ...]:
    """What lines have in common that may share a statement; every name in it has been checked."""
    try:
        if "node" in entry:
            return ("node", Label(entry["node"]).value, Label(entry.get("of", Label.CHUNK)).value)
        keyed = "keyed" if "key" in entry["props"] else ""
        start, end = Label(entry["from"][0]), Label(entry["to"][0])
        return ("edge", EdgeType(entry["edge"]).value, start.value, end.value, keyed)
    except (KeyError, IndexError, TypeError, ValueError, InvalidNameError) as error:
        raise BackupError(f"Line {number} of {source} is no node and no edge of this schema: {error}.") from error


def _grouped(entries: list[dict[str, Any]], key: Any) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups.items()


def _main_label(labels: list[str]) -> str:
    return next(label for label in labels if label in Label)


def _parse(line: str, number: int, source: Path) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise BackupError(f"Line {number} of {source} is damaged: {error}.") from error
    if not isinstance(value, dict):
        raise BackupError(f"Line {number} of {source} is not an object.")
    return value


def _put(out: IO[str], value: dict[str, Any]) -> None:
    out.write(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")


@contextmanager
def _writing(path: Path, *, compressed: bool) -> Iterator[IO[str]]:
    with path.open("wb") as raw:
        if compressed:
            with gzip.open(raw, "wt", compresslevel=3, encoding="utf-8", newline="\n") as out:
                yield out
        else:
            with open(raw.fileno(), "w", encoding="utf-8", newline="\n", closefd=False) as out:
                yield out
        raw.flush()
        os.fsync(raw.fileno())


@contextmanager
def _reading(path: Path) -> Iterator[Iterator[str]]:
    with path.open("rb") as raw:
        compressed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rt", encoding="utf-8") if compressed else path.open(encoding="utf-8") as lines:
        yield iter(lines)
