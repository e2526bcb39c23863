"""Updates what documents contribute to the knowledge graph as one unit: mentions, titles, records, symbols.

Before a write, :meth:`Support.read` records what the documents support; after it, :meth:`Support.write` gets what they
support from now on, and writes the difference in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.rag.dbhandler.knowledge.entities import EntityLedger
from core.rag.dbhandler.knowledge.facts import FactChanges
from core.rag.dbhandler.knowledge.mentions import ChunkText, MentionChanges, mark_unlinked, reconsider
from core.rag.dbhandler.knowledge.records import RecordChanges
from core.rag.dbhandler.knowledge.stated import withdraw
from core.rag.dbhandler.knowledge.symbols import SymbolChanges
from core.rag.dbhandler.store import Row, Transaction
from core.rag.extraction.facts import ChunkFacts

if TYPE_CHECKING:
    from core.rag.dbhandler.documents.writing import DocumentRow


class Support:
    """Updates what documents support, within one transaction."""

    def __init__(self, namespace: str, now: str) -> None:
        """Prepare an update.

        Args:
            namespace: The namespace of the documents.
            now: The time of the write.
        """
        self._now = now
        self._ledger = EntityLedger(namespace, now)
        self._mentions = MentionChanges(self._ledger)
        self._records = RecordChanges(self._ledger)
        self._facts = FactChanges(self._ledger)
        self._symbols = SymbolChanges(namespace, now)
        self._said: dict[str, ChunkFacts] = {}
        self._stated: dict[str, str] = {}

    async def read(self, tx: Transaction, documents: Mapping[str, Mapping[str, Row]]) -> None:
        """Record what existing documents support, before they are changed or removed.

        Args:
            tx: The transaction.
            documents: For each its chunks by id, with their properties as ``props``.
        """
        if documents:
            existing = sorted(documents)
            await self._symbols.read(tx, existing)
            texts = {key: ChunkText.of(row["props"]) for chunks in documents.values() for key, row in chunks.items()}
            self._said = {key: text.facts for key, text in texts.items() if text.facts is not None}
            for chunks in documents.values():
                self._stated |= {
                    key: row["props"]["stated"] for key, row in chunks.items() if row["props"].get("stated")
                }
            await self._mentions.read_documents(tx, texts, existing)
            await self._records.read_documents(tx, existing)

    async def write(self, tx: Transaction, documents: Sequence[DocumentRow], text_label: str = "") -> None:
        """Write the difference between what was read and what these documents support.

        Args:
            tx: The transaction; the documents and their chunks are written already.
            documents: Documents that were read and are not among these count as removed.
            text_label: ``:Label`` that records need to be in the keyword index, or nothing.
        """
        self._mentions.set(
            {chunk.id: chunk.mentions for document in documents for chunk in document.chunks},
            {document.id: document.titles for document in documents},
        )
        self._records.set([record for document in documents for record in document.records])
        await self._mentions.withdraw_titles(tx)
        kept = {chunk.id for document in documents for chunk in document.chunks}
        for chunk, facts in self._said.items():
            if chunk not in kept:
                self._facts.set(chunk, facts, ChunkFacts())
        untitled = await self._ledger.settle(tx)
        await self._mentions.apply(tx)
        await self._records.apply(tx, text_label)
        await self._facts.apply(tx)
        if untitled:
            await reconsider(tx, untitled, self._ledger)
        await self._ledger.remove_unused(tx)
        await withdraw(tx, {chunk: stated for chunk, stated in self._stated.items() if chunk not in kept}, self._now)
        code = {document.id: document.code for document in documents if document.code is not None}
        await self._symbols.write(tx, code)
        await mark_unlinked(
            tx,
            {
                document.source_id
                for document in documents
                if document.titles or any(chunk.mentions for chunk in document.chunks)
            },
            self._now,
        )
