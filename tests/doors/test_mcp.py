"""The MCP server, by its own client: in this process, and as the command that an agent's configuration names."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from core.rag import KnowledgeBase
from core.rag.graph.parts import GraphEdge, GraphNode
from libs.dataloader import Document
from mgrag.mcp.edges import named
from mgrag.mcp.lease import Lease
from mgrag.mcp.server import build_server
from mgrag.sources import Allowed
from tests.answering.models import talking
from tests.cli.command import Command
from tests.fakes.openai_chat import Stream


def text_of(result: CallToolResult) -> str:
    """What a tool says."""
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


NOTES = {
    "notes/heron.md": "# Project Heron\n\nProject Heron is led by Maria Lindqvist. Its budget is 42,000 EUR.\n",
    "notes/lindqvist.md": "# Maria Lindqvist\n\nMaria Lindqvist works for the Kestrel Trust in Hull.\n",
}
READING = {
    "search", "ask", "graph_context", "read_document", "list_documents", "find_entities", "neighbors", "find_path",
    "recall", "list_memories", "read_memory", "status", "describe_records", "query_records",
}  # fmt: skip
WRITING = {
    "add_document", "ingest", "add_records", "remember", "add_facts", "rate",
    "delete_document", "delete_record", "revise", "forget", "remove_facts",
}  # fmt: skip


class Agent:
    """What an agent sees of the server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool that succeeds."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return json.loads(text_of(result))

    async def fails(self, tool: str, **arguments: Any) -> str:
        """What a tool says that fails."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.content
        return text_of(result)

    async def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}


@asynccontextmanager
async def serving(uri: str, hold: float = 3600, roots: Sequence[Path] = (), **options: Any) -> AsyncIterator[Agent]:
    lease = Lease(lambda create: KnowledgeBase.open(uri, create=create), hold)
    async with Client(build_server(lease, allowed=Allowed(roots), **options)) as client:
        yield Agent(client)


def command(*options: str) -> StdioServerParameters:
    """What stands in the configuration of an agent."""
    return StdioServerParameters(command=sys.executable, args=["-m", "mgrag", "mcp", *options], env=dict(os.environ))


@asynccontextmanager
async def with_notes() -> AsyncIterator[Agent]:
    async with serving("embedded::memory:") as agent:
        for path, content in NOTES.items():
            await agent("add_document", path=path, content=content)
        yield agent


async def test_all_rows_of_a_table_are_asked(tmp_path: Path) -> None:
    (tmp_path / "projects.csv").write_text("name,team,budget\nHeron,North,42000\nTern,North,8000\nSkua,South,500\n")
    async with serving("embedded::memory:", roots=[tmp_path]) as agent:
        await agent("ingest", source="projects.csv")
        assert await agent("describe_records") == {"collections": [{"name": "projects", "records": 3}]}
        fields = (await agent("describe_records", collection="projects"))["fields"]
        assert {field["name"]: field["kind"] for field in fields} == {
            "name": "text",
            "team": "text",
            "budget": "number",
        }
        asked = {"group_by": "team", "measures": ["sum:budget", "count"], "order_by": "-sum:budget"}
        found = await agent("query_records", collection="projects", **asked)
        assert found["rows"] == [
            {"team": "North", "sum:budget": 50000, "count": 2},
            {"team": "South", "sum:budget": 500, "count": 1},
        ]
        small = await agent("query_records", collection="projects", filters="budget<10000", fields=["name"])
        assert {row["name"] for row in small["rows"]} == {"Tern", "Skua"}
        assert "there are: budget, name, team" in await agent.fails(
            "query_records", collection="projects", group_by=["tem"]
        )


async def test_a_large_table_is_given_in_pages() -> None:
    async with serving("embedded::memory:") as agent:
        logs = [{"id": number, "text": f"line {number}: {'all is well, ' * 50}"} for number in range(120)]
        stored = (await agent("add_records", collection="logs", records=logs))["ids"]
        asked = {"collection": "logs", "order_by": "id", "filters": "id>=10", "limit": 80}
        first = await agent("query_records", **asked)
        assert len(json.dumps(first)) < 25_000
        assert first["total"] == 110
        assert first["next_start"] == len(first["rows"]) == len(first["ids"])
        rows, ids, start = first["rows"], first["ids"], first["next_start"]
        while start:
            page = await agent("query_records", **asked, start=start)
            rows, ids, start = rows + page["rows"], ids + page["ids"], page["next_start"]
        assert rows == logs[10:]
        assert ids == stored[10:]
        await agent("add_records", collection="books", records=[{"title": "Long", "text": "word " * 20_000}])
        (book,) = (await agent("query_records", collection="books"))["rows"]
        assert book["title"] == "Long"
        assert book["text"].startswith("word word") and len(book["text"]) < 20_000


async def test_an_agent_keeps_a_table() -> None:
    async with serving("embedded::memory:") as agent:
        bills = [{"id": 1, "shop": "Quay Bakery", "amount": 12}, {"id": 2, "shop": "Quay Bakery", "amount": 30}]
        ids = (await agent("add_records", collection="bills", records=bills))["ids"]
        again = await agent("add_records", collection="bills", records={**bills[1], "amount": 28})
        assert again["ids"] == ids[1:]
        asked = {"collection": "bills", "measures": "sum:amount"}
        assert (await agent("query_records", **asked))["rows"] == [{"sum:amount": 40}]
        assert await agent("delete_record", record_id=ids[0]) == {"deleted": ids[0]}
        assert (await agent("query_records", collection="bills"))["ids"] == ids[1:]
        assert "no record with the id" in await agent.fails("delete_record", record_id=ids[0])
        assert "at least 1 item" in await agent.fails("add_records", collection="bills", records=[])


async def test_what_is_stored_is_found_read_and_answered() -> None:
    async with with_notes() as agent:
        found = await agent("search", query="Where does the leader of Project Heron work?", k=2)
        assert {hit["path"] for hit in found["hits"]} == set(NOTES)
        answer = await agent("ask", question="What is the budget of Project Heron?")
        assert "42,000" in answer["text"] and answer["found"]
        assert not (await agent("ask", question="What is the capital of Mongolia?"))["found"]
        assert answer["citations"][0]["path"] == "notes/heron.md"
        document = await agent("read_document", path="notes/heron.md")
        assert document["content"] == NOTES["notes/heron.md"]
        assert document["next_start"] is None
        assert "Project Heron" in {hit["heading"] for hit in found["hits"]}
        listed = await agent("list_documents", prefix="notes/")
        assert [row["path"] for row in listed["documents"]] == sorted(NOTES)
        assert (await agent("status"))["nodes"]["Document"] == 2


async def test_documents_of_one_path_are_on_one_page(tmp_path: Path) -> None:
    uri = f"embedded:{tmp_path}/graph.grafeo"
    async with KnowledgeBase.open(uri) as kb:
        readmes = [Document(path="README.md", uri=f"git://{name}/README.md", content=name) for name in ("a", "b", "c")]
        await kb.ingest(
            [*readmes, Document(path="guide.md", content="How to begin."), Document(path="x.md", content="x")]
        )
    async with serving(uri) as agent:
        listed, after = [], ""
        while page := await agent("list_documents", limit=2, after=after):
            listed += [row["path"] for row in page["documents"]]
            if not (after := page["next"]):
                break
    assert listed == ["README.md"] * 3 + ["guide.md", "x.md"]


async def test_a_text_is_read_as_a_file_of_markdown() -> None:
    text = "---\nby: Ada\ntags: [tide]\n---\n# The tide mill\n\nIt turns with the ebb.\n"
    async with serving("embedded::memory:") as agent:
        await agent("add_document", path="notes/2026-01-31", content=text, metadata={"by": "Bob"})
        read = await agent("read_document", path="The tide mill")
        assert (read["path"], read["mime_type"]) == ("notes/2026-01-31", "text/markdown")
        assert read["metadata"] == {"by": "Bob", "tags": ["tide"]}
        hits = (await agent("search", query="ebb", filters="metadata.tags:tide"))["hits"]
        assert hits[0]["heading"] == "The tide mill"
        await agent("add_document", path="page.html", content="# A page\n\n- turned into Markdown\n", title="Named")
        assert (await agent("read_document", path="Named"))["content"].startswith("# A page\n\n- turned")
        assert "empty.md: it has no text" in await agent.fails("add_document", path="empty.md", content="")


async def test_a_long_document_is_read_in_pages() -> None:
    async with with_notes() as agent:
        content = "".join(f"Line {number} of the log of the tide mill.\n" for number in range(1000))
        await agent("add_document", path="log", content=content)
        start: int | None = 0
        read = ""
        while start is not None:
            page = await agent("read_document", path="log", start=start)
            assert 0 < len(page["content"]) <= 20_000
            read += page["content"]
            start = page["next_start"]
        assert read == content
        assert (await agent("read_document", path="log", start=10**9))["content"] == ""


async def test_the_same_text_again_changes_nothing() -> None:
    async with with_notes() as agent:
        again = await agent("add_document", path="notes/heron.md", content=NOTES["notes/heron.md"])
        assert (again["documents"]["unchanged"], again["documents"]["updated"]) == (1, 0)
        changed = await agent("add_document", path="notes/heron.md", content="# Project Heron\n\nIt has ended.\n")
        assert changed["documents"]["updated"] == 1
        assert "42,000" not in json.dumps(await agent("search", query="budget of Project Heron"))


async def test_the_graph_is_walked() -> None:
    async with with_notes() as agent:
        assert (await agent("find_entities", query="lindqvist"))["nodes"][0]["name"] == "Maria Lindqvist"
        facts = [{"subject": "Maria Lindqvist", "relation": "works_for", "object": "Kestrel Trust"}]
        assert await agent("add_facts", facts=facts) == {"stored": 1}
        changed = {"subject": "Maria Lindqvist", "relation": "lives_in", "object": "Hull"}
        assert await agent("add_facts", facts=[changed]) == {"stored": 1}
        ends = {"subject": "Maria Lindqvist", "object": "Hull"}
        assert await agent("remove_facts", **ends, relation="lives_in") == {"removed": 1}
        assert "add_facts stored no such fact" in await agent.fails("remove_facts", **ends)
        near = await agent("neighbors", node="Maria Lindqvist")
        assert "Kestrel Trust" in {node["name"] for node in near["nodes"]}
        works_for = {"source": "Maria Lindqvist", "type": "works_for", "target": "Kestrel Trust", "origin": "caller"}
        assert works_for in near["edges"]
        way = await agent("find_path", start="Maria Lindqvist", end="Kestrel Trust")
        assert [node["name"] for node in way["path"]["nodes"]] == ["Maria Lindqvist", "Kestrel Trust"]
        none = await agent("graph_context", question="Who works for the Kestrel Trust?", filters="path:elsewhere/")
        assert none["contextChunks"] == [] and "Hull" not in str(none)
        context = await agent("graph_context", question="Who works for the Kestrel Trust?")
        assert "works_for" in context["contextChunks"][0]["text"] or "Maria" in context["contextChunks"][0]["text"]


def test_ends_of_an_edge_with_the_same_name_are_told_by_their_ids() -> None:
    nodes = [GraphNode("1", "Mercury", "Entity"), GraphNode("2", "Mercury", "Concept"), GraphNode("3", "Sun", "Entity")]
    edges = [GraphEdge("1", "3", "orbits"), GraphEdge("3", "2", "heats", weight=2.0)]
    assert named(edges, nodes) == [
        {"source": "1", "type": "orbits", "target": "Sun"},
        {"source": "Sun", "type": "heats", "target": "2", "weight": 2.0},
    ]


async def test_tools_are_described_without_the_indentation_of_the_code() -> None:
    async with serving("embedded::memory:") as agent:
        for name, tool in (await agent.tools()).items():
            assert tool.description and tool.description == inspect.cleandoc(tool.description), name


async def test_facts_end_and_stay_as_history() -> None:
    async with with_notes() as agent:
        fact = {"subject": "Maria Lindqvist", "relation": "works_for", "object": "Kestrel Trust"}
        assert await agent("add_facts", facts={**fact, "valid_from": "2018-01-01", "valid_to": None}) == {"stored": 1}
        ends = {"subject": "Maria Lindqvist", "object": "Kestrel Trust"}
        assert await agent("remove_facts", **ends, ended="2021-05-01") == {"ended": 1}
        assert "that held then" in await agent.fails("remove_facts", **ends, ended="2021-05-01")
        assert "give valid_from" in await agent.fails("add_facts", facts=[fact])
        assert "2025-01-01 if it held until" in await agent.fails("add_facts", facts=[{**fact, "valid_to": "2024"}])
        for at, told in ((None, []), ("2020-01-01", ["works_for"]), ("ever", ["works_for"])):
            near = await agent("neighbors", node="Maria Lindqvist", relations=["works_for"], at=at)
            assert [edge["type"] for edge in near["edges"]] == told
            context = await agent("graph_context", question="Who is Maria Lindqvist?", at=at)
            lines = [chunk["text"] for chunk in context["contextChunks"]]
            assert any("from 2018-01-01 until 2021-05-01" in line for line in lines) == bool(told)
        way = await agent("find_path", start="Maria Lindqvist", end="Kestrel Trust", at="2020-01-01")
        assert way["path"]["edges"] == [
            {
                "source": "Maria Lindqvist",
                "type": "works_for",
                "target": "Kestrel Trust",
                "origin": "caller",
                "valid_from": "2018-01-01T00:00:00.000000Z",
                "valid_to": "2021-05-01T00:00:00.000000Z",
            }
        ]


async def test_memory_is_kept_recalled_and_forgotten() -> None:
    async with with_notes() as agent:
        kept = await agent(
            "remember", session_id="s1", content="Ada prefers tea to coffee.", user_id="ada", tags=["drink"]
        )
        recalled = (await agent("recall", query="what does Ada drink?"))["memories"]
        assert recalled[0]["memoryId"] == kept["memoryId"]
        assert recalled[0]["because"] == {"reason": "tags"}
        assert (await agent("recall", query="what does Ada drink?", before="2020-01-01"))["memories"] == []
        assert len((await agent("recall", query="what does Ada drink?", since="2020-01-01"))["memories"]) == 1
        assert [item["memoryId"] for item in (await agent("recall", since="2020-01-01"))["memories"]] == [
            kept["memoryId"]
        ]
        assert (await agent("recall", tags=["no such tag"]))["memories"] == []
        assert (await agent("list_memories", session_id="s1"))["memories"][0]["content"] == "Ada prefers tea to coffee."
        assert (await agent("list_memories", session_id="s1", before=kept["memoryId"]))["memories"] == []
        assert (await agent("forget", memory_id=kept["memoryId"]))["memories"] == 1
        assert "so nothing was forgotten" in await agent.fails("forget", memory_id=kept["memoryId"])
        assert (await agent("recall", query="what does Ada drink?"))["memories"] == []


async def test_memories_cost_a_model_no_more_than_it_needs() -> None:
    log = "\n".join(f"step {number}: nothing to see here" for number in range(1000))
    async with serving("embedded::memory:") as agent:
        short = await agent("remember", session_id="s", content="The build needs REDIS_URL.")
        long = await agent("remember", session_id="s", content=f"{log}\nThe pump was dry.\n{log}", role="tool")
        [one] = (await agent("recall", query="What does the build need?", limit=1))["memories"]
        assert one["memoryId"] == short["memoryId"]
        assert set(one) == {"memoryId", "sessionId", "role", "content", "createdAt", "relevance", "because"}
        [found] = (await agent("recall", query="was the pump dry?", limit=1))["memories"]
        assert found["memoryId"] == long["memoryId"]
        assert "The pump was dry." in found["content"] and len(found["content"]) < 2100
        assert found["length"] == 2 * len(log) + 19
        _, listed = (await agent("list_memories", session_id="s"))["memories"]
        assert listed["content"].startswith(log[:1000]) and len(listed["content"]) < 2100
        text = ""
        start: int | None = 0
        while start is not None:
            page = await agent("read_memory", memory_id=long["memoryId"], start=start)
            assert len(page["content"]) <= 20_000
            text, start = text + page["content"], page["next_start"]
        assert text == f"{log}\nThe pump was dry.\n{log}"
        assert "recall gives the ids" in await agent.fails("read_memory", memory_id="nope")


async def test_many_long_memories_are_given_in_parts_of_one_page() -> None:
    async with serving("embedded::memory:") as agent:
        for number in range(50):
            await agent("remember", session_id="s", content=f"{number} " + "the mill turns with the ebb. " * 200)
        memories = (await agent("recall", query="the mill", limit=50))["memories"]
        assert len(memories) == 50 and sum(len(memory["content"]) for memory in memories) <= 20_000 + 2 * 50


async def test_memories_are_recalled_by_their_metadata() -> None:
    async with with_notes() as agent:
        await agent("remember", session_id="s1", content="The weir leaks.", metadata={"project": "weir"})
        mill = await agent("remember", session_id="s1", content="The mill grinds.", metadata={"project": "mill"})
        assert [item["memoryId"] for item in (await agent("recall", filters="metadata.project=mill"))["memories"]] == [
            mill["memoryId"]
        ]
        assert (await agent("recall", query="mill", filters="metadata.project=canal"))["memories"] == []


async def test_a_memory_is_corrected_in_place() -> None:
    async with with_notes() as agent:
        kept = await agent(
            "remember", session_id="s1", content="Ada lives in Jena.", tags=["home"], metadata={"sure": 1}
        )
        revised = await agent("revise", memory_id=kept["memoryId"], content="Ada lives in Ulm.", metadata={})
        assert (revised["memoryId"], revised["tags"]) == (kept["memoryId"], ["home"]) and "metadata" not in revised
        assert revised["revisedAt"] > revised["createdAt"]
        [recalled] = (await agent("recall", query="where does Ada live?"))["memories"]
        assert recalled["content"] == "Ada lives in Ulm."
        assert (await agent("revise", memory_id=kept["memoryId"], tags="place"))["tags"] == ["place"]
        assert "no memory 'nope' in namespace 'default'" in await agent.fails("revise", memory_id="nope", content="x")
        assert "content, tags or metadata" in await agent.fails("revise", memory_id=kept["memoryId"])


async def test_metadata_that_no_document_has_is_told() -> None:
    async with with_notes() as agent:
        await agent("add_document", path="a.md", content="The mill.", metadata={"author": "Ann"})
        found = await agent("search", query="mill", filters="metadata.autor=Ann")
        assert (found["hits"], found["note"]) == ([], "No document has metadata.autor; there is metadata.author.")
        assert "note" not in await agent("search", query="mill", filters="metadata.author=Ann")


async def test_a_document_is_rated_and_deleted() -> None:
    async with with_notes() as agent:
        hit = (await agent("search", query="Project Heron", k=1))["hits"][0]
        assert await agent("rate", target=hit["chunk_id"], value=1, query="heron") == {"rated": [hit["chunk_id"]]}
        assert await agent("delete_document", path="notes/heron.md") == {"deleted": "notes/heron.md"}
        assert "notes/heron.md" in await agent.fails("read_document", path="notes/heron.md")
        assert "notes/heron.md" in await agent.fails("delete_document", path="notes/heron.md")


async def test_what_was_said_before_is_remembered_with_its_time() -> None:
    async with with_notes() as agent:
        await agent("remember", session_id="s", content="Ada moved to Ulm.", timestamp="2020-05-01")
        await agent("remember", session_id="s", content="Ada moved to Jena.")
        [found] = (await agent("recall", query="where did Ada move?", before="2021"))["memories"]
        assert (found["content"], found["createdAt"][:10]) == ("Ada moved to Ulm.", "2020-05-01")
        assert "'then' is not a time" in await agent.fails("remember", session_id="s", content="x", timestamp="then")


async def test_a_search_counts_the_ratings_of_who_asks() -> None:
    async with with_notes() as agent:
        best = (await agent("search", query="Maria Lindqvist", mode="keyword"))["hits"][0]["chunk_id"]
        await agent("rate", target=best, value=1, user_id="ada")
        await agent("rate", target=best, value=-1, user_id="bob")
        scores = {}
        for user in ("ada", "bob"):
            hits = (await agent("search", query="Maria Lindqvist", mode="keyword", user_id=user))["hits"]
            scores[user] = {hit["chunk_id"]: hit["score"] for hit in hits}[best]
        assert scores["bob"] < scores["ada"]


async def test_errors_say_what_to_do_and_the_server_goes_on() -> None:
    async with with_notes() as agent:
        assert "filter" in (await agent.fails("search", query="heron", filters="path:")).lower()
        assert "Use find_entities" in await agent.fails("neighbors", node="nowhere to be found")
        assert "Use list_documents" in await agent.fails("read_document", path="nowhere.md")
        assert "before" not in await agent.fails("forget")
        assert "50" in await agent.fails("search", query="heron", k=1000)
        assert (await agent.fails("add_facts", facts=[{"subject": "Ada"}])) == (
            "add_facts: facts.0.relation: Field required; facts.0.object: Field required."
        )
        assert "1 to 2000 characters" in await agent.fails("add_document", path="", content="x")
        assert (await agent("search", query="heron", k=1))["hits"]


async def test_of_an_answer_that_the_model_breaks_off_an_agent_gets_what_there_is() -> None:
    async with talking() as said:
        lease = Lease(lambda create: KnowledgeBase.open("embedded::memory:", language_model=said.model), 3600)
        async with Client(build_server(lease)) as client:
            agent = Agent(client)
            await agent("add_document", path="heron.md", content=NOTES["notes/heron.md"])
            analysis = '{"entities": ["Project Heron"], "intent": "factual"}'
            said.chat.then(analysis, Stream(["Maria leads ", "it [1]. It "], silent=True))
            told = await agent.fails("ask", question="Who leads Project Heron?")
    assert "ended too early" in told
    assert told.endswith("citations that were not checked: Maria leads it [1]. It ")


async def test_an_argument_that_a_tool_does_not_have_is_told() -> None:
    async with with_notes() as agent:
        await agent("remember", session_id="s1", content="Ada prefers tea.", user_id="ada")
        assert (await agent.fails("forget", user_id="ada", before="2020-01-01")) == (
            "forget: There is no argument 'before' (there are memory_id, session_id, user_id)."
        )
        assert len((await agent("list_memories", session_id="s1"))["memories"]) == 1
        assert "filters" in await agent.fails("search", query="heron", filter="path:elsewhere/")
        assert "none" in await agent.fails("status", verbose=True)
        weighted = {"subject": "Ada", "relation": "likes", "object": "tea", "weight": 2}
        assert "facts.0.weight" in await agent.fails("add_facts", facts=[weighted])


async def test_what_a_model_means_by_an_argument_is_understood() -> None:
    """Clients that have a model name every argument send null; a list of one is often sent as its one value."""
    async with with_notes() as agent:
        found = await agent("search", query="heron", k=None, mode=None, filters=None, expand=None)
        assert found == await agent("search", query="heron")
        assert len((await agent("list_documents", prefix=None, limit=None, after=None))["documents"]) == 2
        await agent("remember", session_id="s1", content="Ada prefers tea.", role=None, tags="drink", user_id=None)
        assert (await agent("recall", query=None, tags="drink"))["memories"][0]["tags"] == ["drink"]
        assert len((await agent("search", query="Who leads Project Heron?", limit=1))["hits"]) == 1
        assert len((await agent("list_documents", k=1))["documents"]) == 1
        assert "no argument 'limit'" in await agent.fails("search", query="Heron", k=1, limit=2)
        owns = {"subject": "Kestrel Trust", "relation": "owns", "object": "Tide Mill"}
        assert await agent("add_facts", facts=owns) == {"stored": 1}
        near = await agent("neighbors", node="Kestrel Trust", relations="owns")
        assert [node["name"] for node in near["nodes"]] == ["Tide Mill"]
        assert (await agent.fails("search", query=None)) == "search: query: Input should be a valid string."
        told = (
            "add_facts: facts.0: a fact is an object with subject, relation, object and optionally fact, valid_from,"
            " valid_to."
        )
        assert await agent.fails("add_facts", facts=[["Ada", "likes", "tea"]]) == told
        assert await agent.fails("add_facts", facts="Ada likes tea") == told
        assert "Unknown tool" in await agent.fails("answer", query=None)
        schema = (await agent.tools())["add_facts"].input_schema
        assert schema["properties"]["facts"]["type"] == "array"


async def test_files_come_from_allowed_folders_only(tmp_path: Path) -> None:
    allowed, secret = tmp_path / "allowed", tmp_path / "secret"
    for folder in (allowed, secret):
        folder.mkdir()
        (folder / "a.md").write_text("# A\n\nThe heron stands.\n")
    (allowed / "way-out").symlink_to(secret)
    async with serving("embedded::memory:") as agent:
        assert "--root" in await agent.fails("ingest", source=str(allowed))
    async with serving("embedded::memory:", roots=[allowed]) as agent:
        for place in (secret, allowed / ".." / "secret", allowed / "way-out", "~", "/etc/passwd", f"{allowed}-other"):
            assert str(allowed) in await agent.fails("ingest", source=str(place)), place
        assert (await agent("ingest", source=str(allowed / "a.md")))["documents"]["added"] == 1


async def test_an_address_of_a_file_leads_no_further_than_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed, secret = tmp_path / "allowed", tmp_path / "secret.md"
    (allowed / "deep" / "er").mkdir(parents=True)
    (allowed / "a b.md").write_text("# A\n\nThe heron stands.\n")
    secret.write_text("A secret.\n")
    (allowed / "down").symlink_to(allowed / "deep" / "er")
    monkeypatch.chdir(allowed)  # where the server is started: in the folder itself, with --root .
    monkeypatch.setenv("HOME", str(allowed))
    async with serving("embedded::memory:", roots=[Path()]) as agent:
        for outside in (f"file://{secret}", f"FILE://localhost{secret}", f"file://{tmp_path}", "file://../secret.md",
                        "down/../../secret.md", f"{allowed}/down/../../secret.md"):  # fmt: skip
            assert "is not in a folder" in await agent.fails("ingest", source=outside), outside
        assert "no such file" in await agent.fails("ingest", source=f"file://file://{secret}")
        assert not (await agent("list_documents"))["documents"]
        assert (await agent("ingest", source=f"file://{allowed}/a%20b.md"))["documents"]["added"] == 1
        assert (await agent("ingest", source="~/a b.md"))["documents"]["unchanged"] == 1


async def test_links_do_not_lead_out_of_a_folder_that_is_ingested(tmp_path: Path) -> None:
    allowed, also, secret = tmp_path / "allowed", tmp_path / "also", tmp_path / "secret"
    for folder in (allowed / "sub", also, secret):
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.md").write_text(f"# A\n\nThe heron of {folder.name}.\n")
    (allowed / "way-out").symlink_to(secret)
    (allowed / "sub" / "out.md").symlink_to(secret / "secret.md")
    (allowed / "sub" / "up").symlink_to(tmp_path)
    (allowed / "inside").symlink_to(also)
    async with serving("embedded::memory:", roots=[allowed, also]) as agent:
        for source in (str(allowed), "sub"):
            done = (await agent("ingest", source=source))["documents"]
            assert {Path(one["path"]).name for one in done["failed"]} <= {"way-out", "out.md", "up"}
            assert all("leads out" in one["reason"] for one in done["failed"]) and len(done["failed"]) >= 2
        names = {Path(one["path"]).name for one in (await agent("list_documents"))["documents"]}
        assert names == {"sub.md", "also.md"}


async def test_a_relative_path_counts_from_an_allowed_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second / "deep"):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(f"# A\n\nThe heron of {folder.name}.\n")
    (tmp_path / "secret.md").write_text("A secret.\n")
    (first / "way-out.md").symlink_to(tmp_path / "secret.md")
    async with serving("embedded::memory:", roots=[first, second]) as agent:
        for source, path in (("a.md", first / "a.md"), ("deep/a.md", second / "deep" / "a.md")):
            assert (await agent("ingest", source=source))["documents"]["added"] == 1
            assert (await agent("read_document", path=str(path)))["path"] == str(path)
        for source in ("../secret.md", "../none.md", "way-out.md", ""):
            assert f"{source!r} is not in a folder" in await agent.fails("ingest", source=source), source
        for source in ("none.md", "deep/none.md"):
            assert f"There is no {source!r} in a folder" in await agent.fails("ingest", source=source), source
    monkeypatch.chdir(first)  # where the server is started makes no difference
    async with serving("embedded::memory:", roots=[first, second]) as agent:
        assert (await agent("ingest", source="deep/a.md"))["documents"]["added"] == 1
        assert "There is no 'none.md' in a folder" in await agent.fails("ingest", source="none.md")


async def test_addresses_of_this_machine_are_not_fetched() -> None:
    async with serving("embedded::memory:") as agent:
        assert "only public addresses" in await agent.fails("ingest", source="http://127.0.0.1:9/admin")


def test_the_page_lists_the_tools() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    table = page.partition("\n## Tools\n")[2].partition("\n## ")[0]
    listed = [name for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for name in re.findall(r"\w+", row)]
    assert len(listed) == len(set(listed))
    assert set(listed) == READING | WRITING


async def test_an_agent_that_may_only_read(tmp_path: Path) -> None:
    async with serving("embedded::memory:") as agent:
        tools = await agent.tools()
    assert set(tools) == READING | WRITING
    # What is asked in a conversation is recorded there.
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == READING - {"ask"}
    destructive = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert destructive == {"delete_document", "delete_record", "revise", "forget", "remove_facts"}
    assert all(tool.description for tool in tools.values())
    async with serving("embedded::memory:", writing=False) as agent:
        tools = await agent.tools()
    assert set(tools) == READING
    assert all(tool.annotations.read_only_hint for tool in tools.values())


async def test_a_question_in_a_conversation_goes_on_with_it_and_is_recorded() -> None:
    async with with_notes() as agent:
        asked = {"conversation_id": "monday", "user_id": "ann"}
        assert "begins one" in await agent.fails("search", query="And who leads it?", conversation_id="monday")
        await agent("ask", question="What is the budget of Project Heron?", **asked)
        alone = await agent("ask", question="And who leads it?", k=1)
        assert "Lindqvist" not in alone["text"]
        answer = await agent("ask", question="And who leads it?", k=1, **asked)
        assert "Maria Lindqvist" in answer["text"]
        assert [
            hit["path"] for hit in (await agent("search", query="Who leads it?", k=1, conversation_id="monday"))["hits"]
        ] == ["notes/heron.md"]
        recorded = (await agent("list_memories", session_id="monday"))["memories"]
        assert [(memory["role"], memory["userId"]) for memory in recorded] == [
            ("user", "ann"),
            ("assistant", "ann"),
        ] * 2


async def test_for_reading_only_a_conversation_is_read_and_nothing_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "g.grafeo"
    async with KnowledgeBase.open(f"embedded:{file}") as kb:
        await kb.ingest([Document(path=path, content=content) for path, content in NOTES.items()])
        await kb.ask("What is the budget of Project Heron?", conversation_id="monday")
    before = file.read_bytes()
    async with Client(command("--read-only", "--db", str(file), "--hold", "0")) as client:
        agent = Agent(client)
        answer = await agent("ask", question="And who leads it?", k=1, conversation_id="monday")
        assert "Maria Lindqvist" in answer["text"]
        assert "no conversation" in await agent.fails("ask", question="Who leads it?", conversation_id="tuesday")
        assert len((await agent("list_memories", session_id="monday"))["memories"]) == 2
    assert file.read_bytes() == before


async def test_a_graph_that_is_not_there_is_made_by_the_first_that_is_stored(tmp_path: Path) -> None:
    file = tmp_path / "new.grafeo"
    async with serving(f"embedded:{file}") as agent:
        told = await agent.fails("search", query="heron")
        assert "new.grafeo" in told and "Store something first." in told and "mgrag ingest" not in told
        assert not file.exists()
        await agent("add_document", path="a", content="The heron stands.")
        assert (await agent("search", query="heron"))["hits"][0]["path"] == "a"
    assert file.exists()


async def test_others_may_use_the_graph_between_calls(tmp_path: Path) -> None:
    status = [sys.executable, "-m", "mgrag", "status", "--json", "--db", str(tmp_path / "g.grafeo")]
    async with serving(f"embedded:{tmp_path / 'g.grafeo'}", hold=0) as agent:
        await agent("add_document", path="a", content="The heron stands.")
        done = subprocess.run(status, capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["nodes"]["Document"] == 1
        assert (await agent("search", query="heron"))["hits"]


async def test_the_command_speaks_the_protocol(tmp_path: Path) -> None:
    async with Client(command("--db", str(tmp_path / "g.grafeo"), "--hold", "0")) as client:
        agent = Agent(client)
        assert set(await agent.tools()) == READING | WRITING
        await agent("add_document", path="notes/heron.md", content=NOTES["notes/heron.md"])
        assert (await agent("search", query="budget of Heron"))["hits"][0]["path"] == "notes/heron.md"


async def test_the_command_for_reading_only(tmp_path: Path) -> None:
    file = tmp_path / "g.grafeo"
    async with KnowledgeBase.open(f"embedded:{file}") as kb:
        await kb.remember("s", "user", "Ada prefers tea.")
    before = file.read_bytes()
    async with Client(command("--read-only", "--db", str(file), "--hold", "0")) as client:
        agent = Agent(client)
        assert set(await agent.tools()) == READING
        assert (await agent("recall", query="tea"))["memories"][0]["content"] == "Ada prefers tea."
    assert file.read_bytes() == before


def test_a_setting_that_makes_no_sense_is_told_before_it_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MGRAG_CHUNK_SIZE", "none")
    done = Command(tmp_path)("mcp")
    assert (done.code, done.out) == (2, "")
    assert "MGRAG_CHUNK_SIZE" in done.err


async def test_many_calls_at_once_share_one_opening(tmp_path: Path) -> None:
    async with serving(f"embedded:{tmp_path / 'g.grafeo'}", hold=0) as agent:
        await asyncio.gather(*(agent("add_document", path=f"n/{i}", content=f"Heron number {i}.") for i in range(8)))
        found = await asyncio.gather(*(agent("search", query=f"heron {i}", k=10) for i in range(8)))
        assert all(len(hits["hits"]) == 8 for hits in found)


def test_without_its_package_the_command_says_what_to_install(tmp_path: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; sys.argv[1:] = ['mcp']; from mgrag.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, input="", capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'memgraph-rag[mcp]'" in done.stderr
