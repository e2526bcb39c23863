"""Collects everything that the graph stores about a person, to export it, to erase it, and to prove that it is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from core.rag.arguments import check_texts
from core.rag.dbhandler.batches import batches, run_for_rows
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.messages.reading import CONVERSATION_COLUMNS
from core.rag.dbhandler.messages.recollection import RecollectionOperations
from core.rag.dbhandler.messages.users import rating_key
from core.rag.dbhandler.store import Row, Transaction
from core.rag.schema import Label

_USER = "UNWIND [$id] AS i MATCH (u:User {id: i}) WHERE u.namespace = $namespace"


class ErasureOperations(RecollectionOperations):
    """Finding and removing the data of a person."""

    async def messages_said(self, node: str) -> list[Row]:
        """List the messages of a conversation (id of its node).

        Returns:
            ``id, user_id, timestamp, last_said_at, summary`` of each.
        """
        return await self.read(
            "UNWIND [$id] AS i MATCH (c:Conversation {id: i})<-[:PART_OF]-(m:Interaction) "
            "WHERE c.namespace = $namespace "
            "RETURN m.id AS id, m.user_id AS user_id, m.timestamp AS timestamp, m.last_said_at AS last_said_at, "
            "m.summary AS summary",
            id=node,
        )

    async def conversations_of_person(self, external_id: str) -> list[Row]:
        """Return all conversations that name a user, with or without an edge from the user."""
        return await self.read(
            "MATCH (c:Conversation) WHERE c.namespace = $namespace AND c.user_id = $user "
            f"RETURN {CONVERSATION_COLUMNS}",
            user=external_id,
        )

    async def messages_of_person(self, external_id: str) -> list[Row]:
        """List ``id`` and ``session_id`` of all messages that name a user as their speaker.

        Earlier versions stored the id of the user's node if the caller gave that one.
        """
        return await self.read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace AND (m.user_id = $user OR m.user_id = $node) "
            "RETURN m.id AS id, m.session_id AS session_id",
            user=external_id,
            node=self._user_node(external_id),
        )

    async def delete_user(self, node: str) -> bool:
        """Remove a user (id of the node) with views and ratings, but not conversations; return whether it existed."""

        async def work(tx: Transaction) -> bool:
            await lock(tx, Label.USER, [node])
            which = {"id": node, "namespace": self._namespace}
            rows = await tx.run(f"{_USER} RETURN u.id AS id", which)
            await tx.run(f"{_USER} DETACH DELETE u", which)
            return bool(rows)

        return await self._write(work)

    async def move_user(self, node: str, external_id: str, rewrite: Callable[[str], str]) -> None:
        """Move views and ratings of a user (id of the node) to another user, and remove the first one.

        Args:
            node: The user to remove.
            external_id: The id of the other user, created if missing.
            rewrite: Rewrites the questions of ratings.
        """
        target = await self.create_or_get_user(external_id)
        ratings = await self.read(
            "UNWIND [$id] AS i MATCH (u:User {id: i})-[r:RATED]->(c:DocumentChunk) WHERE u.namespace = $namespace "
            "RETURN c.id AS chunk, r.key AS key, r.value AS value, r.query AS query, r.rated_at AS rated_at",
            id=node,
        )
        views = await self.read(
            "UNWIND [$id] AS i MATCH (u:User {id: i})-[r:VIEWED]->(d:Document) WHERE u.namespace = $namespace "
            "RETURN d.id AS document, r.count AS count, r.first_at AS first_at, r.last_at AS last_at",
            id=node,
        )
        for row in ratings:
            row["query"] = rewrite(row["query"] or "")
            row["key"] = rating_key(row["query"])

        # MERGE scans the edges of its left node: a passage has fewer than a user with many ratings.
        async def work(tx: Transaction) -> None:
            await run_for_rows(
                tx,
                "MATCH (u:User {id: $user}) UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.chunk}) "
                "MERGE (c)<-[r:RATED {key: row.key}]-(u) "
                "SET r.value = row.value, r.query = row.query, r.rated_at = row.rated_at",
                ratings,
                user=target,
            )
            await run_for_rows(
                tx,
                "MATCH (u:User {id: $user}) UNWIND $rows AS row MATCH (d:Document {id: row.document}) "
                "MERGE (d)<-[r:VIEWED]-(u) SET r.count = row.count, r.first_at = row.first_at, "
                "r.last_at = row.last_at, r.token = ''",
                views,
                user=target,
            )
            await tx.run(f"{_USER} DETACH DELETE u", {"id": node, "namespace": self._namespace})

        await self._write(work)

    async def rewrite_rated_questions(self, rewrite: Callable[[str], str]) -> None:
        """Rewrite the questions of all ratings, of any user."""
        rows = await self.read(
            "MATCH (u:User)-[r:RATED]->(c:DocumentChunk) WHERE u.namespace = $namespace AND r.query <> '' "
            "RETURN u.id AS user, c.id AS chunk, r.key AS key, r.query AS query"
        )
        changed = [
            {**row, "new": new, "new_key": rating_key(new)}
            for row in rows
            if (new := rewrite(row["query"])) != row["query"]
        ]
        if changed:
            statement = (
                "UNWIND $rows AS row MATCH (u:User {id: row.user})-[r:RATED]->(c:DocumentChunk {id: row.chunk}) "
                "WHERE r.key = row.key SET r.query = row.new, r.key = row.new_key"
            )
            await self._write(partial(run_for_rows, statement=statement, rows=changed))

    async def resources_of_messages(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the URIs of resources that messages refer to, by id of the message."""
        found: dict[str, list[str]] = {}
        for row in await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[:REFERENCES]->(t:Resource) "
            "RETURN m.id AS id, t.uri AS uri",
            ids=check_texts("ids", ids),
        ):
            found.setdefault(row["id"], []).append(row["uri"])
        return found

    async def retrieved_of_messages(self, ids: Sequence[str]) -> dict[str, list[Row]]:
        """Return search results of messages, by id of the message: ``chunk_id, path, rank, score``, best first."""
        found: dict[str, list[Row]] = {}
        rows = await self.read(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[r:RETRIEVED]->(c:DocumentChunk) "
            "RETURN m.id AS id, c.id AS chunk_id, c.path AS path, r.rank AS rank, r.score AS score",
            ids=check_texts("ids", ids),
        )
        for row in sorted(rows, key=lambda row: (row["rank"], row["chunk_id"])):
            found.setdefault(row.pop("id"), []).append(row)
        return found

    async def known_names(self) -> list[str]:
        """Return the names of people in the namespace: users, and entities that are persons."""
        users = await self.read(
            "MATCH (u:User) WHERE u.namespace = $namespace AND u.name IS NOT NULL RETURN u.name AS name"
        )
        people = await self.read(
            "MATCH (e:Entity) WHERE e.namespace = $namespace AND e.type IS NOT NULL "
            "AND toLower(e.type) = 'person' RETURN e.name AS name"
        )
        return sorted({row["name"] for row in [*users, *people] if row["name"]})

    async def everything(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Yield every node and edge of the namespace: its type and ids, and its properties."""
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
