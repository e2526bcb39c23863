"""A language model for tests: it says what it was told to say."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from core.rag.errors import StructuredOutputError
from core.rag.llm import Completion, Message, Usage
from core.rag.llm.base import Delta

#: From the last message to the answer: an object for the schema, a text, or an error to be raised.
Saying = Callable[[str], dict[str, Any] | str | Exception]


class SayingModel:
    """Answers with what a function makes of the last message."""

    def __init__(self, say: Saying) -> None:
        self._say = say
        self.asked: list[str] = []

    @property
    def model(self) -> str:
        return "saying"

    @property
    def usage(self) -> Usage:
        return Usage(requests=len(self.asked))

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        schema: type[BaseModel] | None = None,
    ) -> Completion[Any]:
        self.asked.append(messages[-1].content)
        said = self._say(messages[-1].content)
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        if schema is None:
            return Completion(text, None)
        try:
            return Completion(text, schema.model_validate_json(text))
        except ValidationError as error:
            raise StructuredOutputError("The answer does not follow the schema.", text=text) from error

    async def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        yield Delta((await self.complete(messages, temperature=temperature, max_tokens=max_tokens)).text, "stop")

    async def close(self) -> None: ...
