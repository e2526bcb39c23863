"""No route and no tool of one namespace knows of another: whatever ids and names of that they are called with.

Routes come from the description of the API, and tools from their list, so that a new one is called, too. What these
call is called with all ids in ``tests/knowledge_base/test_isolation.py``; here, each route gets every third, each tool
every other one.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from core.rag import KnowledgeBase
from mgrag.http.app import build_app
from tests.doors.kit import access
from tests.embedders import HashEmbedder
from tests.graphs import snapshot
from tests.knowledge_base.test_isolation import SECRET, fill, given

_OURS = {"Authorization": f"Bearer {'o' * 16}"}
_JSON = "application/json"


@asynccontextmanager
async def tenants() -> AsyncIterator[tuple[KnowledgeBase, KnowledgeBase, httpx.AsyncClient]]:
    """Two namespaces with the same names, and a client with a key for the second."""
    async with KnowledgeBase.open(
        "embedded::memory:", namespace="theirs", embedder=HashEmbedder(16), chunk_size=40, chunk_overlap=8
    ) as theirs:
        ours = theirs.in_namespace("ours")
        await fill(theirs, SECRET)
        await fill(ours, "")
        transport = httpx.ASGITransport(build_app(theirs, access(api_keys=f"ours={'o' * 16},{'w' * 16}")))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=_OURS) as client:
            yield theirs, ours, client


def value(schema: dict[str, Any], one: str, every: list[str], parts: dict[str, Any]) -> Any:
    """What a schema allows: an id or name wherever it can be a text."""
    if "$ref" in schema:
        return value(parts[schema["$ref"].rpartition("/")[2]], one, every, parts)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return value(schema[choice][0], one, every, parts)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "string":
            return "2020-01-01" if "format" in schema else one
        case "array":
            item = schema["items"]
            if item.get("type") == "string" and "enum" not in item and "maxItems" not in schema:
                return every
            return [value(item, one, every, parts)]
        case "integer" | "number":
            return max(min(3, schema.get("maximum", 3)), schema.get("minimum", 0))
        case "boolean":
            return False
        case "object" if "properties" in schema:
            wanted = schema.get("required", ())
            return {name: value(schema["properties"][name], one, every, parts) for name in wanted}
    return {"name": one}


def bodies(schema: dict[str, Any], one: str, every: list[str], parts: dict[str, Any], turn: int) -> Iterator[Any]:
    """What must be said, and that with each third of what may be, which it is by turns."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    least = value(schema, one, every, parts)
    yield least
    if isinstance(least, dict):
        more = {
            name: part
            for name, part in schema.get("properties", {}).items()
            if name not in least and "boolean" not in str(part) and "integer" not in str(part)
        }
        for name, part in list(more.items())[turn % 3 :: 3]:
            yield {**least, name: value(part, one, every, parts)}


def requests(
    path: str, operation: dict[str, Any], one: str, every: list[str], parts: dict[str, Any], turn: int = 0
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Addresses, and what else is sent, for a route."""
    queries: list[dict[str, Any]] = [{}]
    for number, parameter in enumerate(operation.get("parameters", ())):
        name, schema = parameter["name"], parameter["schema"]
        if parameter["in"] == "path":
            told = "ours" if name == "namespace" else quote(str(value(schema, one, every, parts)), safe="")
            path = path.replace(f"{{{name}}}", told)
        elif parameter["required"]:
            queries = [{**query, name: one} for query in queries]
        elif "string" in str(schema) and number % 3 == turn % 3:
            queries.append({**queries[0], name: value(schema, one, every[:50], parts)})
    content = operation.get("requestBody", {}).get("content", {})
    if _JSON in content:
        sent = [{"json": body} for body in bodies(content[_JSON]["schema"], one, every, parts, turn)]
    elif "multipart/form-data" in content:
        sent = [{"files": [("files", (one, b"# Ours\n\nA text.", "text/markdown"))], "data": {"prefix": ""}}]
    else:
        sent = [{"content": b""}] if content else [{}]
    for query in queries:
        for each in sent:
            yield path, {"params": query, **each}


async def test_no_route_knows_of_another_namespace() -> None:
    async with tenants() as (theirs, ours, client):
        described = (await client.get("/openapi.json")).json()
        routes = [(path, *each) for path, methods in described["paths"].items() for each in methods.items()]
        routes.sort(key=lambda route: route[0] == "/db/{namespace}")  # after which there is nothing more to find
        every, some = await given(theirs, ours)
        before = await snapshot(theirs.client)
        assert SECRET in str(before)
        answered = set()
        for number, (path, method, operation) in enumerate(routes):
            for turn, one in enumerate((*some, "boats", "c1")[number % 3 :: 3]):
                schemas = described["components"]["schemas"]
                for address, sent in requests(path, operation, one, every, schemas, turn):
                    response = await client.request(method, address, **sent)
                    assert response.status_code < 500, (method, address, sent, response.text)
                    assert SECRET not in response.text and '"theirs"' not in response.text, (method, address, sent)
                    if response.is_success:
                        answered.add((method, path))
            if number % 4 == 3 or number == len(routes) - 1:
                assert await snapshot(theirs.client) == before, routes[number - 3 : number + 1]
        assert len(answered) > 0.7 * len(routes)


async def test_a_fact_does_not_rest_on_passages_of_another_namespace() -> None:
    async with tenants() as (theirs, ours, client):
        every, _ = await given(theirs, ours)
        fact = {"subject": "Ida", "relation": "knows", "object": "Leo", "chunkIds": every}
        told = await client.post("/db/ours/graph/triples", json={"triples": [fact]})
        assert told.status_code == 400 and "There is no chunk" in told.text


async def test_a_key_opens_no_route_of_another_namespace() -> None:
    async with tenants() as (theirs, ours, client):
        described = (await client.get("/openapi.json")).json()
        every, _ = await given(theirs, ours)
        before = await snapshot(theirs.client)
        tried = 0
        for path, methods in described["paths"].items():
            for method, operation in methods.items():
                if "{namespace}" not in path:
                    continue
                address, sent = next(requests(path, operation, "c1", every, described["components"]["schemas"]))
                there = address.replace("/db/ours", "/db/theirs", 1)
                response = await client.request(method, there, **sent)
                assert response.status_code == 403 and SECRET not in response.text, (method, there)
                tried += 1
        assert tried > 60
        for path in ("/mcp", "/db/theirs/mcp"):
            assert (await client.post(path, json=_call("status", {}))).status_code == 403
        assert (await client.get("/metrics")).status_code == 403
        assert await snapshot(theirs.client) == before


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


async def test_no_tool_knows_of_another_namespace() -> None:
    async with tenants() as (theirs, ours, client):
        client.headers["Accept"] = "application/json, text/event-stream"

        async def told(message: dict[str, Any]) -> dict[str, Any]:
            response = await client.post("/db/ours/mcp", json=message)
            assert response.status_code == 200 and SECRET not in response.text, message
            result: dict[str, Any] = json.loads(response.text.partition("data: ")[2])["result"]
            return result

        tools = (await told({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}))["tools"]
        every, some = await given(theirs, ours)
        before = await snapshot(theirs.client)
        answered = set()
        for number, tool in enumerate(tools):
            for turn, one in enumerate((*some, "boats", "c1")[number % 2 :: 2]):
                for arguments in bodies(tool["inputSchema"], one, every[:50], {}, turn):
                    if not (await told(_call(tool["name"], arguments)))["isError"]:
                        answered.add(tool["name"])
            assert await snapshot(theirs.client) == before, tool["name"]
        assert len(answered) > 0.7 * len(tools)
