"""The Neo4j dialect: index definitions, vector and text search, shortest path. Written for Neo4j 5.26."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence

from core.rag.dbhandler.bolt.dialect import (
    Abilities,
    Dialect,
    IndexMissingError,
    Runner,
    bfs_nodes,
    differs,
    matches,
    more_than,
    not_created,
    scores_by_id,
    text_index_name,
)
from core.rag.dbhandler.store import Match, Row
from core.rag.errors import QueryError, StoreTimeoutError
from core.rag.schema import SERVER_INDEXES, Label, VectorIndex, check_name
from libs.regexes import regex

#: Maximum seconds to wait until the server has filled new indexes.
_FILL_SECONDS = 300

_TOO_LONG = regex(r"vector\.dimensions\W+must be between", re.I)


class Neo4jDialect(Dialect):
    """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""

    name = "neo4j"
    locking = True
    _missing_index = regex(r"no such (vector|fulltext) schema index|still populating|failed state|not online", re.I)
    _there_already = regex(r"EquivalentSchemaRuleAlreadyExists|ConstraintAlreadyExists")

    @classmethod
    async def learn(cls, runner: Runner, agent: str) -> Neo4jDialect:
        """Ask the server what it can do.

        Args:
            runner: The store.
            agent: What the server identifies itself as, with its version.
        """
        there = {row["name"] for row in await runner.query("SHOW PROCEDURES YIELD name RETURN name")}
        vectors, texts = "db.index.vector.queryNodes" in there, "db.index.fulltext.queryNodes" in there
        notes = []
        if not vectors:
            notes.append(
                "This server has no vector indexes (Neo4j 5.15 and later have them): vectors are compared by the"
                " client."
            )
        if not texts:
            notes.append("This server has no full-text indexes: words are searched by the client.")
        version = agent.partition("/")[2]
        return cls(runner, Abilities(version, vectors, texts, tuple(notes)))

    async def ensure_schema(self) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`. A constraint brings the index on ``id``."""
        missing = await self._missing()
        for statement in missing.values():
            await self._define(statement, "Creating the schema")
        if missing:
            await self._filled()
            if still := await self._missing():
                raise not_created(", ".join(still))

    async def _missing(self) -> dict[str, str]:
        """Return the statements that create missing constraints and indexes, by their description."""
        constraints = await self._runner.query(
            "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties WHERE type IN ['UNIQUENESS', 'NODE_KEY', "
            "'NODE_PROPERTY_UNIQUENESS'] RETURN labelsOrTypes AS labels, properties"
        )
        indexes = await self._runner.query(
            "SHOW INDEXES YIELD type, labelsOrTypes, properties WHERE type = 'RANGE' "
            "RETURN labelsOrTypes AS labels, properties"
        )
        unique = {(tuple(row["labels"]), tuple(row["properties"])) for row in constraints}
        indexed = {(tuple(row["labels"] or ()), tuple(row["properties"] or ())) for row in indexes}
        statements = {}
        for label in Label:
            if ((label.value,), ("id",)) not in unique:
                statements[f"the constraint on the ids of {label}"] = (
                    f"CREATE CONSTRAINT mgrag_{label.value.lower()}_id IF NOT EXISTS FOR (n:{label}) "
                    "REQUIRE n.id IS UNIQUE"
                )
        for index in SERVER_INDEXES:
            if ((index.label.value,), index.properties) not in indexed:
                name = f"mgrag_{index.label.value.lower()}_{'_'.join(index.properties)}"
                properties = ", ".join(f"n.{check_name(name)}" for name in index.properties)
                statements[f"the index {name}"] = (
                    f"CREATE INDEX {name} IF NOT EXISTS FOR (n:{index.label}) ON ({properties})"
                )
        return statements

    async def ensure_text_index(self, label: Label) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        if not self.abilities.text_search:
            return
        name = text_index_name(label)
        rows = await self._text_indexes(name)
        wanted = {"labels": [label.value], "properties": ["partition", "terms"]}
        if rows and {key: rows[0][key] for key in wanted} != wanted:
            await self._define(f"DROP INDEX {name} IF EXISTS", f"Dropping the keyword index of {label}")
            rows = []
        if not rows:
            # Immediately consistent; the words are analysed already, so they are only split at spaces.
            await self._define(
                f"CREATE FULLTEXT INDEX {name} IF NOT EXISTS FOR (n:{label}) ON EACH [n.partition, n.terms] OPTIONS "
                "{indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}",
                f"Creating the keyword index of {label}",
            )
            await self._filled()

    async def _text_indexes(self, name: str) -> list[Row]:
        return await self._runner.query(
            "SHOW FULLTEXT INDEXES YIELD name, state, labelsOrTypes, properties WHERE name = $name "
            "RETURN name, state, labelsOrTypes AS labels, properties",
            {"name": name},
        )

    async def _create_vector_index(self, name: str, index: VectorIndex) -> None:
        # Without quantization, which would change the order of neighbours.
        exact = ", `vector.quantization.enabled`: false" if self._knows_quantization() else ""
        try:
            await self._define(
                f"CREATE VECTOR INDEX {name} IF NOT EXISTS FOR (v:{check_name(index.label)}) ON (v.embedding) "
                f"OPTIONS {{indexConfig: {{`vector.dimensions`: {int(index.dimension)}, "
                f"`vector.similarity_function`: 'cosine'{exact}}}}}",
                f"Creating the vector index {name}",
            )
        except QueryError as error:
            if _TOO_LONG.search(str(error)) is None:
                raise
            raise IndexMissingError(str(error)) from error
        await self._filled()

    def _knows_quantization(self) -> bool:
        numbers = [int(part) for part in re.findall(r"\d+", self.abilities.version)[:2]]
        return numbers >= [5, 18]

    async def _vector_indexes(self) -> dict[str, tuple[str, int | None]]:
        rows = await self._runner.query(
            "SHOW VECTOR INDEXES YIELD name, state, labelsOrTypes, properties, options "
            "RETURN name, state, labelsOrTypes AS labels, properties, options"
        )
        return {
            row["labels"][0]: (row["name"], row["options"].get("indexConfig", {}).get("vector.dimensions"))
            for row in rows
            if row["properties"] == ["embedding"]
        }

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        rows = await self._runner.query(
            "SHOW VECTOR INDEXES YIELD name, labelsOrTypes WHERE labelsOrTypes = $labels RETURN name",
            {"labels": [check_name(index.label)]},
        )
        self._vectors.pop(index.label, None)
        for row in rows:
            name = row["name"].replace("`", "``")
            await self._define(f"DROP INDEX `{name}` IF EXISTS", f"Dropping the vector index {index.name}")

    async def _nearest(self, name: str, index: VectorIndex, query: tuple[float, ...], k: int) -> list[Match]:
        rows = await self._search_vectors(
            index,
            # What was deleted meanwhile has no id; others take its place. The result is a single row, because for
            # the driver a row is far more work than an item of a list.
            "CALL db.index.vector.queryNodes($name, $wanted, $query) YIELD node, score "
            f"WITH node.id AS id, score WHERE id IS NOT NULL WITH id, score LIMIT {int(k)} "
            "RETURN collect(id) AS ids, collect(score) AS scores",
            name=name,
            wanted=more_than(k, 4, 128),
            query=query,
        )
        return matches(scores_by_id(rows), lambda score: 2 * score - 1, k)

    def _text_call(self, query: str, *, limited: bool = True) -> str:
        limit = ", {limit: $k}" if limited else ""
        return f"CALL db.index.fulltext.queryNodes($name, {query}{limit}) YIELD node"

    def path(self, start: Label, end: Label, types: Sequence[str], depth: int) -> str:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        return (
            f"{bfs_nodes(start, end)}MATCH p = shortestPath((a)-[:{'|'.join(types)}*1..{int(depth)}]-(b)) "
            "RETURN [n IN nodes(p) | n.id] AS ids"
        )

    async def check_indexes(self, *, repair: bool) -> list[str]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        rows = await self._runner.query(
            "SHOW INDEXES YIELD name, state, type, labelsOrTypes WHERE state <> 'ONLINE' RETURN name, state, type"
        )
        problems = [f"The index {row['name']} is {row['state']}." for row in rows]
        for label in Label:
            name = text_index_name(label)
            rows = await self._runner.query(f"MATCH (n:{label}) WHERE n.partition IS NOT NULL RETURN count(n) AS n")
            there = indexed = rows[0]["n"]
            if self.abilities.text_search and there:
                indexed = await self._indexed(name)
            if indexed != there:
                problems.append(differs(label, indexed, there))
                if repair:
                    await self._define(f"DROP INDEX {name} IF EXISTS", f"Dropping the keyword index of {label}")
                    await self.ensure_text_index(label)
        return problems

    async def _indexed(self, name: str) -> int:
        """Count the nodes in a keyword index."""
        if not await self._text_indexes(name):
            return 0
        rows = await self._runner.query(
            "CALL db.index.fulltext.queryNodes($name, 'partition:*') YIELD node RETURN count(node) AS n",
            {"name": name},
        )
        return int(rows[0]["n"])

    async def _filled(self) -> None:
        """Wait until new indexes contain the nodes that existed before them."""
        end = time.monotonic() + _FILL_SECONDS
        delay = 0.02
        while rows := await self._runner.query("SHOW INDEXES YIELD name, state WHERE state = 'POPULATING' RETURN name"):
            if time.monotonic() > end:
                raise StoreTimeoutError(
                    f"The server has not filled the index {rows[0]['name']} within {_FILL_SECONDS} seconds. It goes on;"
                    " try again later."
                )
            await asyncio.sleep(delay)
            delay = min(2 * delay, 1.0)
