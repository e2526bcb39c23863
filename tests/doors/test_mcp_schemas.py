"""The arguments of tools, as the APIs of models take their schemas, and as models fill them in."""

from __future__ import annotations

from itertools import product
from typing import Any

from tests.doors.test_mcp import serving, with_notes

#: What the APIs of all models know of schemas; Gemini's is the smallest.
KNOWN = {"type", "description", "properties", "required", "items", "enum", "default"} | {
    each + end for each, end in product(("min", "max"), ("imum", "Items"))
}


async def test_schemas_have_only_words_that_every_model_takes() -> None:
    def check(schema: dict[str, Any], where: str) -> None:
        assert set(schema) <= KNOWN, where
        assert isinstance(schema["type"], str) and schema.get("default", "") is not None, where
        for name, part in schema.get("properties", {}).items():
            check(part, f"{where}.{name}")
        if schema["type"] == "array":
            check(schema["items"], f"{where}.items")

    async with serving("embedded::memory:") as agent:
        tools = await agent.tools()
    for name, tool in tools.items():
        check(tool.input_schema, name)
    # An argument may have the name of a word that is left out, and a part is where it is used.
    assert "title" in tools["add_document"].input_schema["properties"]
    fact = tools["add_facts"].input_schema["properties"]["facts"]["items"]
    assert fact["required"] == ["subject", "relation", "object"] and fact["properties"]["valid_to"]["type"] == "string"


async def test_a_text_that_says_nothing_counts_as_left_out() -> None:
    fact = {"subject": "Ada", "relation": "owns", "object": "Mill"}
    async with with_notes() as agent:
        asked = await agent("ask", question="Who leads Project Heron?", filters="", conversation_id="")
        assert "Maria Lindqvist" in asked["text"]
        await agent("remember", session_id="s", content="It is wet.", tags="", timestamp="", user_id="ada")
        assert (await agent("recall", query="wet", since="", before="", filters="", tags=""))["memories"]
        assert await agent("add_facts", facts={**fact, "fact": None, "valid_from": "", "valid_to": ""}) == {"stored": 1}
        assert (await agent("neighbors", node="Ada", at="", relations=""))["edges"]
        assert "subject" in await agent.fails("add_facts", facts={**fact, "subject": ""})  # which has to be said


async def test_an_empty_id_does_not_mean_everybody() -> None:
    async with serving("embedded::memory:") as agent:
        await agent("remember", session_id="s", content="It is wet.", user_id="ada")
        assert "user is empty" in await agent.fails("recall", query="wet", user_id="")
        assert "user is empty" in await agent.fails("remember", session_id="s", content="It is dry.", user_id="")
        assert await agent.fails("recall", query="wet", session_id="")
        assert "either" in await agent.fails("forget", session_id="", user_id="ada")
        assert len((await agent("list_memories", session_id="s"))["memories"]) == 1


async def test_a_text_may_be_json() -> None:
    async with serving("embedded::memory:") as agent:
        kept = await agent("remember", session_id="s", content='{"port": 8080}', tags='["ports", "api"]')
        revised = await agent("revise", memory_id=kept["memoryId"], content='{"port":  9443}')
        assert revised["content"] == '{"port":  9443}' and revised["tags"] == ["ports", "api"]
        told = await agent.fails("recall", query="port", filters="project=mill")
        assert "Of memories, only metadata.KEY can be tested." in told
