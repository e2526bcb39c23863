"""Concepts: the nodes of :class:`core.rag.KnowledgeGraph`, the undirected edges between them, and their vectors.

A node is known to its users by its *key* (:func:`core.rag.identity.knowledge_key`); its id in the graph is made of the
namespace and that key. There is at most one edge between two Concepts, and its direction means nothing: it leads away
from the node that seems to have fewer edges, since MERGE looks at all that its first node has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from core.rag.arguments import check_kind, check_limit, check_text, check_texts
from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import VectorStoreInfo, VectorStoreOperations, check_vector_store, merge_vectors
from core.rag.extraction.words import normalize_name
from core.rag.identity import concept_id, content_hash, stable_id
from core.rag.schema import Label, check_name, text_partition
from core.rag.times import utc_now

#: Neighbours are sorted by this many characters of their contents, then by id.
HEAD_CHARS = 200

_MAX_NAME_CHARS = 80

#: Maximum number of nodes in a transaction.
_PER_TRANSACTION = 2000

#: The end of every statement that reads whole nodes.
NODE_COLUMNS = (
    "n.id AS id, n.key AS key, n.label AS label, n.content AS content, n.appendix AS appendix, n.trunks AS trunks"
)


@dataclass(frozen=True, slots=True)
class ConceptRow:
    """A node to store.

    Attributes:
        key: The id of the node for callers.
        label: Its kind.
        content: Its text.
        properties: ``appendix``, ``trunks``, ``description``; only used if the node is new.
    """

    key: str
    label: str
    content: str
    properties: Row = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector of a node: of its content (part 0) or of one of its trunks (parts from 1)."""

    node: str
    part: int
    embedding: tuple[float, ...]


class ConceptOperations(VectorStoreOperations):
    """Reading and writing Concepts."""

    async def put_concepts(self, rows: Sequence[ConceptRow]) -> tuple[dict[str, str], set[str]]:
        """Store nodes, except those whose key, or content and label, exists already.

        Returns:
            For the key of each row, the key of its node in the graph; and the ids of the new nodes.
        """
        stands: dict[str, str] = {}
        created: set[str] = set()
        for part in batches(rows, max_rows=_PER_TRANSACTION):
            some, new = await self._write(partial(self._put, rows=part))
            stands |= some
            created |= new
        return stands, created

    async def _put(self, tx: Transaction, rows: Sequence[ConceptRow]) -> tuple[dict[str, str], set[str]]:
        stands: dict[str, str] = {}
        ids = {concept_id(self._namespace, row.key): row.key for row in rows}
        found = await run_for_ids(tx, "UNWIND $ids AS i MATCH (n:Concept {id: i}) RETURN n.id AS id", sorted(ids))
        stands.update((ids[row["id"]], ids[row["id"]]) for row in found)
        same = await self._same_content(tx, [row for row in rows if row.key not in stands])
        new: list[Row] = []
        now = utc_now()
        for row in rows:
            if row.key in stands:
                continue
            digest = content_hash(row.content)
            stands[row.key] = same.setdefault((digest, row.label), row.key)
            if stands[row.key] == row.key:
                props = {
                    **row.properties,
                    "name": shown(row.content),
                    "normalized_name": normalize_name(shown(row.content)),
                    "head": row.content[:HEAD_CHARS],
                    "key": row.key,
                    "label": row.label,
                    "content": row.content,
                    "content_hash": digest,
                    "namespace": self._namespace,
                    "pending": text_partition(self._namespace),
                    "created_at": now,
                    "updated_at": now,
                }
                new.append({"id": concept_id(self._namespace, row.key), "props": props})
        await run_for_rows(tx, "UNWIND $rows AS row MERGE (n:Concept {id: row.id}) ON CREATE SET n += row.props", new)
        return stands, {row["id"] for row in new}

    async def _same_content(self, tx: Transaction, rows: Sequence[ConceptRow]) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for part in batches(sorted({content_hash(row.content) for row in rows})):
            there = await tx.run(
                "UNWIND $hashes AS h MATCH (n:Concept {content_hash: h}) WHERE n.namespace = $namespace "
                "RETURN h AS hash, n.label AS label, n.key AS key, n.created_at AS created_at",
                {"hashes": part, "namespace": self._namespace},
            )
            for row in sorted(there, key=lambda row: (row["created_at"], row["key"])):
                found.setdefault((row["hash"], row["label"]), row["key"])
        return found

    async def link_concepts(
        self, edges: Iterable[tuple[str, str, float | None]], fresh: Collection[str] = frozenset()
    ) -> int:
        """Connect nodes by their ids; an existing edge gets the weight, if one is given.

        Args:
            edges: Ids of both ends, and a weight or ``None``.
            fresh: Nodes that have few edges because they are new.

        Returns:
            How many of the edges have both ends in the graph; the others were not created.
        """
        pairs = _undirected(edges)
        often = Counter(end for pair in pairs for end in pair)
        rows = []
        for (a, b), weight in pairs.items():
            few, many = (a, b) if (a not in fresh, often[a]) < (b not in fresh, often[b]) else (b, a)
            rows.append({"a": few, "b": many, "weight": weight})
        count = 0
        for part in batches(rows, max_rows=_PER_TRANSACTION):
            count += await self._write(partial(self._link, rows=part))
        return count

    async def _link(self, tx: Transaction, rows: Sequence[Row]) -> int:
        if (await self.connect()).capabilities.shared:
            # Two concurrent writers would both find no edge and create two: the second one has to wait here.
            await run_for_ids(
                tx,
                "UNWIND $ids AS i MATCH (n:Concept {id: i}) SET n.key = n.key",
                sorted({row[end] for row in rows for end in ("a", "b")}),
            )
        count = 0
        for part in batches(rows):
            there = await tx.run(
                "UNWIND $rows AS row MATCH (a:Concept {id: row.a})-[r:RELATED_TO]-(b:Concept {id: row.b}) "
                "WHERE a.namespace = $namespace SET r.weight = coalesce(row.weight, r.weight, 1.0) "
                "RETURN a.id AS a, b.id AS b",
                {"rows": part, "namespace": self._namespace},
            )
            known = {(row["a"], row["b"]) for row in there}
            missing = [row for row in part if (row["a"], row["b"]) not in known]
            made = missing and await tx.run(
                "UNWIND $rows AS row MATCH (a:Concept {id: row.a}) MATCH (b:Concept {id: row.b}) "
                "WHERE a.namespace = $namespace AND b.namespace = $namespace MERGE (a)-[r:RELATED_TO]->(b) "
                "ON CREATE SET r.created_at = $now, r.weight = coalesce(row.weight, 1.0) RETURN a.id AS a",
                {"rows": missing, "now": utc_now(), "namespace": self._namespace},
            )
            count += len(known) + len(made)
        return count

    async def unlink_concepts(self, edges: Iterable[tuple[str, str]]) -> int:
        """Remove edges by the ids of their ends; return how many existed."""
        rows = [{"a": a, "b": b} for a, b in _undirected((a, b, None) for a, b in edges)]
        pattern = (
            "UNWIND $rows AS row MATCH (a:Concept {id: row.a})-[r:RELATED_TO]-(b:Concept {id: row.b}) "
            "WHERE a.namespace = $namespace "
        )

        async def work(tx: Transaction) -> int:
            count = 0
            for part in batches(rows):
                parameters = {"rows": part, "namespace": self._namespace}
                count += len(await tx.run(f"{pattern}RETURN a.id AS a", parameters))
                await tx.run(f"{pattern}DELETE r", parameters)
            return count

        return await self._write(work) if rows else 0

    async def remove_concepts(self, ids: Iterable[str]) -> int:
        """Remove nodes with their edges and vectors; return how many existed."""
        count = 0
        for part in batches(sorted(set(check_texts("ids", ids)))):

            async def work(tx: Transaction, part: list[str] = part) -> int:
                found = await tx.run(
                    "UNWIND $ids AS i MATCH (n:Concept {id: i}) WHERE n.namespace = $namespace RETURN n.id AS id",
                    {"ids": part, "namespace": self._namespace},
                )
                there = [row["id"] for row in found]
                await tx.run(
                    "UNWIND $ids AS i MATCH (n:Concept {id: i})<-[:EMBEDDING_OF]-(v:Vector) DETACH DELETE v",
                    {"ids": there},
                )
                await tx.run("UNWIND $ids AS i MATCH (n:Concept {id: i}) DETACH DELETE n", {"ids": there})
                return len(there)

            count += await self._write(work)
        return count

    async def concept_rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return whole nodes (``NODE_COLUMNS``) by id; unknown ids are left out."""
        rows = await self.read_for_ids(
            f"UNWIND $ids AS i MATCH (n:Concept {{id: i}}) WHERE n.namespace = $namespace RETURN {NODE_COLUMNS}", ids
        )
        return {row["id"]: row for row in rows}

    async def concepts_of_content(self, content: str) -> list[Row]:
        """Return whole nodes with exactly this content, the oldest first."""
        rows = await self.read(
            "UNWIND $hashes AS h MATCH (n:Concept {content_hash: h}) WHERE n.namespace = $namespace "
            f"RETURN {NODE_COLUMNS}, n.created_at AS created_at",
            hashes=[content_hash(check_text("The content of a node", content))],
        )
        return sorted(rows, key=lambda row: (row["created_at"], row["key"]))

    async def concept_ids(self, labels: Sequence[str] | None = None) -> list[str]:
        """Return the sorted ids of all nodes, or of those with one of the labels."""
        where = "" if labels is None else "AND n.label IN $labels "
        rows = await self.read(
            f"MATCH (n:Concept) WHERE n.namespace = $namespace {where}RETURN n.id AS id", labels=list(labels or ())
        )
        return sorted(row["id"] for row in rows)

    async def count_concepts(self) -> int:
        """Count the nodes of the namespace."""
        return int((await self.read("MATCH (n:Concept) WHERE n.namespace = $namespace RETURN count(n) AS n"))[0]["n"])

    async def concept_neighbours(self, ids: Sequence[str], limit: int) -> list[Row] | None:
        """Return the neighbours of nodes.

        Args:
            ids: The nodes.
            limit: Maximum number of rows.

        Returns:
            Rows of ``a`` (one of the ids) and the neighbour's ``id``, ``label``, ``head``, in any order; ``None`` if
            there are more than ``limit``.
        """
        rows: list[Row] = []
        for part in batches(check_texts("ids", ids), max_rows=1000):
            rows += await self.read(
                "UNWIND $ids AS i MATCH (n:Concept {id: i})-[:RELATED_TO]-(m:Concept) "
                "RETURN i AS a, m.id AS id, m.label AS label, m.head AS head "
                f"LIMIT {check_limit(limit) + 1 - len(rows)}",
                ids=part,
            )
            if len(rows) > limit:
                return None
        return rows

    async def first_concept_neighbours(self, node: str, limit: int, labels: Sequence[str] | None) -> list[Row]:
        """Return the first neighbours of a node by content, only those with one of the labels.

        Rows are as from :meth:`concept_neighbours`.
        """
        where = "" if labels is None else "WHERE m.label IN $labels "
        return await self.read(
            f"MATCH (n:Concept {{id: $id}})-[:RELATED_TO]-(m:Concept) {where}"
            "WITH m.id AS id, m.label AS label, m.head AS head "
            f"ORDER BY head, id LIMIT {check_limit(limit)} RETURN id, label, head",
            id=node,
            labels=list(labels or ()),
        )

    async def pending_concepts(self, store: VectorStoreInfo, limit: int) -> list[Row] | None:
        """Return some nodes that have no vectors in a vector store yet: ``id``, ``content``, ``trunks``.

        ``None`` if the vector store no longer exists.
        """
        check_kind("store", store, VectorStoreInfo)
        there = await self.read("MATCH (s:VectorStore {id: $id}) RETURN s.concepts_marked AS marked", id=store.id)
        if not there:
            return None
        if not there[0]["marked"]:
            await self._mark_pending(store)
        return await self.read(
            "MATCH (n:Concept {pending: $key}) "
            f"RETURN n.id AS id, n.content AS content, n.trunks AS trunks LIMIT {check_limit(limit)}",
            key=text_partition(self._namespace),
        )

    async def _mark_pending(self, store: VectorStoreInfo) -> None:
        """Mark the nodes without a vector in a vector store, once when it becomes the active one."""
        label = check_name(store.index(Label.CONCEPT).label)
        done = await self.read(f"MATCH (v:{label})-[:EMBEDDING_OF]->(n:Concept) RETURN DISTINCT n.id AS id")
        missing = sorted(set(await self.concept_ids()) - {row["id"] for row in done})
        key = text_partition(self._namespace)

        async def work(tx: Transaction) -> None:
            await run_for_ids(tx, "UNWIND $ids AS i MATCH (n:Concept {id: i}) SET n.pending = $key", missing, key=key)
            await tx.run(
                "MATCH (s:VectorStore) WHERE s.namespace = $namespace SET s.concepts_marked = (s.id = $store)",
                {"namespace": self._namespace, "store": store.id},
            )

        await self._write(work)

    async def attach_concept_vectors(self, vectors: Sequence[VectorRow], store: VectorStoreInfo) -> None:
        """Store the vectors of nodes and mark these as embedded; nodes that no longer exist are skipped."""
        check_kind("store", store, VectorStoreInfo)
        index = store.index(Label.CONCEPT)
        await self._ensure_vector_index(index)
        rows = [
            {
                "id": stable_id(Label.VECTOR, store.id, Label.CONCEPT, vector.node, str(vector.part)),
                "target": vector.node,
                "embedding": vector.embedding,
            }
            for vector in vectors
        ]

        async def work(tx: Transaction) -> None:
            await check_vector_store(tx, store)
            await merge_vectors(
                tx,
                Label.CONCEPT,
                rows,
                store=store.id,
                label=index.label,
                namespace=self._namespace,
                now=utc_now(),
            )
            await run_for_ids(
                tx,
                "UNWIND $ids AS i MATCH (n:Concept {id: i}) SET n.pending = ''",
                sorted({vector.node for vector in vectors}),
            )

        await self._write(work)

    async def concept_vectors(self, ids: Sequence[str], store: VectorStoreInfo) -> list[Row]:
        """Return the vectors of nodes in a vector store: ``id`` of the node, and ``embedding``."""
        check_kind("store", store, VectorStoreInfo)
        return await self.read(
            "UNWIND $ids AS i MATCH (n:Concept {id: i})<-[:EMBEDDING_OF]-"
            f"(v:{check_name(store.index(Label.CONCEPT).label)}) RETURN i AS id, v.embedding AS embedding",
            ids=check_texts("ids", ids),
        )

    async def concepts_of_vectors(self, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return, by id of a vector, id and label of the node that it embeds."""
        rows = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (v:Vector {id: i})-[:EMBEDDING_OF]->(n:Concept) "
            "RETURN i AS vector, n.id AS id, n.label AS label",
            ids,
            at_once=1000,
        )
        return {row["vector"]: (row["id"], row["label"]) for row in rows}


def shown(content: str) -> str:
    """Return the display name of a node."""
    flat = " ".join(content[: 4 * _MAX_NAME_CHARS].split())
    return flat if len(flat) <= _MAX_NAME_CHARS else flat[: _MAX_NAME_CHARS - 1] + "…"


def _undirected(edges: Iterable[tuple[str, str, float | None]]) -> dict[tuple[str, str], float | None]:
    """Return each pair once, the smaller id first, without loops; the last weight wins."""
    found: dict[tuple[str, str], float | None] = {}
    for a, b, weight in edges:
        if a != b:
            pair = (a, b) if a < b else (b, a)
            found[pair] = weight if weight is not None else found.get(pair)
    return found
