"""The schemas of arguments, in the words that every API of models takes.

Pydantic says more than models need, and than some clients can pass on: Google's SDK fails on ``additionalProperties``
that is no schema, and converters for Gemini make of "a text or null" a list of types, or no type, for which the API
refuses all tools. What is not declared is taken nevertheless (null), or refused with a better message (an argument that
a tool does not have).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NULL = {"type": "null"}
_LEFT_OUT = frozenset({"title", "additionalProperties", "$defs", "$ref", "anyOf"})


def plain(schema: Mapping[str, Any], parts: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The schema without titles and null, with the parts that it refers to in their place.

    Args:
        schema: As pydantic makes it.
        parts: Those that it refers to, by name; ``None``: its own.
    """
    parts = schema.get("$defs", {}) if parts is None else parts
    found = {name: value for name, value in schema.items() if name not in _LEFT_OUT}
    if found.get("default", ...) is None:
        del found["default"]
    if "$ref" in schema:
        found = plain(parts[schema["$ref"].rpartition("/")[2]], parts) | found
    if "anyOf" in schema:
        choices = [plain(choice, parts) for choice in schema["anyOf"] if choice != _NULL]
        found = choices[0] | found if len(choices) == 1 else {"anyOf": choices} | found
    if "properties" in found:
        found["properties"] = {name: plain(value, parts) for name, value in found["properties"].items()}
    if "items" in found:
        found["items"] = plain(found["items"], parts)
    return found
