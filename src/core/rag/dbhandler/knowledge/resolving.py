"""SAME_AS: entities found by rule, or said by a person, to be the same. Both are kept, so this can be undone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from core.rag.arguments import check_texts
from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import run_for_rows
from core.rag.dbhandler.knowledge.entities import FROM_CALLER, FROM_RULE, remove_unused_entities
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.names import type_of
from core.rag.extraction.resolution import Candidate, Sameness
from core.rag.identity import entity_id, stable_id
from core.rag.schema import Label
from core.rag.times import utc_now

_CANDIDATE = (
    "e.id AS id, e.normalized_name AS name, e.name AS text, e.type AS type, e.mention_count AS mentions, "
    "e.titled AS titled"
)


class ResolutionOperations(ClientBase):
    """Reading candidates for entity resolution, and writing its results."""

    async def entity_names(self) -> list[str]:
        """Return the normalised names of all entities of the namespace."""
        rows = await self.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace RETURN collect(e.normalized_name) AS names"
        )
        return list(rows[0]["names"]) if rows else []

    async def acronym_names(self) -> list[str]:
        """Return the normalised names of entities spelt like acronyms, regardless of their types."""
        rows = await self.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace "
            "AND (e.type = 'acronym' OR e.recorded IS NOT NULL OR e.origin = $caller) "
            "RETURN e.normalized_name AS name, e.name AS text",
            caller=FROM_CALLER,
        )
        return [row["name"] for row in rows if type_of(row["text"]) == "acronym"]

    async def resolution_candidates(self, names: Iterable[str] | None = None) -> list[Candidate]:
        """Return all entities of the namespace, or those with these normalised names."""
        if names is None:
            rows = await self.read(f"MATCH (e:Entity) WHERE e.namespace = $namespace RETURN {_CANDIDATE}")
        else:
            ids = sorted({entity_id(self._namespace, name) for name in names})
            rows = await self.read_for_ids(f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}) RETURN {_CANDIDATE}", ids)
        return [
            Candidate(row["id"], row["name"], row["text"], row["type"] or "", row["mentions"] or 0, bool(row["titled"]))
            for row in rows
        ]

    async def mentioned_together(self, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return those pairs of entities that at least one chunk mentions together."""
        rows = await self.read_for_pairs(
            "UNWIND $rows AS row MATCH (a:Entity {id: row.a})<-[:MENTIONS]-(c:DocumentChunk) "
            "MATCH (c)-[:MENTIONS]->(b:Entity {id: row.b}) RETURN DISTINCT row.a AS a, row.b AS b",
            pairs,
        )
        return {(row["a"], row["b"]) for row in rows}

    async def same_entities(self) -> list[Row]:
        """Return the SAME_AS edges: ``alias``, ``entity``, ``method``, ``score``, ``origin``."""
        return await self.read(
            "MATCH (a:Entity)-[s:SAME_AS]->(b:Entity) WHERE a.namespace = $namespace RETURN a.id AS alias, "
            "b.id AS entity, s.method AS method, s.score AS score, s.origin AS origin"
        )

    async def distinct_entities(self) -> set[tuple[str, str]]:
        """Return the pairs of ids (each in sorted order) that a person declared to be different entities."""
        rows = await self.read(
            "MATCH (d:Distinction) WHERE d.namespace = $namespace RETURN d.entity AS entity, d.other AS other"
        )
        return {(row["entity"], row["other"]) for row in rows}

    async def write_sameness(
        self, wanted: Iterable[Sameness], methods: Collection[str] | None = None
    ) -> tuple[int, int]:
        """Replace the SAME_AS edges that rules found by the given ones.

        Args:
            wanted: The pairs that are the same.
            methods: Only edges that these methods found may be removed; ``None``: those of any method.

        Returns:
            How many edges were added, and how many removed.
        """
        rows = await self.same_entities()
        stored = {(row["alias"], row["entity"]): row for row in rows if row["origin"] == FROM_RULE}
        by_hand = {frozenset((row["alias"], row["entity"])) for row in rows if row["origin"] == FROM_CALLER}
        new = {
            (same.alias, same.entity): (same.method, same.score)
            for same in wanted
            if frozenset((same.alias, same.entity)) not in by_hand
        }
        known = {pair: (row["method"], row["score"]) for pair, row in stored.items()}
        gone = [
            {"a": a, "b": b}
            for (a, b), (method, score) in sorted(known.items())
            if (methods is None or method in methods or (a, b) in new or (b, a) in new)
            and new.get((a, b)) != (method, score)
        ]
        added = [
            {"a": a, "b": b, "method": method, "score": score}
            for (a, b), (method, score) in sorted(new.items())
            if known.get((a, b)) != (method, score)
        ]

        async def work(tx: Transaction) -> None:
            await run_for_rows(
                tx,
                "UNWIND $rows AS row MATCH (a:Entity {id: row.a})-[s:SAME_AS]->(b:Entity {id: row.b}) "
                "WHERE s.origin = $origin DELETE s",
                gone,
                origin=FROM_RULE,
            )
            await _connect(tx, added, FROM_RULE, self._namespace)

        await self._write(work)
        return len(added), len(gone)

    async def merge_entity(self, alias: str, entity: str) -> None:
        """Store that a person declared two entities (by id) to be the same."""
        check_texts("the ids of entities", (alias, entity))

        async def work(tx: Transaction) -> None:
            (distinction,) = self._distinctions(alias, [entity])
            await tx.run("UNWIND $ids AS i MATCH (d:Distinction {id: i}) DETACH DELETE d", {"ids": [distinction["id"]]})
            await _disconnect(tx, alias, entity, self._namespace)
            row = {"a": alias, "b": entity, "method": FROM_CALLER, "score": 1.0}
            await _connect(tx, [row], FROM_CALLER, self._namespace)

        await self._write(work)

    async def split_entity(self, entity: str, others: Sequence[str]) -> int:
        """Undo merges of an entity, and store that a person declared the entities to be different.

        Entities that only a merge kept are removed.

        Args:
            entity: Its id.
            others: Ids of the entities to separate it from, merged or not; empty: all that it was directly merged with.

        Returns:
            How many SAME_AS edges were removed.
        """
        check_texts("the ids of entities", (entity, *check_texts("others", others)))

        async def work(tx: Transaction) -> int:
            rows = await tx.run(
                "UNWIND [$id] AS i MATCH (a:Entity {id: i})-[s:SAME_AS]-(b:Entity) WHERE a.namespace = $namespace "
                "RETURN DISTINCT b.id AS id",
                {"id": entity, "namespace": self._namespace},
            )
            apart = [row["id"] for row in rows if not others or row["id"] in others]
            undone = len(apart)
            for other in apart:
                await _disconnect(tx, entity, other, self._namespace)
            apart += [other for other in dict.fromkeys(others) if other not in apart]
            # A separate node, because the entities may be removed with their texts and come back with them.
            await run_for_rows(
                tx,
                "UNWIND $rows AS row MERGE (d:Distinction {id: row.id}) ON CREATE SET d.namespace = $namespace, "
                "d.entity = row.entity, d.other = row.other, d.created_at = $now, d.updated_at = $now",
                self._distinctions(entity, apart),
                namespace=self._namespace,
                now=utc_now(),
            )
            # A merge by hand keeps both entities even if nothing else supports them; without it they may have to go.
            await remove_unused_entities(tx, [entity, *apart])
            return undone

        return await self._write(work)

    def _distinctions(self, entity: str, others: Iterable[str]) -> list[Row]:
        """Return the Distinction nodes that separate an entity from others, all given by their ids."""
        pairs = [sorted((entity, other)) for other in others]
        return [{"id": stable_id(Label.DISTINCTION, self._namespace, a, b), "entity": a, "other": b} for a, b in pairs]


async def _disconnect(tx: Transaction, a: str, b: str, namespace: str) -> None:
    await tx.run(
        "UNWIND [$a] AS i MATCH (a:Entity {id: i})-[s:SAME_AS]-(b:Entity {id: $b}) WHERE a.namespace = $namespace "
        "DELETE s",
        {"a": a, "b": b, "namespace": namespace},
    )


async def _connect(tx: Transaction, rows: Sequence[Row], origin: str, namespace: str) -> None:
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:Entity {id: row.a}) MATCH (b:Entity {id: row.b}) "
        "WHERE a.namespace = $namespace AND b.namespace = $namespace MERGE (a)-[s:SAME_AS]->(b) "
        "SET s.method = row.method, s.score = row.score, s.origin = $origin",
        rows,
        origin=origin,
        namespace=namespace,
    )
