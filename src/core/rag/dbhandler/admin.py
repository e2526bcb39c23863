"""Operations on the graph as a whole: counts, status, sources, namespaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from core.rag.arguments import check_kind, check_text, check_texts
from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.documents.removing import remove_unused_sources
from core.rag.dbhandler.knowledge.validity import is_marked, remove_mark
from core.rag.dbhandler.plain import plain_rows
from core.rag.dbhandler.revectoring import RevectoringOperations
from core.rag.dbhandler.vectors import VectorStoreInfo
from core.rag.errors import InvalidInputError
from core.rag.schema import EMBEDDED_LABELS, EdgeType, Label, TextIndex
from libs.regexes import regex

#: What begins a statement that reads, behind comments; servers have others that change settings, or the data.
_READS = regex(
    r"(?:\s|//[^\n]*|/\*.*?\*/)*+(?:MATCH|OPTIONAL|WITH|UNWIND|RETURN|CALL|SHOW|EXPLAIN|PROFILE)\b",
    re.IGNORECASE | re.DOTALL,
)

#: Labels in the order in which a namespace is emptied: nodes with many incoming edges last, when these are gone.
_EMPTYING = (
    Label.VECTOR,
    Label.CHUNK,
    *(label for label in Label if label not in {Label.VECTOR, Label.CHUNK, Label.VECTOR_STORE, Label.SOURCE}),
    Label.SOURCE,
)

#: How many sources of one name an error names.
_NAMED = 10

#: How often to look for what others wrote while a namespace was emptied.
_LOOKS = 5


class AdminOperations(RevectoringOperations):
    """Counts, state and sources of a namespace."""

    async def counts(self) -> dict[str, dict[str, int]]:
        """Count the nodes and edges of the namespace.

        Returns:
            ``{"nodes": {label: count}, "edges": {type: count}}``, without zero counts.
        """
        nodes: dict[str, int] = {}
        found: Counter[str] = Counter()
        for label in Label:
            rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN count(n) AS n")
            if not rows[0]["n"]:
                continue
            nodes[label.value] = rows[0]["n"]
            # By label, since a server would read the nodes of all namespaces otherwise.
            for row in await self.read(
                f"MATCH (n:{label})-[r]->() WHERE n.namespace = $namespace RETURN type(r) AS type, count(r) AS n"
            ):
                found[row["type"]] += row["n"]
        edges = {edge.value: found[edge] for edge in EdgeType if edge in found}
        return {"nodes": nodes, "edges": edges}

    async def query(self, statement: str, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Run a reading Cypher statement of your own.

        It sees all namespaces: to stay within that of this client, say ``WHERE n.namespace = $namespace``. Procedures
        that it calls are not looked at, and some of a server write; where that matters, connect as a user who may not.

        Args:
            statement: One statement, as ``MATCH (d:Document) RETURN d.path AS path``.
            parameters: The values of its parameters by name; ``$namespace`` is always set.

        Returns:
            The rows, with values that JSON has on every engine: a node is ``{"labels": […], "properties": {…}}``, an
            edge ``{"type": …, "properties": {…}}``, a path ``{"nodes": […], "edges": […]}``, a time text in ISO 8601.

        Raises:
            InvalidInputError: if it does not begin as a statement that reads, or a parameter cannot be sent.
            QueryError: if it has a clause that writes, or the engine refuses it.
        """
        check_text("A statement", statement)
        values = check_kind("parameters", {} if parameters is None else parameters, dict)
        if not _READS.match(statement):
            raise InvalidInputError(
                "A statement that reads begins with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN, CALL, SHOW, EXPLAIN or"
                f" PROFILE, not with {statement.strip()[:40]!r}."
            )
        store = await self.connect()
        sent = statement.rstrip().rstrip(";")
        return plain_rows(await store.run(sent, {"namespace": self._namespace, **values}))

    async def status(self) -> dict[str, Any]:
        """Return the engine, counts and vector stores of the namespace.

        Returns:
            ``engine`` (its capabilities), ``namespace``, ``nodes``, ``edges``, and ``vector_stores``, the active one
            first, each with its number of ``vectors``.
        """
        store = await self.connect()
        stores = []
        for info in await self.vector_stores():
            await store.has_vector_index(info.index())  # a missing index is added to the notes of the engine
            stores.append({**asdict(info), "vectors": await self.count_vectors(info)})
        return {
            "engine": asdict(store.capabilities),
            "namespace": self._namespace,
            **await self.counts(),
            "vector_stores": stores,
        }

    async def count_vectors(self, store: VectorStoreInfo) -> int:
        """Count the vectors of chunks in a vector store."""
        check_kind("store", store, VectorStoreInfo)
        rows = await self.read(f"MATCH (v:{store.index().label}) WHERE v.namespace = $namespace RETURN count(v) AS n")
        return int(rows[0]["n"])

    async def namespaces(self) -> dict[str, dict[str, int]]:
        """Return all namespaces of the graph in alphabetical order, with their numbers of nodes by label."""
        found: dict[str, dict[str, int]] = {}
        for label in Label:
            for row in await self.read(f"MATCH (n:{label}) RETURN n.namespace AS name, count(n) AS n"):
                if row["name"]:
                    found.setdefault(row["name"], {})[label.value] = row["n"]
        return dict(sorted(found.items()))

    async def delete_everything(self) -> int:
        """Remove everything in the namespace, including its indexes, a few hundred nodes per transaction.

        If it is interrupted, calling it again removes the rest.

        Returns:
            How many nodes were removed.
        """
        graph = await self.connect()
        stores = await self.vector_stores()
        for label in Label:
            # Before the nodes: removing each of them from the index takes time in proportion to its size.
            text = TextIndex(label, self._namespace)
            await graph.drop_text_index(text)
            self._text_indexes.discard(text)
        await self._mark_incomplete()
        count = await self._delete_all(*_EMPTYING)
        # Only now, as without the stores nobody would know later which indexes to drop.
        for vectors in (store.index(target) for store in stores for target in EMBEDDED_LABELS):
            await graph.drop_vector_index(vectors)
            self._vector_indexes.pop(vectors, None)
        count += await self._delete_all(Label.VECTOR_STORE)
        # An ingest that goes on meanwhile fails without its store; what it wrote before would be left without it.
        for _ in range(_LOOKS):
            written = await self._delete_all(*_EMPTYING)
            count += written
            if not written:
                break
        if await is_marked(self):
            await self._write(partial(remove_mark, namespace=self._namespace))
        return count

    async def _mark_incomplete(self) -> None:
        """Let an ingest after an interruption take no document for unchanged, whose chunks may be gone already."""
        for part in batches(await self._document_ids()):
            await self._write_one("UNWIND $ids AS i MATCH (d:Document {id: i}) SET d.pipeline = ''", ids=part)

    async def _delete_all(self, *labels: Label) -> int:
        count = 0
        for label in labels:
            rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN n.id AS id")
            for part in batches([row["id"] for row in rows]):
                await self._write_one(f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) DETACH DELETE n", ids=part)
                count += len(part)
        return count

    async def sources_of(self, documents: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the ``name``, ``type`` and ``uri`` of each source of documents, by document id."""
        found: dict[str, list[dict[str, Any]]] = {identifier: [] for identifier in check_texts("documents", documents)}
        for row in await self.read_for_ids(
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[:SOURCED_FROM]->(s:Source) "
            "RETURN d.id AS id, s.name AS name, s.type AS type, s.uri AS uri",
            found,
        ):
            found[row.pop("id")].append(row)
        for sources in found.values():
            sources.sort(key=lambda source: source["uri"])
        return found

    async def remove_empty_sources(self, ids: Sequence[str]) -> None:
        """Remove those of the given sources that have no documents."""
        rows = await self.read(
            "UNWIND $ids AS i MATCH (s:Source {id: i}) WHERE NOT (s)--() RETURN s.id AS id",
            ids=check_texts("ids", ids),
        )
        if rows:
            await self._write(lambda tx: remove_unused_sources(tx, [row["id"] for row in rows]))

    async def documents_from(self, source: str) -> list[dict[str, Any]]:
        """List ``id`` and ``path`` of the documents of a source (given by name, URI or id), by path.

        Raises:
            InvalidInputError: if documents come from several sources of this name, such as folders called ``docs``.
        """
        rows = await self.read(
            "MATCH (s:Source) WHERE s.namespace = $namespace "
            "AND (s.name = $source OR s.uri = $source OR s.id = $source) "
            "MATCH (s)<-[:SOURCED_FROM]-(d:Document) RETURN d.id AS id, d.path AS path, s.id AS source, s.uri AS uri",
            source=source,
        )
        rows = [row for row in rows if source in (row["uri"], row["source"])] or rows
        if len(several := sorted({row["uri"] for row in rows})) > 1:
            told = ", ".join(several[:_NAMED]) + (" …" if len(several) > _NAMED else "")
            raise InvalidInputError(f"Several sources are called {source[:200]!r}; name one by its URI: {told}.")
        return sorted(({"id": row["id"], "path": row["path"]} for row in rows), key=lambda row: row["path"])

    async def folder_uris(self) -> list[str]:
        """Return the URIs of all sources that are folders, in order."""
        rows = await self.read(
            "MATCH (s:Source) WHERE s.namespace = $namespace AND s.type = $type RETURN s.uri AS uri", type="folder"
        )
        return sorted(row["uri"] for row in rows)

    async def references_of(self, document: str) -> list[dict[str, Any]]:
        """List the links of a document: ``kind`` (label of the target), ``target`` (path or URI) and ``text``."""
        found = []
        for label, key in ((Label.DOCUMENT, "path"), (Label.RESOURCE, "uri"), (Label.SOURCE, "uri")):
            rows = await self.read(
                f"MATCH (d:Document {{id: $id}})-[r:REFERENCES]->(t:{label}) RETURN t.{key} AS target, r.text AS text",
                id=document,
            )
            found += [{"kind": label.value, **row} for row in rows]
        return sorted(found, key=lambda row: (row["kind"], row["target"]))
