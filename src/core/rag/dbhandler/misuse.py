"""The errors for stores and transactions that are used too late, or with vectors of another model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rag.errors import ModelMismatchError, QueryError, StoreUnavailableError

if TYPE_CHECKING:
    from core.rag.schema import VectorIndex


def closed(what: str) -> StoreUnavailableError:
    """Return the error for a store that was closed."""
    return StoreUnavailableError(f"{what} was sent after the graph was closed; open it again.")


def ended() -> QueryError:
    """Return the error for a statement that came after its transaction."""
    return QueryError(
        "A statement was sent after its transaction had ended: use the transaction only inside the unit of work."
    )


def spoiled(cause: BaseException) -> QueryError:
    """Return the error for the commit of a transaction of which a statement had failed."""
    return QueryError(
        "Nothing was stored: a statement of the transaction had failed or was cancelled, but the unit of work went on"
        f" ({str(cause) or 'cancelled'})."
    )


def other_dimension(index: VectorIndex, dimension: int) -> ModelMismatchError:
    """Return the error for a vector index that is there with another dimension."""
    return ModelMismatchError(
        f"The vector index {index.name} holds vectors of {dimension} dimensions, not of {index.dimension}: use the"
        " embedding model that it was built with, or another vector store."
    )
