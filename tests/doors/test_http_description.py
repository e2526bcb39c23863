"""What the server says of itself in OpenAPI."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx

from core.rag import KnowledgeBase
from libs.dataloader import Document
from mgrag.http.names import RESERVED
from tests.doors.kit import ALICE, KEY, NOTES, access, ok, serving
from tests.pages.blocks import blocks_of, run

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
#: What the page says once for all lists.
PAGED = {"limit", "after"}
LINKING = {"path": "notes/links.md", "content": "# Links\n\nSee [Heron](heron.md) and <https://example.org/>.\n"}


async def test_the_description_names_every_route() -> None:
    async with serving() as client:
        paths = (await ok(await client.get("/openapi.json")))["paths"]
        assert {
            "/db/{namespace}/search",
            "/db/{namespace}/memory/{session}/recall",
            "/db/{namespace}/answer/stream",
        } <= set(paths)
        described = {path.split("/")[3] for path in paths if path.count("/") > 2}
        assert described == RESERVED - {"mcp"} | {"{collection}"}  # that one speaks a protocol of its own
        for path, methods in paths.items():
            for method in methods:
                assert route(method, path) in PAGE


def route(method: str, path: str) -> str:
    """How the page writes a route of the description."""
    return f"`{method.upper()} {re.sub('[{}]|:path', '', path.replace('{namespace}', 'NAME'))}`"


def fields_of(schema: Any, schemas: dict[str, Any]) -> set[str]:
    """The names of the fields of a request, in snake_case."""
    if "$ref" in schema:
        return fields_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    parts = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return {snake_case(name) for name in schema.get("properties", ())}.union(*(fields_of(p, schemas) for p in parts))


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


async def test_the_page_tells_every_field_and_parameter_of_a_route() -> None:
    async with serving() as client:
        described = await ok(await client.get("/openapi.json"))
    rows = [line.split(" | ", 1) for line in PAGE.splitlines() if line.startswith("| `")]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            (said,) = [text for routes, text in rows if route(method, path) in routes]
            if said.startswith("the same"):  # as a row above
                continue
            fields = {snake_case(one["name"]) for one in operation.get("parameters", ()) if one["in"] == "query"}
            fields -= PAGED if method == "get" else set()
            for content in operation.get("requestBody", {}).get("content", {}).values():
                fields |= fields_of(content["schema"], described["components"]["schemas"])
            assert fields <= {snake_case(word) for word in re.findall(r"\w+", said)}, (method, path)


async def test_the_commands_of_the_page_store_and_ask() -> None:
    commands = re.findall(r"localhost:8000(/\S+) \\\n  -d '(.*?)'$", PAGE, re.MULTILINE)
    assert [path.rpartition("/")[2] for path, _ in commands] == ["documents", "answer"]
    async with serving() as client:
        told = [await ok(await client.post(path, json=json.loads(body))) for path, body in commands]
    assert told[0]["documents"]["added"] == 1
    assert [citation["path"] for citation in told[1]["citations"]] == ["notes/mill.md"]


async def test_an_application_of_ones_own_serves_the_graph() -> None:
    (block,) = blocks_of("docs/http.md")
    opened = block.replace("bolt://localhost:7687", "embedded::memory:")
    asked = re.sub(r"await uvicorn\.Server\(.*\)\.serve\(\)", "answered = await call(app)", opened)
    assert len({block, opened, asked}) == 3

    async def call(app: Any) -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.get("/health")

    assert (await run(asked, {"call": call}))["answered"].status_code == 200


async def test_the_description_has_every_status_of_the_documentation() -> None:
    table = PAGE.partition("| status | meaning |")[2].partition("\n\n")[0]
    told = {status for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for status in row.split(", ")}
    async with serving() as client:
        paths = (await ok(await client.get("/openapi.json")))["paths"]
    described = set(paths["/db/{namespace}/answer"]["post"]["responses"])
    # No route answers 405; 500 is a bug of the server.
    assert told - {"405"} == described - {"200", "500"}
    assert {"409", "502", "507"} <= told


async def test_the_description_is_enough_for_a_generated_client() -> None:
    async with serving(access(MGRAG_API_KEYS=KEY)) as client:
        described = await ok(await client.get("/openapi.json", headers={"X-API-Key": KEY}))
        assert {one["type"] for one in described["components"]["securitySchemes"].values()} == {"apiKey", "http"}
        operations = {
            (method, path): operation
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        }
        names = [operation["operationId"] for operation in operations.values()]
        assert len(set(names)) == len(names) and {"documents_answer", "memory_forget", "graph_search"} <= set(names)
        for (method, path), operation in operations.items():
            assert bool(operation.get("security")) == (path != "/health")
            if path != "/health":
                (content,) = operation["responses"]["422"]["content"].values()
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}, (method, path)
            elsewhere = path.endswith(("/stream", "/export")) or "200" not in operation["responses"]
            if not elsewhere:
                said = operation["responses"]["200"]["content"]["application/json"]["schema"]
                assert said and said.get("additionalProperties") is not True, (method, path)
            for response in operation["responses"].values():
                for media in response.get("content", {}).values():
                    assert media.keys() <= {"schema", "example", "examples", "encoding"}, "what OpenAPI 3.1 has"
        assert described["openapi"].startswith("3.1.")
        schemas = described["components"]["schemas"]
        assert not [name for name in schemas if name.startswith("_")]
        assert schemas["Passages"]["properties"]["hits"]["items"] == {"$ref": "#/components/schemas/Hit"}
        assert schemas["Hit"]["properties"]["score"]["type"] == "number"
        assert {"text", "citations", "found"} <= schemas["Answer"]["properties"].keys()
        assert schemas["Problem"]["required"] == ["error"]
        copy = {"schema": {"type": "string", "format": "binary"}}
        sent = operations["post", "/db/{namespace}/import"]["requestBody"]["content"]
        assert sent == {"application/octet-stream": copy}
        form = schemas["Body_documents_upload_files"]["properties"]["files"]
        assert form["items"] == {"type": "string", "format": "binary"}
        asked = schemas["ChunkSearch"]["properties"]
        assert asked["query"]["pattern"] == r"\S" and asked["userId"]["anyOf"][0]["maxLength"] == 2000
        assert schemas["Recall"]["properties"]["since"]["anyOf"][0]["format"] == "date-time"
        assert "RELATED" in schemas["Walk"]["properties"]["edgeTypes"]["anyOf"][0]["items"]["enum"]
        of_records = operations["get", "/db/{namespace}/{collection}"]["parameters"][0]
        assert of_records["schema"]["not"] == {"enum": sorted(RESERVED)}
    async with serving() as client:
        assert "securitySchemes" not in (await ok(await client.get("/openapi.json")))["components"]


async def test_every_field_of_a_request_is_described() -> None:
    async with serving() as client:
        described = await ok(await client.get("/openapi.json"))
    bodies = {
        name
        for methods in described["paths"].values()
        for operation in methods.values()
        for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(operation.get("requestBody", {})))
    }
    assert {"ChunkSearch", "Triples", "SessionMemory"} <= bodies
    schemas = described["components"]["schemas"]
    for name in bodies | {"NewDocument", "Triple"}:
        for field, said in schemas[name]["properties"].items():
            assert said.get("description"), (name, field)


async def test_responses_have_all_that_the_results_have() -> None:
    """What the description did not name would be left out of a response."""
    async with serving() as client, KnowledgeBase.open("embedded::memory:") as kb:
        texts = [Document(path=note["path"], content=note["content"]) for note in NOTES]
        report = (await kb.ingest(texts)).to_dict()
        await kb.insert("employees", ALICE)
        await kb.remember("s1", "user", "Ada prefers tea.")
        stored = await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        await ok(await client.post("/db/default/employees", json=ALICE), 201)
        await ok(await client.post("/db/default/memory/s1", json={"content": "Ada prefers tea."}))
        way = await kb.shortest_path("Alice Johnson", "Bob Smith")
        assert way is not None
        ends = {"start": "Alice Johnson", "end": "Bob Smith"}
        question: dict[str, Any] = {"question": "What is the budget of Project Heron?"}
        pairs = (
            (stored, report),
            ((await ok(await client.post("/db/default/graph/path", json=ends)))["path"], way.to_dict()),
            ((await ok(await client.get("/db/default/employees")))["records"], await kb.records("employees")),
            (
                (await ok(await client.get("/db/default/memory/s1")))["memories"],
                [memory.to_dict() for memory in await kb.memories("s1")],
            ),
            (
                await ok(await client.post("/db/default/ask", json=question)),
                (await kb.ask_context(**question)).to_dict(),
            ),
            (await ok(await client.post("/db/default/answer", json=question)), (await kb.ask(**question)).to_dict()),
            (
                (await ok(await client.post("/db/default/chunks/search", json={"query": "heron"})))["hits"],
                [hit.to_dict() for hit in await kb.search("heron")],
            ),
        )
        for told, result in pairs:
            assert shape(told) == shape(json.loads(json.dumps(result)))


async def test_responses_about_what_is_stored_have_all_of_it() -> None:
    kb = KnowledgeBase.open("embedded::memory:")
    async with serving(knowledge=kb) as client:
        await ok(await client.post("/db/default/documents", json={"documents": [*NOTES, LINKING]}))
        await kb.client.create_conversation("Tea", user_id="ada", conversation_id="tea")
        await kb.ask("Who leads Project Heron?", conversation_id="tea", user_id="ada")
        await kb.client.create_conversation(None, user_id="ben", conversation_id="his")
        await kb.client.add_message("his", "I had tea.", "user", user_id="ada", references=["notes/heron.md"])
        await kb.feedback("notes/heron.md", 1, query="heron", user_id="ada")
        await kb.client.track_user_viewed_document("ada", "notes/heron.md")
        one = await kb.client.find_conversation("tea")
        for path, result in (
            ("documents", {"documents": await kb.documents(), "next": ""}),
            ("documents/notes%2Flinks.md", await kb.show("notes/links.md")),
            ("conversations", {"conversations": await kb.client.list_conversations(), "next": ""}),
            ("conversations/tea", {**(one or {}), "messages": await kb.client.get_conversation_messages("tea")}),
            ("users/ada/export", await kb.export_user("ada")),
            ("status", await kb.status()),
        ):
            told = await ok(await client.get(f"/db/default/{path}"))
            assert told == json.loads(json.dumps(result)), path


def shape(value: Any) -> Any:
    """Names and types of JSON, without what is different each time."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


async def test_errors_of_streams_are_described_as_the_json_that_they_are() -> None:
    async with serving() as client:
        paths = (await ok(await client.get("/openapi.json")))["paths"]
        for path in ("/db/{namespace}/answer/stream", "/db/{namespace}/ingest/stream"):
            responses = paths[path]["post"]["responses"]
            assert [*responses.pop("200")["content"]] == ["text/event-stream"]
            assert {kind for response in responses.values() for kind in response["content"]} == {"application/json"}
            refused = await client.post(path.replace("{namespace}", "default"), json={"question": 1, "sources": []})
            assert refused.status_code == 422 and refused.headers["content-type"] == "application/json"


async def test_what_recall_cannot_do_without_is_required() -> None:
    async with serving() as client:
        whose = "The query is empty: give one, or say whose memories, with which tags or metadata, or of which time."
        nothing = "Session 'monday' has no memories, and the query is empty."
        for path, told in (("memory/recall", whose), ("memory/monday/recall", nothing)):
            for body in ({}, {"query": " "}):
                assert (await ok(await client.post(f"/db/default/{path}", json=body), 400))["error"] == told
