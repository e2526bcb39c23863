"""Descriptions of interfaces (OpenAPI, Swagger): a section for each operation and each schema, which says what it is.

In the files, what an operation is called, where it is reached, and what it takes and returns are apart from each other,
and only their nesting tells what they are of.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from libs.dataloader.formats.api_schemas import fields_of, kind_of, line_of, one_line, referred, rest_of, text_of
from libs.dataloader.formats.base import Content, TextBuilder, UnreadableError, closed, escaped, fenced, lowered
from libs.dataloader.formats.json_outline import flat, indented
from libs.dataloader.formats.rows import Records
from libs.dataloader.text import clean_text
from libs.regexes import regex

_VERSIONS: Final = ("openapi", "swagger")
_PARTS: Final = ("paths", "webhooks", "components", "definitions")
_METHODS: Final = ("get", "put", "post", "delete", "patch", "head", "options", "trace", "query")
_OF_OPERATION: Final = frozenset(
    ("operationId", "summary", "description", "parameters", "requestBody", "responses", "security", "tags")
)
_OF_MEDIA: Final = frozenset(("schema", "example", "examples"))
#: What of a parameter or response that others refer to is repeated with each of them; all of it has a section.
_LONGEST_REPEATED: Final = 300
_MOST_STEPS: Final = 10
_LONGEST_SUMMARY: Final = 120
_WORD: Final = regex(r"\w+")
_REFERS: Final = regex(r"(?:^|\.)\$ref: ")
_USUAL_WORDS: Final = ("true", "false", "object")
#: What components of a kind are called in headings.
_CALLED: Final = {
    "schemas": "Schema",
    "definitions": "Schema",
    "requestBodies": "Request body",
    **dict.fromkeys(("securitySchemes", "securityDefinitions"), "Security scheme"),
}


def read_description(data: Any) -> Content | None:
    """Convert a description that was parsed; ``None`` if it is none, or nested too deeply to be read as one.

    Operations are records. Other parts of the file than those that are known are lines of the form ``a.b: value``.
    """
    if not isinstance(data, dict) or not any(isinstance(data.get(name), str | int | float) for name in _VERSIONS):
        return None
    return describe(data) if any(isinstance(data.get(name), dict) for name in _PARTS) else None


def describe(data: Mapping[str, Any]) -> Content | None:
    """Convert what has the parts of a description, whatever it calls itself; ``None`` if it is nested too deeply."""
    try:
        return _Description(data).content()
    except (RecursionError, UnreadableError):  # nested too deeply, or too long with what is repeated
        return None


class _Description:
    """One description.

    Args:
        data: The whole file.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._builder = TextBuilder()
        self._starts = array("Q")
        self._records: list[dict[str, Any]] = []

    def content(self) -> Content:
        """Return the text, with its operations as records."""
        info = self._data.get("info")
        info = info if isinstance(info, dict) else {"info": info}
        title = one_line(info.get("title"))[:500] or None
        self._builder.mark("list", "overview")
        self._overview(info, title)
        for part in ("paths", "webhooks"):
            for path, item in _items(self._data.get(part)):
                self._path(path, item, "" if part == "paths" else "webhook ")
        for name, parts in self._components():
            for key, value in _items(parts):
                self._component(name, key, value)
        self._others()
        if not any(record["deprecated"] for record in self._records):
            for record in self._records:
                del record["deprecated"]
        return Content(
            self._builder.text(),
            "markdown",
            title,
            {"row_count": len(self._starts)},
            locations=self._builder.locations,
            records=Records(self._starts, self._records.__getitem__),
        )

    def _overview(self, info: Mapping[str, Any], title: str | None) -> None:
        self._heading(1, title or "API")
        self._text(info.get("description"), 1)
        servers = [server for server in _list(self._data.get("servers")) if isinstance(server, dict)]
        tags = [tag for tag in _list(self._data.get("tags")) if isinstance(tag, dict) and tag.get("name")]
        self._list(
            "Servers (base URLs):",
            (line_of(text_of(server.get("url")), (), server, without=("url",)) for server in servers),
        )
        self._list("Tags:", (line_of(text_of(tag["name"]), (), tag, without=("name",)) for tag in tags))
        self._lines(flat({key: value for key, value in info.items() if key not in ("title", "description")}))
        self._lines(_security(self._data.get("security"), ""))
        told = {"info", "servers", "tags", "security", "components", *_PARTS, *dict(self._components())}
        self._lines(flat({key: value for key, value in self._data.items() if key not in told}))

    def _others(self) -> None:
        """Write what the text does not say, since it stands where it is not looked for."""
        words = {*_USUAL_WORDS, *_WORD.findall(self._builder.text())}
        lines = (line for line in flat(self._data) if not _REFERS.search(line))
        if others := [line for line in lines if not words.issuperset(_WORD.findall(line.partition(": ")[2]))]:
            self._heading(2, "Others")
            self._lines(others)

    def _components(self) -> Iterator[tuple[str, Any]]:
        components = self._data.get("components")
        if isinstance(components, dict):
            yield from ((name, parts) for name, parts in components.items() if isinstance(parts, dict))
        for name in ("definitions", "parameters", "responses", "securityDefinitions"):  # Swagger
            if isinstance(self._data.get(name), dict):
                yield name, self._data[name]

    def _path(self, path: str, item: Any, before: str) -> None:
        methods = {key: value for key, value in _items(item) if key.lower() in _METHODS and isinstance(value, dict)}
        shared = _list(item.get("parameters")) if isinstance(item, dict) else []
        for method, operation in methods.items():
            self._operation(f"{before}{method.upper()}", path, operation, shared)
        told = {*methods, *(("parameters",) if methods else ())}
        others = {key: value for key, value in _items(item) if key not in told}
        if others or not isinstance(item, dict):
            self._heading(2, path)
            self._lines(flat(others or item))

    def _operation(self, method: str, path: str, operation: Mapping[str, Any], shared: list[Any]) -> None:
        name, about = one_line(operation.get("operationId")), operation.get("description")
        summary = one_line(operation.get("summary")) or one_line(about).partition(". ")[0][:_LONGEST_SUMMARY]
        summary = summary.rstrip(".")
        address = f"{method} {path}"
        of, called = name or address, f"{address} ({name})" if name else address
        self._builder.separate()
        if not self._starts:
            self._builder.mark("list", "operations")
        start = self._builder.position
        self._heading(2, f"{called}: {summary}" if summary else called)
        self._lines((f"{summary}: {called}" if summary else f"{of}: {address}",))
        if one_line(about).rstrip(".") != summary:
            self._text(about, 2)
        parameters = [*_list(operation.get("parameters")), *shared]
        self._list(f"Parameters of {of}:", map(self._parameter, parameters))
        self._body(operation.get("requestBody"), of)
        responses = operation.get("responses")
        self._list(f"Responses of {of}:", (self._response(code, one) for code, one in _items(responses)))
        for code, response in _items(responses):
            self._media(response, f"response {code} of {of}")
        rest = {key: value for key, value in operation.items() if key not in _OF_OPERATION}
        self._lines(
            (
                *_security(operation.get("security"), f" of {of}"),
                *([f"Tags: {', '.join(map(text_of, tags))}"] if (tags := _list(operation.get("tags"))) else ()),
                *flat(rest),
            )
        )
        self._starts.append(start)
        names = (text_of(one["name"]) for one in map(self._resolved, parameters) if one.get("name"))
        self._records.append(
            {
                "operation": address,
                **({"operationId": name} if name else {}),
                "method": method,
                "summary": summary,
                "tags": [*map(text_of, _list(operation.get("tags")))],
                "parameters": [*names],
                "returns": [code for code, _ in _items(responses)],
                "deprecated": operation.get("deprecated") in (True, "true"),
            }
        )

    def _parameter(self, parameter: Any) -> str:
        """Return the line of a parameter."""
        one, cut = self._resolved(parameter), isinstance(parameter, dict) and "$ref" in parameter
        if not one.get("name"):
            return f"- {'; '.join(flat(parameter))}"
        schema = one.get("schema")
        own = schema if isinstance(schema, dict) else {}
        required = "required" if one.get("required") in (True, "true") else ""
        known = ("name", "in", "required", *(("schema",) if own else ()))
        notes = (text_of(one.get("in")), kind_of(own or one), required)
        line = line_of(text_of(one["name"]), notes, one, own, without=known)
        return _cut(line) if cut else "\n".join((line, *fields_of(own, f"{text_of(one['name'])}.")))

    def _body(self, body: Any, of: str) -> None:
        one = self._resolved(body)
        if not one and body is None:
            return
        types = ", ".join(key for key, _ in _items(one.get("content")))
        notes = ", ".join(filter(None, (types, "required" if one.get("required") in (True, "true") else "")))
        kinds = _kinds(one)
        line = f"Request body of {of}{f' ({notes})' if notes else ''}{f': {kinds}' if kinds else ''}"
        line = line_of(line, (), one, without=("content", "required"))[2:]
        if isinstance(body, dict) and "$ref" in body:
            line = f"{_cut(line)} ({referred(body)})"
        self._lines((line,))
        self._media(body, f"the body of {of}")

    def _response(self, code: str, response: Any) -> str:
        one = self._resolved(response)
        types = ", ".join(key for key, _ in _items(one.get("content")))
        kinds = _kinds(one)
        returns = f"returns {kinds}{f' ({types})' if types else ''}" if kinds else types
        line = line_of(code, (returns,), one, without=("content", "schema", "examples", "headers"))
        return _cut(line) if isinstance(response, dict) and "$ref" in response else line

    def _media(self, holder: Any, of: str) -> None:
        """Write what the contents of a body or response have: fields that have no name elsewhere, and examples."""
        if not isinstance(holder, dict) or "$ref" in holder:
            return
        if headers := [text_of({name: header}) for name, header in _items(holder.get("headers"))]:
            self._lines((f"Headers of {of}: {'; '.join(headers)}",))
        contents = [*_items(holder.get("content")), *((("", holder),) if "schema" in holder else ())]
        seen: set[str] = set()
        for kind, media in contents:
            if not isinstance(media, dict):
                continue
            schema = media.get("schema")
            if (alike := repr(schema)) not in seen:
                seen.add(alike)
                if isinstance(schema, dict) and "$ref" not in schema and (about := line_of("", (), schema)[4:]):
                    self._lines((f"{of[0].upper()}{of[1:]}: {about}",))
                self._list(f"Fields of {of}:", fields_of(schema, ""))
            self._examples(media, of)
            if kind:
                self._lines(flat({key: value for key, value in media.items() if key not in _OF_MEDIA}, kind))

    def _examples(self, media: Mapping[str, Any], of: str) -> None:
        examples = media.get("examples")
        named = _items(examples) if isinstance(examples, dict) else [("", one) for one in _list(examples)]
        if "example" in media:
            named.append(("", media["example"]))
        elsewhere = [referred(one) for _, one in named if isinstance(one, dict) and set(one) == {"$ref"}]
        if elsewhere:
            self._lines((f"Examples: {', '.join(elsewhere)}",))
        for name, example in named:
            if isinstance(example, dict) and set(example) == {"$ref"}:
                continue
            about, value, rest = name, example, {}
            if isinstance(example, dict) and "value" in example:
                value = example["value"]
                about = ": ".join(dict.fromkeys(filter(None, (name, one_line(example.get("summary"))))))
                rest = {key: inner for key, inner in example.items() if key not in ("value", "summary")}
            introduction = f"Example of {of}{f' ({about})' if about else ''}:"
            self._lines(flat(rest))
            if isinstance(value, dict | list):
                self._builder.block(f"{introduction}\n\n{fenced(clean_text(indented(value)), 'yaml')}")
            elif value not in (None, ""):
                self._lines((f"{introduction} {text_of(value)}",))

    def _component(self, part: str, name: str, value: Any) -> None:
        called = _CALLED.get(part, part.removesuffix("s").capitalize())
        self._builder.separate()
        marks = self._builder.locations["list"]
        if marks[-1][1] != part:
            self._builder.mark("list", part)
        self._heading(2, f"{called} {name}")
        if not isinstance(value, dict):
            self._lines(flat(value, name))
        elif called == "Schema":
            self._text(value.get("description"), 2)
            kind = kind_of(value)
            fields = list(fields_of(value, ""))
            if not fields or kind != "object":
                self._lines((f"{name} is {kind}.",))
            self._list(f"Fields of {name}:", fields)
            self._lines(rest_of(value))
            self._examples(value, name)
        elif part == "parameters":
            self._lines((self._parameter(value),))
        elif part == "requestBodies":
            self._body(value, name)
        elif part == "responses":
            self._lines((self._response(name, value),))
            self._media(value, name)
        else:
            self._text(value.get("description"), 2)
            self._lines(flat({key: inner for key, inner in value.items() if key != "description"}))

    def _resolved(self, value: Any) -> Mapping[str, Any]:
        """Return what a reference within the file leads to; nothing if it is no object."""
        for _ in range(_MOST_STEPS):
            pointer = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(pointer, str) or not pointer.startswith("#/"):
                break
            found: Any = self._data
            for part in pointer[2:].split("/"):
                found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
            value = found
        return value if isinstance(value, dict) else {}

    def _heading(self, level: int, text: str) -> None:
        self._builder.block(f"{'#' * level} {one_line(text) or '-'}")

    def _text(self, text: Any, level: int) -> None:
        """Write Markdown below a heading of a level."""
        if isinstance(text, str):
            made = closed(clean_text(text).strip())
            for _ in range(level):
                made = lowered(made)
            self._builder.block(made)
        elif text is not None:
            self._lines(flat(text, "description"))

    def _list(self, introduction: str, lines: Iterable[str]) -> None:
        if made := [line for line in lines if line.strip("- ")]:
            self._builder.block(f"{introduction}\n\n" + clean_text("\n".join(made)))

    def _lines(self, lines: Iterable[str]) -> None:
        self._builder.block("\n".join(escaped(clean_text(line)) for line in lines if line.strip()))


def _items(value: Any) -> list[tuple[str, Any]]:
    return [(str(key), inner) for key, inner in value.items()] if isinstance(value, dict) else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _kinds(holder: Mapping[str, Any]) -> str:
    """Return what kinds of values a body or response may have."""
    media = [one for _, one in _items(holder.get("content")) if isinstance(one, dict)]
    schemas = [one.get("schema") for one in media] or [holder.get("schema")]
    return " or ".join(dict.fromkeys(kind_of(schema) for schema in schemas if isinstance(schema, dict)))


def _security(requirements: Any, of: str) -> Iterator[str]:
    """Yield the line that says which of the security schemes are needed, and for what."""
    said: list[str] = []
    for one in _list(requirements):
        schemes = (
            f"{name} ({', '.join(map(text_of, _list(scopes)))})" if scopes else name for name, scopes in _items(one)
        )
        said.append(" and ".join(schemes) or (text_of(one) if one else "none"))
    if said:
        yield f"Security (authentication){of}: {', or '.join(said)}"


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_REPEATED else line[: _LONGEST_REPEATED - 1].rstrip() + "…"
