"""RELATED edges and the chunks that support them: facts found by a language model or stated by callers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.rag.dbhandler.batches import run_for_rows
from core.rag.dbhandler.knowledge.edge_direction import RELATED, directed
from core.rag.dbhandler.knowledge.entities import FROM_CALLER, EntityLedger
from core.rag.dbhandler.knowledge.periods import Time, period_of
from core.rag.dbhandler.knowledge.placing import Placed, Statement
from core.rag.dbhandler.knowledge.records import relation_id
from core.rag.dbhandler.knowledge.stated import note
from core.rag.dbhandler.knowledge.validity import has_times, mark_dated
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.facts import ChunkFacts, Fact
from core.rag.identity import entity_id

#: ``origin`` of a fact that a language model extracted from a chunk.
FROM_MODEL = "llm"


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact that a caller adds.

    Attributes:
        subject: Name of the entity that it is about.
        relation: The relation, such as ``works_at``.
        object: Name of the other entity.
        subject_type: Type of the subject; without one, an existing entity keeps its own.
        object_type: Type of the object, likewise.
        fact: The fact as a sentence.
        weight: Weight of the edge.
        chunk_ids: Chunks that support it: it is removed with the last of them. A fact without chunks stays.
        valid_from: Since when it holds: a date or time, ISO 8601, UTC. ``None``: always, or since nobody knows when.
        valid_to: Since when it does not hold any more; ``None``: it still holds.
    """

    subject: str
    relation: str
    object: str
    subject_type: str = ""
    object_type: str = ""
    fact: str = ""
    weight: float = 1.0
    chunk_ids: tuple[str, ...] = ()
    valid_from: Time | None = None
    valid_to: Time | None = None

    def statement(self, names: Mapping[str, str], namespace: str) -> Statement:
        """Return it as a statement about the entities of a namespace.

        Args:
            names: The normalised name of each name in it.
            namespace: The namespace.
        """
        return Statement(
            entity_id(namespace, names[self.subject]),
            entity_id(namespace, names[self.object]),
            self.relation,
            f"{self.subject} {self.relation} {self.object}",
            period_of(self.valid_from, self.valid_to),
            {"fact": self.fact, "weight": float(self.weight), "chunk_ids": list(self.chunk_ids)},
        )


#: A fact as callers give it: ``(subject, relation, object)``, or a mapping with the attributes of :class:`Triple`.
TripleLike = Triple | Mapping[str, Any] | Sequence[str]


class FactChanges:
    """Updates the facts of chunks within a transaction: :meth:`set`, settle the ledger, :meth:`apply`."""

    def __init__(self, ledger: EntityLedger) -> None:
        """Prepare an update; the entities in the facts are recorded in ``ledger``."""
        self._ledger = ledger
        self._changes: dict[tuple[str, str, str], dict[str, str | None]] = {}

    def set(self, chunk: str, before: ChunkFacts, after: ChunkFacts) -> None:
        """Record the facts of a chunk in the ledger; its mentions are changed elsewhere."""
        for entity in before.entities:
            self._ledger.kind(entity.name, entity.type, -1)
        for entity in after.entities:
            self._ledger.kind(entity.name, entity.type, 1)
        for fact in before.facts:
            self._support(fact)[chunk] = None
        for fact in after.facts:
            self._support(fact)[chunk] = fact.text

    def _support(self, fact: Fact) -> dict[str, str | None]:
        self._ledger.hold(fact.source)
        self._ledger.hold(fact.target)
        return self._changes.setdefault((fact.source, fact.target, fact.type), {})

    async def apply(self, tx: Transaction) -> None:
        """Write the edges, after the ledger is settled. The sentence of an edge is that of its first chunk by id."""
        wanted: dict[str, Row] = {}
        for source, target, kind in self._changes:
            a, b = self._ledger.id(source), self._ledger.id(target)
            link = relation_id(a, b, FROM_MODEL, kind)
            wanted[link] = {"a": a, "b": b, "link": link, "type": kind, "changes": (source, target, kind)}
        async for backward, rows in directed(tx, RELATED, [wanted[link] for link in sorted(wanted)]):
            await self._apply(tx, rows, backward=backward)

    async def _apply(self, tx: Transaction, wanted: Sequence[Row], *, backward: bool) -> None:
        pattern = f"UNWIND $rows AS row MATCH {RELATED.there(backward=backward)} "
        keys = [{name: row[name] for name in ("a", "b", "link")} for row in wanted]
        stored: dict[str, dict[str, str | None]] = {}
        for row in await tx.run(
            f"{pattern}RETURN r.id AS link, r.chunk_ids AS chunks, r.facts AS facts", {"rows": keys}
        ):
            stored[row["link"]] = dict(zip(row["chunks"], json.loads(row["facts"]), strict=True))
        gone: list[Row] = []
        changed: list[Row] = []
        created: list[Row] = []
        for key, row in zip(keys, wanted, strict=True):
            support = {**stored.get(row["link"], {}), **self._changes[row["changes"]]}
            texts = {chunk: text for chunk, text in sorted(support.items()) if text is not None}
            if not texts:
                gone.append(key)
                continue
            entry = {
                **key,
                "type": row["type"],
                "chunks": list(texts),
                "facts": json.dumps(list(texts.values()), ensure_ascii=False),
                "fact": next(iter(texts.values())),
                "weight": float(len(texts)),
            }
            (changed if row["link"] in stored else created).append(entry)
        assign = (
            "r.chunk_ids = row.chunks, r.facts = row.facts, r.fact = row.fact, r.weight = row.weight, "
            "r.updated_at = $now"
        )
        await run_for_rows(tx, f"{pattern}DELETE r", gone)
        await run_for_rows(tx, f"{pattern}SET {assign}", changed, now=self._ledger.now)
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
            "CREATE (a)-[r:RELATED {id: row.link, key: row.link, type: row.type, origin: $origin}]->(b) "
            f"SET {assign}",
            created,
            origin=FROM_MODEL,
            now=self._ledger.now,
        )


async def write_triples(
    tx: Transaction,
    triples: Sequence[Triple],
    placed: Sequence[Placed],
    names: Mapping[str, str],
    namespace: str,
    now: str,
) -> None:
    """Write facts of a caller, create missing entities, and set the types that they name.

    Args:
        tx: The transaction.
        triples: Checked triples.
        placed: The edge of each.
        names: The normalised name of each name in them.
        namespace: The namespace.
        now: The time of the write.

    Raises:
        InvalidInputError: naming chunks that do not exist.
    """
    entities: dict[str, Row] = {}
    edges: dict[str, Row] = {}
    cited: dict[str, list[tuple[str, str, str]]] = {}
    for triple, one in zip(triples, placed, strict=True):
        a, b, link = one.edge["a"], one.edge["b"], one.edge["link"]
        for identifier, text, kind in (
            (a, triple.subject, triple.subject_type),
            (b, triple.object, triple.object_type),
        ):
            new = {"id": identifier, "name": text, "normalized": names[text], "type": kind}
            entity = entities.setdefault(identifier, new)
            entity["type"] = kind or entity["type"]
        for chunk in triple.chunk_ids:
            cited.setdefault(chunk, []).append((a, b, link))
        edges[link] = one.edge
    await note(tx, cited, namespace)
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MERGE (e:Entity {id: row.id}) ON CREATE SET e.namespace = $namespace, "
        "e.name = row.name, e.normalized_name = row.normalized, e.type = row.type, e.mention_count = 0, "
        "e.origin = $origin, e.created_at = $now, e.updated_at = $now",
        list(entities.values()),
        namespace=namespace,
        origin=FROM_CALLER,
        now=now,
    )
    # As if the caller had created it: else its type would depend on whether a text or the caller named it first.
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) WHERE coalesce(e.type, '') <> row.type "
        "SET e.type = row.type, e.origin = $origin, e.updated_at = $now",
        [row for row in entities.values() if row["type"]],
        origin=FROM_CALLER,
        now=now,
    )
    await merge_edges(tx, list(edges.values()), now)
    await settle_periods(tx, placed, namespace)


async def remove_facts(tx: Transaction, edges: Sequence[Row]) -> None:
    """Remove RELATED edges, each named by its ``link`` and the ids of its ends, ``a`` and ``b``."""
    async for backward, rows in directed(tx, RELATED, edges):
        await tx.run(f"UNWIND $rows AS row MATCH {RELATED.there(backward=backward)} DELETE r", {"rows": rows})


async def settle_periods(tx: Transaction, placed: Sequence[Placed], namespace: str) -> None:
    """Remove the edges that others replace, and note if facts have times."""
    await remove_facts(tx, [one.instead for one in placed if one.instead is not None])
    if any(has_times(one.edge["props"]) for one in placed):
        await mark_dated(tx, namespace)


async def merge_edges(tx: Transaction, edges: Sequence[Row], now: str) -> int:
    """Create or update RELATED edges, rows with ``a``, ``b``, ``link`` and ``props``.

    Returns:
        How many of them are there now; those of entities that no longer exist are not.
    """
    written = 0
    async for backward, rows in directed(tx, RELATED, edges):
        found = await tx.run(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
            f"{RELATED.merge(backward=backward)} ON CREATE SET r.created_at = $now "
            "SET r += row.props, r.updated_at = $now RETURN r.id AS link",
            {"rows": rows, "now": now},
        )
        written += len(found)
    return written
