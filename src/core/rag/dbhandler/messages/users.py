"""Users: their identity, the documents they viewed, and their ratings."""

from __future__ import annotations

import uuid
from typing import Any

from core.rag.arguments import MAX_LIMIT, as_float, check_number, check_optional, check_text
from core.rag.dbhandler.checks import check_characters, merge_properties
from core.rag.dbhandler.documents.operations import DocumentOperations
from core.rag.dbhandler.kept import Kept
from core.rag.dbhandler.store import MAX_K, Row, Transaction
from core.rag.dbhandler.text_order import comparable
from core.rag.errors import InvalidInputError, NotFoundError
from core.rag.identity import content_hash, stable_id
from core.rag.schema import Label
from core.rag.times import utc_now

#: The user of feedback that names no user.
ANONYMOUS = "anonymous"

_MAX_QUERY_CHARS = 2000

#: Whether there are ratings, which every search of a knowledge base asks.
_rated: Kept[bool] = Kept({Label.USER})


class UserOperations(DocumentOperations):
    """Users, their views and ratings. A user is identified by the caller's own id for them, or the id of the node."""

    async def create_or_get_user(self, user_id: str, name: str | None = None) -> str:
        """Return the user with this id, creating it if missing; a given name replaces the stored one.

        Args:
            user_id: The caller's own id for the user: a login, a number, an e-mail address.
            name: Name of the user.

        Returns:
            The id of the User node.

        Raises:
            InvalidInputError: if the id is empty, too long, or not text.
        """
        existing = await self.find_user(user_id)
        properties = merge_properties({"name": name}, user_id=user_id)
        properties["external_id"] = properties.pop("user_id")
        if existing is not None and (name is None or existing["name"] == name):
            return str(existing["id"])
        identifier = existing["id"] if existing else self._user_node(user_id)
        if existing:
            properties = {"name": name}
        await self._write_one(
            "MERGE (u:User {id: $id}) ON CREATE SET u.namespace = $namespace, u.created_at = $now "
            "SET u += $props, u.updated_at = $now",
            id=identifier,
            props=properties,
            now=utc_now(),
        )
        return identifier

    async def list_users(self, limit: int = 100, *, after: str = "") -> list[dict[str, Any]]:
        """List users by their ids: ``id`` (of the caller), ``name``, ``created_at``, ``updated_at``, ``conversations``.

        The last is how many conversations they own or have spoken in.

        Args:
            limit: Maximum number to return, 1 to 10,000.
            after: The id of the last user of the page before.
        """
        limit = check_number("limit", limit, 1, MAX_K)
        start = comparable(check_text("after", after))
        rows = await self.read(
            "MATCH (u:User) WHERE u.namespace = $namespace AND u.external_id > $start "
            "WITH u.id AS node, u.external_id AS id, u.name AS name, u.created_at AS created_at, "
            f"u.updated_at AS updated_at ORDER BY id LIMIT {limit if start == after else MAX_LIMIT} "
            "RETURN node, id, name, created_at, updated_at",
            start=start,
        )
        rows = sorted((row for row in rows if row["id"] > after), key=lambda row: row["id"])[:limit]
        talks = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (u:User {id: i})-[:STARTED|SPOKE_IN]->(c:Conversation) "
            "RETURN i, count(DISTINCT c.id) AS n",
            [row["node"] for row in rows],
        )
        counts = {row["i"]: row["n"] for row in talks}
        for row in rows:
            row["conversations"] = counts.get(row.pop("node"), 0)
        return rows

    async def track_user_viewed_document(self, user_id: str, document: str) -> int:
        """Record that a user viewed a document.

        Args:
            user_id: The user, created if missing.
            document: Path, URL, name or id.

        Returns:
            How often the user has viewed it, including this time.

        Raises:
            NotFoundError: if there is no such document.
        """
        target = (await self._require(document))["id"]
        user = await self.create_or_get_user(user_id)
        token = uuid.uuid4().hex  # a repeated unit of work must not count twice

        async def work(tx: Transaction) -> list[Row]:
            now = utc_now()
            await tx.run("MATCH (u:User {id: $user}) SET u.updated_at = $now", {"user": user, "now": now})
            await tx.run(
                "MATCH (u:User {id: $user}) MATCH (d:Document {id: $document}) MERGE (u)-[r:VIEWED]->(d) "
                "ON CREATE SET r.count = 0, r.first_at = $now, r.token = ''",
                {"user": user, "document": target, "now": now},
            )
            await tx.run(
                "MATCH (u:User {id: $user})-[r:VIEWED]->(d:Document {id: $document}) WHERE r.token <> $token "
                "WITH r, r.count + 1 AS views SET r.count = views, r.last_at = $now, r.token = $token",
                {"user": user, "document": target, "now": now, "token": token},
            )
            return await tx.run(
                "MATCH (u:User {id: $user})-[r:VIEWED]->(d:Document {id: $document}) RETURN r.count AS views",
                {"user": user, "document": target},
            )

        rows = await self._write(work)
        if not rows:
            raise NotFoundError(f"The document {document!r} was removed in the meantime.")
        return int(rows[0]["views"])

    async def viewed_documents(self, user_id: str) -> list[dict[str, Any]]:
        """Return documents a user viewed: ``document_id, path, title, count, first_at, last_at``, latest first."""
        user = await self.find_user(user_id)
        if user is None:
            return []
        rows = await self.read(
            "MATCH (u:User {id: $id})-[r:VIEWED]->(d:Document) RETURN d.id AS document_id, d.path AS path, "
            "d.title AS title, r.count AS count, r.first_at AS first_at, r.last_at AS last_at",
            id=user["id"],
        )
        return sorted(rows, key=lambda row: (row["last_at"], row["path"]), reverse=True)

    async def rate(
        self, target: str, value: float, *, query: str | None = None, user_id: str | None = None
    ) -> list[str]:
        """Rate a chunk, or all chunks of a document.

        Args:
            target: Id of a chunk; or path, URL, name or id of a document.
            value: From -1 (wrong) to 1 (exactly right); 0 withdraws an earlier rating.
            query: The question; one rating is kept per user, chunk and question.
            user_id: The user who rates, created if missing; ``None``: anonymous.

        Returns:
            Ids of the chunks.

        Raises:
            InvalidInputError: if the value is out of range.
            NotFoundError: if there is no such chunk or document.
        """
        if not -1 <= as_float(value) <= 1:
            raise InvalidInputError(f"A rating must be a number from -1 to 1, not {repr(value)[:100]}.")
        check_optional(query=query)
        chunks = await self._rated_chunks(target)
        user = await self.create_or_get_user(ANONYMOUS if user_id is None else user_id)
        text = " ".join((query or "").split())[:_MAX_QUERY_CHARS]
        key = rating_key(text)

        async def work(tx: Transaction) -> None:
            now = utc_now()
            await tx.run("MATCH (u:User {id: $user}) SET u.updated_at = $now", {"user": user, "now": now})
            parameters = {"user": user, "chunks": chunks, "key": key}
            if value:
                # MERGE scans the edges of its left node: a passage has fewer than a user with many ratings.
                await tx.run(
                    "MATCH (u:User {id: $user}) UNWIND $chunks AS i MATCH (c:DocumentChunk {id: i}) "
                    "MERGE (c)<-[r:RATED {key: $key}]-(u) SET r.value = $value, r.query = $query, r.rated_at = $now",
                    {**parameters, "value": float(value), "query": text, "now": now},
                )
            else:
                await tx.run(
                    "UNWIND $chunks AS i MATCH (c:DocumentChunk {id: i})<-[r:RATED]-(u:User {id: $user}) "
                    "WHERE r.key = $key DELETE r",
                    parameters,
                )

        await self._write(work)
        return chunks

    async def has_ratings(self) -> bool:
        """Return whether there are any ratings."""
        return await _rated.get(self, self._has_ratings)

    async def _has_ratings(self) -> bool:
        rows = await self.read(
            "MATCH (u:User)-[r:RATED]->(c:DocumentChunk) WHERE u.namespace = $namespace RETURN u.id AS id LIMIT 1"
        )
        return bool(rows)

    async def ratings_of_chunks(self, ids: list[str]) -> list[dict[str, Any]]:
        """Return the ratings of chunks: ``chunk_id, user, value, query, rated_at``; ``user`` is the id of the node."""
        if not ids:
            return []
        return await self.read(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})<-[r:RATED]-(u:User) WHERE c.namespace = $namespace "
            "RETURN c.id AS chunk_id, u.id AS user, r.value AS value, r.query AS query, r.rated_at AS rated_at",
            ids=ids,
        )

    async def ratings_of_user(self, user_id: str) -> list[dict[str, Any]]:
        """Return the ratings of a user: ``chunk_id, path, value, query, rated_at``, latest first."""
        user = await self.find_user(user_id)
        if user is None:
            return []
        rows = await self.read(
            "MATCH (u:User {id: $id})-[r:RATED]->(c:DocumentChunk) RETURN c.id AS chunk_id, c.path AS path, "
            "r.value AS value, r.query AS query, r.rated_at AS rated_at",
            id=user["id"],
        )
        return sorted(rows, key=lambda row: (row["rated_at"], row["chunk_id"]), reverse=True)

    async def _rated_chunks(self, target: str) -> list[str]:
        rows = await self.read(
            "UNWIND [$id] AS i MATCH (c:DocumentChunk {id: i}) WHERE c.namespace = $namespace RETURN c.id AS id",
            id=target or "-",
        )
        if not rows:
            document = await self.find_document(target)
            if document is None:
                raise NotFoundError(
                    f"There is no chunk and no document {target[:200]!r} in namespace {self._namespace!r}."
                )
            rows = await self.read(
                "MATCH (d:Document {id: $id})<-[:CHUNK_OF]-(c:DocumentChunk) RETURN c.id AS id", id=document["id"]
            )
        return sorted(row["id"] for row in rows)

    async def find_user(self, user_id: str) -> Row | None:
        """Return the user with this id (``id, external_id, name, created_at, updated_at``) or ``None``."""
        if not isinstance(user_id, str):
            raise InvalidInputError(
                f"The id of a user must be text, not {type(user_id).__name__}: use {str(user_id)[:50]!r}."
            )
        if not user_id:
            raise InvalidInputError("The id of the user is empty.")
        check_characters(user_id, "the id of the user")
        own = self._user_node(user_id)
        rows = await self.read(
            "UNWIND $ids AS i MATCH (u:User {id: i}) WHERE u.namespace = $namespace RETURN u.id AS id, "
            "u.external_id AS external_id, u.name AS name, u.created_at AS created_at, u.updated_at AS updated_at",
            ids=[own, user_id],
        )
        rows.sort(key=lambda row: row["id"] != own)
        return rows[0] if rows else None

    def _user_node(self, user_id: str) -> str:
        return stable_id(Label.USER, self._namespace, user_id)


def rating_key(query: str) -> str:
    """Return the key of a rating among those of one user for one chunk, which depends on the question."""
    return content_hash(query.casefold())[:16]
