"""Links between entities that a person creates and removes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from core.rag.arguments import check_optional, check_text, check_texts
from core.rag.dbhandler.knowledge.entities import FROM_CALLER, EntityLedger, remove_unused_entities
from core.rag.dbhandler.knowledge.facts import merge_edges, settle_periods
from core.rag.dbhandler.knowledge.periods import Period
from core.rag.dbhandler.knowledge.placing import Statement, placed
from core.rag.dbhandler.knowledge.validity import mark_dated, period_in
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.extraction.words import normalize_name
from core.rag.identity import entity_id
from core.rag.schema import FROM_TEXT
from core.rag.times import utc_now


class LinkOperations(VectorStoreOperations):
    """Entities and RELATED edges that people add by hand."""

    async def make_entity(self, name: str, kind: str = "") -> str:
        """Return the entity with this name, creating it if missing; only a person can remove it again.

        Args:
            name: A single line; not blank.
            kind: Its type.

        Returns:
            Its id.
        """
        normalized = normalize_name(check_text("The name of an entity", name))
        identifier = entity_id(self._namespace, normalized)
        props = {"name": name, "normalized_name": normalized, "type": kind, "mention_count": 0, "origin": FROM_CALLER}
        await self._write_one(
            "MERGE (e:Entity {id: $id}) ON CREATE SET e += $props, e.namespace = $namespace, e.created_at = $now, "
            "e.updated_at = $now",
            id=identifier,
            props=props,
            now=utc_now(),
        )
        return identifier

    async def link_entities(self, statement: Statement) -> Row:
        """Connect two entities by id; an existing edge of the same relation and period gets the other properties.

        From then on the edge needs no chunk to support it.

        Returns:
            The edge: ``a``, ``b``, ``link`` and ``props``.

        Raises:
            NotFoundError: if either no longer exists.
            InvalidInputError: if it contradicts what is stored; see :mod:`core.rag.dbhandler.knowledge.placing`.
        """
        check_texts("the ids of entities", (statement.source, statement.target))
        check_text("relation", statement.relation)
        now = utc_now()

        async def work(tx: Transaction) -> Row | None:
            found = await placed(tx, [statement], self._namespace, now)
            edge = found[0].edge
            written = await merge_edges(tx, [edge], now)
            await settle_periods(tx, found, self._namespace)
            return edge if written else None

        edge = await self._write(work)
        if edge is None:
            raise NotFoundError("One of the entities was removed in the meantime.")
        return edge

    async def write_inferred_links(self, rows: Sequence[Row]) -> int:
        """Connect entities by links that were inferred, and updated if they exist.

        Args:
            rows: ``a`` and ``b`` (ids of entities of the namespace), ``link`` (id of the link) and ``props``.

        Returns:
            How many links are in the graph now; those of entities that no longer exist are skipped.
        """
        return await self._write(partial(merge_edges, edges=rows, now=utc_now())) if rows else 0

    async def unlink_entities(
        self, a: str, b: str, *, relation: str | None = None, link: str | None = None, ended: str = ""
    ) -> int:
        """Remove links made by hand between two entities, in either direction: all, those of a relation, or one.

        Entities that only these links supported are removed, too.

        Args:
            a: Id of one entity.
            b: Id of the other.
            relation: Only links of this relation.
            link: Only the link with this id.
            ended: A time as it is stored: those that hold until then stay, as ones that ended at this time.

        Returns:
            How many links were removed, or ended.

        Raises:
            InvalidInputError: if no link held before ``ended``, but one began later.
        """
        check_texts("the ids of entities", (a, b))
        check_optional(relation=relation, link=link)
        which = "WHERE r.origin = $origin "
        which += "AND r.type = $relation " if relation is not None else ""
        which += "AND r.id = $link " if link is not None else ""
        parameters = {
            "a": a,
            "b": b,
            "relation": relation or "",
            "link": link or "",
            "origin": FROM_CALLER,
        }
        pattern = f"MATCH (a:Entity {{id: $a}})-[r:RELATED]-(b:Entity {{id: $b}}) {which}"

        async def remove(tx: Transaction) -> int:
            rows = await tx.run(f"{pattern}RETURN count(r) AS n", parameters)
            await tx.run(f"{pattern}DELETE r", parameters)
            await remove_unused_entities(tx, [a, b])
            return int(rows[0]["n"])

        async def end(tx: Transaction) -> int:
            rows = await tx.run(
                f"{pattern}RETURN r.id AS id, r.valid_from AS valid_from, r.valid_to AS valid_to", parameters
            )
            lasting = {row["id"]: period for row in rows if not (period := period_in(row)).has_ended(ended)}
            holding = [identifier for identifier, period in lasting.items() if period.valid_from < ended]
            if lasting and not holding:
                raise InvalidInputError(
                    f"What is stored began later ({min(map(str, lasting.values()))}), so it cannot have held"
                    f" {Period('', ended)}: give a later time, or remove it."
                )
            if holding:
                await tx.run(
                    f"{pattern}AND r.id IN $ids SET r.valid_to = $ended, r.updated_at = $now",
                    {**parameters, "ids": holding, "ended": ended, "now": utc_now()},
                )
                await mark_dated(tx, self._namespace)
            return len(holding)

        return await self._write(end if ended else remove)

    async def release_entity(self, identifier: str) -> bool:
        """Remove an entity that a person created, with its links and merges made by hand.

        If documents or records also have it, the entity stays, with only what these say about it.

        Returns:
            Whether a person had created it.
        """
        entity = "UNWIND $ids AS i MATCH (e:Entity {id: i})"
        parameters = {"ids": [identifier], "origin": FROM_CALLER}

        async def work(tx: Transaction) -> bool:
            made = await tx.run(f"{entity} WHERE e.origin = $origin RETURN e.normalized_name AS name", parameters)
            if not made:
                return False
            links = f"{entity}-[r:RELATED|SAME_AS]-(o:Entity) WHERE r.origin = $origin "
            others = await tx.run(f"{links}RETURN DISTINCT o.id AS id", parameters)
            await tx.run(f"{links}DELETE r", parameters)
            await tx.run(f"{entity} SET e.origin = $text", {"ids": [identifier], "text": FROM_TEXT})
            ledger = EntityLedger(self._namespace, utc_now())
            ledger.spelling(made[0]["name"], "", "")  # no change, but its name is derived from the texts again
            await ledger.settle(tx)
            await remove_unused_entities(tx, [identifier, *(row["id"] for row in others)])
            return True

        return await self._write(work)
