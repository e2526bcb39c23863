"""Collections of requests (Postman): descriptions of interfaces, with an operation for each request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from libs.dataloader.formats.api_description import describe
from libs.dataloader.formats.base import Content

_SCHEMA: Final = "getpostman.com/json/collection/"
#: What of an item is told as a part of an operation, or is for programs: a saved response repeats its request.
_OF_ITEM: Final = frozenset(("name", "request", "response", "item", "id", "_postman_id", "protocolProfileBehavior"))
_OF_REQUEST: Final = frozenset(("method", "url", "header", "body", "description"))
_MEDIA_TYPES: Final = {"json": "application/json", "xml": "application/xml", "graphql": "application/graphql"}


def read_collection(data: Any) -> Content | None:
    """Convert a collection that was parsed; ``None`` if it is none."""
    info = data.get("info") if isinstance(data, dict) else None
    if not isinstance(info, dict) or _SCHEMA not in str(info.get("schema")) or not isinstance(data.get("item"), list):
        return None
    paths: dict[str, dict[str, Any]] = {}
    tags: list[dict[str, Any]] = []
    for folders, item in _items(data["item"]):
        if "request" not in item:
            tags.append({"name": " > ".join((*folders, str(item.get("name")))), "description": _text(item)})
            continue
        request = item["request"] if isinstance(item["request"], dict) else {"url": item["request"]}
        url = request.get("url")
        address = str((url.get("raw") if isinstance(url, dict) else url) or "").partition("?")[0] or "/"
        method, place, number = str(request.get("method") or "GET").lower(), address, 1
        while method in paths.get(place, ()):
            place, number = f"{address} ({number + 1})", number + 1
        paths.setdefault(place, {})[method] = _operation(item, request, url, folders)
    told = {"title": info.get("name"), "description": _text(info), "version": info.get("version")}
    rest = {key: value for key, value in data.items() if key not in ("info", "item")}
    known = {key: value for key, value in told.items() if value}
    return describe({**rest, "info": known, "tags": tags, "paths": paths})


def _items(items: list[Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield folders and requests, each with the names of the folders that it is in, in the order of the file."""
    left: list[tuple[tuple[str, ...], Any]] = [((), item) for item in reversed(items)]
    while left:
        folders, item = left.pop()
        if isinstance(item, dict):
            yield folders, item
            within = item.get("item") if isinstance(item.get("item"), list) else []
            left += [((*folders, str(item.get("name"))), inner) for inner in reversed(within or [])]


def _operation(item: dict[str, Any], request: dict[str, Any], url: Any, folders: tuple[str, ...]) -> dict[str, Any]:
    parts = url if isinstance(url, dict) else {}
    fields = {"path": parts.get("variable"), "query": parts.get("query"), "header": request.get("header")}
    parameters = [
        {"name": one.get("key"), "in": place, "description": _text(one), "example": one.get("value")}
        for place, found in fields.items()
        for one in _dicts(found)
    ]
    made: dict[str, Any] = {"summary": item.get("name"), "description": _text(request) or _text(item)}
    made |= {"tags": [" > ".join(folders)] if folders else [], "parameters": parameters}
    if content := _content(request.get("body"), parameters):
        made["requestBody"] = {"content": content}
    responses: dict[str, Any] = {}
    for one in _dicts(item.get("response")):
        code, name = str(one.get("code") or "default"), str(one.get("name") or one.get("status") or "")
        response = responses.setdefault(code, {"description": name, "content": {"": {"examples": {}}}})
        if one.get("body"):
            response["content"][""]["examples"][name] = {"value": _parsed(one["body"])}
    rest = {key: value for key, value in item.items() if key not in _OF_ITEM and key != "description"}
    rest |= {key: value for key, value in request.items() if key not in _OF_REQUEST}
    return {**rest, **made, "responses": responses}


def _content(body: Any, parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the body of a request by its media type."""
    mode = str(body.get("mode")) if isinstance(body, dict) else ""
    value = body.get(mode) if isinstance(body, dict) else None
    if not value:
        return {}
    if mode in ("urlencoded", "formdata"):
        value = {str(one.get("key")): one.get("value") or one.get("src") or "" for one in _dicts(value)}
    given = next((str(one["example"]) for one in parameters if str(one["name"]).lower() == "content-type"), "")
    options = body.get("options")
    raw = options.get("raw") if isinstance(options, dict) else None
    language = str(raw.get("language")) if isinstance(raw, dict) else mode
    return {given or _MEDIA_TYPES.get(language, mode): {"example": _parsed(value)}}


def _parsed(value: Any) -> Any:
    """Return JSON in a string as what it is; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return value


def _text(holder: dict[str, Any]) -> str:
    """Return the description of a part, which may be an object with its text."""
    about = holder.get("description")
    return str((about.get("content") if isinstance(about, dict) else about) or "")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
