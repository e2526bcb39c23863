"""Checks the consistency of conversations and memory, and repairs it. Nothing that was said is removed."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.messages.interactions import renumber_messages
from core.rag.dbhandler.messages.removal import remove_message_vectors
from core.rag.dbhandler.messages.rows import message_terms
from core.rag.dbhandler.store import Row, Transaction
from core.rag.maintenance.flaws import Checks, Flaw, Look, seen_twice, some
from core.rag.schema import Label, text_partition
from core.rag.times import utc_now

#: Tells clients that hold sessions in memory to read them again.
_REVISE = (
    "UNWIND $rows AS row MATCH (m:Interaction {id: row.id})-[:PART_OF]->(c:Conversation) SET c.revision = row.revision"
)
#: The session of messages that do not name one.
_RECOVERED = "recovered"


class ConversationSoundness(Checks):
    """Checks of conversations."""

    def checks(self) -> list[tuple[str, Look]]:
        """Return all checks by name, in an order in which a repair may reveal what the next check repairs."""
        return [
            ("messages", self._messages),
            ("conversations", self._order),
            ("memory", self._memory),
        ]

    async def join(self) -> None:
        """Join imported data with existing data."""
        await self._mend(self._memory)

    async def _messages(self) -> AsyncIterator[Flaw]:
        edges = await self._read(
            "MATCH (m:Interaction)-[:PART_OF]->(c:Conversation) WHERE m.namespace = $namespace "
            "RETURN m.id AS id, m.session_id AS own, c.id AS conversation, c.session_id AS session"
        )
        homes: dict[str, list[Row]] = defaultdict(list)
        for edge in edges:
            homes[edge["id"]].append(edge)
        foreign = [
            {"id": edge["id"], "c": edge["conversation"]}
            for known in homes.values()
            if any(edge["session"] == edge["own"] for edge in known)
            for edge in known
            if edge["session"] != edge["own"]
        ]
        stray = await self._read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace AND NOT (m)-[:PART_OF]->(:Conversation) "
            "RETURN m.id AS id, m.session_id AS session"
        )
        if foreign:
            yield Flaw(
                f"{len({row['id'] for row in foreign})} messages are part of conversations other than their own.",
                partial(
                    self._in_parts,
                    foreign,
                    "UNWIND $rows AS row MATCH (m:Interaction {id: row.id})-[r:PART_OF]->"
                    "(c:Conversation {id: row.c}) DELETE r",
                ),
            )
        if stray:
            yield Flaw(f"{len(stray)} messages do not belong to any conversation.", lambda: self._bring_home(stray))

    async def _bring_home(self, stray: Sequence[Row]) -> None:
        by_session: dict[str, list[str]] = defaultdict(list)
        for row in stray:
            by_session[row["session"] or _RECOVERED].append(row["id"])
        for session, ids in sorted(by_session.items()):
            await self._client.create_conversation(conversation_id=session)
            talks = await self._read(
                "MATCH (c:Conversation) WHERE c.namespace = $namespace AND c.session_id = $session RETURN c.id AS id",
                session=session,
            )
            rows = [{"id": identifier, "c": talks[0]["id"], "session": session} for identifier in ids]
            await self._in_parts(
                rows,
                "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) MATCH (c:Conversation {id: row.c}) "
                "SET m.session_id = row.session MERGE (m)-[:PART_OF]->(c)",
            )
        await self._renumber()

    async def _order(self) -> AsyncIterator[Flaw]:
        broken = await seen_twice(self._out_of_order)
        if not broken:
            return
        message = f"The messages of {len(broken)} conversations are out of order, or have a wrong count: "
        yield Flaw(f"{message}{some(sorted(broken.values()))}.", self._renumber)

    async def _out_of_order(self) -> dict[str, str]:
        """Return the sessions of conversations with a wrong chain or number of messages, by id of the node."""
        talks = await self._read(
            "MATCH (c:Conversation) WHERE c.namespace = $namespace RETURN c.id AS id, c.session_id AS session, "
            "coalesce(c.sequence, 0) AS sequence, coalesce(c.last_id, '') AS last, "
            "coalesce(c.message_count, 0) AS count"
        )
        messages = await self._read(
            "MATCH (m:Interaction)-[:PART_OF]->(c:Conversation) WHERE m.namespace = $namespace "
            "RETURN c.id AS conversation, m.id AS id, coalesce(m.sequence, 0) AS sequence"
        )
        edges = await self._read(
            "MATCH (a:Interaction)-[:FOLLOWS]->(b:Interaction) WHERE a.namespace = $namespace "
            "RETURN a.id AS a, b.id AS b"
        )
        said: dict[str, list[Row]] = defaultdict(list)
        for row in messages:
            said[row["conversation"]].append(row)
        followed: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            followed[edge["a"]].add(edge["b"])
        broken = {}
        for talk in talks:
            rows = sorted(said[talk["id"]], key=lambda row: (row["sequence"], row["id"]))
            last, number = (rows[-1]["id"], rows[-1]["sequence"]) if rows else ("", 0)
            before = [set[str](), *({row["id"]} for row in rows[:-1])]
            if (
                (talk["last"], talk["count"]) != (last, len(rows))
                or talk["sequence"] < number
                or any(a >= b for a, b in pairwise([0, *(row["sequence"] for row in rows)]))
                or any(followed[row["id"]] != wanted for row, wanted in zip(rows, before, strict=False))
            ):
                broken[talk["id"]] = str(talk["session"])
        return broken

    async def _renumber(self) -> None:
        store = await self._client.connect()
        inside = self._client.namespace
        for conversation in sorted(await self._out_of_order()):
            await store.transaction(
                partial(renumber_messages, conversation=conversation, namespace=inside, now=utc_now())
            )

    async def _memory(self) -> AsyncIterator[Flaw]:
        rows = await self._read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace RETURN m.id AS id, m.terms AS terms, "
            "m.partition AS partition, coalesce(m.compacted_into, '') AS summary"
        )
        edges = await self._read(
            "MATCH (s:Interaction)-[:SUMMARIZES]->(m:Interaction) WHERE s.namespace = $namespace "
            "RETURN s.id AS a, m.id AS b"
        )
        linked = {(edge["a"], edge["b"]) for edge in edges}
        there = {row["id"] for row in rows}
        lost = [row["id"] for row in rows if row["summary"] and row["summary"] not in there]
        loose = [
            {"a": row["summary"], "b": row["id"]}
            for row in rows
            if row["summary"] in there and (row["summary"], row["id"]) not in linked
        ]
        partition = text_partition(self._namespace)
        mute = [
            row["id"] for row in rows if not row["summary"] and (row["terms"] is None or row["partition"] != partition)
        ]
        vectors = await self._read(
            "MATCH (m:Interaction)<-[:EMBEDDING_OF]-(v:Vector) WHERE m.namespace = $namespace "
            "AND coalesce(m.compacted_into, '') <> '' RETURN DISTINCT m.id AS id"
        )
        loud = {row["id"] for row in rows if row["summary"] in there and row["terms"]}
        loud |= {row["id"] for row in vectors} - set(lost)
        if lost:
            message = f"{len(lost)} memories are replaced by a summary that does not exist."
            yield Flaw(message, partial(self._release, lost))
        if loose:
            yield Flaw(
                f"{len(loose)} memories are not connected to the summary that stands for them.",
                partial(
                    self._in_parts,
                    loose,
                    "UNWIND $rows AS row MATCH (s:Interaction {id: row.a}) MATCH (m:Interaction {id: row.b}) "
                    "MERGE (m)<-[:SUMMARIZES]-(s)",
                ),
            )
        if loud:
            message = f"{len(loud)} memories are still found though a summary stands for them."
            yield Flaw(message, lambda: self._transact(sorted(loud), _silence))
        if mute:
            message = f"{len(mute)} messages cannot be found by their words."
            yield Flaw(message, partial(self._analyse, mute))
        known = {row["id"]: row["terms"] for row in rows if not row["summary"]}
        if aged := await self._aged({key: known[key] for key in sorted(known.keys() - set(mute))}):
            # Nothing else writes them again: they are ingested from nowhere.
            message = f"{len(aged)} messages are found by other words than this version of memgraph-rag searches for."
            yield Flaw(message, partial(self._analyse, aged))

    async def _aged(self, terms: Mapping[str, str]) -> list[str]:
        """Return those messages whose words another version found (:data:`core.rag.analysis.ANALYSIS_VERSION`)."""
        found = []
        for part in batches(list(terms)):
            messages = (await self._client.messages_by_id(part)).items()
            found += [key for key, said in messages if message_terms(said["content"], said["tags"]) != terms[key]]
        return found

    async def _release(self, ids: Sequence[str]) -> None:
        """Restore memories that a summary had replaced."""
        await self._analyse(ids)
        await self._in_parts(
            _revised(ids),
            "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) SET m.compacted_into = ''",
            _REVISE,
        )

    async def _analyse(self, ids: Sequence[str]) -> None:
        """Index the words of messages, each separately."""
        second = await self._client.text_label(Label.INTERACTION)
        labelled = f"m{second}, " if second else ""
        for part in batches(list(ids)):
            messages = await self._client.messages_by_id(part)
            rows = [
                {
                    **row,
                    "terms": message_terms(messages[row["id"]]["content"], messages[row["id"]]["tags"]),
                    "partition": text_partition(self._namespace),
                }
                for row in _revised(messages)
            ]
            await self._in_parts(
                rows,
                f"UNWIND $rows AS row MATCH (m:Interaction {{id: row.id}}) SET {labelled}m.terms = row.terms, "
                "m.partition = row.partition",
                _REVISE,
            )


def _revised(ids: Iterable[str]) -> list[Row]:
    """Return a row for each of these messages, with a new revision for its conversation."""
    return [{"id": identifier, "revision": uuid.uuid4().hex} for identifier in ids]


async def _silence(tx: Transaction, ids: Sequence[str]) -> None:
    """Remove messages from the keyword and vector indexes, unless somebody has said them again meanwhile."""
    rows = await tx.run(
        "UNWIND $ids AS i MATCH (m:Interaction {id: i}) WHERE coalesce(m.compacted_into, '') <> '' RETURN m.id AS id",
        {"ids": list(ids)},
    )
    replaced = [row["id"] for row in rows]
    await tx.run("UNWIND $ids AS i MATCH (m:Interaction {id: i}) SET m.terms = ''", {"ids": replaced})
    await remove_message_vectors(tx, replaced)
    await tx.run(_REVISE, {"rows": _revised(replaced)})
