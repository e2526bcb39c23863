"""Language models of OpenAI, Azure OpenAI, or any server with the same protocol (Ollama, vLLM, LM Studio)."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from core.rag.errors import (
    InvalidInputError,
    LanguageModelAuthError,
    LanguageModelError,
    LanguageModelInputError,
    LanguageModelUnreachableError,
    StreamCutError,
)
from core.rag.llm.answers import AnswerPart, WholeCharacters, read_completion, read_part
from core.rag.llm.base import Completion, Delta, FinishReason, Message, Usage
from core.rag.llm.options import Options
from core.rag.llm.structured import Mode, structured
from core.rag.llm.thinking import ThinkingFilter, opened_before, without_thinking
from core.rag.openai_api import ApiClient, Served, Tally, Timing
from core.rag.openai_endpoint import find_endpoint
from core.rag.openai_events import MalformedAnswerError
from core.rag.openai_failures import ApiFailure, FailureKind, Purpose, explain
from core.rag.settings import Settings, settings_for

if TYPE_CHECKING:
    from pydantic import BaseModel, SecretStr

_PURPOSE = Purpose("answer", "MGRAG_LLM", "MGRAG_LLM_MODEL", "AZURE_OPENAI_CHAT_DEPLOYMENT")


class OpenAICompatibleModel(Served):
    """Any chat model behind the OpenAI protocol.

    The endpoint is ``base_url``, else MGRAG_LLM_BASE_URL, else OPENAI_BASE_URL, else Azure OpenAI (AZURE_OPENAI_API_KEY
    and AZURE_OPENAI_ENDPOINT), else OpenAI (OPENAI_API_KEY). A server on one's own machine needs no key. Parameters
    that a server or model refuses (``temperature``, ``max_tokens``, ``stream_options``, JSON schemas) are replaced or
    left out from then on.

    Args:
        model: The name of the model, as the server calls it.
        base_url: The endpoint.
        api_key: The key.
        settings: The environment; read if None.

    Raises:
        ConfigurationError: No key and no endpoint; says what to set.
        MissingDependencyError: The ``openai`` package is not installed.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | SecretStr | None = None,
        *,
        settings: Settings | None = None,
        _timing: Timing | None = None,
    ) -> None:
        settings = settings_for(settings)
        endpoint = find_endpoint(
            settings, f"The language model {model}", "llm", base_url=base_url, api_key=api_key, azure_first=False
        )
        self._model = model
        self._settings = settings
        self._options = Options()
        self._mode = Mode.SCHEMA
        #: Its answers begin amid the thinking, because its chat template opens it.
        self._thinks_first = False
        self._usage = Usage()
        self._api = ApiClient(
            endpoint,
            timeout=settings.llm_timeout,
            concurrency=settings.llm_concurrency,
            deadline=settings.llm_retry_deadline,
            azure_deployment=settings.azure_openai_chat_deployment or model,
            timing=_timing,
        )

    @property
    def usage(self) -> Usage:
        """What all calls took until now, failed ones included."""
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
        """Ask for a whole answer; see :class:`core.rag.llm.base.LanguageModel`."""
        dialogue = _checked(messages)
        if schema is None:
            return await self._ask(dialogue, temperature, max_tokens, None)
        return await structured(
            lambda said: self._ask(said, temperature, max_tokens, schema),
            dialogue,
            schema,
            name=self._model,
            max_tokens=max_tokens,
        )

    async def stream(
        self, messages: Sequence[Message], *, temperature: float, max_tokens: int
    ) -> AsyncGenerator[Delta, None]:
        """Ask for an answer in parts; see :class:`core.rag.llm.base.LanguageModel`."""
        dialogue = _checked(messages)
        tally, started = Tally(), time.monotonic()
        said: list[str] = []
        received: list[str] = []
        thinks_first = self._thinks_first
        thinking, characters = ThinkingFilter(opened=thinks_first), WholeCharacters()
        last = AnswerPart()
        try:
            async with contextlib.aclosing(self._events(dialogue, temperature, max_tokens, tally)) as parts:
                async for part in parts:
                    last = last.followed_by(part)
                    said.append(whole := characters.feed(part.text))
                    if text := thinking.feed(whole):
                        received.append(text)
                        yield Delta(text)
        except ApiFailure as failure:
            if not received:
                raise self._error(failure) from failure
            raise StreamCutError(
                f"The answer of {self._model} ended too early: {failure}. Ask again", received="".join(received)
            ) from failure
        finally:
            usage = self._counted(last.usage, tally, started)
        if last.finish_reason is None:
            raise StreamCutError(
                f"The answer of {self._model} ended too early, without giving a reason. Ask again",
                received="".join(received),
            )
        # What began amid the thinking and ran out of tokens without its end is nothing else.
        only_thought = thinks_first and not received and last.finish_reason == "length"
        self._thinks_first = only_thought or opened_before("".join(said))
        if text := "" if only_thought else thinking.feed(characters.end()) + thinking.end():
            received.append(text)
            yield Delta(text)
        if not received and (last.refusal or last.finish_reason == "content_filter"):
            raise self._withheld(last.refusal)
        yield Delta("", last.finish_reason, usage)

    async def _events(
        self, messages: list[Message], temperature: float, max_tokens: int, tally: Tally
    ) -> AsyncGenerator[AnswerPart, None]:
        """Yield the parts as they arrive; with other parameters where the server refuses some."""
        while True:
            options = self._options.streamed(temperature, max_tokens)
            options["messages"] = self._options.dialogue(messages)
            try:
                async with contextlib.aclosing(
                    self._api.stream(
                        lambda client: client.chat.completions.with_raw_response.create(
                            model=self._model,
                            stream=True,
                            **options,  # noqa: B023 - called before the next round
                        ),
                        read_completion,
                        tally,
                    )
                ) as events:
                    async for event in events:
                        if isinstance(event, AnswerPart):
                            yield replace(event, finish_reason=event.finish_reason or "stop")
                            return
                        if event.strip() == "[DONE]":
                            yield AnswerPart(finish_reason="stop")
                            return
                        yield self._read_event(event)
                return
            except ApiFailure as failure:
                if not self._options.adapt(failure, options):
                    raise

    def _read_event(self, event: str) -> AnswerPart:
        try:
            return read_part(json.loads(event))
        except MalformedAnswerError as error:
            raise ApiFailure(FailureKind.UNAVAILABLE, self._api.redact(str(error))) from None
        except ValueError as error:
            raise ApiFailure(FailureKind.MALFORMED, f"a part of the answer is not JSON ({error})") from error

    async def _ask(
        self, messages: list[Message], temperature: float, max_tokens: int, schema: type[BaseModel] | None
    ) -> Completion[Any]:
        tally, started = Tally(), time.monotonic()
        used: dict[str, Any] = {}
        try:
            answer = await self._request(messages, temperature, max_tokens, schema, tally)
            used = answer.usage
        except ApiFailure as failure:
            raise self._error(failure) from failure
        finally:
            usage = self._counted(used, tally, started)
        text = answer.arguments if schema and answer.arguments else answer.text
        self._thinks_first = self._thinks_first or opened_before(text)
        finish: FinishReason = answer.finish_reason or "stop"
        if answer.refusal or (finish == "content_filter" and not text):
            raise self._withheld(answer.refusal)
        return Completion(without_thinking(text), None, finish, usage, answer.model or self._model)

    async def _request(
        self,
        messages: list[Message],
        temperature: float,
        max_tokens: int,
        schema: type[BaseModel] | None,
        tally: Tally,
    ) -> AnswerPart:
        while True:
            mode = self._mode
            options = self._options.plain(temperature, max_tokens)
            form = mode.options(schema) if schema else {}
            said = [*messages, *(mode.instructions(schema) if schema else [])]
            options["messages"] = self._options.dialogue(said)
            try:
                return await self._api.call(
                    lambda client: client.chat.completions.with_raw_response.create(
                        model=self._model,
                        **options,  # noqa: B023 - called before the next round
                        **form,  # noqa: B023
                    ),
                    read_completion,
                    tally,
                )
            except ApiFailure as failure:
                if self._options.adapt(failure, options):
                    continue
                if not form or failure.status not in (400, 404, 422, 501) or not mode.is_unknown_to(failure.message):
                    raise
                self._mode = mode.below

    def _counted(self, used: dict[str, Any], tally: Tally, started: float) -> Usage:
        def number(name: str) -> int:
            value = used.get(name)
            return value if type(value) is int and value >= 0 else 0

        sent, received = number("prompt_tokens"), number("completion_tokens")
        prices = (self._settings.llm_price_input, self._settings.llm_price_output)
        cost = None
        if prices[0] is not None and prices[1] is not None:
            cost = (sent * prices[0] + received * prices[1]) / 1_000_000
        usage = Usage(sent, received, tally.requests, tally.retries, cost, time.monotonic() - started)
        self._usage += usage
        return usage

    def _withheld(self, reason: str = "") -> LanguageModelInputError:
        words = f": {self._api.redact(reason[:300])}" if reason else ""
        return LanguageModelInputError(f"{self._model} refused to answer{words}. Rephrase the question")

    def _error(self, failure: ApiFailure) -> LanguageModelError:
        message = explain(failure, self._api.endpoint, self._model, _PURPOSE)
        if failure.kind is FailureKind.AUTH:
            return LanguageModelAuthError(message)
        if failure.kind is FailureKind.UNAVAILABLE and failure.unreached:
            return LanguageModelUnreachableError(message)
        if failure.status in (400, 413, 422):
            return LanguageModelInputError(f"{self._model} does not take this: {failure}")
        return LanguageModelError(message)


def _checked(messages: Sequence[Message]) -> list[Message]:
    if not messages:
        raise InvalidInputError("There is nothing to send: messages is empty.")
    return list(messages)
