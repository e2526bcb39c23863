"""Entity nodes: collects the changes of a transaction, and writes them all at once.

An entity is what supports it: the chunks that mention it, the documents whose titles name it, the records that have it.
Its name, type and counts follow from these alone, so a graph that changed piece by piece is the graph that would be
built from what there is now. Only what a person made or named stays as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.knowledge.entity_state import EntityChange, EntityState
from core.rag.dbhandler.knowledge.mentioned import Mentioned
from core.rag.dbhandler.lines import EACH_LINE, FIELD, is_safe, packed
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.identity import entity_id
from core.rag.schema import FROM_TEXT, Label

#: ``origin`` of an entity that a person created; it is never removed automatically.
FROM_CALLER = "caller"

#: ``origin`` of a SAME_AS edge that a rule found.
FROM_RULE = "rule"

#: The properties that follow from what mentions, titles and records say.
STATE = ("name", "type", "mention_count", "titled", "recorded", "forms")
_COLUMNS = ("id", "origin", *STATE)
# As one record: of 2,400 rows, the driver makes seven times as much work.
_READ = (
    f"{EACH_LINE}MATCH (e:Entity {{id: part[0]}}) RETURN collect([{', '.join(f'e.{c}' for c in _COLUMNS)}]) AS found"
)

# Properties that all entities of one statement share.
_COMMON = "namespace: $namespace, origin: $origin, created_at: $now, updated_at: $now"
_CREATE = (
    f"UNWIND $rows AS row CREATE (e:Entity {{id: row.id, normalized_name: row.normalized, {_COMMON}, "
    + ", ".join(f"{name}: row.{name}" for name in STATE)
    + "})"
)
_CREATE_LINES = (
    f"{EACH_LINE}CREATE (e:Entity {{id: part[0], normalized_name: part[1], {_COMMON}, name: part[2], type: part[3], "
    "mention_count: toInteger(part[4])"
)
_TITLED = ", titled: toInteger(part[{}])"
_FORMS = ", forms: part[{}]"
# ``updated_at`` is not set: on the embedded engine a second property would double the time.
_RECOUNT_LINES = f"{EACH_LINE}MATCH (e:Entity {{id: part[0]}}) SET e.mention_count = toInteger(part[1])"


class EntityLedger:
    """Collects the changes of a transaction to entities; :meth:`settle` writes them."""

    def __init__(self, namespace: str, now: str) -> None:
        """Create a ledger for entities of a namespace; ``now`` is the time of the write."""
        self._namespace = namespace
        self._now = now
        # Most entities only get more mentions, all spelt alike: lines of Mentioned, with the number of chunks.
        self._mentioned: Counter[str] = Counter()
        # All other changes.
        self._changes: dict[str, EntityChange] = {}
        self._ids: dict[str, str] = {}
        self._maybe_unused: set[str] = set()
        self._held: set[str] = set()
        #: Names of entities that :meth:`settle` created, except those that are only mentioned.
        self.made: set[str] = set()

    def id(self, name: str) -> str:
        """Return the id of the entity with this normalised name."""
        found = self._ids.get(name)
        if found is None:
            found = self._ids[name] = entity_id(self._namespace, name)
        return found

    @property
    def now(self) -> str:
        """The time of the write."""
        return self._now

    @property
    def namespace(self) -> str:
        """The namespace of the entities."""
        return self._namespace

    def _change(self, name: str, number: int = 1) -> EntityChange:
        if number < 0:
            self._maybe_unused.add(self.id(name))
        change = self._changes.get(name)
        if change is None:
            change = self._changes[name] = EntityChange()
        return change

    def mention(self, name: str, text: str, number: int) -> None:
        """Record that a chunk mentions (1) or no longer mentions (-1) an entity with this spelling."""
        change = self._change(name, number)
        change.mentions += number
        change.form(text, number)

    def mention_all(self, mentioned: Mentioned) -> None:
        """Record that a chunk mentions entities; a fast :meth:`mention` for very many of them."""
        self._mentioned.update(mentioned.entities)
        for name, text in mentioned.others:
            self.mention(name, text, 1)

    def spelling(self, name: str, before: str, after: str) -> None:
        """Record that a chunk now spells an entity differently."""
        change = self._change(name)
        change.form(before, -1)
        change.form(after, 1)

    def title(self, name: str, text: str, number: int) -> None:
        """Record that the title of a document names (1) or no longer names (-1) an entity."""
        change = self._change(name, number)
        change.titled += number
        (change.titles if number > 0 else change.untitled).append(text)

    def record(self, name: str, text: str, kind: str, number: int) -> None:
        """Record that a record has (1) or no longer has (-1) an entity; ``kind`` is the type that the field implies."""
        change = self._change(name, number)
        change.form(text, number)
        change.kind(kind, number)

    def kind(self, name: str, kind: str, number: int) -> None:
        """Record that a chunk states (1) or no longer states (-1) the type of an entity."""
        if kind:
            self._change(name, number).kind(kind, number)

    def hold(self, name: str) -> None:
        """Keep others from changing an entity from :meth:`settle` on: its edges will be read in order to be changed."""
        self._held.add(self.id(name))

    async def settle(self, tx: Transaction) -> set[str]:
        """Create and update the entities; call it before creating edges to them.

        Returns:
            The names that are no longer titles.
        """
        mentioned, self._mentioned = self._mentioned, Counter()
        changes, self._changes = self._changes, {}
        lines = self._apart(mentioned, changes)
        stored = await self._read(tx, [*lines, *map(self.id, changes)])
        writes = _Writes()
        for identifier, line in lines.items():
            row, count = stored.get(identifier), mentioned[line]
            if row is None:
                writes.plain.append(f"{line}{FIELD}{count}")
                continue
            _, name, text, _ = line.split(FIELD)
            if row["name"] == text and row["forms"] is None and row["mention_count"]:
                writes.recount(identifier, row["mention_count"] + count)
            else:
                changes[name] = EntityChange(count, forms={text: count})
        untitled = await self._settle(tx, changes, stored, writes)
        await writes.run(tx, self._namespace, self._now)
        return untitled

    def _apart(self, mentioned: Mapping[str, int], changes: dict[str, EntityChange]) -> dict[str, str]:
        """Separate simple mentions, which stay lines, from all others, which are added to ``changes``.

        A mention is simple if its entity has no other change and only one spelling.

        Args:
            mentioned: How often each line (id, normalised name, spelling and type) was mentioned.
            changes: Changes by normalised name.

        Returns:
            The lines of the simple mentions, by id of the entity.
        """
        lines: dict[str, str] = {}
        others = set(map(self.id, changes))
        more: list[str] = []
        for line in mentioned:
            identifier = line[: line.index(FIELD)]
            if identifier in others:
                more.append(line)
            elif identifier in lines:
                others.add(identifier)
                more += (lines.pop(identifier), line)
            else:
                lines[identifier] = line
        for line in more:
            _, name, text, _ = line.split(FIELD)
            change = changes.setdefault(name, EntityChange())
            change.mentions += mentioned[line]
            change.form(text, mentioned[line])
        return lines

    async def _settle(
        self, tx: Transaction, changes: dict[str, EntityChange], stored: dict[str, Row], writes: _Writes
    ) -> set[str]:
        lost_names = set()
        for name, change in changes.items():
            row = stored.get(self.id(name))
            if change.untitled and row is not None and row["name"] in change.untitled:
                lost_names.add(row["id"])
        titles = await _smallest_titles(tx, lost_names) if lost_names else {}
        untitled: set[str] = set()
        for name, change in changes.items():
            identifier = self.id(name)
            row = stored.get(identifier)
            if row is None:
                self.made.add(name)
            elif row["forms"] is None and row["mention_count"] and change.is_count_of(row["name"]):
                count = row["mention_count"] + change.mentions
                if count > 0:
                    writes.recount(identifier, count)
                    continue
            state = EntityState(name, row, fixed=row is not None and row["origin"] == FROM_CALLER)
            state.apply(change, titles.get(identifier))
            if row is None:
                writes.create(identifier, name, state.properties())
            else:
                writes.update(identifier, state.properties(), row)
            if change.titled < 0 and not state.titled:
                untitled.add(name)
        return untitled

    async def remove_unused(self, tx: Transaction) -> None:
        """Remove the entities that lost something and that nothing supports any more; call it last."""
        ids, self._maybe_unused = sorted(self._maybe_unused), set()
        await remove_unused_entities(tx, ids)

    async def _read(self, tx: Transaction, ids: Sequence[str]) -> dict[str, Row]:
        """Read the stored entities by id."""
        await lock(tx, Label.ENTITY, [*ids, *self._held])
        found: dict[str, Row] = {}
        for lines in packed(ids):
            rows = await tx.run(_READ, lines)
            found.update((values[0], dict(zip(_COLUMNS, values, strict=True))) for values in rows[0]["found"])
        return found


@dataclass(slots=True)
class _Writes:
    """The writes to entities, grouped by statement.

    Attributes:
        plain: New entities that are only mentioned: lines of :class:`Mentioned`, and the number of chunks.
        lines: Other new entities in the form of lines, by statement.
        created: New entities that are not in the form of lines.
        recounted: Ids, and how many chunks now mention them.
        updated: Other changes.
    """

    plain: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    created: list[Row] = field(default_factory=list)
    recounted: list[str] = field(default_factory=list)
    updated: list[Row] = field(default_factory=list)

    def create(self, identifier: str, name: str, properties: Mapping[str, Any]) -> None:
        """Add a new entity."""
        text, kind, count, titled, recorded, forms = (properties[key] for key in STATE)
        if recorded is not None or not is_safe(name, text):
            self.created.append({"id": identifier, "normalized": name, **properties})
            return
        fields, statement = [identifier, name, text, kind, str(count)], _CREATE_LINES
        for value, term in ((titled, _TITLED), (forms, _FORMS)):
            if value is not None:
                statement += term.format(len(fields))
                fields.append(str(value))
        self.lines.setdefault(statement, []).append(FIELD.join(fields))

    def recount(self, identifier: str, mentions: int) -> None:
        """Add a change of only the number of chunks that mention an entity."""
        self.recounted.append(f"{identifier}{FIELD}{mentions}")

    def update(self, identifier: str, properties: Mapping[str, Any], row: Row) -> None:
        """Add new properties of an existing entity."""
        if difference := {key: value for key, value in properties.items() if row[key] != value}:
            self.updated.append({"id": identifier, "props": difference})

    async def run(self, tx: Transaction, namespace: str, now: str) -> None:
        """Run the statements."""
        common = {"namespace": namespace, "origin": FROM_TEXT, "now": now}
        # CREATE, as MERGE with a map takes twice as long; this transaction has read that they do not exist.
        for statement, entities in ((_CREATE_LINES, self.plain), *self.lines.items()):
            for lines in packed(entities):
                await tx.run(statement + "})", {**lines, **common})
        await run_for_rows(tx, _CREATE, self.created, **common)
        for lines in packed(self.recounted):
            await tx.run(_RECOUNT_LINES, lines)
        await update_entities(tx, self.updated, now)


async def update_entities(tx: Transaction, rows: Sequence[Row], now: str) -> None:
    """Set the ``props`` of the entity ``id`` of each row."""
    await run_for_rows(
        tx, "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e += row.props, e.updated_at = $now", rows, now=now
    )


async def _smallest_titles(tx: Transaction, ids: Iterable[str]) -> dict[str, str]:
    """Return the title that names each of these entities, if any; the alphabetically first of several."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[t:TITLED]-(d:Document) RETURN e.id AS id, min(t.text) AS text",
        sorted(ids),
    )
    return {row["id"]: row["text"] for row in rows}


async def remove_unused_entities(tx: Transaction, ids: Sequence[str]) -> None:
    """Remove those of the entities that nothing supports any more, unless a person created them.

    A SAME_AS edge found by a rule does not support an entity.
    """
    await lock(tx, Label.ENTITY, ids)
    for part in batches(sorted(set(ids))):
        await tx.run(
            "UNWIND $ids AS i MATCH (e:Entity {id: i})-[s:SAME_AS]-(:Entity) WHERE s.origin = $rule "
            "AND e.origin <> $caller AND coalesce(e.mention_count, 0) = 0 AND e.titled IS NULL AND e.recorded IS NULL "
            "DELETE s",
            {"ids": part, "rule": FROM_RULE, "caller": FROM_CALLER},
        )
        await tx.run(
            "UNWIND $ids AS i MATCH (e:Entity {id: i}) WHERE e.origin <> $caller AND NOT (e)--() DETACH DELETE e",
            {"ids": part, "caller": FROM_CALLER},
        )
