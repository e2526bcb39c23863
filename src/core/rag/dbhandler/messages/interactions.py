"""Writes and removes the messages of conversations: units of work, statement by statement.

Each function takes an open transaction and may be repeated. Together they keep these promises: the messages of a
conversation have ascending numbers, and one unbroken FOLLOWS chain joins them in that order, however many processes
write, and where one was put between others, too; a message is removed with its vector, its edges, and the resources
that only it referred to.

Every writer first sets a property of the Conversation. That takes the lock of the node, or meets the conflict that
makes a second writer try again, before anything is read that the other one may change.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.messages.rows import last_said
from core.rag.dbhandler.resources import refer_messages_to_resources
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import merge_vectors
from core.rag.errors import NotFoundError
from core.rag.schema import Label, check_name, text_partition


@dataclass(slots=True)
class InteractionRow:
    """A message to write.

    Attributes:
        id: Its id.
        properties: Its properties; see :class:`core.rag.schema.Label`.
        vector_id: Id of its vector; ``None`` if it gets none.
        embedding: The vector.
        documents: Ids of the documents that it refers to.
        resources: URIs of other things that it refers to.
        retrieved: ``{"chunk", "rank", "score"}`` of the search results for it.
    """

    id: str
    properties: dict[str, Any]
    vector_id: str | None = None
    embedding: tuple[float, ...] | None = None
    documents: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)
    retrieved: list[Row] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Indexes:
    """The indexes that messages are written to.

    Attributes:
        text_label: ``:Label`` that messages need to be in the keyword index, or an empty string.
        vector_store: Id of the VectorStore of their vectors; empty if they get none.
        vector_label: The second label of the vectors.
    """

    text_label: str
    vector_store: str = ""
    vector_label: str = ""


async def lock_conversation(tx: Transaction, conversation: str, namespace: str, now: str) -> Row:
    """Lock a conversation, so that no other client changes it before this transaction ends.

    Returns:
        Its ``session_id``, ``sequence`` (number of the last message ever added), ``last_id`` and ``message_count``.

    Raises:
        NotFoundError: if it does not exist, or is in another namespace.
    """
    where = {"id": conversation, "namespace": namespace}
    await tx.run(
        "UNWIND [$id] AS i MATCH (c:Conversation {id: i}) WHERE c.namespace = $namespace "
        "SET c.revision = $revision, c.updated_at = $now",
        {**where, "revision": uuid.uuid4().hex, "now": now},
    )
    rows = await tx.run(
        "UNWIND [$id] AS i MATCH (c:Conversation {id: i}) WHERE c.namespace = $namespace "
        "RETURN c.session_id AS session_id, "
        "coalesce(c.sequence, 0) AS sequence, coalesce(c.last_id, '') AS last_id, "
        "coalesce(c.message_count, 0) AS message_count",
        where,
    )
    if not rows:
        raise NotFoundError("The conversation is not there (any more).")
    return rows[0]


async def append_messages(
    tx: Transaction,
    conversation: str,
    messages: Sequence[InteractionRow],
    *,
    namespace: str,
    indexes: Indexes,
    now: str,
) -> None:
    """Append messages to a conversation; messages that exist already are not changed."""
    state = await lock_conversation(tx, conversation, namespace, now)
    ids = [message.id for message in messages]
    rows = await run_for_ids(tx, "UNWIND $ids AS i MATCH (m:Interaction {id: i}) RETURN m.id AS id", ids)
    there = {row["id"] for row in rows}
    new = [message for message in messages if message.id not in there]
    if not new:
        return
    await _create(tx, conversation, new, state["sequence"] + 1, state["session_id"], namespace, indexes, now)
    order = [state["last_id"], *(message.id for message in new)] if state["last_id"] else [m.id for m in new]
    await chain(tx, [{"a": after, "b": before} for before, after in pairwise(order)])
    await attach_message_vectors(tx, new, namespace=namespace, indexes=indexes, now=now)
    await refer(tx, new, namespace=namespace, now=now)
    await set_state(
        tx,
        conversation,
        last=new[-1].id,
        count=state["message_count"] + len(new),
        sequence=state["sequence"] + len(new),
    )


async def insert_behind(
    tx: Transaction,
    conversation: str,
    message: InteractionRow,
    replaced: Mapping[str, str | None],
    *,
    namespace: str,
    indexes: Indexes,
    now: str,
) -> bool:
    """Insert a message right after the last one of those that it replaces, and renumber all messages after it.

    Args:
        tx: An open transaction.
        conversation: Id of the node.
        message: The message; if it exists already, nothing happens.
        replaced: Ids of the messages that it replaces, at least one; and when each had been revised as it was read.
        namespace: The namespace.
        indexes: The indexes of the message.
        now: The time.

    Returns:
        Whether the message exists now. It does not if another client was faster, so that one of the replaced messages
        no longer exists, says something else, or has been replaced already.
    """
    state = await lock_conversation(tx, conversation, namespace, now)
    rows = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) RETURN m.id AS id, m.sequence AS sequence, "
        "coalesce(m.compacted_into, '') AS summary, m.revised_at AS revised_at",
        {"id": conversation},
    )
    if any(row["id"] == message.id for row in rows):
        return True
    rows.sort(key=lambda row: row["sequence"])
    live = {row["id"]: place for place, row in enumerate(rows) if not row["summary"]}
    if any(i not in live or rows[live[i]]["revised_at"] != revised for i, revised in replaced.items()):
        return False
    place = max(live[identifier] for identifier in replaced)
    last, behind = rows[place], rows[place + 1 :]
    await _set_numbers(tx, [{"id": row["id"], "sequence": row["sequence"] + 1} for row in behind])
    await _create(tx, conversation, [message], last["sequence"] + 1, state["session_id"], namespace, indexes, now)
    if behind:
        await tx.run(
            "MATCH (a:Interaction {id: $after})-[r:FOLLOWS]->(b:Interaction {id: $before}) DELETE r",
            {"after": behind[0]["id"], "before": last["id"]},
        )
    order = [last["id"], message.id, *(row["id"] for row in behind[:1])]
    await chain(tx, [{"a": after, "b": before} for before, after in pairwise(order)])
    await attach_message_vectors(tx, [message], namespace=namespace, indexes=indexes, now=now)
    await set_state(
        tx,
        conversation,
        last=behind[-1]["id"] if behind else message.id,
        count=len(rows) + 1,
        sequence=state["sequence"] + 1,
    )
    return True


async def move_to_end(tx: Transaction, conversation: str, identifier: str, namespace: str, now: str) -> None:
    """Make a message of a conversation its last one; those before and after it are joined."""
    state = await lock_conversation(tx, conversation, namespace, now)
    if state["last_id"] == identifier:
        return
    joined: list[list[str]] = []
    for edge in ("(m)<-[r:FOLLOWS]-(o:Interaction)", "(m)-[r:FOLLOWS]->(o:Interaction)"):
        rows = await tx.run(f"MATCH (m:Interaction {{id: $id}}) MATCH {edge} RETURN o.id AS id", {"id": identifier})
        await tx.run(f"MATCH (m:Interaction {{id: $id}}) MATCH {edge} DELETE r", {"id": identifier})
        joined.append([row["id"] for row in rows])
    pairs = [{"a": after, "b": before} for after in joined[0] for before in joined[1]]
    await chain(tx, [*pairs, {"a": identifier, "b": state["last_id"]}])
    number = state["sequence"] + 1
    await _set_numbers(tx, [{"id": identifier, "sequence": number}])
    await set_state(tx, conversation, last=identifier, count=state["message_count"], sequence=number)


async def attach_message_vectors(
    tx: Transaction, messages: Sequence[InteractionRow], *, namespace: str, indexes: Indexes, now: str
) -> None:
    """Store the vectors of messages. Each message has its own, which is removed with it."""
    rows = [
        {"id": message.vector_id, "target": message.id, "embedding": message.embedding}
        for message in messages
        if message.vector_id and message.embedding
    ]
    if not rows:
        return
    await merge_vectors(
        tx,
        Label.INTERACTION,
        rows,
        store=indexes.vector_store,
        label=indexes.vector_label,
        namespace=namespace,
        now=now,
    )


async def refer(tx: Transaction, messages: Sequence[InteractionRow], *, namespace: str, now: str) -> None:
    """Write the REFERENCES and RETRIEVED edges of messages; documents and chunks that no longer exist are skipped."""
    documents = [
        {"message": message.id, "target": target, "position": position}
        for message in messages
        for position, target in enumerate(message.documents)
    ]
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.message}) MATCH (d:Document {id: row.target}) "
        "MERGE (m)-[r:REFERENCES]->(d) SET r.position = row.position",
        documents,
    )
    resources = [
        {"message": message.id, "uri": uri, "position": position}
        for message in messages
        for position, uri in enumerate(message.resources, len(message.documents))
    ]
    await refer_messages_to_resources(tx, resources, namespace=namespace, now=now)
    retrieved = [{"message": message.id, **row} for message in messages for row in message.retrieved]
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (m:Interaction {id: row.message}) MATCH (c:DocumentChunk {id: row.chunk}) "
        "WHERE c.namespace = $namespace MERGE (m)-[r:RETRIEVED]->(c) SET r.rank = row.rank, r.score = row.score",
        retrieved,
        namespace=namespace,
    )


async def renumber_messages(tx: Transaction, conversation: str, namespace: str, now: str) -> None:
    """Order the messages of a conversation after an import added some from another copy of it.

    Messages keep their numbers if possible: of two with the same number, the later one and all after it get higher
    numbers. A conversation whose messages are in order is not changed.
    """
    before = await tx.run(
        "MATCH (c:Conversation {id: $id}) RETURN c.revision AS revision, c.updated_at AS now", {"id": conversation}
    )
    state = await lock_conversation(tx, conversation, namespace, now)
    rows = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(m:Interaction) RETURN m.id AS id, "
        "coalesce(m.sequence, 0) AS sequence, coalesce(m.timestamp, '') AS timestamp, m.last_said_at AS last_said_at",
        {"id": conversation},
    )
    rows.sort(key=lambda row: (row["sequence"], last_said(row), row["id"]))
    changed: list[Row] = []
    number = 0
    for row in rows:
        number = max(row["sequence"], number + 1)
        if number != row["sequence"]:
            changed.append({"id": row["id"], "sequence": number})
    wanted = {(after["id"], earlier["id"]) for earlier, after in pairwise(rows)}
    edges = await tx.run(
        "MATCH (c:Conversation {id: $id})<-[:PART_OF]-(a:Interaction) MATCH (a)-[:FOLLOWS]->(b:Interaction) "
        "RETURN a.id AS a, b.id AS b",
        {"id": conversation},
    )
    there = {(edge["a"], edge["b"]) for edge in edges}
    last = rows[-1]["id"] if rows else ""
    latest = max(number, state["sequence"])
    known = (state["last_id"], state["message_count"], state["sequence"])
    if not changed and wanted == there and known == (last, len(rows), latest):
        await tx.run(
            "MATCH (c:Conversation {id: $id}) SET c.revision = $revision, c.updated_at = $now",
            {"id": conversation, **before[0]},
        )
        return
    await _set_numbers(tx, changed)
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:Interaction {id: row.a})-[r:FOLLOWS]->(b:Interaction {id: row.b}) DELETE r",
        [{"a": a, "b": b} for a, b in sorted(there - wanted)],
    )
    await chain(tx, [{"a": a, "b": b} for a, b in sorted(wanted - there)])
    await set_state(tx, conversation, last=last, count=len(rows), sequence=latest)


async def set_state(tx: Transaction, conversation: str, *, last: str, count: int, sequence: int | None = None) -> None:
    """Write what a conversation knows of its messages.

    Args:
        tx: The transaction.
        conversation: Id of the node.
        last: Id of the last message; empty if there is none.
        count: How many there are.
        sequence: The number of the last message ever added; ``None``: it stays.
    """
    numbered = "" if sequence is None else "c.sequence = $sequence, "
    await tx.run(
        f"MATCH (c:Conversation {{id: $id}}) SET {numbered}c.last_id = $last, c.message_count = $count",
        {
            "id": conversation,
            "last": last,
            "count": count,
            **({} if sequence is None else {"sequence": sequence}),
        },
    )


async def _set_numbers(tx: Transaction, rows: Sequence[Row]) -> None:
    """Give messages other numbers: ``{"id", "sequence"}`` of each."""
    await run_for_rows(tx, "UNWIND $rows AS row MATCH (m:Interaction {id: row.id}) SET m.sequence = row.sequence", rows)


async def _create(
    tx: Transaction,
    conversation: str,
    messages: Sequence[InteractionRow],
    first: int,
    session: str,
    namespace: str,
    indexes: Indexes,
    now: str,
) -> None:
    """Create the nodes of messages, with ascending numbers from ``first`` on."""
    common = {"namespace": namespace, "partition": text_partition(namespace), "session_id": session}
    rows = [
        {"id": message.id, "props": {**message.properties, **common, "sequence": number}}
        for number, message in enumerate(messages, first)
    ]
    second = f"m:{check_name(indexes.text_label[1:])}, " if indexes.text_label else ""
    await run_for_rows(
        tx,
        "MATCH (c:Conversation {id: $conversation}) UNWIND $rows AS row MERGE (m:Interaction {id: row.id}) "
        f"ON CREATE SET m.created_at = $now SET {second}m += row.props, m.updated_at = $now MERGE (m)-[:PART_OF]->(c)",
        rows,
        conversation=conversation,
        now=now,
    )


async def chain(tx: Transaction, pairs: Sequence[Row]) -> None:
    """Create a FOLLOWS edge from each ``a`` to the ``b`` before it."""
    await run_for_rows(
        tx,
        "UNWIND $rows AS row MATCH (a:Interaction {id: row.a}) MATCH (b:Interaction {id: row.b}) "
        "MERGE (a)-[:FOLLOWS]->(b)",
        pairs,
    )
