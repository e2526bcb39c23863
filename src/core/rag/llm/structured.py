"""Structured output: how to request it, and how to parse it.

Servers differ in what they offer, so there is a ladder: a JSON schema that the server enforces, a function call, any
JSON object, and plain text that is asked to be JSON. A model goes down it when the server says that it does not know a
step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import Enum
from typing import Any

from pydantic import BaseModel, ValidationError

from core.rag.errors import StructuredOutputError
from core.rag.llm.base import Completion, LanguageModel, Message
from core.rag.llm.prompts.inputs import RepairPrompt, SchemaPrompt
from libs.regexes import regex

_FENCED = regex(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
#: How much of a broken answer goes back to be repaired.
_REPAIRED_CHARS = 20_000
_SHOWN_PROBLEMS = 8


class Mode(Enum):
    """How a structured answer is asked for."""

    SCHEMA = "response_format"
    TOOL = "tool"
    OBJECT = "json_object"
    TEXT = ""

    @property
    def below(self) -> Mode:
        """The next step down the ladder."""
        steps = list(Mode)
        return steps[min(steps.index(self) + 1, len(steps) - 1)]

    def is_unknown_to(self, message: str) -> bool:
        """Return whether a refusal is about this step."""
        words = {
            Mode.SCHEMA: ("response_format", "json_schema", "schema"),
            Mode.TOOL: ("tool", "function"),
            Mode.OBJECT: ("response_format", "json_object"),
        }.get(self, ())
        return any(word in message.casefold() for word in words)

    def options(self, schema: type[BaseModel]) -> dict[str, Any]:
        """Return the parameters of the request."""
        if self is Mode.OBJECT:
            return {"response_format": {"type": "json_object"}}
        if self is Mode.TEXT:
            return {}
        import openai

        # The form of the schema that OpenAI enforces: nothing optional, nothing beyond it.
        tool: Any = openai.pydantic_function_tool(schema)
        name = tool["function"]["name"]
        if self is Mode.TOOL:
            return {"tools": [tool], "tool_choice": {"type": "function", "function": {"name": name}}}
        strict = {"name": name, "strict": True, "schema": tool["function"]["parameters"]}
        return {"response_format": {"type": "json_schema", "json_schema": strict}}

    def instructions(self, schema: type[BaseModel]) -> list[Message]:
        """Return what has to be said where the server is not told the schema."""
        if self in (Mode.SCHEMA, Mode.TOOL):
            return []
        return SchemaPrompt(schema_text=schema_text(schema)).messages()


async def structured[Parsed: BaseModel](
    ask: Callable[[list[Message]], Awaitable[Completion[Any]]],
    messages: list[Message],
    schema: type[Parsed],
    *,
    name: str,
    max_tokens: int,
) -> Completion[Parsed]:
    """Ask for a structured answer, and once more, with what is wrong, if it does not follow the schema.

    Args:
        ask: Sends a dialogue.
        messages: The dialogue.
        schema: What the answer has to be.
        name: What the model is called.
        max_tokens: The limit of an answer.

    Raises:
        StructuredOutputError: if the second answer does not follow the schema either.
    """
    first = await ask(messages)
    parsed = parse(first.text, schema)
    if not isinstance(parsed, str):
        return replace(first, parsed=parsed)
    second = await ask(repair(messages, first.text, parsed, schema))
    parsed = parse(second.text, schema)
    if isinstance(parsed, str):
        cut = f" It was cut off at {max_tokens} tokens." if second.finish_reason == "length" else ""
        raise StructuredOutputError(
            f"{name} does not answer in the requested form, even after a second request: "
            f"{parsed}.{cut} Try another model",
            text=second.text,
        )
    return replace(second, parsed=parsed, usage=first.usage + second.usage)


def parsed_of[Parsed: BaseModel](model: LanguageModel, completion: Completion[Any], schema: type[Parsed]) -> Parsed:
    """Return the object of a structured answer; of a model that only gives a text, what can be read from it.

    Raises:
        StructuredOutputError: if there is none.
    """
    if isinstance(completion.parsed, schema):
        return completion.parsed
    parsed = parse(completion.text, schema)
    if isinstance(parsed, str):
        raise StructuredOutputError(
            f"{model.model} was asked for a {schema.__name__}, but parsed is of type "
            f"{type(completion.parsed).__name__}, and of the text: {parsed}. A model derived from "
            "core.rag.CustomLanguageModel follows schemas",
            text=completion.text,
        )
    return parsed


def schema_text(schema: type[BaseModel]) -> str:
    """Return the JSON schema of a model type, for a prompt."""
    return json.dumps(schema.model_json_schema(), ensure_ascii=False)


def parse[Parsed: BaseModel](text: str, schema: type[Parsed]) -> Parsed | str:
    """Read a structured answer.

    Args:
        text: What the model wrote; JSON, perhaps with words or a code fence around it.
        schema: What it has to be.

    Returns:
        The object, or what is wrong.
    """
    problem = "it holds no JSON object"
    for candidate in _candidates(text):
        try:
            return schema.model_validate_json(candidate)
        except ValidationError as error:
            problem = _problem(error)
    return problem


def repair(messages: list[Message], text: str, problem: str, schema: type[BaseModel]) -> list[Message]:
    """Return the dialogue that asks once more."""
    # An empty message of the assistant is refused by some servers.
    said = [Message("assistant", text[:_REPAIRED_CHARS])] if text.strip() else []
    return [*messages, *said, *RepairPrompt(problem=problem, schema_text=schema_text(schema)).messages()]


def _candidates(text: str) -> list[str]:
    begin, end = text.find("{"), text.rfind("}")
    inner = [text[begin : end + 1]] if 0 <= begin < end else []
    found = [*_FENCED.findall(text), *inner]
    # Last comes what the problem is told of.
    return [*dict.fromkeys(part.strip() for part in found)] or [text.strip()]


def _problem(error: ValidationError) -> str:
    parts = []
    for item in error.errors(include_url=False, include_input=False)[:_SHOWN_PROBLEMS]:
        place = ".".join(map(str, item["loc"]))
        parts.append(f"{place}: {item['msg']}" if place else item["msg"])
    return "; ".join(parts)
