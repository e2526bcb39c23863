"""Everything that the graph holds of a person, and of anything: for exporting, erasing, and proving that it is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.messages import CONVERSATION_COLUMNS
from core.rag.dbhandler.recollection import RecollectionOperations
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import Label


class ErasureOperations(RecollectionOperations):
    """Looking for, and removing, what belongs to a person."""

    async def conversation_row(self, conversation_id: str) -> Row | None:
        """A conversation with ``node_id``, ``revision`` and ``last_id``, or ``None``."""
        return await self._find_conversation(conversation_id)

    async def messages_before(self, node: str, moment: str) -> list[str]:
        """Ids of the messages of a conversation (id of its node) that were said before a time."""
        rows = await self.read(
            "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) WHERE m.timestamp < $moment "
            "RETURN m.id AS id",
            id=node,
            moment=moment,
        )
        return [row["id"] for row in rows]

    async def conversations_of_person(self, external_id: str) -> list[Row]:
        """All conversations that name a user, whether or not an edge says so."""
        return await self.read(
            "MATCH (c:Conversation) WHERE c.namespace = $namespace AND c.user_id = $user "
            f"RETURN {CONVERSATION_COLUMNS}",
            user=external_id,
        )

    async def messages_of_person(self, external_id: str) -> list[Row]:
        """``id`` and ``session_id`` of all messages that a user is said to have written."""
        return await self.read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace AND m.user_id = $user "
            "RETURN m.id AS id, m.session_id AS session_id",
            user=external_id,
        )

    async def delete_user(self, node: str) -> bool:
        """Remove a user (id of the node) with views and ratings; conversations stay. Returns whether there was one."""

        async def work(tx: Transaction) -> bool:
            rows = await tx.run("MATCH (u:User {id: $id}) RETURN u.id AS id", {"id": node})
            await tx.run("MATCH (u:User {id: $id}) DETACH DELETE u", {"id": node})
            return bool(rows)

        return await self._write(work)

    async def everything(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Every node and edge of the namespace: what and which it is, and its properties."""
        for label in Label:
            rows = await self.read(f"MATCH (n:{label}) WHERE n.namespace = $namespace RETURN n.id AS id")
            for page in batches(sorted(row["id"] for row in rows)):
                for row in await self.read(
                    f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) RETURN n.id AS id, properties(n) AS props", ids=page
                ):
                    yield f"{label} {row['id']}", row["props"]
                for row in await self.read(
                    f"UNWIND $ids AS i MATCH (a:{label} {{id: i}})-[r]->(b) "
                    "RETURN type(r) AS type, a.id AS a, b.id AS b, properties(r) AS props",
                    ids=page,
                ):
                    yield f"{row['type']} {row['a']} {row['b']}", row["props"]
