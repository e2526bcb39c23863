"""Schemas in descriptions of interfaces: their fields as lines, which say what kind of value each has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from libs.dataloader.formats.json_outline import flat

_DEEPEST: Final = 20
_SEVERAL: Final = ("allOf", "oneOf", "anyOf")
#: What a schema has that its line or its fields tell; ``required`` is told of the fields.
_TOLD: Final = frozenset(("type", "format", "items", "$ref", "properties", "required", "description", *_SEVERAL))
_SAID: Final = {"enum": "one of"}
#: What is so where nothing is said.
_USUAL: Final = frozenset(("required", "deprecated", "nullable", "readOnly", "writeOnly", "allowEmptyValue"))
_SHORT: Final = 200  # characters


def text_of(value: Any) -> str:
    """Return a value in one line; an object as its fields."""
    if isinstance(value, dict | list):
        return "; ".join(map(_by_name, flat(value)))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _by_name(line: str) -> str:
    """Return a line with the name of what it refers to, once."""
    place, found, pointer = line.rpartition("$ref: ")
    if not found:
        return line
    name, place = referred({"$ref": pointer}), place.rstrip(".")
    return f"{place}: {name}" if place not in ("", name) else name


def one_line(value: Any) -> str:
    """Return a value with single blanks and without line ends."""
    return " ".join(text_of(value).split())


def referred(value: Mapping[str, Any]) -> str:
    """Return the name of what a value refers to: that of the component, or the address as it is."""
    pointer = text_of(value.get("$ref"))
    parts = pointer.split("/")
    by_name = pointer.startswith(("#/components/", "#/definitions/", "#/parameters/", "#/responses/"))
    return parts[-1].replace("~1", "/").replace("~0", "~") if by_name and len(parts) in (3, 4) else pointer


def kind_of(schema: Any, depth: int = 0) -> str:
    """Return the kind of values that a schema stands for, such as "array of Pet" or "string (date-time)"."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return text_of(schema)[:200]
    if "$ref" in schema:
        return referred(schema)
    kinds = schema.get("type")
    name = " or ".join(map(text_of, kinds)) if isinstance(kinds, list) else text_of(kinds)
    if "items" in schema:
        return f"{name or 'array'} of {kind_of(schema['items'], depth + 1) or 'any'}"
    for word, several in (("", "allOf"), ("one of ", "oneOf"), ("any of ", "anyOf")):
        if isinstance(schema.get(several), list) and not name:
            among = filter(None, (kind_of(one, depth + 1) for one in schema[several]))
            return word + (" and " if not word else ", ").join(dict.fromkeys(among))
    form = text_of(schema.get("format"))
    name = name or ("object" if "properties" in schema else "")
    return f"{name} {form}".strip()


def line_of(name: str, notes: Iterable[str], *values: Mapping[str, Any], without: Collection[str] = ()) -> str:
    """Return the line of something with a name: what it is, in brackets, and its description.

    Args:
        name: Its name.
        notes: What stands first in the brackets.
        values: What describes it.
        without: What of that is told elsewhere.
    """
    short, about = [*filter(None, notes)], []
    for value in values:
        text = one_line(value.get("description")) if "description" not in without else ""
        about += [text] if text else []
        for key, inner in value.items():
            if key in without or key in _TOLD or inner is None or inner == "" or (inner is False and key in _USUAL):
                continue
            said = ", ".join(map(one_line, inner)) if isinstance(inner, list) else one_line(inner)
            said = f"{_SAID.get(key, key)}: {said}"
            (short if len(said) <= _SHORT else about).append(said)
    brackets, said = f" ({'; '.join(short)})" if short else "", f": {' '.join(about)}" if about else ""
    return f"- {one_line(f'{name}{brackets}{said}')}"


def rest_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield lines for what a schema with a section of its own says besides its description and fields."""
    for key, inner in schema.items():
        if key in ("example", "examples") or key in _TOLD or inner is None or inner == "":
            continue
        if key in _SAID and isinstance(inner, list) and not any(isinstance(one, dict | list) for one in inner):
            yield f"{_SAID[key].capitalize()}: {', '.join(map(text_of, inner))}"
        else:
            yield from flat(inner, _SAID.get(key, key))


def fields_of(schema: Any, prefix: str, depth: int = 0) -> Iterator[str]:
    """Yield a line for each field of a schema, those within others under a path: ``address.city``, ``items[].sku``.

    What is referred to has a section of its own. What is nested more deeply than anybody would is left out.
    """
    if not isinstance(schema, dict) or "$ref" in schema or depth > _DEEPEST:
        return
    properties = schema.get("properties")
    required = schema.get("required")
    needed = set(map(text_of, required)) if isinstance(required, list) else set()
    if isinstance(properties, dict):
        for key, value in properties.items():
            if not isinstance(value, dict):
                yield f"- {prefix}{key}: {text_of(value)}"
                continue
            yield line_of(f"{prefix}{key}", (kind_of(value), "required" if str(key) in needed else ""), value)
            yield from fields_of(value, f"{prefix}{key}.", depth + 1)
    for missing in sorted(needed - set(map(str, properties)) if isinstance(properties, dict) else needed):
        yield f"- {prefix}{missing} (required)"
    if "items" in schema:
        inner = schema["items"]
        if isinstance(inner, dict) and "$ref" not in inner:
            if not (_TOLD - {"description"}).issuperset(inner):
                yield line_of(f"{prefix.rstrip('.')}[]", (kind_of(inner),), inner)
            yield from fields_of(inner, f"{prefix.rstrip('.')}[].", depth + 1)
    for several in _SEVERAL:
        for one in among if isinstance(among := schema.get(several), list) else ():
            if isinstance(one, dict) and not (_TOLD - {"description"}).issuperset(one):
                yield line_of(prefix.rstrip(".") or several, (kind_of(one),), one)
            yield from fields_of(one, prefix, depth + 1)
