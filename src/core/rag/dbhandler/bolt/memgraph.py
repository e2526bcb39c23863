"""The Memgraph dialect: index definitions, vector and text search, shortest path. Written for Memgraph 3.5 to 3.11."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from core.rag.dbhandler.bolt.dialect import (
    Abilities,
    Dialect,
    Runner,
    bfs_nodes,
    matches,
    more_than,
    not_created,
    scores_by_id,
)
from core.rag.dbhandler.bolt.hints import hinted
from core.rag.dbhandler.bolt.memgraph_settings import unfit_settings
from core.rag.dbhandler.bolt.memgraph_words import MISSING, THERE, KeywordIndexes, names_of
from core.rag.dbhandler.misuse import other_dimension
from core.rag.dbhandler.store import MAX_K, Match
from core.rag.schema import SERVER_INDEXES, Label, TextIndex, VectorIndex, check_name

#: Initial capacity of a vector index; the server doubles it when it is full.
_CAPACITY = 4096

#: Counts what matches a query in the index itself: each node of the index has a number in this field.
_COUNT: Final = json.dumps({"n": {"value_count": {"field": "gid"}}})

#: The labels with most nodes. An index on the namespace alone would be taken for nodes whose id is known, too.
_LARGE = (Label.DOCUMENT, Label.CHUNK, Label.ENTITY, Label.VECTOR)


class MemgraphDialect(Dialect):
    """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""

    name = "memgraph"
    locking = False

    #: Memgraph has no waiting for locks: of two transactions that write to the same node, the later one fails when it
    #: reaches that node. Large transactions would often do most of their work in vain; so after a conflict they all
    #: write to this node first, and a concurrent one fails immediately.
    turn = f"MERGE (t:{Label.SCHEMA_VERSION} {{id: 'turn'}}) SET t.taken = $taken"

    _missing_index = MISSING
    _there_already = THERE
    _prefix = "data."

    def __init__(self, runner: Runner, abilities: Abilities, *, limit_in_map: bool) -> None:
        """Use :meth:`learn`.

        Args:
            runner: The store.
            abilities: What the server can do.
            limit_in_map: Whether ``text_search.search`` takes its limit in a map, as it does from 3.11.
        """
        super().__init__(runner, abilities)
        self._limit = "{limit: $k}" if limit_in_map else "$k"
        self._counting = limit_in_map  # the field that is counted had another name before 3.11
        self._keywords = KeywordIndexes(runner)

    @classmethod
    async def learn(cls, runner: Runner) -> MemgraphDialect:
        """Ask the server what it can do.

        Args:
            runner: The store.
        """
        version = (await runner.query("SHOW VERSION"))[0]["version"]
        rows = await runner.query("CALL mg.procedures() YIELD name, signature RETURN name, signature")
        signatures = {row["name"]: row["signature"] for row in rows}
        vectors = "vector_search.search" in signatures
        search = signatures.get("text_search.search", "")
        texts = "score ::" in search
        notes = []
        if not vectors:
            notes.append(
                "This server has no module vector_search (Memgraph 3 and later have it): vectors are compared by"
                " the client."
            )
        if not texts:
            notes.append(
                "This server has no text search with scores (Memgraph 3.6 and later have it): words are searched by the"
                " client."
            )
        problems = await unfit_settings(runner)
        abilities = Abilities(version, vectors, texts, (*notes, *problems), problems)
        dialect = cls(runner, abilities, limit_in_map="MAP" in search)
        await dialect._keywords.name_properties()
        return dialect

    def hinted(self, statement: str) -> str:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        return hinted(statement)

    async def ensure_schema(self) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`. A constraint brings no index, and no label has one."""
        missing = await self._missing()
        for what, statement in missing.items():
            await self._define(statement, f"Creating {what}")
        if missing and (still := await self._missing()):
            raise not_created(", ".join(still))

    async def ensure_namespace_indexes(self) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`. Versions without text search may not have them."""
        if not self.abilities.text_search:
            return
        there = {
            (row["label"], names_of(row["property"]))
            for row in await self._runner.query("SHOW INDEX INFO")
            if row["index type"] == "label+property"
        }
        for label in _LARGE:
            if (label.value, ("namespace", "id")) not in there:
                await self._define(
                    f"CREATE INDEX ON :{label}(namespace, id)", f"Creating the index on the namespaces of {label}"
                )

    async def _missing(self) -> dict[str, str]:
        """Return the statements that create missing constraints and indexes, by their description."""
        indexes = {
            (row["index type"], row["label"], names_of(row["property"]))
            for row in await self._runner.query("SHOW INDEX INFO")
        }
        constraints = {
            (row["constraint type"], row["label"], names_of(row["properties"]))
            for row in await self._runner.query("SHOW CONSTRAINT INFO")
        }
        statements = {}
        for label in Label:
            if ("label", label.value, ()) not in indexes:
                statements[f"the index on {label}"] = f"CREATE INDEX ON :{label}"
            if ("label+property", label.value, ("id",)) not in indexes:
                statements[f"the index on the ids of {label}"] = f"CREATE INDEX ON :{label}(id)"
            if ("unique", label.value, ("id",)) not in constraints:
                statements[f"the constraint on the ids of {label}"] = (
                    f"CREATE CONSTRAINT ON (n:{label}) ASSERT n.id IS UNIQUE"
                )
        for index in SERVER_INDEXES:
            if ("label+property", index.label.value, index.properties) not in indexes:
                properties = ", ".join(map(check_name, index.properties))
                statements[f"the index on {properties} of {index.label}"] = (
                    f"CREATE INDEX ON :{index.label}({properties})"
                )
        return statements

    async def ensure_text_index(self, label: Label) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        if self.abilities.text_search:
            await self._keywords.ensure(label)

    async def _create_vector_index(self, name: str, index: VectorIndex) -> None:
        await self._check_vectors(index)
        await self._define(
            f"CREATE VECTOR INDEX {name} ON :{check_name(index.label)}(embedding) WITH CONFIG "
            f'{{"dimension": {int(index.dimension)}, "capacity": {_CAPACITY}, "metric": "cos"}}',
            f"Creating the vector index {name}",
        )

    async def _check_vectors(self, index: VectorIndex) -> None:
        """Refuse to create an index over vectors of another dimension: it would fail, and lose them until a restart."""
        rows = await self._runner.query(
            f"MATCH (v:{check_name(index.label)}) WHERE v.embedding IS NOT NULL AND size(v.embedding) <> $dimension "
            "RETURN size(v.embedding) AS dimension LIMIT 1",
            {"dimension": index.dimension},
        )
        if rows:
            raise other_dimension(index, rows[0]["dimension"])

    async def _vector_indexes(self) -> dict[str, tuple[str, int | None]]:
        rows = await self._runner.query("SHOW VECTOR INDEX INFO")
        return {
            row["label"].lstrip(":"): (row["index_name"], row["dimension"])
            for row in rows
            if row["property"] == "embedding"
        }

    async def drop_vector_index(self, index: VectorIndex) -> None:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`."""
        if not self.abilities.vector_search:
            return
        self._vectors.pop(check_name(index.label), None)
        for row in await self._runner.query("SHOW VECTOR INDEX INFO"):
            if row["label"].lstrip(":") == index.label:
                name = row["index_name"].replace("`", "``")
                await self._define(f"DROP VECTOR INDEX `{name}`", f"Dropping the vector index {index.name}")
        self._vectors.pop(index.label, None)

    async def _nearest(self, name: str, index: VectorIndex, query: tuple[float, ...], k: int) -> list[Match]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`.

        Deleted nodes stay in the index for a while, so more results are requested than needed, and even more if too few
        of them still exist.
        """
        wanted = more_than(k, 2, 100)
        while True:
            rows = await self._search_vectors(
                index,
                # Through the internal id: touching a node that is deleted, or not committed yet, is an error.
                "CALL vector_search.search($name, $wanted, $query) YIELD node, distance "
                "WITH collect({i: id(node), distance: distance}) AS near "
                "UNWIND near AS one WITH size(near) AS raw, one.i AS i, one.distance AS distance "
                f"MATCH (v:{check_name(index.label)}) WHERE id(v) = i AND v.id IS NOT NULL "
                "RETURN max(raw) AS raw, collect(v.id) AS ids, collect(distance) AS scores",
                name=name,
                wanted=wanted,
                query=query,
            )
            found, raw = scores_by_id(rows), rows[0]["raw"]
            if len(found) >= k or wanted == MAX_K:
                break
            if found and raw < wanted:  # these are all
                break
            if not found and await self._size(index) <= wanted:
                break
            wanted = more_than(wanted, 4, 1000)
        # The server's own "similarity" is an absolute value, and makes opposites alike.
        return matches(found, lambda distance: 1 - distance, k)

    async def _size(self, index: VectorIndex) -> int:
        rows = await self._runner.query("SHOW VECTOR INDEX INFO")
        return sum(row["size"] for row in rows if row["label"].lstrip(":") == index.label)

    async def text_counts(self, index: TextIndex, words: Sequence[str], most: int = 0) -> dict[str, int]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`.

        To yield the nodes takes the server 10 to 15 µs for each, and gives 10,000 at most.
        """
        if not self._counting:
            return await super().text_counts(index, words, most)
        rows = await self._search_words(
            index,
            "UNWIND $queries AS q CALL text_search.aggregate($name, q.query, $count) YIELD aggregation "
            "RETURN q.word AS word, aggregation",
            queries=self._word_queries(index, words),
            count=_COUNT,
        )
        return {row["word"]: int(json.loads(row["aggregation"])["n"]["value"]) for row in rows}

    def _text_call(self, query: str, *, limited: bool = True) -> str:  # noqa: ARG002 - there always is a limit
        return f"CALL text_search.search($name, {query}, {self._limit}) YIELD node"

    def path(self, start: Label, end: Label, types: Sequence[str], depth: int) -> str:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`.

        If the server searches from the end, it returns the edges in that order (seen on 3.11), and builds a wrong path
        from them: so they are reversed, and followed from the start.
        """
        return (
            f"{bfs_nodes(start, end)}MATCH (a)-[r:{'|'.join(types)} *BFS ..{int(depth)}]-(b) "
            "WITH CASE WHEN $start IN [startNode(head(r)).id, endNode(head(r)).id] THEN r "
            "ELSE [i IN range(1, size(r)) | r[size(r) - i]] END AS steps "  # its reverse() turns only strings
            "RETURN reduce(ids = [$start], e IN steps | ids + CASE WHEN startNode(e).id = last(ids) "
            "THEN endNode(e).id ELSE startNode(e).id END) AS ids"
        )

    async def check_indexes(self, *, repair: bool) -> list[str]:
        """See :class:`~core.rag.dbhandler.bolt.dialect.Dialect`.

        After a crash, a transaction can be in the graph but permanently missing from a keyword index.
        """
        problems = []
        for label in Label:
            if self.abilities.text_search and (problem := await self._keywords.problem(label)):
                problems.append(problem)
                if repair:
                    await self._keywords.drop(label)
                    await self._keywords.ensure(label)
        if self.abilities.vector_search:
            problems += await self._check_vector_indexes(repair=repair)
        return problems

    async def _check_vector_indexes(self, *, repair: bool) -> list[str]:
        problems = []
        for row in await self._runner.query("SHOW VECTOR INDEX INFO"):
            label = row["label"].lstrip(":")
            if not label.startswith("Vector_") or row["property"] != "embedding":
                continue
            there = await self._runner.query(
                f"MATCH (v:{check_name(label)}) WHERE v.embedding IS NOT NULL RETURN count(v) AS n"
            )
            index = VectorIndex(row["index_name"], label, row["dimension"])
            # The index keeps deleted nodes for a while, so it may have more nodes.
            if await self._size(index) >= there[0]["n"]:
                continue
            problems.append(
                f"The vector index {row['index_name']} has {row['size']} vectors, but the graph has {there[0]['n']}."
            )
            if repair:
                await self.drop_vector_index(index)
                await self.ensure_vector_index(index)
        return problems
