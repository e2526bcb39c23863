"""Wraps the language model for one question: once it could not be reached, it is not called again."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.rag.answering.services import Services
from core.rag.errors import LanguageModelUnreachableError
from core.rag.llm.base import Completion, Delta, LanguageModel, Message, Usage

if TYPE_CHECKING:
    from pydantic import BaseModel


def tried_once(services: Services) -> Services:
    """Return the services for one question, with a model that is not tried again once it could not be reached.

    A question is answered in several steps, each of which asks the model, and each would repeat its requests for as
    long as a server may take to start. One such wait is enough.
    """
    return services if services.model is None else replace(services, model=OneQuestionModel(services.model))


class OneQuestionModel:
    """Passes calls on to a model until one cannot connect; from then on, that error is raised at once."""

    def __init__(self, model: LanguageModel) -> None:
        """Prepare.

        Args:
            model: Who answers.
        """
        self._model = model
        self._unreachable: LanguageModelUnreachableError | None = None

    @property
    def model(self) -> str:
        """Its name."""
        return self._model.model

    @property
    def usage(self) -> Usage:
        """What all calls took until now."""
        return self._model.usage

    async def close(self) -> None:
        """Close the connections."""
        await self._model.close()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        schema: type[BaseModel] | None = None,
    ) -> Completion[Any]:
        """Ask for a whole answer; see :class:`core.rag.llm.base.LanguageModel`."""
        with self._remembered():
            return await self._model.complete(messages, temperature=temperature, max_tokens=max_tokens, schema=schema)

    async def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        """Ask for an answer in parts; see :class:`core.rag.llm.base.LanguageModel`."""
        with self._remembered():
            deltas = self._model.stream(messages, temperature=temperature, max_tokens=max_tokens)
            async with contextlib.aclosing(deltas) as parts:
                async for delta in parts:
                    yield delta

    @contextlib.contextmanager
    def _remembered(self) -> Generator[None]:
        if self._unreachable is not None:
            raise self._unreachable
        try:
            yield
        except LanguageModelUnreachableError as error:
            self._unreachable = error
            raise
