"""Checks the consistency of the entities of a namespace and of the links between them, and repairs it.

What an entity is called, how often it is mentioned, and the links between entities follow from texts and records. Each
check works out what should be there, so that it also joins what two graphs know that an import has brought together.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import groupby

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.knowledge.entities import FROM_CALLER, STATE, remove_unused_entities, update_entities
from core.rag.dbhandler.knowledge.entity_state import EntityChange, EntityState, most_forms
from core.rag.dbhandler.knowledge.facts import FROM_MODEL, merge_edges, remove_facts
from core.rag.dbhandler.knowledge.mentions import chunk_texts
from core.rag.dbhandler.knowledge.records import FROM_RECORD, relation_id
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.mentions import spellings
from core.rag.extraction.records import RecordEntity, relations_of
from core.rag.identity import entity_id
from core.rag.maintenance.flaws import Checks, Flaw, Look, seen_twice
from core.rag.schema import EdgeType, Label
from core.rag.times import utc_now


class KnowledgeSoundness(Checks):
    """Checks of entities and of the links between them."""

    def checks(self) -> list[tuple[str, Look]]:
        """Return all checks by name, in an order in which a repair may reveal what the next check repairs."""
        return [("entities", self._entities), ("facts", self._facts)]

    async def join(self) -> None:
        """Join imported data with existing data."""
        await self._mend(self._entities, self._facts)

    async def _entities(self) -> AsyncIterator[Flaw]:
        wrong = await seen_twice(self._miscounted)
        if not wrong:
            return
        message = (
            f"{len(wrong)} entities do not know what mentions or names them, of which type that says they are, or how"
            " it spells them."
        )
        yield Flaw(message, lambda: self._transact(list(wrong), _settle))

    async def _miscounted(self) -> dict[str, bool]:
        """Return the ids of entities whose counts are not what the graph says."""
        # Separate statements, since OPTIONAL MATCH would scan every edge for each of them.
        stored = await self._read_wide(
            "MATCH (e:Entity) WHERE e.namespace = $namespace",
            {
                "id": "e.id",
                "n": "e.mention_count",
                "titled": "e.titled",
                "recorded": "e.recorded",
                "forms": "e.forms",
            },
        )
        mentions = await self._edges_to_entities(Label.CHUNK, EdgeType.MENTIONS)
        titles = await self._edges_to_entities(Label.DOCUMENT, EdgeType.TITLED)
        kinds = await self._kinds()
        return {
            row["id"]: True
            for row in stored
            if (row["n"] or 0, row["titled"] or 0) != (mentions.get(row["id"], 0), titles.get(row["id"], 0))
            or json.loads(row["recorded"] or "{}") != kinds.get(row["id"], {})
            or sum(json.loads(row["forms"] or "{}").values()) > most_forms(row["n"] or 0, kinds.get(row["id"], {}))
        }

    async def _edges_to_entities(self, label: Label, edge: EdgeType) -> dict[str, int]:
        """Count the edges to each entity, by its id; entities without any are left out."""
        rows = await self._read_wide(
            f"MATCH (a:{label})-[r:{edge}]->(e:Entity) WHERE a.namespace = $namespace WITH e.id AS id, count(r) AS n",
            {"id": "id", "n": "n"},
        )
        return {row["id"]: row["n"] for row in rows}

    async def _kinds(self) -> dict[str, Counter[str]]:
        """Count, by id of an entity, the records and chunks that state each type of it."""
        rows = await self._read(
            "MATCH (r:Record)-[h:HAS_ENTITY]->(e:Entity) WHERE r.namespace = $namespace "
            "RETURN e.id AS id, h.type AS type, count(h) AS n"
        )
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            found[row["id"]][row["type"]] += row["n"]
        for _, facts in await self._said():
            for entity in facts.entities:
                if entity.type:
                    found[entity_id(self._namespace, entity.name)][entity.type] += 1
        return found

    async def _said(self) -> list[tuple[str, ChunkFacts]]:
        """Return the facts that a language model found in chunks, sorted by id of the chunk."""
        rows = await self._read(
            "MATCH (c:DocumentChunk) WHERE c.namespace = $namespace AND c.facts IS NOT NULL "
            "RETURN c.id AS id, c.facts AS facts"
        )
        return [(row["id"], ChunkFacts.from_json(row["facts"])) for row in sorted(rows, key=lambda row: row["id"])]

    async def _facts(self) -> AsyncIterator[Flaw]:
        different = await seen_twice(self._other_links)
        if not different:
            return
        gone = [row for row in different.values() if "props" not in row]
        wrong = [row for row in different.values() if "props" in row]

        async def mend() -> None:
            await self._transact(gone, remove_facts)
            await self._transact(wrong, _link)
            ends = {row[end] for row in gone for end in ("a", "b")}
            await self._transact(sorted(ends), remove_unused_entities)

        yield Flaw(f"{len(different)} links between entities are not what records and texts say.", mend)

    async def _other_links(self) -> dict[str, Row]:
        """Return links that are not what records and texts say, by id; those that they do not say have no ``props``."""
        rows = await self._read_wide(
            "MATCH (a:Entity)-[r:RELATED]->(b:Entity) WHERE a.namespace = $namespace AND r.origin <> $caller",
            {
                "a": "a.id",
                "b": "b.id",
                "link": "r.id",
                "weight": "r.weight",
                "chunk_ids": "r.chunk_ids",
                "facts": "r.facts",
            },
            caller=FROM_CALLER,
        )
        stored = {row["link"]: row for row in rows}
        wanted = {row["link"]: row for row in [*await self._of_records(), *await self._of_texts()]}
        gone = {
            link: {name: row[name] for name in ("a", "b", "link")} for link, row in stored.items() if link not in wanted
        }
        wrong = {
            link: row
            for link, row in wanted.items()
            if link not in stored
            or any(
                (row["props"].get(name) or None) != (stored[link][name] or None)
                for name in ("weight", "chunk_ids", "facts")
            )
        }
        return gone | wrong

    async def _of_records(self) -> list[Row]:
        rows = await self._read_wide(
            "MATCH (r:Record)-[h:HAS_ENTITY]->(e:Entity) WHERE r.namespace = $namespace",
            {"record": "r.id", "field": "h.field", "type": "h.type", "text": "h.text", "name": "e.normalized_name"},
        )
        rows.sort(key=lambda row: row["record"])
        weights = Counter(
            relation
            for _, group in groupby(rows, key=lambda row: row["record"])
            for relation in relations_of(
                [RecordEntity(row["field"], row["type"], row["name"], row["text"]) for row in group]
            )
        )
        return [
            self._wanted(relation.source, relation.target, FROM_RECORD, relation.type, {"weight": float(number)})
            for relation, number in weights.items()
        ]

    async def _of_texts(self) -> list[Row]:
        support: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
        for chunk, facts in await self._said():
            for fact in facts.facts:
                support[fact.source, fact.target, fact.type][chunk] = fact.text
        return [
            self._wanted(
                source,
                target,
                FROM_MODEL,
                kind,
                {
                    "weight": float(len(texts)),
                    "chunk_ids": list(texts),
                    "facts": json.dumps(list(texts.values()), ensure_ascii=False),
                    "fact": next(iter(texts.values())),
                },
            )
            for (source, target, kind), texts in support.items()
        ]

    def _wanted(self, source: str, target: str, origin: str, kind: str, properties: Row) -> Row:
        a, b = entity_id(self._namespace, source), entity_id(self._namespace, target)
        link = relation_id(a, b, origin, kind)
        return {"a": a, "b": b, "link": link, "props": {"key": link, "type": kind, "origin": origin, **properties}}


async def _link(tx: Transaction, edges: Sequence[Row]) -> None:
    await merge_edges(tx, edges, utc_now())


async def _settle(tx: Transaction, ids: Sequence[str]) -> None:
    """Recompute entities from everything that supports them, and remove those that nothing supports."""
    await lock(tx, Label.ENTITY, ids)
    rows = await tx.run(
        "UNWIND $ids AS i MATCH (e:Entity {id: i}) RETURN e.id AS id, e.normalized_name AS normalized, "
        f"e.origin AS origin, {', '.join(f'e.{name} AS {name}' for name in STATE)}",
        {"ids": list(ids)},
    )
    changes = {row["id"]: EntityChange() for row in rows}
    await _count_mentions(tx, changes, {row["id"]: row["normalized"] for row in rows})
    titles = await tx.run(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[t:TITLED]-(:Document) RETURN e.id AS id, t.text AS text",
        {"ids": list(ids)},
    )
    for row in titles:
        changes[row["id"]].titled += 1
        changes[row["id"]].titles.append(row["text"])
    recorded = await tx.run(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[h:HAS_ENTITY]-(:Record) "
        "RETURN e.id AS id, h.type AS type, h.text AS text, count(h) AS n",
        {"ids": list(ids)},
    )
    for row in recorded:
        changes[row["id"]].form(row["text"], row["n"])
        changes[row["id"]].kind(row["type"], row["n"])
    updated: list[Row] = []
    for row in rows:
        fixed = row["origin"] == FROM_CALLER
        state = EntityState(
            row["normalized"], {**dict.fromkeys(STATE), "name": row["name"], "type": row["type"]}, fixed=fixed
        )
        state.apply(changes[row["id"]], None)
        props = {key: value for key, value in state.properties().items() if row[key] != value}
        if props:
            updated.append({"id": row["id"], "props": props})
    await update_entities(tx, updated, utc_now())
    await remove_unused_entities(tx, list(ids))


async def _count_mentions(tx: Transaction, changes: Mapping[str, EntityChange], names: Mapping[str, str]) -> None:
    rows = await tx.run(
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:MENTIONS]-(c:DocumentChunk) RETURN e.id AS id, c.id AS chunk",
        {"ids": sorted(changes)},
    )
    mentioned: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        mentioned[row["chunk"]].append(row["id"])
    for part in batches(sorted(mentioned)):
        for chunk, text in (await chunk_texts(tx, part)).items():
            spelt = spellings(text.names, text.facts)
            for entity in mentioned[chunk]:
                changes[entity].mentions += 1
                changes[entity].form(spelt.get(names[entity], ""), 1)
            for said in text.facts.entities if text.facts else ():
                for entity in mentioned[chunk]:
                    if names[entity] == said.name and said.type:
                        changes[entity].kind(said.type, 1)
