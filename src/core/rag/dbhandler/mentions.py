"""MENTIONS and TITLED edges: units of work that take an open transaction.

What a chunk mentions depends on its own text and on the titles of all documents. When a title comes or goes, the chunks
that name it are looked at again; see :func:`recompute`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.rag.dbhandler.batches import batches
from core.rag.dbhandler.entities import EntityLedger, remove_unused_entities
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.matching import NameTable
from core.rag.extraction.mentions import Mention, Title, mentions_of, sought
from core.rag.extraction.names import names_in


@dataclass(slots=True)
class _Before:
    """What an existing chunk mentions: how often by name, and how it spells these names."""

    counts: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)


class MentionChanges:
    """What a transaction does to mentions and titles: :meth:`read` what is there, then :meth:`write`."""

    def __init__(self, namespace: str, ledger: EntityLedger) -> None:
        """Changes in a namespace, which the ledger learns of."""
        self._namespace = namespace
        self._ledger = ledger
        self._chunks: dict[str, _Before] = {}
        self._titles: dict[str, dict[str, str]] = {}
        self._touched: set[str] = set()

    async def read(self, tx: Transaction, chunks: Mapping[str, tuple[str, str]]) -> None:
        """Note what existing chunks mention, before they are changed or removed.

        Args:
            tx: The transaction.
            chunks: Content and heading by id.
        """
        for part in batches(sorted(chunks)):
            rows = await tx.run(
                "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[m:MENTIONS]->(e:Entity) "
                "RETURN c.id AS chunk, e.normalized_name AS name, m.count AS count",
                {"ids": part},
            )
            for row in rows:
                self._chunks.setdefault(row["chunk"], _Before()).counts[row["name"]] = row["count"]
        for identifier, before in self._chunks.items():
            if identifier in chunks:
                before.spellings = {name: known.text for name, known in names_in(*chunks[identifier]).items()}

    async def read_documents(self, tx: Transaction, documents: Mapping[str, Mapping[str, Row]]) -> None:
        """Note mentions and titles of existing documents.

        Args:
            tx: The transaction.
            documents: For each its chunks by id, with their properties as ``props``.
        """
        if not documents:
            return
        chunks = {
            identifier: (row["props"]["content"], row["props"].get("heading") or "")
            for rows in documents.values()
            for identifier, row in rows.items()
        }
        await self.read(tx, chunks)
        await self._read_titles(tx, sorted(documents))

    async def _read_titles(self, tx: Transaction, documents: Sequence[str]) -> None:
        for part in batches(documents):
            rows = await tx.run(
                "UNWIND $ids AS i MATCH (d:Document {id: i})-[t:TITLED]->(e:Entity) "
                "RETURN d.id AS document, e.normalized_name AS name, t.text AS text",
                {"ids": part},
            )
            for row in rows:
                self._titles.setdefault(row["document"], {})[row["name"]] = row["text"]

    async def write(
        self,
        tx: Transaction,
        chunks: Mapping[str, Sequence[Mention]],
        titles: Mapping[str, Sequence[Title]],
    ) -> None:
        """Make mentions and titles those given; what was read and is not given here has none any more.

        Chunks and documents exist, or were removed with their edges.

        Args:
            tx: The transaction.
            chunks: What each chunk mentions.
            titles: The titles of each document.
        """
        edits = self._mentions(chunks)
        title_edges, titles_gone = self._title_edges(titles)
        untitled = await self._ledger.settle(tx)
        await _edit(tx, *edits)
        for rows in batches(titles_gone):
            await tx.run(
                "UNWIND $rows AS row MATCH (d:Document {id: row.d})-[t:TITLED]->(e:Entity {id: row.e}) DELETE t",
                {"rows": rows},
            )
        for rows in batches(title_edges):
            await tx.run(
                "UNWIND $rows AS row MATCH (d:Document {id: row.d}) MATCH (e:Entity {id: row.e}) "
                "MERGE (d)-[t:TITLED]->(e) SET t.text = row.text",
                {"rows": rows},
            )
        if untitled:
            self._touched |= await withdraw_titles(tx, untitled, self._namespace, self._ledger)
        touched, self._touched = self._touched, set()
        await remove_unused_entities(tx, [self._ledger.id(name) for name in touched])

    async def write_mentions(self, tx: Transaction, chunks: Mapping[str, Sequence[Mention]]) -> set[str]:
        """Make mentions those given, and leave titles alone.

        Returns:
            Names of entities that may be unused now.
        """
        edits = self._mentions(chunks)
        await self._ledger.settle(tx)
        await _edit(tx, *edits)
        return self._touched

    def _mentions(self, chunks: Mapping[str, Sequence[Mention]]) -> tuple[list[Row], list[Row], list[Row]]:
        """Edges to create (by chunk), to change, and to delete; the ledger learns of them."""
        ledger = self._ledger
        edges: list[Row] = []
        changed: list[Row] = []
        gone: list[Row] = []
        for identifier, mentions in chunks.items():
            before = self._chunks.pop(identifier, None)
            if before is None:
                for mention in mentions:
                    ledger.mention(mention.name, mention.text, 1)
                edges += self._edges(identifier, mentions)
                continue
            fresh: list[Mention] = []
            for mention in mentions:
                count = before.counts.pop(mention.name, None)
                if count is None:
                    ledger.mention(mention.name, mention.text, 1)
                    fresh.append(mention)
                    continue
                if count != mention.count:
                    changed.append({"c": identifier, "e": ledger.id(mention.name), "n": mention.count})
                spelt = before.spellings.get(mention.name, "")
                if spelt != mention.text:
                    ledger.spelling(mention.name, spelt, mention.text)
            edges += self._edges(identifier, fresh)
            for name in before.counts:
                self._withdraw(name, before.spellings.get(name, ""))
                gone.append({"c": identifier, "e": ledger.id(name)})
        for before in self._chunks.values():
            for name in before.counts:
                self._withdraw(name, before.spellings.get(name, ""))
        self._chunks = {}
        return edges, changed, gone

    def _edges(self, chunk: str, mentions: Iterable[Mention]) -> Iterable[Row]:
        """Rows of edges to create: those of a chunk by their count, since most have the same."""
        by_count: dict[int, list[str]] = {}
        for mention in mentions:
            by_count.setdefault(mention.count, []).append(self._ledger.id(mention.name))
        return ({"c": chunk, "n": count, "e": ids} for count, ids in by_count.items())

    def _withdraw(self, name: str, text: str) -> None:
        self._ledger.mention(name, text, -1)
        self._touched.add(name)

    def _title_edges(self, titles: Mapping[str, Sequence[Title]]) -> tuple[list[Row], list[Row]]:
        edges: list[Row] = []
        gone: list[Row] = []
        for identifier, names in titles.items():
            before = self._titles.pop(identifier, {})
            for title in names:
                text = before.pop(title.name, None)
                if text == title.text:
                    continue
                if text is not None:
                    self._ledger.title(title.name, text, -1)
                self._ledger.title(title.name, title.text, 1)
                edges.append({"d": identifier, "e": self._ledger.id(title.name), "text": title.text})
            for name, text in before.items():
                self._ledger.title(name, text, -1)
                self._touched.add(name)
                gone.append({"d": identifier, "e": self._ledger.id(name)})
        for before in self._titles.values():
            for name, text in before.items():
                self._ledger.title(name, text, -1)
                self._touched.add(name)
        self._titles = {}
        return edges, gone


async def _edit(tx: Transaction, edges: Sequence[Row], changed: Sequence[Row], gone: Sequence[Row]) -> None:
    for rows in batches(gone):
        await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c})-[m:MENTIONS]->(e:Entity {id: row.e}) DELETE m",
            {"rows": rows},
        )
    for rows in batches(changed):
        await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c})-[m:MENTIONS]->(e:Entity {id: row.e}) "
            "SET m.count = row.n",
            {"rows": rows},
        )
    for rows in batches(edges):
        # Not MERGE: that there is no such edge yet was read in this transaction.
        await tx.run(
            "UNWIND $rows AS row MATCH (c:DocumentChunk {id: row.c}) UNWIND row.e AS i "
            "MATCH (e:Entity {id: i}) CREATE (c)-[:MENTIONS {count: row.n}]->(e)",
            {"rows": rows},
        )


async def withdraw_titles(tx: Transaction, names: Iterable[str], namespace: str, ledger: EntityLedger) -> set[str]:
    """Look again at the chunks that mention names which are titles no more.

    Returns:
        Names of entities that may be unused now.
    """
    gone = sorted(names)
    chunks: set[str] = set()
    for part in batches([ledger.id(name) for name in gone]):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (e:Entity {id: i})<-[:MENTIONS]-(c:DocumentChunk) RETURN DISTINCT c.id AS id",
            {"ids": part},
        )
        chunks.update(row["id"] for row in rows)
    # Titles inside of the ones that went are the longest now.
    inner = sorted({part for name in gone for part in _parts(name)})
    titles: set[str] = set()
    for ids in batches([ledger.id(name) for name in inner]):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (e:Entity {id: i}) WHERE e.titled > 0 RETURN e.normalized_name AS name",
            {"ids": ids},
        )
        titles.update(row["name"] for row in rows)
    for part in batches(sorted(chunks)):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i})-[:MENTIONS]->(e:Entity) WHERE e.titled > 0 "
            "RETURN DISTINCT e.normalized_name AS name",
            {"ids": part},
        )
        titles.update(row["name"] for row in rows)
    return await recompute(tx, sorted(chunks), sought(titles), namespace, ledger)


async def recompute(
    tx: Transaction, chunks: Sequence[str], titles: NameTable, namespace: str, ledger: EntityLedger
) -> set[str]:
    """Look again at what chunks mention.

    Args:
        tx: The transaction.
        chunks: Their ids; those that are not there any more are left out.
        titles: At least all titles that these chunks name.
        namespace: Where they are.
        ledger: For the entities.

    Returns:
        Names of entities that may be unused now.
    """
    texts: dict[str, tuple[str, str]] = {}
    for part in batches(chunks):
        rows = await tx.run(
            "UNWIND $ids AS i MATCH (c:DocumentChunk {id: i}) "
            "RETURN c.id AS id, c.content AS content, c.heading AS heading",
            {"ids": part},
        )
        texts.update((row["id"], (row["content"], row["heading"] or "")) for row in rows)
    changes = MentionChanges(namespace, ledger)
    await changes.read(tx, texts)
    return await changes.write_mentions(
        tx, {identifier: mentions_of(content, heading, titles) for identifier, (content, heading) in texts.items()}
    )


async def mark_unlinked(tx: Transaction, sources: Iterable[str | None]) -> None:
    """Note that the titles of documents of these sources have to be looked for in the chunks of the others."""
    ids = sorted(source for source in sources if source)
    for part in batches(ids):
        await tx.run("UNWIND $ids AS i MATCH (s:Source {id: i}) SET s.unlinked = true", {"ids": part})


def _parts(name: str) -> Iterable[str]:
    """The names inside of a name: every run of its words but all of them."""
    words = name.split(" ")
    for length in range(1, len(words)):
        for first in range(len(words) - length + 1):
            yield " ".join(words[first : first + length])
