"""Updates MENTIONS and TITLED edges in the transaction that writes or removes documents.

What a chunk mentions depends on its own text and on the titles of all documents. When a title comes or goes, the chunks
that name it are looked at again; see :func:`recompute`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.rag.dbhandler.batches import run_for_ids, run_for_rows
from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.mentioned import Mentioned, MentionWriter
from core.rag.dbhandler.lines import EACH_LINE, FIELD, packed
from core.rag.dbhandler.locking import lock_documents_of
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.facts import ChunkFacts
from core.rag.extraction.matching import NameTable
from core.rag.extraction.mentions import Mention, Title, mentions_of, sought, spellings, with_facts
from core.rag.extraction.names import Found, names_in
from core.rag.extraction.source_code import told


@dataclass(frozen=True)
class ChunkText:
    """The parts of a chunk that determine what it mentions, together with the titles of all documents.

    Attributes:
        content: What it says; see :func:`core.rag.extraction.source_code.told`.
        heading: Its heading path.
        facts: What a language model found in it, if one has read it.
    """

    content: str
    heading: str
    facts: ChunkFacts | None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> ChunkText:
        """Make one from the properties of a DocumentChunk node."""
        facts = ChunkFacts.from_json(properties["facts"]) if properties.get("facts") else None
        metadata = json.loads(properties.get("metadata") or "{}")
        content = told(properties["content"], properties.get("path") or "", metadata)
        return cls(content, properties.get("heading") or "", facts)

    @cached_property
    def names(self) -> dict[str, Found]:
        """Return the names that the rules find in it."""
        return names_in(self.content, self.heading)

    def mentions(self, titles: NameTable) -> list[Mention]:
        """Return what its text mentions.

        Args:
            titles: Titles of documents; at least all that the chunk names.
        """
        return mentions_of(self.content, self.heading, titles, names=self.names)


@dataclass(slots=True)
class _Before:
    """What an existing chunk mentions: counts by name, and the spellings of the names."""

    text: ChunkText
    counts: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)


class MentionChanges:
    """Updates mentions and titles within a transaction: :meth:`read`, :meth:`set`, settle the ledger, :meth:`apply`."""

    def __init__(self, ledger: EntityLedger) -> None:
        """Prepare an update; mentioned entities are recorded in ``ledger``."""
        self._ledger = ledger
        self._writer = MentionWriter(ledger.namespace)
        self._chunks: dict[str, _Before] = {}
        self._titles: dict[str, dict[str, str]] = {}
        self._edges: list[str] = []
        self._recounted: list[Row] = []
        self._withdrawn: list[Row] = []
        self._named: list[str] = []
        self._unnamed: list[Row] = []

    async def read(self, tx: Transaction, chunks: Mapping[str, ChunkText]) -> None:
        """Read what existing chunks mention, before they are changed or removed."""
        for identifier, text in chunks.items():
            self._chunks[identifier] = _Before(text)
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[m:MENTIONS]->(e:Entity) "
            "RETURN c.id AS chunk, e.normalized_name AS name, m.count AS count",
            sorted(chunks),
        )
        for row in rows:
            self._chunks[row["chunk"]].counts[row["name"]] = row["count"]
        for before in self._chunks.values():
            if before.counts:
                before.spellings = spellings(before.text.names, before.text.facts)

    async def read_documents(self, tx: Transaction, chunks: Mapping[str, ChunkText], documents: Sequence[str]) -> None:
        """Read mentions and titles of existing documents, with all of their chunks."""
        await self.read(tx, chunks)
        rows = await run_for_ids(
            tx,
            "UNWIND $ids AS i MATCH (d:Document {id: i})-[t:TITLED]->(e:Entity) "
            "RETURN d.id AS document, e.normalized_name AS name, t.text AS text",
            documents,
        )
        for row in rows:
            self._titles.setdefault(row["document"], {})[row["name"]] = row["text"]

    def set(
        self,
        chunks: Mapping[str, Mentioned | Sequence[Mention]],
        titles: Mapping[str, Sequence[Title]],
        facts: Mapping[str, ChunkFacts] | None = None,
    ) -> None:
        """Record in the ledger the new mentions of chunks and the new titles of documents.

        Chunks and documents that were read but are not given here lose theirs; the caller removes them with their
        edges.

        Args:
            chunks: What the text of each chunk mentions.
            titles: Titles of each document.
            facts: New facts of existing chunks; ``None``: facts do not change.
        """
        for identifier, mentions in chunks.items():
            before = self._chunks.pop(identifier, None)
            if before is None:
                if not isinstance(mentions, Mentioned):
                    mentions = self._writer.mentioned(identifier, mentions)
                self._mention(mentions)
                continue
            if isinstance(mentions, Mentioned):
                mentions = mentions.plain(self._ledger.namespace)
            said = before.text.facts if facts is None else facts[identifier]
            if said is not None:
                mentions = with_facts(mentions, before.text.names, said)
            self._compare(identifier, before, mentions)
        for before in self._chunks.values():
            for name in before.counts:
                self._ledger.mention(name, before.spellings.get(name, ""), -1)
        self._chunks = {}
        for identifier, names in titles.items():
            self._entitle(identifier, names, self._titles.pop(identifier, {}))
        for texts in self._titles.values():
            for name, text in texts.items():
                self._ledger.title(name, text, -1)
        self._titles = {}

    def _mention(self, mentioned: Mentioned) -> None:
        self._ledger.mention_all(mentioned)
        self._edges += mentioned.edges

    def _compare(self, chunk: str, before: _Before, mentions: Iterable[Mention]) -> None:
        fresh: list[Mention] = []
        for name, text, times in mentions:
            count = before.counts.pop(name, None)
            if count is None:
                fresh.append((name, text, times))
                continue
            if count != times:
                self._recounted.append({"c": chunk, "e": self._ledger.id(name), "n": times})
            spelt = before.spellings.get(name, "")
            if spelt != text:
                self._ledger.spelling(name, spelt, text)
        self._mention(self._writer.mentioned(chunk, fresh))
        for name in before.counts:
            self._ledger.mention(name, before.spellings.get(name, ""), -1)
            self._withdrawn.append({"c": chunk, "e": self._ledger.id(name)})

    def _entitle(self, document: str, names: Iterable[Title], before: dict[str, str]) -> None:
        for title in names:
            text = before.pop(title.name, None)
            if text == title.text:
                continue
            if text is not None:
                self._ledger.title(title.name, text, -1)
                self._unnamed.append({"d": document, "e": self._ledger.id(title.name)})
            self._ledger.title(title.name, title.text, 1)
            # The words of a title are separated by single spaces, so it never contains the field separator.
            self._named.append(FIELD.join((document, self._ledger.id(title.name), title.text)))
        for name, text in before.items():
            self._ledger.title(name, text, -1)
            self._unnamed.append({"d": document, "e": self._ledger.id(name)})

    async def withdraw_titles(self, tx: Transaction) -> None:
        """Remove the edges of titles that documents no longer have, before the ledger is settled."""
        await run_for_rows(
            tx,
            "UNWIND $rows AS row MATCH (d:Document {id: row.d})-[t:TITLED]->(e:Entity {id: row.e}) DELETE t",
            self._unnamed,
        )

    async def apply(self, tx: Transaction) -> None:
        """Write the edges, after the ledger is settled, and chunks and documents exist."""
        mention = "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c})-[m:MENTIONS]->(e:Entity {id: row.e}) "
        await run_for_rows(tx, f"{mention}DELETE m", self._withdrawn)
        await run_for_rows(tx, f"{mention}SET m.count = row.n", self._recounted)
        for lines in packed(self._edges):
            # CREATE, not MERGE: this transaction has read that there is no such edge. Unneeded columns are dropped
            # before the entities are looked up, because the embedded engine copies the remaining ones for each.
            await tx.run(
                f"{EACH_LINE}MATCH (c:DocumentChunk {{id: part[0]}}) "
                "WITH c, toInteger(part[1]) AS times, part[2..] AS entities UNWIND entities AS i "
                "MATCH (e:Entity {id: i}) CREATE (c)-[:MENTIONS {count: times}]->(e)",
                lines,
            )
        for lines in packed(self._named):
            await tx.run(
                f"{EACH_LINE}MATCH (d:Document {{id: part[0]}}) MATCH (e:Entity {{id: part[1]}}) "
                "CREATE (d)-[:TITLED {text: part[2]}]->(e)",
                lines,
            )


async def reconsider(tx: Transaction, names: Iterable[str], ledger: EntityLedger) -> None:
    """Update the mentions of chunks that mention one of these names, which are no longer titles."""
    gone = sorted(names)
    mentioning = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:MENTIONS]-(c:DocumentChunk) RETURN DISTINCT c.id AS id",
        [ledger.id(name) for name in gone],
    )
    chunks = sorted({row["id"] for row in mentioning})
    # Titles within the removed ones may be the longest matches now.
    inner = sorted({part for name in gone for part in _parts(name)})
    titles = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (e:Entity {id: i}) WHERE e.titled > 0 RETURN e.normalized_name AS name",
        [ledger.id(name) for name in inner],
    )
    named = {row["name"] for row in titles} | await titles_named(tx, chunks)
    await recompute(tx, chunks, sought(named), ledger)


async def titles_named(tx: Transaction, chunks: Sequence[str]) -> set[str]:
    """Return the normalised titles that chunks mention."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) WHERE e.titled > 0 "
        "RETURN DISTINCT e.normalized_name AS name",
        chunks,
    )
    return {row["name"] for row in rows}


async def recompute(tx: Transaction, chunks: Sequence[str], titles: NameTable, ledger: EntityLedger) -> None:
    """Recompute what chunks mention from their texts and the current titles.

    Args:
        tx: The transaction.
        chunks: Ids of the chunks; those that no longer exist are skipped.
        titles: At least all titles that these chunks name.
        ledger: Records the changes of entities.
    """
    await lock_documents_of(tx, chunks)
    texts = await chunk_texts(tx, chunks)
    # In a thread: a few hundred chunks take a tenth of a second.
    mentions = await asyncio.to_thread(lambda: {key: text.mentions(titles) for key, text in texts.items()})
    changes = MentionChanges(ledger)
    await changes.read(tx, texts)
    changes.set(mentions, {})
    await ledger.settle(tx)
    await changes.apply(tx)


async def chunk_texts(tx: Transaction, chunks: Sequence[str]) -> dict[str, ChunkText]:
    """Read the texts of chunks by id; chunks that no longer exist are left out."""
    rows = await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) "
        "RETURN c.id AS id, c.path AS path, c.content AS content, c.heading AS heading, c.facts AS facts, "
        "c.metadata AS metadata",
        chunks,
    )
    return {row["id"]: ChunkText.of(row) for row in rows}


async def mark_unlinked(tx: Transaction, sources: Iterable[str | None], now: str) -> None:
    """Mark sources whose documents' titles have yet to be searched for in the chunks of other documents."""
    await run_for_ids(
        tx,
        "UNWIND $ids AS i MATCH (s:Source {id: i}) SET s.unlinked = coalesce(s.unlinked, $now), s.unlinked_last = $now",
        sorted(source for source in sources if source),
        now=now,
    )


def _parts(name: str) -> Iterable[str]:
    """Return the names within a name: every run of its words, except the whole."""
    words = name.split(" ")
    for length in range(1, len(words)):
        for first in range(len(words) - length + 1):
            yield " ".join(words[first : first + length])
