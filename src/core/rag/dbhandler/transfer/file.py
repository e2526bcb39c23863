"""The file format of an export: JSON lines, the same for every engine.

A file has one section for each namespace. A section begins with a header; a node line holds label, id and properties of
a node, an edge line the type, both ends and the properties of an edge; the last line says how many there are and the
SHA-256 of the lines before.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import os
import uuid
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from core.rag.arguments import check_file
from core.rag.dbhandler.embedded.commitlog import discard, sync_folder
from core.rag.errors import BackupError, MGRagError
from core.rag.file_status import status_of
from core.rag.schema import SCHEMA_VERSION, EdgeType, Label
from core.rag.times import utc_now

FORMAT = "memgraph-rag export"

#: The first bytes of the file of an embedded graph.
GRAPH_MAGIC = b"GRAF"

_GZIP = b"\x1f\x8b"

_encoded = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_NO_VECTOR = '"embedding":null'


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
        """Convert to plain values that JSON can hold."""
        return {"nodes": dict(sorted(self.nodes.items())), "edges": dict(sorted(self.edges.items()))}


class ExportWriter:
    """Writes the sections of an export, one per namespace."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._digest = hashlib.sha256()
        self._report = TransferReport()
        self._nodes: defaultdict[str, set[str]] = defaultdict(set)  # ids by label

    def begin(self, namespace: str) -> None:
        """Begin the section of a namespace."""
        self._digest = hashlib.sha256()
        self._report = TransferReport()
        self._nodes = defaultdict(set)
        self._put({"format": FORMAT, "version": SCHEMA_VERSION, "namespace": namespace, "made": utc_now()})

    def node(self, label: Label, identifier: str, props: dict[str, Any], **more: Any) -> None:
        """Write a node."""
        entry = {"node": label.value, "id": identifier, "props": props, **more}
        if (numbers := _short(props.get("embedding"))) is None:
            self._put(entry)
        else:
            text = _encoded({**entry, "props": {**props, "embedding": None}})
            # Inside of a text the quotes would be escaped.
            self._write(text.replace(_NO_VECTOR, f'"embedding":{numbers}', 1))
        self._report.nodes[label.value] += 1
        self._nodes[label.value].add(identifier)

    def edge(self, kind: str, start: list[str], end: list[str], props: dict[str, Any]) -> None:
        """Write an edge between two ends, each a label and an id.

        Raises:
            BackupError: if one end was not written, since an import would refuse such an edge.
        """
        for label, identifier in (start, end):
            if identifier not in self._nodes[label]:
                raise _disturbed(f"an edge {kind} leads to the {label} {identifier}, which came later.")
        self._put({"edge": kind, "from": start, "to": end, "props": props})
        self._report.edges[kind] += 1

    def check_there(self, label: Label, there: Iterable[str]) -> None:
        """Check that the nodes of a label that were written are still there: the edges of others may be missing.

        Raises:
            BackupError: if one is not.
        """
        if gone := self._nodes[label.value].difference(there):
            raise _disturbed(f"the {label} {min(gone)} is not there any more.")

    def end(self) -> TransferReport:
        """End the section; return what is in it."""
        self._put({"end": self._report.to_dict(), "sha256": self._digest.hexdigest()})
        return self._report

    def _put(self, value: dict[str, Any]) -> None:
        self._write(_encoded(value))

    def _write(self, text: str) -> None:
        line = text + "\n"
        self._digest.update(line.encode("utf-8", "surrogatepass"))
        self._out.write(line)


def _disturbed(how: str) -> BackupError:
    return BackupError(
        f"Nothing was exported: {how} Somebody wrote to the namespace meanwhile: export it again when nobody does."
    )


@contextmanager
def writing_export(target: Path) -> Iterator[ExportWriter]:
    """Open a writer for a file that is created when the block ends without an error; compressed if it ends in ``.gz``.

    Raises:
        BackupError: if the file exists or cannot be written.
    """
    target = new_file(target)
    part = part_of(target)
    try:
        with part.open("wb") as raw:
            if target.suffix == ".gz":
                # Of the file it takes no name: that of the part is not the name that it unpacks to.
                packed = gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw)
                with io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as out:
                    yield ExportWriter(out)
            else:
                with open(raw.fileno(), "w", encoding="utf-8", newline="\n", closefd=False) as out:
                    yield ExportWriter(out)
            raw.flush()
            os.fsync(raw.fileno())
        give_name(part, target)
    except OSError as error:
        raise BackupError(f"{str(target)[:500]} cannot be written: {_reason(error)}.") from error
    finally:
        discard(part)


def new_file(file: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a file that can be created.

    Raises:
        BackupError: if it exists, its folder does not, or the name is impossible.
        InvalidInputError: on anything that is neither text nor a path.
    """
    given = check_file(file)
    try:
        target = given.expanduser().absolute()
        if not str(file) or "\0" in str(file):
            raise ValueError("it is empty or has a NUL")
        if status_of(target) is not None:
            raise BackupError(f"{target} already exists; name a file that does not exist.")
        if not target.parent.is_dir():
            raise BackupError(f"The folder {target.parent} does not exist; create it first.")
    except (OSError, ValueError, RuntimeError) as error:
        raise BackupError(f"{str(file)[:500]!r} cannot be the name of a file: {_reason(error)}.") from error
    return target


def part_of(target: Path) -> Path:
    """Return a file beside another one, to be written first: two that write the same one do not share it."""
    return target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")


def give_name(part: Path, target: Path) -> None:
    """Give a finished file its final name, durably.

    Raises:
        OSError: if a file of that name exists by now.
    """
    try:
        os.link(part, target)  # unlike a rename, this never replaces anything
        part.unlink()
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(f"{target} has appeared") from None
        part.rename(target)
    sync_folder(target.parent)


class ExportReader:
    """Reads the sections of a file, one after the other."""

    def __init__(self, source: Path, lines: Iterator[str]) -> None:
        self._source = source
        self._lines = enumerate(lines, 1)
        self._digest = hashlib.sha256()
        self._namespace = ""

    def sections(self) -> Iterator[str]:
        """Yield the namespace of each section; read its :meth:`entries` before the next one.

        Raises:
            BackupError: if this is not an export, or one of a later version.
        """
        first = True
        while True:
            number, line = next(self._lines, (0, ""))
            if not line and not first:
                return
            header = self._parse(number, line) if line.startswith("{") else {}
            if header.get("format") != FORMAT or not isinstance(header.get("namespace"), str):
                what = "is not an export of mgrag" if first else f"is damaged: line {number} begins no section"
                raise BackupError(f"{self._source} {what}.")
            if not isinstance(header.get("version"), int) or header["version"] > SCHEMA_VERSION:
                raise BackupError(f"{self._source} was written by a newer version of memgraph-rag; update this one.")
            first = False
            self._digest = hashlib.sha256(line.encode("utf-8", "surrogatepass"))
            self._namespace = header["namespace"]
            yield self._namespace

    def entries(self) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
        """Yield nodes and edges of the section, each with its kind: lines of one kind can share a statement.

        Raises:
            BackupError: if the section is truncated or damaged, or holds a node of another namespace.
        """
        report = TransferReport()
        nodes: set[tuple[str, str]] = set()
        for number, line in self._lines:
            entry = self._parse(number, line)
            if "end" in entry:
                self._finish(entry, report)
                return
            kind = _kind(entry, number, self._source)
            if kind[0] == "node":
                if (other := entry["props"].get("namespace", self._namespace)) != self._namespace:
                    raise BackupError(
                        f"{self._source} was changed: line {number} is a node of the namespace {str(other)[:200]!r},"
                        f" in an export of {self._namespace!r}. Ids belong to their namespace; to have the documents in"
                        " another one, ingest them there."
                    )
                report.nodes[kind[1]] += 1
                nodes.add((kind[1], entry["id"]))
            else:
                report.edges[kind[1]] += 1
                if not nodes.issuperset({(kind[2], entry["from"][1]), (kind[3], entry["to"][1])}):
                    raise BackupError(
                        f"{self._source} is damaged: line {number} connects a node that it does not hold. Somebody may"
                        " have written to the graph while it was exported; export it again."
                    )
            self._digest.update(line.encode("utf-8", "surrogatepass"))
            yield kind, entry
        raise BackupError(f"{self._source} is cut short: its last line is missing. Export it again.")

    def _finish(self, entry: dict[str, Any], report: TransferReport) -> None:
        if entry["end"] != report.to_dict():
            raise BackupError(f"{self._source} is damaged: it promises {entry['end']}, but holds {report.to_dict()}.")
        if entry.get("sha256", self._digest.hexdigest()) != self._digest.hexdigest():
            raise BackupError(f"{self._source} is damaged: its text is not what was written. Export it again.")

    def _parse(self, number: int, line: str) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BackupError(f"Line {number} of {self._source} is damaged: {error}.") from error
        if not isinstance(value, dict):
            raise BackupError(f"Line {number} of {self._source} is not an object.")
        return value


@contextmanager
def reading_export(source: Path) -> Iterator[ExportReader]:
    """Open a reader of an export file.

    Raises:
        BackupError: if it cannot be read.
    """
    try:
        if source.exists() and not (source.is_file() or source.is_dir()):
            raise BackupError(f"{source} is a pipe or device, and an export is read twice: write it to a file first.")
        with source.open("rb") as raw:
            head = raw.read(len(GRAPH_MAGIC))
        if head == GRAPH_MAGIC:
            raise BackupError(
                f"{source} is a graph file, not an export. mgrag restore puts it in the place of a graph;"
                f" mgrag export FILE --db {source} makes an export of it."
            )
        with gzip.open(source) if head.startswith(_GZIP) else source.open("rb") as packed:
            if not packed.peek(1).startswith(b"{"):
                raise BackupError(f"{source} is not an export of mgrag.")
            with io.TextIOWrapper(packed, encoding="utf-8") as lines:
                yield ExportReader(source, iter(lines))
    except MGRagError:  # some are a ValueError, too
        raise
    except (OSError, EOFError, UnicodeError, zlib.error) as error:
        raise BackupError(f"{str(source)[:500]} cannot be read: {_reason(error)}.") from error
    except ValueError as error:  # a NUL in the name
        raise BackupError(f"{str(source)[:500]!r} is not a file name: {error}.") from error


def check_export(source: Path) -> dict[str, TransferReport]:
    """Read a file to its end without writing anything.

    Returns:
        Its contents, by namespace.

    Raises:
        BackupError: if it is not an export, or is truncated or damaged.
    """
    found: dict[str, TransferReport] = {}
    with reading_export(source) as reader:
        for namespace in reader.sections():
            report = found.setdefault(namespace, TransferReport())
            for kind, _ in reader.entries():
                (report.nodes if kind[0] == "node" else report.edges)[kind[1]] += 1
    return found


def _kind(entry: dict[str, Any], number: int, source: Path) -> tuple[str, ...]:
    """Return the kind of an entry: adjacent entries of one kind are imported in one statement.

    Returns:
        ``node``, its label and the label of what it embeds; or ``edge``, its type, the labels of its ends, and
        whether it has a key. The names go into statements, so each is checked to be one of the schema.

    Raises:
        BackupError: if the entry is neither.
    """
    try:
        if not isinstance(entry["props"], dict):
            raise TypeError("its properties are not an object")
        if "node" in entry:
            if (
                not isinstance(entry["id"], str)
                or not entry["id"]
                or entry["props"].get("id", entry["id"]) != entry["id"]
            ):
                raise TypeError("its id is not text, or there are two")
            if "embedding" in entry["props"] and not _is_embedding(entry["props"]["embedding"]):
                raise TypeError("its embedding is not a list of finite numbers")
            return ("node", Label(entry["node"]).value, Label(entry.get("of", Label.CHUNK)).value)
        keyed = "keyed" if "key" in entry["props"] else ""
        start, end = Label(entry["from"][0]), Label(entry["to"][0])
        if not (isinstance(entry["from"][1], str) and isinstance(entry["to"][1], str)):
            raise TypeError("its ends are not ids")
        return ("edge", EdgeType(entry["edge"]).value, start.value, end.value, keyed)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise BackupError(
            f"Line {number} of {source} is neither a node nor an edge of this schema: {error}."
        ) from error


def _is_embedding(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(type(item) in {int, float} for item in value):
        return False
    return all(map(math.isfinite, value))


def _short(embedding: Any) -> str | None:
    """A vector of 32-bit floats as JSON, each with the nine digits that tell it from all others; ``None`` for others.

    As 64-bit floats, which is what an engine gives, they have seventeen: most of an export, and of the time it takes.
    """
    if not isinstance(embedding, list) or set(map(type, embedding)) != {float}:
        return None
    try:
        exact = array("f", embedding).tolist() == embedding
    except OverflowError:
        return None
    if not exact or not math.isfinite(sum(embedding)):
        return None
    return f"[{','.join(['%.9g'] * len(embedding)) % tuple(embedding)}]"


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")
