"""The interface of a language model; any object with these methods can be used."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, overload

from pydantic import BaseModel

from core.rag.errors import InvalidInputError

Role = Literal["system", "user", "assistant"]

#: Why a model stopped: done, out of ``max_tokens``, or withheld by the provider.
FinishReason = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a dialogue with a model.

    Attributes:
        role: Who says it.
        content: What is said; text of documents only inside a fence (``core.rag.llm.fence``).
    """

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one or several calls.

    Attributes:
        prompt_tokens: Tokens sent, as counted by the server (0 if it does not count).
        completion_tokens: Tokens received.
        requests: HTTP requests, including repairs and retries.
        retries: Requests repeated after an error.
        cost: US dollars; ``None`` if the price of the model is not set.
        seconds: Wall time, including waits between retries.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    retries: int = 0
    cost: float | None = None
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Return the sum; its cost is that of the calls with a known cost."""
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            requests=self.requests + other.requests,
            retries=self.retries + other.retries,
            cost=sum(costs) if costs else None,
            seconds=self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Completion[Parsed]:
    """A whole answer.

    Attributes:
        text: What the model wrote.
        parsed: With a schema: the validated object; else ``None``.
        finish_reason: Why it stopped.
        usage: The usage of the call.
        model: The model that answered, as the server names it.
    """

    text: str
    parsed: Parsed
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """A part of a streamed answer.

    Attributes:
        text: What was added; empty in the last part.
        finish_reason: In the last part only: why the model stopped.
        usage: In the last part only: what the call took.
    """

    text: str
    finish_reason: FinishReason | None = None
    usage: Usage | None = None


class LanguageModel(Protocol):
    """A model that answers messages. Calls may run at the same time."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    @property
    def usage(self) -> Usage:
        """The usage of all calls so far."""
        ...

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
        """Ask for a whole answer.

        Args:
            messages: The dialogue so far, at least one message.
            temperature: 0 (always the likeliest word) to 2.
            max_tokens: Maximum number of tokens of the answer.
            schema: A pydantic model type; the answer is JSON of this form, validated. An invalid answer is sent back
                once, with the error.

        Returns:
            The answer; with a schema ``parsed`` is an instance of it.

        Raises:
            StructuredOutputError: if neither the answer nor its repair follows the schema; has the text.
            LanguageModelInputError: if the messages are too long, or the provider withholds the answer.
            LanguageModelAuthError: if the key is refused.
            LanguageModelUnreachableError: if no connection is possible until the deadline.
            LanguageModelError: on any other error that lasts until the deadline.
        """
        ...

    def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        """Ask for an answer in parts, as they arrive.

        Close the generator (``contextlib.aclosing``) when leaving early; this, or cancelling the task, ends it.

        Yields:
            Parts of the text; the last one, without text, has ``finish_reason`` and ``usage``.

        Raises:
            StreamCutError: if the stream ends before the answer does; has what was received.
            LanguageModelError: as in :meth:`complete`; only before the first part.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def checked_model[Model: LanguageModel | None](model: Model, *needs: str) -> Model:
    """Refuse anything that is not a language model, such as the name of one.

    Args:
        model: The model, or ``None``.
        needs: The methods that it needs here besides ``complete``.

    Returns:
        The model, or ``None``.

    Raises:
        InvalidInputError: saying what was given, and how to open a model by name.
    """
    if model is not None and not callable(getattr(model, "complete", None)):
        raise InvalidInputError(
            f"A {type(model).__name__} is not a language model: core.rag.open_language_model makes one from a name."
        )
    missing = [name for name in needs if model is not None and not callable(getattr(model, name, None))]
    if missing:
        raise InvalidInputError(
            f"A {type(model).__name__} is not a language model without {' and '.join(missing)}:"
            " core.rag.LanguageModel lists its methods."
        )
    if inspect.iscoroutinefunction(getattr(model, "stream", None)):
        raise InvalidInputError(
            f"The stream of a {type(model).__name__} has to be an asynchronous generator (async def with yield), not an"
            " asynchronous function."
        )
    return model
