"""Vector stores: which models' vectors a namespace holds, and how they are indexed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.rag.arguments import check_number, check_text
from core.rag.dbhandler.base import ClientBase
from core.rag.dbhandler.batches import run_for_rows
from core.rag.dbhandler.kept import Kept
from core.rag.dbhandler.locking import lock
from core.rag.dbhandler.store import Row, Transaction
from core.rag.embedder.base import EmbeddingService, dimension_of
from core.rag.errors import InvalidInputError, ModelMismatchError, NotFoundError
from core.rag.identity import vector_store_id
from core.rag.schema import DEFAULT_VECTOR_INDEX, Label, VectorIndex, check_name, vector_index
from core.rag.settings import DEFAULT_NAMESPACE
from core.rag.times import utc_now

#: Status of the vector store that searches use.
ACTIVE = "active"
#: Status of a vector store that does not have the vectors of all chunks yet.
BUILDING = "building"
#: Status of all others.
STANDBY = "standby"


@dataclass(frozen=True, slots=True)
class VectorStoreInfo:
    """A VectorStore node.

    Attributes:
        id: Its id.
        namespace: Its namespace.
        model: The embedding model.
        dimension: Length of its vectors.
        index_name: Name of its index over chunks.
        status: ``active`` for the one that searches use, ``building`` for one that a reembedding has not finished,
            ``standby`` for others.
    """

    id: str
    namespace: str
    model: str
    dimension: int
    index_name: str
    status: str

    def index(self, target: Label = Label.CHUNK) -> VectorIndex:
        """Return the index over the vectors of nodes with a label."""
        return vector_index(self.namespace, self.id, self.dimension, target, self.index_name)


_stores: Kept[list[VectorStoreInfo]] = Kept({Label.VECTOR_STORE})


def store_of(stores: Iterable[VectorStoreInfo], model: str, dimension: int) -> VectorStoreInfo | None:
    """Return the one of a model with this dimension, if it is among some vector stores."""
    return next((store for store in stores if store.model == model and store.dimension == dimension), None)


async def check_vector_store(tx: Transaction, store: VectorStoreInfo) -> None:
    """Check that a vector store is still there: vectors are not stored without one.

    Raises:
        NotFoundError: if another client has removed it.
    """
    if not await tx.run("MATCH (s:VectorStore {id: $id}) RETURN s.id AS id", {"id": store.id}):
        raise NotFoundError(f"The vector store of {store.model} was removed in the meantime; try again.")


async def stand_by(tx: Transaction, namespace: str) -> None:
    """Make all vector stores of a namespace wait, before another one becomes the active one in the same transaction."""
    there = await tx.run(
        "MATCH (s:VectorStore) WHERE s.namespace = $namespace RETURN s.id AS id", {"namespace": namespace}
    )
    # Of two transactions at the same time, the second one then sees what the first one made active.
    await lock(tx, Label.VECTOR_STORE, [row["id"] for row in there])
    await tx.run(
        "MATCH (s:VectorStore) WHERE s.namespace = $namespace AND s.status = $active "
        "SET s.status = $standby, s.updated_at = $now",
        {"namespace": namespace, "active": ACTIVE, "standby": STANDBY, "now": utc_now()},
    )


async def merge_vectors(
    tx: Transaction, target: Label, rows: Sequence[Row], *, store: str, label: str, namespace: str, now: str
) -> None:
    """Store vectors of nodes other than chunks; existing vectors stay, and nodes that no longer exist are skipped.

    Args:
        tx: The transaction.
        target: The label of the nodes that they embed.
        rows: ``id`` of each vector, ``target`` (id of the node) and ``embedding``.
        store: Id of an existing VectorStore.
        label: The second label of the vectors.
        namespace: The namespace.
        now: The time of the write.
    """
    await run_for_rows(
        tx,
        f"MATCH (s:VectorStore {{id: $store}}) UNWIND $rows AS row MATCH (n:{target} {{id: row.target}}) "
        "MERGE (v:Vector {id: row.id}) "
        f"ON CREATE SET v:{check_name(label)}, v.embedding = row.embedding, v.namespace = $namespace, "
        "v.vector_store_id = $store, v.chunk_id = row.target, v.created_at = $now, v.updated_at = $now "
        "MERGE (v)-[:EMBEDDING_OF]->(n) MERGE (v)-[:STORED_IN]->(s)",
        rows,
        store=store,
        namespace=namespace,
        now=now,
    )


class VectorStoreOperations(ClientBase):
    """Creating and finding vector stores."""

    async def vector_stores(self) -> list[VectorStoreInfo]:
        """Return the vector stores of the namespace, the active one first, then by age."""
        return list(await _stores.get(self, self._vector_stores))

    async def _vector_stores(self) -> list[VectorStoreInfo]:
        rows = await self.read(
            "MATCH (s:VectorStore) WHERE s.namespace = $namespace "
            "RETURN s.id AS id, s.model AS model, s.dimension AS dimension, s.index_name AS index_name, "
            "s.status AS status, s.created_at AS created_at"
        )
        rows.sort(key=lambda row: (row["status"] != ACTIVE, row["created_at"], row["id"]))
        return [self._info(row) for row in rows]

    async def vector_store_for(self, embedder: EmbeddingService) -> VectorStoreInfo | None:
        """Return the vector store with an embedder's model and dimension; ``None`` if nothing was embedded yet.

        Raises:
            ModelMismatchError: if the namespace only has vectors of other models, unless this client takes any model.
        """
        stores = await self.vector_stores()
        if not stores:
            return None
        dimension = await dimension_of(embedder)
        store = store_of(stores, embedder.model, dimension)
        if store is None and self._check_model:
            raise self._other_model(stores[0], embedder.model, dimension)
        return store

    async def find_vector_store(self, index_name: str = DEFAULT_VECTOR_INDEX) -> VectorStoreInfo:
        """Return the vector store with this index.

        Args:
            index_name: Its ``index_name``; the default name means the active store of the namespace.

        Raises:
            NotFoundError: if there is none, because nothing has been embedded in this namespace or the name is wrong.
        """
        check_text("index_name", index_name)
        stores = await self.vector_stores()
        if index_name == DEFAULT_VECTOR_INDEX and stores:
            return stores[0]
        for store in stores:
            if store.index_name == index_name:
                return store
        known = ", ".join(store.index_name for store in stores) or "none; ingest something first"
        raise NotFoundError(
            f"There is no vector index {index_name[:200]!r} in namespace {self._namespace!r} (there: {known})."
        )

    async def ensure_vector_store(self, model: str, dimension: int, *, new_store: bool = False) -> VectorStoreInfo:
        """Return the vector store of a model, creating it if the namespace has none yet.

        Args:
            model: The embedding model.
            dimension: Length of its vectors.
            new_store: If there is a store of another model, create a second one and make it the active one.

        Raises:
            ModelMismatchError: if the namespace was built with another model and ``new_store`` is false, or a
                reembedding with this model has not finished.
            InvalidInputError: if the model has no name, or the dimension is not a whole number of at least 1.
        """
        if not check_text("The name of a model", model).strip():
            raise InvalidInputError("The name of a model is empty.")
        dimension = check_number("The dimension of an embedding", dimension, 1)
        stores = await self.vector_stores()
        store = store_of(stores, model, dimension)
        if store is None and stores and not new_store:
            raise self._other_model(stores[0], model, dimension)
        if store is not None and store.status == BUILDING and not new_store:
            raise ModelMismatchError(
                f"Namespace {self._namespace!r} has vectors of {model} for some of its chunks only: a reembedding was"
                " interrupted. Finish it (mgrag reembed), or use the model that it had before"
                f" ({stores[0].model})."
            )
        if store is not None and (store.status == ACTIVE or not new_store):
            await self._ensure_index(store)
            return store
        return await self._create(model, dimension, first=not stores)

    def _other_model(self, there: VectorStoreInfo, model: str, dimension: int) -> ModelMismatchError:
        return ModelMismatchError(
            f"Namespace {self._namespace!r} was built with the embedding model {there.model} ({there.dimension}"
            f" dimensions), not with {model[:200]} ({dimension}). Use that model (MGRAG_EMBEDDING_MODEL)"
            " or another namespace; make all vectors anew (mgrag reembed, kb.reembed); or build a second vector"
            " store beside it (mgrag ingest --new-store, new_store=True)."
        )

    async def _create(self, model: str, dimension: int, *, first: bool, status: str = ACTIVE) -> VectorStoreInfo:
        identifier = vector_store_id(self._namespace, model, dimension)
        default = first and self._namespace == DEFAULT_NAMESPACE
        index = vector_index(
            self._namespace, identifier, dimension, Label.CHUNK, DEFAULT_VECTOR_INDEX if default else ""
        )

        async def work(tx: Transaction) -> list[Row]:
            if status == ACTIVE:
                await stand_by(tx, self._namespace)
            return await tx.run(
                "MERGE (s:VectorStore {id: $id}) "
                "ON CREATE SET s.namespace = $namespace, s.model = $model, s.dimension = $dimension, "
                "s.index_name = $index_name, s.created_at = $now "
                "SET s.status = $status, s.updated_at = $now "
                "RETURN s.id AS id, s.model AS model, s.dimension AS dimension, s.index_name AS index_name, "
                "s.status AS status",
                {
                    "id": identifier,
                    "namespace": self._namespace,
                    "model": model,
                    "dimension": dimension,
                    "index_name": index.name,
                    "status": status,
                    "now": utc_now(),
                },
            )

        store = self._info((await self._write(work))[0])
        await self._ensure_index(store)
        return store

    async def _ensure_index(self, store: VectorStoreInfo) -> None:
        """Make sure that the indexes of chunks exist: they may have been dropped, or an earlier attempt blocked."""
        self._vector_indexes.pop(store.index(), None)
        await self._ensure_vector_index(store.index())
        if (await self.connect()).capabilities.shared:  # an embedded graph creates it when a search needs it
            await self._text_label(Label.CHUNK)

    def _info(self, row: Row) -> VectorStoreInfo:
        return VectorStoreInfo(
            id=row["id"],
            namespace=self._namespace,
            model=row["model"],
            dimension=row["dimension"],
            index_name=row["index_name"],
            status=row["status"],
        )
