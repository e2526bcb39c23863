"""Rerankers: models that read a question together with a text, and say how well it answers it.

They are slower than the search that finds the texts, and judge better. None is needed; one is used if it is named
(MGRAG_RERANK_MODEL) or passed (``KnowledgeBase.open(reranker=…)``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.rag.errors import InvalidInputError
from core.rag.settings import Settings, named_model, settings_for

__all__ = ["Reranker", "checked_reranker", "open_reranker"]


class Reranker(Protocol):
    """Scores texts against a question. Calls may run at the same time."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score texts.

        Args:
            query: The question.
            texts: Any number of texts.

        Returns:
            A number for each text, in their order; the higher, the better it answers the question. Only numbers of one
            call are compared.

        Raises:
            RerankerError: if the model fails.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def checked_reranker[Given: Reranker | None](reranker: Given) -> Given:
    """Refuse anything that is not a reranker, such as the name of one.

    Raises:
        InvalidInputError: saying what was given, and how to open one by name.
    """
    if reranker is not None and not all(callable(getattr(reranker, name, None)) for name in ("scores", "close")):
        raise InvalidInputError(
            f"A {type(reranker).__name__} is not a reranker: core.rag.open_reranker makes one from a name, and"
            " core.rag.Reranker lists what one of your own has to have."
        )
    return reranker


def open_reranker(model: str | None = None, settings: Settings | None = None) -> Reranker | None:
    """Open the reranker of the settings. No request is sent before the first search.

    Args:
        model: Its name on the server; ``None``: MGRAG_RERANK_MODEL.
        settings: ``None``: read from the environment.

    Returns:
        The reranker, to be closed by the caller; ``None`` if none is set, so that searches are not reranked.

    Raises:
        InvalidInputError: if the name is not text, or the settings are none.
        ConfigurationError: if a model is named, but no server for it; says what to set.
        MissingDependencyError: if the ``openai`` package is not installed.
    """
    settings = settings_for(settings)
    name = named_model(model, settings.rerank_model, "reranker", "MGRAG_RERANK_MODEL")
    if name is None:
        return None
    from core.rag.reranker.served import ServedReranker

    return ServedReranker(name, settings=settings)
