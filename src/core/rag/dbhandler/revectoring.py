"""Builds a vector store for another model from the stored chunks and messages, and drops vector stores."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.rag.arguments import check_kind, check_number, check_text
from core.rag.dbhandler.batches import batches, run_for_ids, run_for_rows
from core.rag.dbhandler.documents.writing import ChunkRow, attach_vectors
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.messages.interactions import Indexes, InteractionRow, attach_message_vectors
from core.rag.dbhandler.store import Row, Transaction
from core.rag.dbhandler.vectors import ACTIVE, BUILDING, VectorStoreInfo, VectorStoreOperations, stand_by, store_of
from core.rag.embedder.base import is_blank
from core.rag.identity import vector_id
from core.rag.schema import Label
from core.rag.times import utc_now


class RevectoringOperations(VectorStoreOperations):
    """What :mod:`core.rag.maintenance.reembed` needs."""

    async def prepare_vector_store(self, model: str, dimension: int) -> VectorStoreInfo:
        """Return the vector store of a model, to be filled; a new one is not searched until it is made active."""
        check_text("The name of a model", model)
        dimension = check_number("The dimension of an embedding", dimension, 1)
        store = store_of(await self.vector_stores(), model, dimension)
        if store is None:
            return await self._create(model, dimension, first=False, status=BUILDING)
        await self._ensure_index(store)
        return store

    async def activate_vector_store(self, store: VectorStoreInfo) -> VectorStoreInfo:
        """Make a vector store the active one, and note at each document that its chunks have vectors in it."""
        check_kind("store", store, VectorStoreInfo)
        pages = list(batches(await self._document_ids()))

        async def note(tx: Transaction, page: list[str]) -> None:
            await lock(tx, Label.DOCUMENT, page)
            rows = await tx.run(
                "UNWIND $ids AS i MATCH (d:Document {id: i})<-[:CHUNK_OF]-(c:DocumentChunk) "
                f"WHERE NOT (c)<-[:EMBEDDING_OF]-(:{store.index().label}) RETURN DISTINCT d.id AS id",
                {"ids": page},
            )
            incomplete = {row["id"] for row in rows}
            complete = [identifier for identifier in page if identifier not in incomplete]
            await _change_stores(tx, complete, lambda stores: stores if store.id in stores else [*stores, store.id])

        for page in pages:
            await self._write(partial(note, page=page))

        async def switch(tx: Transaction) -> None:
            await stand_by(tx, self._namespace)
            await tx.run(
                "MATCH (s:VectorStore {id: $id}) SET s.status = $active, s.updated_at = $now",
                {"id": store.id, "active": ACTIVE, "now": utc_now()},
            )

        await self._write(switch)
        return replace(store, status=ACTIVE)

    async def drop_vector_store(self, store: VectorStoreInfo) -> bool:
        """Remove a vector store with its vectors, unless they embed more than chunks and messages.

        Returns:
            Whether it was removed.
        """
        check_kind("store", store, VectorStoreInfo)
        for target in (Label.ENTITY, Label.CONCEPT):
            rows = await self.read(f"MATCH (v:{store.index(target).label}) RETURN count(v) AS n")
            if rows[0]["n"]:
                return False
        # First: an ingest after an interruption must not take documents for embedded whose vectors are gone.
        for page in batches(await self._document_ids()):
            await self._write(partial(_forget, page=page, store=store.id))
        indexes = [store.index(target) for target in (Label.CHUNK, Label.INTERACTION)]
        for index in indexes:
            rows = await self.read(f"MATCH (v:{index.label}) RETURN v.id AS id")
            for part in batches([row["id"] for row in rows]):
                await self._write_one("UNWIND $ids AS i MATCH (v:Vector {id: i}) DETACH DELETE v", ids=part)
        graph = await self.connect()
        for index in indexes:  # before the store: without it, nobody would know later which indexes to drop
            await graph.drop_vector_index(index)
            self._vector_indexes.pop(index, None)
        await self._write_one("MATCH (s:VectorStore {id: $id}) DETACH DELETE s", id=store.id)
        return True

    async def chunks_without_vector(self, store: VectorStoreInfo) -> list[str]:
        """Ids of the chunks that have no vector in a vector store, in order."""
        check_kind("store", store, VectorStoreInfo)
        label = store.index().label
        rows = await self.read_lists("MATCH (c:DocumentChunk) WHERE c.namespace = $namespace", ("c.id",), None)
        done = await self.read_lists(f"MATCH (v:{label})-[:EMBEDDING_OF]->(c:DocumentChunk)", ("c.id",), None)
        return sorted({chunk for (chunk,) in rows} - {chunk for (chunk,) in done})

    async def messages_without_vector(self, store: VectorStoreInfo) -> list[str]:
        """Ids of the messages that have no vector in a vector store, in order.

        Those that a summary stands for need none, nor do those without anything to embed.
        """
        check_kind("store", store, VectorStoreInfo)
        rows = await self.read(
            "MATCH (m:Interaction) WHERE m.namespace = $namespace AND coalesce(m.compacted_into, '') = '' "
            "RETURN m.id AS id"
        )
        label = store.index(Label.INTERACTION).label
        done = await self.read(f"MATCH (v:{label})-[:EMBEDDING_OF]->(m:Interaction) RETURN m.id AS id")
        missing = sorted({row["id"] for row in rows} - {row["id"] for row in done})
        texts = await self.read_for_ids(
            "UNWIND $ids AS i MATCH (m:Interaction {id: i}) RETURN m.id AS id, m.content AS content", missing
        )
        return sorted(row["id"] for row in texts if not is_blank(row["content"]))

    async def attach_vectors_of_messages(
        self, vectors: Mapping[str, Sequence[float]], store: VectorStoreInfo, revised: Mapping[str, str | None]
    ) -> int:
        """Store vectors of messages; those that are gone, revised or compacted by now get none.

        Args:
            vectors: By the ids of the messages.
            store: Where they go.
            revised: When each had been revised as it was read.

        Returns:
            How many messages got theirs.
        """
        check_kind("store", store, VectorStoreInfo)
        index = store.index(Label.INTERACTION)
        await (await self.connect()).ensure_vector_index(index)
        indexes = Indexes("", store.id, index.label)
        rows = [
            InteractionRow(
                message, {}, vector_id(store.id, f"{Label.INTERACTION}:{message}"), tuple(map(float, embedding))
            )
            for message, embedding in vectors.items()
        ]
        count = 0
        for part in batches(rows):

            async def work(tx: Transaction, part: list[InteractionRow] = part) -> int:
                ids = [row.id for row in part]
                talks = await tx.run(
                    "UNWIND $ids AS i MATCH (m:Interaction {id: i})-[:PART_OF]->(c:Conversation) "
                    "WHERE c.namespace = $namespace RETURN DISTINCT c.id AS id",
                    {"ids": ids, "namespace": self._namespace},
                )
                await tx.run(
                    "UNWIND $ids AS i MATCH (c:Conversation {id: i}) SET c.revision = $revision",
                    {"ids": sorted(row["id"] for row in talks), "revision": uuid.uuid4().hex},
                )
                there = await tx.run(
                    "UNWIND $ids AS i MATCH (m:Interaction {id: i}) WHERE m.namespace = $namespace "
                    "AND coalesce(m.compacted_into, '') = '' RETURN m.id AS id, m.revised_at AS revised",
                    {"ids": ids, "namespace": self._namespace},
                )
                known = {row["id"] for row in there if row["revised"] == revised[row["id"]]}
                await attach_message_vectors(
                    tx,
                    [row for row in part if row.id in known],
                    namespace=self._namespace,
                    indexes=indexes,
                    now=utc_now(),
                )
                return len(known)

            count += await self._write(work)
        return count

    async def embeddable_chunks(self, ids: Sequence[str]) -> list[Row]:
        """Return chunks with what is embedded of them: ``id, path, title, heading, content, metadata, chunk_index``."""
        return await self.read_together(
            "MATCH (c:DocumentChunk {id: i})-[:CHUNK_OF]->(d:Document) WHERE c.namespace = $namespace",
            {
                "id": "c.id",
                "path": "d.path",
                "title": "d.title",
                "heading": "c.heading",
                "content": "c.content",
                "metadata": "c.metadata",
                "chunk_index": "c.chunk_index",
            },
            ids,
        )

    async def attach_vectors(self, chunks: Sequence[ChunkRow], store: VectorStoreInfo) -> set[str]:
        """Store vectors of chunks that exist, some hundred to a transaction.

        Args:
            chunks: With ``vector_id``, and with ``embedding`` where that vector is not in the graph yet.
            store: Where they go.

        Returns:
            Vectors that were to be reused but are not there; their chunks got none.
        """
        check_kind("store", store, VectorStoreInfo)
        missing: set[str] = set()
        for part in batches(list(chunks)):

            async def work(tx: Transaction, part: list[ChunkRow] = part) -> set[str]:
                return await attach_vectors(tx, part, store, utc_now())

            missing |= await self._write(work)
        return missing

    async def text_label(self, label: Label = Label.CHUNK) -> str:
        """Return the ``:Label`` that nodes need for their keyword index, or nothing; create the index if missing."""
        return await self._text_label(label, patient=True)

    async def _document_ids(self) -> list[str]:
        rows = await self.read("MATCH (d:Document) WHERE d.namespace = $namespace RETURN d.id AS id")
        return sorted(row["id"] for row in rows)


async def _forget(tx: Transaction, page: Sequence[str], store: str) -> None:
    await lock(tx, Label.DOCUMENT, page)
    await _change_stores(tx, page, lambda stores: [other for other in stores if other != store])


async def _change_stores(tx: Transaction, ids: Sequence[str], change: Callable[[list[str]], list[str]]) -> None:
    """Change the vector stores in which documents, which are locked, have vectors."""
    rows = await run_for_ids(
        tx, "UNWIND $ids AS i MATCH (d:Document {id: i}) RETURN d.id AS id, d.embedded_in AS stores", ids
    )
    before = {row["id"]: row["stores"] or [] for row in rows}
    after = {identifier: change(stores) for identifier, stores in before.items()}
    changed = [{"id": each, "stores": stores} for each, stores in after.items() if stores != before[each]]
    statement = "UNWIND $rows AS row MATCH (d:Document {id: row.id}) SET d.embedded_in = row.stores"
    await run_for_rows(tx, statement, changed)
