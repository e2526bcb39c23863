"""The Neo4j dialect: index definitions, vector and text search, shortest path. Written for Neo4j 5.26."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence

from core.rag.dbhandler.bolt.dialect import (
    Abilities,
    IndexMissingError,
    Runner,
    bfs_nodes,
    define,
    differs,
    index_search,
    keyword_candidates,
    keyword_counts,
    matches,
    more_than,
    not_created,
    scores_by_id,
    text_index_name,
    vector_index_names,
    word_queries,
    words_query,
)
from core.rag.dbhandler.misuse import other_dimension
from core.rag.dbhandler.store import Match, Row
from core.rag.errors import QueryError, StoreTimeoutError
from core.rag.schema import SERVER_INDEXES, Label, TextIndex, VectorIndex, check_name

#: Maximum seconds to wait until the server has filled new indexes.
_FILL_SECONDS = 300

_MISSING = re.compile(r"no such (vector|fulltext) schema index|still populating|failed state|not online", re.I)
_TOO_LONG = re.compile(r"vector\.dimensions\W+must be between", re.I)
_THERE = re.compile(r"EquivalentSchemaRuleAlreadyExists|ConstraintAlreadyExists")


class Neo4jDialect:
    """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""

    name = "neo4j"
    locking = True
    turn = None

    def __init__(self, runner: Runner, abilities: Abilities) -> None:
        """Use :meth:`learn`."""
        self._runner = runner
        self.abilities = abilities
        self._vectors: dict[str, Row] = {}  # by label

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

    def hinted(self, statement: str) -> str:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`. This server finds its way without."""
        return statement

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

    async def ensure_namespace_indexes(self) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`. It uses an index only for all its properties."""

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

    async def ensure_vector_index(self, index: VectorIndex) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        if not self.abilities.vector_search:
            return
        # Without quantization, which would change the order of neighbours.
        exact = ", `vector.quantization.enabled`: false" if self._knows_quantization() else ""
        for name in vector_index_names(index):
            if await self._vector_index(index, fresh=True) is not None:
                return
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
        if await self._vector_index(index, fresh=True) is None:
            raise not_created(f"the vector index {index.name}")

    def _knows_quantization(self) -> bool:
        numbers = [int(part) for part in re.findall(r"\d+", self.abilities.version)[:2]]
        return numbers >= [5, 18]

    async def _vector_index(self, index: VectorIndex, *, fresh: bool = False) -> Row | None:
        """Return the index over the vectors of this label, whatever its name.

        Raises:
            ModelMismatchError: if it exists with another dimension.
        """
        if fresh or index.label not in self._vectors:
            rows = await self._runner.query(
                "SHOW VECTOR INDEXES YIELD name, state, labelsOrTypes, properties, options "
                "RETURN name, state, labelsOrTypes AS labels, properties, options"
            )
            self._vectors = {row["labels"][0]: row for row in rows if row["properties"] == ["embedding"]}
        found = self._vectors.get(index.label)
        if found is not None:
            dimension = found["options"].get("indexConfig", {}).get("vector.dimensions", index.dimension)
            if dimension != index.dimension:
                raise other_dimension(index, dimension)
        return found

    async def has_vector_index(self, index: VectorIndex) -> bool:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        return await self._vector_index(index, fresh=True) is not None

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

    async def vector_search(self, index: VectorIndex, query: tuple[float, ...], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        found = await self._vector_index(index)
        if found is None:
            raise IndexMissingError(f"The server has no vector index for {index.name}.")
        try:
            rows = await index_search(
                self._runner,
                # What was deleted meanwhile has no id; others take its place. The result is a single row, because for
                # the driver a row is far more work than an item of a list.
                "CALL db.index.vector.queryNodes($name, $wanted, $query) YIELD node, score "
                f"WITH node.id AS id, score WHERE id IS NOT NULL WITH id, score LIMIT {int(k)} "
                "RETURN collect(id) AS ids, collect(score) AS scores",
                {"name": found["name"], "wanted": more_than(k, 4, 128), "query": query},
                "A vector search",
                index=f"The vector index {index.name}",
                missing=_MISSING,
            )
        except IndexMissingError:
            self._vectors.pop(index.label, None)
            raise
        found_rows = [{"id": i, "score": score} for i, score in scores_by_id(rows).items()]
        return matches(found_rows, lambda score: 2 * score - 1, k)

    async def text_candidates(self, index: TextIndex, words: Mapping[str, float], k: int) -> dict[str, float]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        return await keyword_candidates(
            self._runner,
            "CALL db.index.fulltext.queryNodes($name, $query, {limit: $k}) YIELD node, score "
            "WHERE node.namespace = $namespace AND node.id IS NOT NULL "
            "RETURN collect(node.id) AS ids, collect(score) AS scores",
            index,
            words_query("", index.key, words),
            k,
            missing=_MISSING,
        )

    async def text_counts(self, index: TextIndex, words: Sequence[str], most: int = 0) -> dict[str, int]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        return await keyword_counts(
            self._runner,
            f"UNWIND $queries AS q CALL db.index.fulltext.queryNodes($name, q.query{', {limit: $k}' if most else ''}) "
            "YIELD node RETURN q.word AS word, count(node) AS n",
            index,
            word_queries("", index.key, words),
            most,
            missing=_MISSING,
        )

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

    async def _define(self, statement: str, what: str) -> None:
        await define(self._runner, statement, what, there=_THERE)

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
