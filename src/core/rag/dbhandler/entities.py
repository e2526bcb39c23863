"""The Entity nodes: what a transaction adds to them and takes from them, settled at once.

An entity is what supports it: the chunks that mention it, the documents whose titles name it, the records that have it.
Its name, type and counts follow from these alone, so a graph that changed piece by piece is the graph that would be
built from what there is now. Only what a person made or named stays as it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.mentions import Mention
from core.rag.extraction.names import type_of
from core.rag.identity import entity_id
from core.rag.schema import Label

#: ``origin`` of an entity that came out of texts and records; one that a person made is never removed by itself.
FROM_TEXT = "text"
FROM_CALLER = "caller"

#: ``origin`` of a SAME_AS edge that was found by rule.
FROM_RULE = "rule"

_PROPERTIES = ("name", "type", "mention_count", "titled", "recorded", "forms")
_COLUMNS = "e.id AS id, e.normalized_name AS normalized, e.origin AS origin, " + ", ".join(
    f"e.{name} AS {name}" for name in _PROPERTIES
)


_CREATE = (
    "UNWIND $rows AS row CREATE (e:Entity {id: row.id, namespace: $namespace, normalized_name: row.normalized, "
    "origin: $origin, created_at: $now, updated_at: $now, "
    + ", ".join(f"{name}: row.{name}" for name in _PROPERTIES)
    + "})"
)
# For the many that have no more than a name. Maps are half of the cost of making a node, so each is one text here.
_CREATE_PLAIN = (
    "UNWIND $rows AS row WITH split(row, $between) AS part CREATE (e:Entity {id: part[0], namespace: $namespace, "
    "normalized_name: part[1], origin: $origin, created_at: $now, updated_at: $now, name: part[2], type: part[3], "
    "mention_count: $count})"
)
_BETWEEN = "\x1f"
_COMMON_COUNTS = 4


@dataclass(slots=True)
class _Change:
    """What happens to one entity in this transaction."""

    mentions: int = 0
    titled: int = 0
    forms: dict[str, int] | None = None
    titles: list[str] = field(default_factory=list)
    untitled: list[str] = field(default_factory=list)
    fields: dict[str, int] | None = None

    def only_form(self) -> str:
        """The spelling, where there is just one."""
        return next(iter(self.forms)) if self.forms is not None and len(self.forms) == 1 else ""

    def is_plain(self, text: str) -> bool:
        """Whether this only changes by how many chunks an entity is mentioned, all of which spell it like this."""
        if self.titled or self.titles or self.untitled or self.fields:
            return False
        return self.forms is not None and self.forms == {text: self.mentions} and self.mentions != 0

    def form(self, text: str, number: int) -> None:
        if text:
            if self.forms is None:
                self.forms = {}
            self.forms[text] = self.forms.get(text, 0) + number


class EntityLedger:
    """Collects what a transaction does to entities; :meth:`settle` writes it."""

    def __init__(self, namespace: str, now: str) -> None:
        """A ledger for entities of a namespace; ``now`` is the time of the write."""
        self._namespace = namespace
        self._now = now
        self._changes: dict[str, _Change] = {}
        self._ids: dict[str, str] = {}
        self._maybe_unused: set[str] = set()
        #: Names of entities that :meth:`settle` made.
        self.made: set[str] = set()

    def id(self, name: str) -> str:
        """The id of the entity with this normalised name."""
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
        """Where the entities are."""
        return self._namespace

    def _change(self, name: str, number: int = 1) -> _Change:
        if number < 0:
            self._maybe_unused.add(self.id(name))
        change = self._changes.get(name)
        if change is None:
            change = self._changes[name] = _Change()
        return change

    def mention(self, name: str, text: str, number: int) -> None:
        """A chunk mentions (1) or no longer mentions (-1) an entity, spelt like this."""
        change = self._change(name, number)
        change.mentions += number
        change.form(text, number)

    def mention_all(self, mentions: Iterable[Mention]) -> dict[int, list[str]]:
        """A chunk mentions entities; the same as :meth:`mention` for each, of which there are very many.

        Returns:
            The ids of the entities by how often they are mentioned.
        """
        changes, ids = self._changes, self._ids
        by_count: dict[int, list[str]] = {}
        for name, text, times in mentions:
            change = changes.get(name)
            if change is None:
                change = changes[name] = _Change(1, 0, {text: 1} if text else None)
            else:
                change.mentions += 1
                change.form(text, 1)
            identifier = ids.get(name) or self.id(name)
            if times in by_count:
                by_count[times].append(identifier)
            else:
                by_count[times] = [identifier]
        return by_count

    def spelling(self, name: str, before: str, after: str) -> None:
        """A chunk that mentions an entity spells it otherwise now."""
        change = self._change(name)
        change.form(before, -1)
        change.form(after, 1)

    def title(self, name: str, text: str, number: int) -> None:
        """The title of a document names (1) or no longer names (-1) an entity."""
        change = self._change(name, number)
        change.titled += number
        (change.titles if number > 0 else change.untitled).append(text)

    def record(self, name: str, text: str, kind: str, number: int) -> None:
        """A record has (1) or no longer has (-1) an entity, in a field that makes it of this type."""
        change = self._change(name, number)
        change.form(text, number)
        if change.fields is None:
            change.fields = {}
        change.fields[kind] = change.fields.get(kind, 0) + number

    def kind(self, name: str, kind: str, number: int) -> None:
        """A chunk says (1) or no longer says (-1) of which type an entity is."""
        if kind:
            change = self._change(name, number)
            if change.fields is None:
                change.fields = {}
            change.fields[kind] = change.fields.get(kind, 0) + number

    async def settle(self, tx: Transaction) -> set[str]:
        """Create and update the entities; call it before edges to them are made.

        Returns:
            The names that are titles no more.
        """
        changes, self._changes = self._changes, {}
        if not changes:
            return set()
        stored = {row["normalized"]: row for row in await self._read(tx, changes)}
        lost_names = {
            self.id(name)
            for name, change in changes.items()
            if change.untitled and name in stored and stored[name]["name"] in change.untitled
        }
        titles = await _smallest_titles(tx, lost_names) if lost_names else {}
        writes = _Writes()
        untitled: set[str] = set()
        for name, change in changes.items():
            row = stored.get(name)
            if row is None:
                self.made.add(name)
            if writes.takes_plain(self.id(name), name, change, row):
                continue
            state = _State(name, row)
            state.apply(change, titles.get(self.id(name)))
            writes.take(self.id(name), name, state.properties(), row)
            if change.titled < 0 and not state.titled:
                untitled.add(name)
        await writes.run(tx, self._namespace, self._now)
        return untitled

    async def remove_unused(self, tx: Transaction) -> None:
        """Remove those of the entities that lost something and that nothing supports any more; call it last."""
        ids, self._maybe_unused = sorted(self._maybe_unused), set()
        await remove_unused_entities(tx, ids)

    async def _read(self, tx: Transaction, names: Iterable[str]) -> list[Row]:
        found: list[Row] = []
        ids = [self.id(name) for name in names]
        await lock(tx, Label.ENTITY, ids)
        for part in batches(ids):
            found += await tx.run(f"UNWIND $ids AS i MATCH (e:Entity {{id: i}}) RETURN {_COLUMNS}", {"ids": part})
        return found


@dataclass(slots=True)
class _Writes:
    """What is to be written of entities, by the statement that does it."""

    plain: dict[int, list[str]] = field(default_factory=dict)
    created: list[Row] = field(default_factory=list)
    recounted: list[Row] = field(default_factory=list)
    updated: list[Row] = field(default_factory=list)

    def takes_plain(self, identifier: str, name: str, change: _Change, row: Row | None) -> bool:
        """Take a change in, if it is of the kind that most are: a name in one spelling, mentioned once more."""
        text = change.only_form() if row is None else row["name"]
        if not text or not change.is_plain(text) or (row is not None and row["forms"] is not None):
            return False
        if row is None and 0 < change.mentions <= _COMMON_COUNTS and _BETWEEN not in text + name:
            entity = _BETWEEN.join((identifier, name, text, type_of(text)))
            self.plain.setdefault(change.mentions, []).append(entity)
            return True
        if row is not None and row["mention_count"] and row["mention_count"] + change.mentions > 0:
            self.recounted.append({"id": identifier, "n": row["mention_count"] + change.mentions})
            return True
        return False

    def take(self, identifier: str, name: str, properties: dict[str, Any], row: Row | None) -> None:
        """Take in what an entity is from now on."""
        if row is None:
            self.created.append({"id": identifier, "normalized": name, **properties})
        elif difference := {key: value for key, value in properties.items() if row[key] != value}:
            self.updated.append({"id": identifier, "props": difference})

    async def run(self, tx: Transaction, namespace: str, now: str) -> None:
        """Write it."""
        common = {"namespace": namespace, "origin": FROM_TEXT, "now": now}
        # Not MERGE and a map, which take twice as long: that there are none was read in this transaction.
        for count, entities in self.plain.items():
            for texts in batches(entities):
                await tx.run(_CREATE_PLAIN, {"rows": texts, "count": count, "between": _BETWEEN, **common})
        for rows in batches(self.created):
            await tx.run(_CREATE, {"rows": rows, **common})
        for rows in batches(self.recounted):
            await tx.run(
                # Without a time: setting a second property takes the embedded engine as long again.
                "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e.mention_count = row.n",
                {"rows": rows},
            )
        for rows in batches(self.updated):
            await tx.run(
                "UNWIND $rows AS row MATCH (e:Entity {id: row.id}) SET e += row.props, e.updated_at = $now",
                {"rows": rows, "now": now},
            )


class _State:
    """An entity as it is, then as it will be."""

    def __init__(self, normalized: str, row: Row | None) -> None:
        self.normalized = normalized
        self.name: str = row["name"] if row else ""
        self.type: str = (row["type"] or "") if row else ""
        self.mentions: int = (row["mention_count"] or 0) if row else 0
        self.titled: int = (row["titled"] or 0) if row else 0
        self.fields: Counter[str] = Counter(json.loads(row["recorded"])) if row and row["recorded"] else Counter()
        self.fixed = row is not None and row["origin"] == FROM_CALLER
        self.forms: Counter[str] = Counter()
        if row and row["forms"]:
            self.forms.update(json.loads(row["forms"]))
        elif self.mentions:
            self.forms[self.name] = self.mentions

    def apply(self, change: _Change, remaining_title: str | None) -> None:
        self.mentions += change.mentions
        was_titled = self.titled > 0
        self.titled += change.titled
        for text, number in (change.forms or {}).items():
            self.forms[text] += number
        self.forms = +self.forms
        for kind, number in (change.fields or {}).items():
            self.fields[kind] += number
        self.fields = +self.fields
        if self.fixed:
            return
        if self.titled:
            candidates = list(change.titles)
            if was_titled and self.name not in change.untitled:
                candidates.append(self.name)
            if remaining_title:
                candidates.append(remaining_title)
            self.name = min(candidates, default=self.name)
        elif self.forms:
            self.name = min(self.forms, key=lambda text: (-self.forms[text], text))
        self.name = self.name or self.normalized
        self.type = min(self.fields, key=lambda kind: (-self.fields[kind], kind), default="") or type_of(self.name)

    def properties(self) -> dict[str, Any]:
        """What is stored; spellings only where they do not follow from the name and the number of mentions."""
        plain = {self.name: self.mentions} if self.mentions else {}
        return {
            "name": self.name,
            "type": self.type,
            "mention_count": self.mentions,
            "titled": self.titled or None,
            "recorded": _json(self.fields) if self.fields else None,
            "forms": None if self.forms == plain else _json(self.forms),
        }


def _json(counts: Mapping[str, int]) -> str:
    return json.dumps(dict(sorted(counts.items())), ensure_ascii=False, separators=(",", ":"))


async def _smallest_titles(tx: Transaction, ids: Iterable[str]) -> dict[str, str]:
    """The title that names each of these entities, where there is one: the first by alphabet."""
    found: dict[str, str] = {}
    for part in batches(sorted(ids)):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[t:TITLED]-(d:Document) RETURN e.id AS id, min(t.text) AS text",
            {"ids": part},
        )
        found.update((row["id"], row["text"]) for row in rows)
    return found


async def remove_unused_entities(tx: Transaction, ids: Sequence[str]) -> None:
    """Remove those of the entities that nothing supports any more, unless a person made them.

    That a rule takes an entity for the same as another does not support it.
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
