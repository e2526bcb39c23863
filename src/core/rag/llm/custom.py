"""The base of language models of one's own, which only have to turn messages into a text."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any, overload

from core.rag.errors import InvalidInputError
from core.rag.llm.base import Completion, Delta, Message, Usage
from core.rag.llm.structured import Mode, structured

if TYPE_CHECKING:
    from pydantic import BaseModel


class CustomLanguageModel(ABC):
    """A :class:`core.rag.LanguageModel` of your own, for what the OpenAI protocol does not reach.

    It defines ``model`` and ``answer``; the rest has defaults. :meth:`stream` gives the whole answer at once: override
    it if the model can do better, and :meth:`close` if there is something to close::

        class MyModel(CustomLanguageModel):
            @property
            def model(self) -> str:
                return "my-model"

            async def answer(self, messages: Sequence[Message], *, temperature: float, max_tokens: int) -> str:
                return await my_service([{"role": said.role, "content": said.content} for said in messages])
    """

    _usage = Usage()

    @property
    @abstractmethod
    def model(self) -> str:
        """Its name."""

    @abstractmethod
    async def answer(self, messages: Sequence[Message], *, temperature: float, max_tokens: int) -> str:
        """Answer messages; calls may run at the same time.

        Args:
            messages: The dialogue: of the system, the user, and the model itself.
            temperature: 0 (always the likeliest word) to 2.
            max_tokens: Maximum number of tokens of the answer.

        Returns:
            What the model wrote.

        Raises:
            LanguageModelError: if it fails. Questions are then analysed by rules, and facts are asked for again by the
                next ingest; any other error ends the call.
        """

    @property
    def usage(self) -> Usage:
        """Number and time of all calls so far; tokens are not counted."""
        return self._usage

    @overload
    async def complete(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, schema: None = None
    ) -> Completion[None]: ...

    @overload
    async def complete[Parsed: BaseModel](
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int, schema: type[Parsed]
    ) -> Completion[Parsed]: ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        schema: type[BaseModel] | None = None,
    ) -> Completion[Any]:
        """Ask for a whole answer; see :class:`core.rag.LanguageModel`. The model is told the schema in words."""

        async def ask(dialogue: list[Message]) -> Completion[None]:
            started = time.monotonic()
            text = await self.answer(dialogue, temperature=temperature, max_tokens=max_tokens)
            if not isinstance(text, str):
                raise InvalidInputError(f"The answer of {self.model} has to be text, not {type(text).__name__}.")
            usage = Usage(requests=1, seconds=time.monotonic() - started)
            self._usage += usage
            return Completion(text, None, usage=usage, model=self.model)

        if schema is None:
            return await ask(list(messages))
        told = [*messages, *Mode.TEXT.instructions(schema)]
        return await structured(ask, told, schema, name=self.model, max_tokens=max_tokens)

    async def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        """Ask for an answer in parts; see :class:`core.rag.LanguageModel`."""
        whole = await self.complete(messages, temperature=temperature, max_tokens=max_tokens)
        yield Delta(whole.text)
        yield Delta("", whole.finish_reason, whole.usage)

    async def close(self) -> None:  # noqa: B027 - there may be nothing to close
        """Close the connections, if there are any."""
