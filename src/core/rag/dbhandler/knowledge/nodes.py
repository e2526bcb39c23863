"""Finds nodes by their ids, names and words, and lists entities."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from core.rag.arguments import MAX_LIMIT, check_limit, check_text, check_texts
from core.rag.dbhandler.checks import check_characters
from core.rag.dbhandler.store import Row
from core.rag.dbhandler.text_order import comparable
from core.rag.dbhandler.vectors import VectorStoreOperations
from core.rag.extraction.facts import plain_type
from core.rag.extraction.symbols import PROTOTYPE
from core.rag.extraction.words import is_unspaced, normalize_name
from core.rag.identity import concept_id, entity_id, knowledge_key, topic_id
from core.rag.schema import Label, check_name

#: Labels of the nodes that callers can name, in order of precedence.
NAMED_LABELS: tuple[Label, ...] = (Label.ENTITY, Label.CONCEPT, Label.TOPIC)

_LABELS = frozenset(Label)

_FEWER_MENTIONS = (
    "WHERE mentions < $mentions OR (mentions = $mentions AND (name > $name OR (name = $name AND id > $after))) "
    "WITH id, name, kind, mentions "
)


def node_columns(variable: str) -> str:
    """Return the result columns of a node: ``id``, ``labels``, ``name``, ``kind``, ``heading``."""
    v = check_name(variable)
    return (
        f"{v}.id AS id, labels({v}) AS labels, coalesce({v}.name, {v}.title, {v}.path, {v}.heading, {v}.uri) AS name, "
        f"coalesce({v}.type, {v}.label, {v}.collection, {v}.kind) AS kind, {v}.heading AS heading"
    )


class NodeOperations(VectorStoreOperations):
    """Finding nodes that callers name, or look for."""

    async def nodes_by_id(self, ids: Sequence[str], labels: Sequence[Label] = NAMED_LABELS) -> dict[str, Row]:
        """Return nodes with one of the labels, by id: ``id``, ``label``, ``name``, ``kind``."""
        found: dict[str, Row] = {}
        for label in labels:
            rows = await self.read_for_ids(
                f"UNWIND $ids AS i MATCH (n:{label} {{id: i}}) WHERE n.namespace = $namespace "
                f"RETURN {node_columns('n')}",
                [identifier for identifier in check_texts("ids", ids) if identifier not in found],
            )
            found.update((row["id"], plain_node(row)) for row in rows)
        return found

    async def named_node(self, name: str) -> Row | None:
        """Return the node with this id, or the entity, concept or topic with this name, as from :meth:`nodes_by_id`.

        An id is also the one that a caller gave to a concept (``UndirectedNode.id``).

        Raises:
            InvalidInputError: if the name is not text, or has a lone surrogate.
        """
        check_characters(check_text("The name or id of a node", name), "name")
        text = " ".join(name.split())
        if not text:
            return None
        wanted = [name, concept_id(self._namespace, knowledge_key(text)), topic_id(self._namespace, text)]
        if normalized := normalize_name(text):
            wanted.insert(0, entity_id(self._namespace, normalized))
        wanted.append(concept_id(self._namespace, name))
        there = await self.nodes_by_id(wanted)
        return next((there[identifier] for identifier in wanted if identifier in there), None)

    async def concepts_called(self, names: Sequence[str]) -> list[Row]:
        """Return the concepts with exactly these names, as from :meth:`nodes_by_id`."""
        wanted = [concept_id(self._namespace, knowledge_key(" ".join(name.split()))) for name in names]
        return list((await self.nodes_by_id(wanted, (Label.CONCEPT,))).values())

    async def node_in_any_case(self, name: str) -> Row | None:
        """Return the first concept or topic with this name, ignoring case, as from :meth:`nodes_by_id`.

        Entities need no such search: their ids are made from the name regardless of its case.
        """
        for label in (Label.CONCEPT, Label.TOPIC):
            rows = await self.read(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace AND n.normalized_name = $name "
                f"WITH n, n.name AS shown, n.id AS i ORDER BY shown, i LIMIT 1 RETURN {node_columns('n')}",
                name=normalize_name(check_text("The name of a node", name)),
            )
            if rows:
                return plain_node(rows[0])
        return None

    async def symbols_called(self, name: str, limit: int, *, in_full: bool = False) -> list[Row]:
        """Return symbols of source code by name or id, as from :meth:`nodes_by_id`, with the ``path`` of their file.

        Prototypes are returned only if nothing defines what they declare, and methods for a name without that of their
        class (``run`` for ``Loader.run``) only if nothing has it in full.

        Args:
            name: The name or id.
            limit: Maximum number.
            in_full: Whether to return no methods for a name without that of their class.
        """
        rows: list[Row] = []
        part = f".{name}"
        for named in ("(s.name = $name OR s.id = $name)", *(() if in_full else ("s.name ENDS WITH $part",))):
            for is_kind in ("<>", "="):
                rows = rows or await self.read(
                    "MATCH (s:Symbol)-[:DEFINED_IN]->(d:Document) WHERE s.namespace = $namespace "
                    f"AND {named} AND s.kind {is_kind} $prototype "
                    f"WITH s, d.path AS path, s.id AS i ORDER BY path, i LIMIT {check_limit(limit)} "
                    f"RETURN {node_columns('s')}, path",
                    name=name,
                    part=part,
                    prototype=PROTOTYPE,
                )
        return [{**plain_node(row), "path": row["path"]} for row in rows]

    async def nodes_with_words(
        self, words: Sequence[str], limit: int, kind: str | None = None, labels: Sequence[Label] = NAMED_LABELS
    ) -> list[Row]:
        """Return nodes whose names have words with one of the given normalised prefixes, the most mentioned first.

        Returns:
            Rows as from :meth:`nodes_by_id`, with ``mentions``; at most ``limit`` of each label.
        """
        found: list[Row] = []
        for label in labels:
            type_key = {Label.ENTITY: "n.type", Label.CONCEPT: "n.label"}.get(label, "''")
            rows = await self.read(
                f"MATCH (n:{label}) WHERE n.namespace = $namespace "
                "AND any(w IN $words WHERE (' ' + n.normalized_name) CONTAINS w) "
                + (f"AND {type_key} IN $kinds " if kind is not None else "")
                + "WITH n, coalesce(n.mention_count, 0) AS mentions, n.name AS shown, n.id AS i "
                f"ORDER BY mentions DESC, shown, i LIMIT {check_limit(limit)} RETURN {node_columns('n')}, mentions",
                words=[word if is_unspaced(word) else f" {word}" for word in words],
                kinds=spellings_of_type(kind),
            )
            found += [{**plain_node(row), "mentions": row["mentions"]} for row in rows]
        return found

    async def entities_called(self, names: Sequence[str], kind: str | None = None) -> list[Row]:
        """Return the entities with these normalised names, in this order; rows as from :meth:`nodes_with_words`."""
        ids = {entity_id(self._namespace, name): None for name in check_texts("names", names)}
        rows = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (n:Entity {id: i}) WHERE n.namespace = $namespace "
            f"RETURN {node_columns('n')}, coalesce(n.mention_count, 0) AS mentions",
            list(ids),
        )
        wanted = None if kind is None else spellings_of_type(kind)
        found = {row["id"]: row for row in rows if wanted is None or row["kind"] in wanted}
        return [{**plain_node(found[i]), "mentions": found[i]["mentions"]} for i in ids if i in found]

    async def list_entities(
        self, *, kind: str | None, after: tuple[int, str, str], limit: int, by_mentions: bool = False
    ) -> list[Row]:
        """Return a page of entities by name and id; rows as from :meth:`nodes_with_words`.

        Args:
            kind: Only those of this type.
            after: Mentions, name and id of the last entity of the page before.
            limit: Maximum number.
            by_mentions: The most mentioned first, and those that are mentioned equally often by name.
        """
        by_name = "" if by_mentions else "AND n.name >= $name AND (n.name > $name OR n.id > $after) "
        order = "mentions DESC, name, id" if by_mentions else "name, id"
        start = comparable(after[1])
        exact = start == after[1]
        rows = await self.read(
            f"MATCH (n:Entity) WHERE n.namespace = $namespace {by_name}"
            + ("AND n.type IN $kinds " if kind is not None else "")
            # Not the nodes themselves: the embedded engine would load each of them to sort them.
            + "WITH n.id AS id, n.name AS name, n.type AS kind, coalesce(n.mention_count, 0) AS mentions "
            + (_FEWER_MENTIONS if by_mentions else "")
            + f"ORDER BY {order} LIMIT {check_limit(limit if exact else MAX_LIMIT)} RETURN id, name, kind, mentions",
            kinds=spellings_of_type(kind),
            mentions=after[0],
            name=start,
            after=after[2] if exact else "",
        )
        if not exact:
            place = (-after[0] if by_mentions else 0, after[1], after[2])
            rows = [row for row in rows if (-row["mentions"] if by_mentions else 0, row["name"], row["id"]) > place]
        return [
            {**row, "label": Label.ENTITY, "name": row["name"] or row["id"], "kind": row["kind"] or ""}
            for row in rows[:limit]
        ]


def spellings_of_type(kind: str | None) -> list[str]:
    """Return how a type may be stored: callers write it as they like, all else is lower case."""
    return [] if kind is None else sorted({kind, plain_type(kind)})


def plain_node(row: Row) -> Row:
    """Return ``id``, ``label`` (of the schema), ``name`` and ``kind`` of a row with ``node_columns``."""
    label = next((Label(name) for name in sorted(row["labels"]) if name in _LABELS), Label.ENTITY)
    name = row["name"] or row["id"]
    if label is Label.CHUNK:  # chunks of a document have the same path
        name = ": ".join(part for part in (posixpath.basename(name.rstrip("/")) or name, row["heading"]) if part)
    return {"id": row["id"], "label": label, "name": name, "kind": row["kind"] or ""}
