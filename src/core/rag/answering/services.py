"""The services that answering needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from core.rag.answering.context import TOKEN_BUDGET
from core.rag.arguments import check_optional
from core.rag.errors import InvalidInputError

if TYPE_CHECKING:
    from core.rag.dbhandler import MemGraphClient
    from core.rag.embedder import EmbeddingService
    from core.rag.llm import LanguageModel
    from core.rag.retrieval.hits import Hit, SearchMode


class AnsweringBase(Protocol):
    """What is needed of a knowledge base."""

    @property
    def client(self) -> MemGraphClient:
        """The graph."""
        ...

    @property
    def embedder(self) -> EmbeddingService:
        """Its embedding service."""
        ...

    @property
    def language_model(self) -> LanguageModel | None:
        """Its language model; ``None``: answers are extracts."""
        ...

    async def search(
        self,
        query: str,
        k: int = 5,
        mode: SearchMode = "auto",
        *,
        filters: str | Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
        user_id: str | None = None,
    ) -> list[Hit]:
        """See :meth:`core.rag.KnowledgeBase.search`."""
        ...


def checked_base[Base: AnsweringBase](kb: Base) -> Base:
    """Refuse anything that is not a knowledge base, such as its client.

    Raises:
        InvalidInputError: saying what was given.
    """
    if not callable(getattr(kb, "search", None)) or not hasattr(kb, "language_model"):
        raise InvalidInputError(f"A {type(kb).__name__} is not a knowledge base: KnowledgeBase.open opens one.")
    return kb


def checked_instructions(client: MemGraphClient, instructions: str | None) -> str:
    """Return what a model is told besides about its answers; ``None``: what the settings say.

    Raises:
        InvalidInputError: if it is not text.
    """
    check_optional(instructions=instructions)
    return client.settings.answer_instructions if instructions is None else instructions


@dataclass(frozen=True, slots=True)
class Services:
    """What an answer is made with.

    Attributes:
        kb: The knowledge base.
        model: The language model; ``None``: answers are extracts.
        search: What is handed on to every search: ``filters``, ``conversation_id``, ``user_id``.
        dialogue: What was said before, for the model.
        before: What of it the question goes on with.
        earlier: The questions before it, the newest first.
        given: What earlier answers said, if more is asked for; extracts leave it out.
        passages: How many passages the search gives.
        token_budget: Tokens of the context at most.
        asked: A model writes if there is one; false where extracts are wanted in any case.
        instructions: What the model is told besides, by the caller.
    """

    kb: AnsweringBase
    model: LanguageModel | None = None
    search: dict[str, Any] = field(default_factory=dict)
    dialogue: str = ""
    before: str = ""
    earlier: tuple[str, ...] = ()
    given: str = ""
    passages: int = 5
    token_budget: int = TOKEN_BUDGET
    asked: bool = True
    instructions: str = ""
