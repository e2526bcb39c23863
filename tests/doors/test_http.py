"""The HTTP API, by a real client of a real server."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from core.rag import KnowledgeBase
from core.rag.errors import StoreTimeoutError
from core.rag.indexing.report import IngestReport
from tests.dbhandler.kit import Engine
from tests.doors.kit import ALICE, KEY, NOTES, access, events, ok, serving, with_notes
from tests.extraction.models import SayingModel


async def test_documents_are_stored_listed_read_searched_and_deleted() -> None:
    async with with_notes() as client:
        again = await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        assert again["documents"]["unchanged"] == 2
        listed = (await ok(await client.get("/db/default/documents", params={"limit": 1})))["documents"]
        assert [document["path"] for document in listed] == ["notes/heron.md"]
        rest = (await ok(await client.get("/db/default/documents", params={"after": "notes/heron.md"})))["documents"]
        assert [document["path"] for document in rest] == ["notes/lindqvist.md"]
        document = await ok(await client.get("/db/default/documents/notes/heron.md"))
        assert document["content"] == NOTES[0]["content"]
        found = await ok(
            await client.post("/db/default/chunks/search", json={"query": "Where does Maria Lindqvist work?", "k": 1})
        )
        assert [hit["path"] for hit in found["hits"]] == ["notes/lindqvist.md"]
        assert await ok(await client.delete("/db/default/documents/notes/heron.md")) == {"deleted": "notes/heron.md"}
        missing = await ok(await client.delete("/db/default/documents/notes/heron.md"), 404)
        assert "notes/heron.md" in missing["error"]


async def test_documents_that_match_are_removed_at_once() -> None:
    documents = [
        *({"path": f"notes/{n}.md", "content": f"Note {n}.", "metadata": {"by": "Ada"}} for n in range(3)),
        {"path": "plans/a.md", "content": "A plan.", "metadata": {"by": "Bob"}},
        {"path": "plans/b.md", "content": "Another plan.", "metadata": {"by": "Ada"}},
    ]
    async with serving() as client:
        await ok(await client.post("/db/default/documents", json={"documents": documents}))

        async def delete(status: int = 200, **options: Any) -> Any:
            return await ok(await client.delete("/db/default/documents", params=options), status)

        assert await delete(prefix="plans/", dryRun="true") == {"matching": ["plans/a.md", "plans/b.md"], "deleted": 0}
        for options in ({}, {"prefix": ""}, {"prefix": "a", "filters": "path:b"}, {"filters": " "}, {"filters": "x:y"}):
            await delete(400, **options)
        await delete(400, prefix="plans/", dryrun="true")
        assert len((await ok(await client.get("/db/default/documents")))["documents"]) == 5
        assert await delete(filters="metadata.by=Ada not path:plans/") == {
            "matching": [f"notes/{n}.md" for n in range(3)],
            "deleted": 3,
        }
        assert await delete(prefix="plans/a") == {"matching": ["plans/a.md"], "deleted": 1}
        assert await delete(prefix="plans/a") == {"matching": [], "deleted": 0}
        listed = (await ok(await client.get("/db/default/documents")))["documents"]
        assert [document["path"] for document in listed] == ["plans/b.md"]
        assert not (
            await ok(await client.post("/db/default/chunks/search", json={"query": "Note", "mode": "keyword"}))
        )["hits"]


async def test_markdown_and_html_are_read_as_such() -> None:
    page = "<html><head><meta charset=latin1><title>Die Mühle</title></head><body><h1>Die Mühle</h1><p>Sie mahlt.</p>"
    given = [
        {
            "path": "guide.md",
            "content": "# Guide\n\n## Start\n\nOpen [the](plain.txt) sluice.",
            "metadata": {"by": "Ada"},
        },
        {"path": "https://example.org/", "content": page, "mimeType": "text/html"},
        {"path": "plain.txt", "content": "# no heading <b>"},
        {"path": "empty.md", "content": ""},
    ]
    async with serving() as client:
        report = (await ok(await client.post("/db/default/documents", json={"documents": given})))["documents"]
        assert report["added"] == 3 and [one["path"] for one in report["failed"]] == ["empty.md"]
        guide, page_read, plain = [
            await ok(await client.get(f"/db/default/documents/{path}"))
            for path in ("guide.md", "https%3A%2F%2Fexample.org%2F", "plain.txt")
        ]
        assert (guide["title"], guide["metadata"]["by"]) == ("Guide", "Ada")
        assert page_read["title"] == "Die Mühle" and "<p>" not in page_read["content"]
        assert plain["content"] == "# no heading <b>"
        hits = (await ok(await client.post("/db/default/chunks/search", json={"query": "sluice", "k": 1})))["hits"]
        as_elsewhere = await client.post("/db/default/chunks/search", json={"query": "sluice", "limit": 1})
        assert (await ok(as_elsewhere))["hits"] == hits
        assert hits[0]["heading"] == "Start"
        misspelt = {"query": "sluice", "filters": {"metadata.buy": "Ada"}}
        nothing = await ok(await client.post("/db/default/chunks/search", json=misspelt))
        assert nothing["hits"] == [] and "there is metadata.by" in nothing["note"]
        body = {"start": "guide.md", "depth": 1, "edge_types": ["REFERENCES"]}
        linked = (await ok(await client.post("/db/default/graph/traverse", json=body)))["nodes"]
        assert [node["name"] for node in linked if node["distance"]] == ["plain.txt"]


async def test_a_document_whose_path_is_an_address_is_read_by_it() -> None:
    path = "https://example.org/a?b=c&d=1#e f/ü"
    async with serving() as client:
        await ok(await client.post("/db/default/documents", json={"documents": [{"path": path, "content": "A text."}]}))
        encoded = httpx.URL("/", params={"x": path}).query.decode()[2:].replace("+", "%20")
        assert (await ok(await client.get(f"/db/default/documents/{encoded}")))["content"] == "A text."


async def test_files_of_all_kinds_are_uploaded() -> None:
    corpus = Path(__file__).parents[2] / "examples" / "corpus"
    chosen = [file for file in sorted(corpus.rglob("*")) if file.suffix in {".pdf", ".docx", ".csv", ".html"}]
    assert len(chosen) >= 4
    async with serving() as client:
        files = [("files", (file.name, file.read_bytes())) for file in chosen]
        files += [("files", ("photo.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 50)), ("files", ("empty.txt", b""))]
        report = await ok(await client.post("/db/default/files", files=files, data={"prefix": "corpus/"}))
        assert report["documents"]["added"] == len(chosen)
        assert [(one["path"], bool(one["reason"])) for one in report["documents"]["failed"]] == [
            ("corpus/photo.png", True),
            ("corpus/empty.txt", True),
        ]
        twice = [("files", ("a.txt", b"one")), ("files", ("a.txt", b"two")), ("files", ("b.txt", b"three"))]
        report = (await ok(await client.post("/db/default/files", files=twice)))["documents"]
        assert report["added"] == 2 and [one["path"] for one in report["failed"]] == ["a.txt"]
        assert (await ok(await client.get("/db/default/documents/a.txt")))["content"] == "one"
        assert (
            "'files'" in (await ok(await client.post("/db/default/files", files=[("file", ("a", b"x"))]), 422))["error"]
        )
        listed = await ok(await client.get("/db/default/documents", params={"prefix": "corpus/"}))
        assert {document["path"] for document in listed["documents"]} == {f"corpus/{file.name}" for file in chosen}


async def test_answers_have_citations_and_can_be_streamed() -> None:
    async with with_notes() as client:
        asked = {"question": "What is the budget of Project Heron?"}
        answer = await ok(await client.post("/db/default/answer", json=asked))
        assert "42,000" in answer["text"]
        assert answer["citations"][0]["path"] == "notes/heron.md"
        streamed = await client.post("/db/default/answer/stream", json={**asked, "conversationId": "monday"})
        assert streamed.headers["content-type"].startswith("text/event-stream")
        said = events(streamed.text)
        assert [said[0][0], said[1][0], said[-1][0]] == ["analysis", "retrieval", "done"]
        assert "".join(data["text"] for name, data in said if name == "token") == said[-1][1]["text"] == answer["text"]
        recorded = await ok(await client.get("/db/default/conversations/monday"))
        assert [message["role"] for message in recorded["messages"]] == ["user", "assistant"]


async def test_a_session_is_remembered_in_one_request() -> None:
    talk = [{"content": "I live in Ulm.", "userId": "ada"}, {"role": "assistant", "content": "Noted.", "tags": ["ok"]}]
    async with serving() as client:
        said = await ok(await client.post("/db/wiki/memory/monday", json=[*talk, talk[0]]))
        listed = (await ok(await client.get("/db/wiki/memory/monday")))["memories"]
        assert [memory["memoryId"] for memory in listed] == said["memoryIds"][1:]
        assert [(memory["content"], memory["count"]) for memory in listed] == [("Noted.", 1), ("I live in Ulm.", 2)]
        wrong = await ok(await client.post("/db/wiki/memory/monday", json=[talk[0], {"contents": "x"}]), 422)
        assert wrong["error"].startswith("memories.1.content: Field required")
        wrong = await ok(await client.post("/db/wiki/memory/monday", json={"contents": "x"}), 422)
        assert wrong["error"].startswith("memory.content: Field required")
        blank = await ok(await client.post("/db/wiki/memory/monday", json=[talk[0], {"content": " "}]), 400)
        assert blank["error"].startswith("Message 2: ")
        await ok(await client.post("/db/wiki/memory/monday", json=[]), 422)
        await ok(await client.post("/db/wiki/memory/monday", json=[talk[0]] * 1001), 422)
        again = (await ok(await client.get("/db/wiki/memory/monday")))["memories"]
        assert [memory["count"] for memory in again] == [1, 2]


async def test_what_a_user_viewed_is_recorded_and_listed() -> None:
    async with with_notes() as client:
        history = "/db/default/users/team%2Fada/history"
        assert await ok(await client.get(history)) == {"viewed": []}
        for path in ("notes/heron.md", "notes/lindqvist.md", "notes/heron.md"):
            seen = await ok(await client.post(history, json={"document": path}))
        assert [(view["path"], view["count"]) for view in seen["viewed"]] == [
            ("notes/heron.md", 2),
            ("notes/lindqvist.md", 1),
        ]
        assert await ok(await client.get(history)) == seen
        assert "nowhere" in (await ok(await client.post(history, json={"document": "nowhere"}), 404))["error"]
        assert len((await ok(await client.get("/db/default/users/team%2Fada/export")))["viewed"]) == 2


async def test_records_make_the_graph_of_the_example() -> None:
    async with serving() as client:
        inserted = await ok(await client.post("/db/wiki/employees", json=ALICE), 201)
        assert (inserted["nodes"], inserted["edges"]) == (5, 10)
        await ok(
            await client.post("/db/wiki/employees", json=[{"_id": "bob", "name": "Bob Smith", "company": "TechCorp"}]),
            201,
        )
        stats = await ok(await client.get("/db/wiki/graph/stats"))
        assert stats["nodes"] == 5
        listed = (await ok(await client.get("/db/wiki/employees")))["records"]
        assert {record["data"]["name"] for record in listed} == {"Alice Johnson", "Bob Smith"}
        found = await ok(
            await client.post("/db/wiki/search", json={"query": "TechCorp Backend", "mode": "hybrid", "limit": 10})
        )
        assert found["total"] == 2
        assert found["results"][0]["document"]["name"] == "Alice Johnson"
        assert set(found["results"][0]["scores"]) == {"keyword", "graph", "hybrid"}
        context = await ok(
            await client.post(
                "/db/wiki/ask", json={"question": "Who works at TechCorp?", "contextDepth": 2, "limit": 5}
            )
        )
        assert set(context) == {"contextChunks", "graphPath", "sourceDocuments", "usage"} and context["contextChunks"]
        only = {"filters": {"path": {"prefix": "docs/"}}}  # records that were inserted are of no document
        none = await ok(await client.post("/db/wiki/search", json={"query": "TechCorp", **only}))
        assert none == {"results": [], "total": 0}
        none = await ok(await client.post("/db/wiki/ask", json={"question": "Who works at TechCorp?", **only}))
        assert none["contextChunks"] == []
        wrong = await client.post("/db/wiki/ask", json={"question": "Who?", "filters": "colour:red"})
        assert "'colour' is not a field" in (await ok(wrong, 400))["error"]
        await ok(await client.delete(f"/db/wiki/employees/{inserted['id']}"))
        await ok(await client.delete(f"/db/wiki/employees/{inserted['id']}"), 404)
        await ok(await client.get(f"/db/wiki/employees/{inserted['id']}"), 404)
        assert (await ok(await client.get("/db/wiki/graph/stats")))["nodes"] == 2


async def test_a_record_is_read_and_removed_in_its_own_collection_only() -> None:
    async with serving() as client:
        identifier = (await ok(await client.post("/db/wiki/employees", json=ALICE), 201))["id"]
        record = {"id": identifier, "collection": "employees", "data": ALICE}
        assert await ok(await client.get(f"/db/wiki/employees/{identifier}")) == record
        assert "'planets'" in (await ok(await client.get(f"/db/wiki/planets/{identifier}"), 404))["error"]
        await ok(await client.delete(f"/db/wiki/planets/{identifier}"), 404)
        await ok(await client.get(f"/db/other/employees/{identifier}"), 404)
        assert (await ok(await client.get("/db/wiki/employees")))["records"] == [record]


async def test_facts_are_stated_for_a_time_and_end() -> None:
    async with serving() as client:
        owns = {"subject": "Ada", "relation": "owns", "object": "Mill", "valid_from": "2018-01-01"}
        assert await ok(await client.post("/db/wiki/graph/triples", json={"triples": [owns]})) == {"stored": 1}
        body = {"source": "Bob", "target": "Mill", "relation": "owns", "create": True, "valid_from": "2021-05-01"}
        link = await ok(await client.post("/db/wiki/graph/link", json=body))
        assert (link["valid_from"], link["valid_to"]) == ("2021-05-01T00:00:00.000000Z", "")
        (first,) = [
            edge
            for edge in (await ok(await client.get("/db/wiki/graph/edges", params={"at": "ever"})))["edges"]
            if edge["id"] != link["id"]
        ]
        place = f"/db/wiki/graph/link/{first['id']}"
        assert await ok(await client.delete(place, params={"ended": "2021-05-01"})) == {"ended": 1}
        assert "held then" in str(await ok(await client.delete(place, params={"ended": "2021-05-01"}), 404))
        assert "is not a time" in str(await ok(await client.delete(place, params={"ended": "soon"}), 400))
        assert "do not overlap" in str(
            await ok(await client.post("/db/wiki/graph/link", json={**body, "valid_from": "2022-01-01"}), 400)
        )
        for at, owners in (("2020-01-01", {"Ada"}), (None, {"Bob"}), ("ever", {"Ada", "Bob"})):
            given = {} if at is None else {"at": at}
            node = await ok(await client.get("/db/wiki/graph/node/Mill", params=given))
            walk = await ok(await client.post("/db/wiki/graph/traverse", json={"start": "Mill", **given}))
            told = await ok(await client.post("/db/wiki/ask", json={"question": "Mill", **given}))
            for nodes in (node["nodes"], walk["nodes"]):
                assert {other["name"] for other in nodes} == owners
            assert {chunk["text"].split(" ")[0] for chunk in told["contextChunks"]} == owners
            path = await ok(await client.post("/db/wiki/graph/path", json={"start": "Ada", "end": "Mill", **given}))
            assert (path["path"] is not None) == ("Ada" in owners)
        await ok(await client.post("/db/wiki/search", json={"query": "Mill", "at": "2020-01-01"}))
        assert (await ok(await client.get("/db/wiki/graph/stats")))["past"] == 1


async def test_records_of_a_file_are_listed_though_it_is_called_like_a_route() -> None:
    async with serving() as client:
        rows = {"files": ("users.csv", b"name,company\nAlice Johnson,TechCorp\nBob Smith,TechCorp\n")}
        await ok(await client.post("/db/wiki/files", files=rows))
        assert (await ok(await client.get("/db/wiki/collections")))["collections"] == [{"name": "users", "records": 2}]
        first = await ok(await client.get("/db/wiki/collections/users?limit=1"))
        rest = await ok(await client.get("/db/wiki/collections/users", params={"after": first["next"]}))
        names = {record["data"]["name"] for record in (*first["records"], *rest["records"])}
        assert names == {"Alice Johnson", "Bob Smith"} and rest["next"] == ""


async def test_all_records_of_a_collection_are_asked() -> None:
    async with serving() as client:
        rows = b'name,team,salary\nAlice,Backend,"$70,000"\nBob,Backend,"$62,500"\nCara,Sales,"$58,000"\n'
        await ok(await client.post("/db/wiki/files", files={"files": ("a/staff.csv", rows)}))
        fields = (await ok(await client.get("/db/wiki/collections/staff/fields")))["fields"]
        assert {field["name"]: field["records"] for field in fields} == {"name": 3, "team": 3, "salary": 3}
        asked = {"groupBy": "team", "measures": ["count", "avg:salary"], "orderBy": ["-count"]}
        found = await ok(await client.post("/db/wiki/collections/staff/table", json=asked))
        assert found["rows"] == [
            {"team": "Backend", "count": 2, "avg:salary": 66250},
            {"team": "Sales", "count": 1, "avg:salary": 58000},
        ]
        rich = await ok(
            await client.post("/db/wiki/collections/staff/table", json={"filters": {"salary": {">": 60000}}})
        )
        assert {row["name"] for row in rich["rows"]} == {"Alice", "Bob"} and len(rich["ids"]) == rich["records"] == 2
        wrong = await client.post("/db/wiki/collections/staff/table", json={"groupBy": "tem"})
        assert wrong.status_code == 400 and "no field 'tem'" in wrong.text
        assert (await client.post("/db/wiki/collections/staf/table", json={})).status_code == 404
        assert (await client.get("/db/wiki/collections/staf/fields")).status_code == 404


async def test_the_graph_is_walked_and_edited() -> None:
    async with serving() as client:
        await ok(await client.post("/db/wiki/employees", json=ALICE), 201)
        names = [
            node["name"] for node in (await ok(await client.get("/db/wiki/graph/nodes", params={"limit": 3})))["nodes"]
        ]
        assert names == sorted(names) and len(names) == 3
        assert len((await ok(await client.get("/db/wiki/graph/edges")))["edges"]) == 10
        assert (await ok(await client.get("/db/wiki/graph/search", params={"q": "techc"})))["nodes"][0][
            "name"
        ] == "TechCorp"
        link = await ok(
            await client.post(
                "/db/wiki/graph/link",
                json={"source": "TechCorp", "target": "Platform Core", "relation": "owns", "create": True},
            )
        )
        walk = await ok(await client.post("/db/wiki/graph/traverse", json={"start": "Platform Core", "depth": 2}))
        assert {node["name"] for node in walk["nodes"]} >= {"TechCorp", "Alice Johnson"}
        ends = {"from": "Platform Core", "to": "Backend"}
        for limit, nodes in (({"maxDepth": 4}, ["Platform Core", "TechCorp", "Backend"]), ({"depth": 1}, None)):
            path = (await ok(await client.post("/db/wiki/graph/path", json={**ends, **limit})))["path"]
            assert (path and [node["name"] for node in path["nodes"]]) == nodes
        node = await ok(await client.get("/db/wiki/graph/node/Platform Core"))
        assert [other["name"] for other in node["nodes"]] == ["TechCorp"]
        both = {"relation": ["works_at", link["type"]]}
        near = await ok(await client.get("/db/wiki/graph/node/TechCorp", params=both))
        assert {edge["type"] for edge in near["edges"]} == set(both["relation"])
        assert await ok(await client.delete(f"/db/wiki/graph/link/{link['id']}")) == {"removed": 1}
        await ok(await client.delete(f"/db/wiki/graph/link/{link['id']}"), 404)
        assert await ok(
            await client.post("/db/wiki/graph/path", json={"start": "Platform Core", "end": "Backend"})
        ) == {"path": None}
        stored = await ok(
            await client.post(
                "/db/wiki/graph/triples",
                json={"triples": [{"subject": "Ada", "relation": "knows", "object": "Bob Smith"}]},
            )
        )
        assert stored == {"stored": 1}


async def test_what_was_added_by_hand_can_be_removed() -> None:
    async with serving() as client:
        await ok(await client.post("/db/wiki/employees", json=ALICE), 201)
        triples = [{"subject": "R&D / Hull", "relation": "owns", "object": "Alice Johnson"}]
        await ok(await client.post("/db/wiki/graph/triples", json={"triples": triples}))
        assert await ok(await client.delete("/db/wiki/graph/node/R%26D%20%2F%20Hull")) == {"deleted": "R&D / Hull"}
        told = await ok(await client.delete("/db/wiki/graph/node/R%26D%20%2F%20Hull"), 404)
        assert told["error"].endswith("GET /db/NAME/graph/nodes lists what there is.")
        told = await ok(await client.delete("/db/wiki/graph/node/TechCorp"), 404)
        assert "was not added by hand" in told["error"]
        near = await ok(await client.get("/db/wiki/graph/node/Alice Johnson"))
        assert "R&D / Hull" not in {node["name"] for node in near["nodes"]} >= {"TechCorp"}


async def test_a_body_in_which_everything_is_optional_may_be_missing() -> None:
    async with serving() as client:
        await ok(await client.post("/db/wiki/memory/s", json={"content": "I am Maria.", "user_id": "maria"}))
        assert len((await ok(await client.post("/db/wiki/users/maria/anonymize")))["conversations"]) == 1
        assert (await ok(await client.post("/db/wiki/graph/resolve")))["added"] == 0
        begun = (await ok(await client.post("/db/wiki/conversations")))["conversationId"]
        assert (await ok(await client.get(f"/db/wiki/conversations/{begun}")))["messages"] == []
        await ok(await client.post("/db/wiki/graph/resolve", content="x"), 422)


async def test_a_language_model_reads_what_is_there() -> None:
    owns = {"subject": "Ada Vane", "relation": "owns", "object": "Heron Mill", "sentence": "She owns it."}
    names = [{"name": "Ada Vane", "type": "person"}, {"name": "Heron Mill", "type": "mill"}]
    model = SayingModel(lambda _: {"entities": names, "facts": [owns, owns | {"relation": "sold"}]})
    knowledge = KnowledgeBase.open("embedded::memory:", language_model=model)
    async with serving(knowledge=knowledge) as client:
        notes = [{"path": f"n{number}", "content": f"Note {number}: Ada Vane has Heron Mill."} for number in range(3)]
        await ok(await client.post("/db/default/documents", json={"documents": notes}))
        wanted = {"entity_types": ["person", "mill"], "relations": ["owns"], "limit": 2}
        told = await ok(await client.post("/db/default/graph/extract", json=wanted))
        assert told == {
            "chunks": 2, "entities": 4, "facts": 2, "unwanted": 2, "unnamed": 0,
            "failed": [], "stopped": "", "waiting": 1,
        }  # fmt: skip
        assert (await ok(await client.post("/db/default/graph/extract")))["waiting"] == 0
        again = await ok(await client.post("/db/default/graph/extract", json={"again": True}))
        assert (again["chunks"], again["facts"], again["unwanted"]) == (3, 6, 0)
        wrong = await ok(await client.post("/db/default/graph/extract", json={"relations": ["a > b"]}), 400)
        assert "is not a relation" in wrong["error"]
    async with serving() as client:
        told = await ok(await client.post("/db/default/graph/extract"), 400)
        assert "MGRAG_LLM_MODEL" in told["error"]


async def test_memories_are_stored_recalled_listed_and_forgotten() -> None:
    async with serving() as client:
        first = await ok(
            await client.post(
                "/db/wiki/memory/session-123", json={"role": "user", "content": "Who works on Platform Core?"}
            )
        )
        await ok(
            await client.post(
                "/db/wiki/memory/session-123",
                json={"role": "assistant", "content": "Bob Smith is tech lead on Platform Core"},
            )
        )
        await ok(
            await client.post(
                "/db/wiki/memory/remember",
                json={"agentId": "scout", "content": "The tide is low at nine.", "userId": "ada"},
            )
        )
        recalled = await ok(
            await client.post("/db/wiki/memory/session-123/recall", json={"query": "Who is tech lead?", "limit": 1})
        )
        (memory,) = recalled["memories"]
        assert (
            memory["content"].startswith("Bob Smith")
            and memory["type"] == "conversation"
            and 0 < memory["relevance"] <= 1
            and memory["because"] == {"reason": "words", "memoryId": None}
        )
        listed = (await ok(await client.get("/db/wiki/memory/session-123")))["memories"]
        assert [memory["role"] for memory in listed] == ["user", "assistant"] and listed[0]["memoryId"] == first[
            "memoryId"
        ]
        own = await ok(await client.post("/db/wiki/memory/recall", json={"query": "tide", "userId": "ada"}))
        assert (await ok(await client.post("/db/wiki/memory/recall", json={"userId": "ada", "tags": ["x"]})))[
            "memories"
        ] == []
        listed = await ok(await client.post("/db/wiki/memory/recall", json={"userId": "ada"}))
        assert {item["memoryId"] for item in own["memories"]} <= {item["memoryId"] for item in listed["memories"]}
        assert [memory["sessionId"] for memory in own["memories"]] == ["scout"]
        for filters, count in (("metadata.a=1", 0), ("metadata.a!=1", 1), ({"metadata.a": None}, 1), ("path:x", 400)):
            answer = await client.post("/db/wiki/memory/recall", json={"userId": "ada", "filters": filters})
            assert count == (len(answer.json()["memories"]) if answer.status_code == 200 else answer.status_code)
        for period, count in (({"since": "2020"}, 1), ({"since": "soon"}, 400), ({"before": "2020-01-01"}, 0)):
            answer = await client.post("/db/wiki/memory/recall", json={"query": "tide", "userId": "ada", **period})
            assert count == (len(answer.json()["memories"]) if answer.status_code == 200 else answer.status_code)
        assert len((await ok(await client.get("/db/wiki/memory/list", params={"agentId": "scout"})))["memories"]) == 1
        assert (await ok(await client.get("/db/wiki/users/ada/export")))["conversations"]
        people = await ok(await client.get("/db/wiki/users", params={"limit": 1}))
        assert [user["id"] for user in people["users"]] == ["ada"]
        assert (await ok(await client.delete("/db/wiki/memory/session-123")))["memories"] == 2
        assert (await ok(await client.delete("/db/wiki/memory/forget", params={"userId": "ada"})))["memories"] == 1
        await ok(await client.delete("/db/wiki/memory/forget"), 400)
        # A slip in a name does not look as if somebody were forgotten; that nothing is so old is as it should be.
        for path in ("users/eve", "memory/none", "memory/forget?userId=eve", "memory/forget?memoryId=none"):
            told = await ok(await client.delete(f"/db/wiki/{path}"), 404)
            assert "so nothing was forgotten" in told["error"] and told["type"] == "NotFoundError"
        await ok(await client.delete("/db/wiki/memory/forget", params={"before": "2001-01-01"}))


async def test_conversations_are_kept_and_help_the_search() -> None:
    async with with_notes() as client:
        conversation = (
            await ok(await client.post("/db/default/conversations", json={"title": "Heron", "userId": "ada"}))
        )["conversationId"]
        await ok(
            await client.post(
                f"/db/default/conversations/{conversation}/messages", json={"content": "Who leads Project Heron?"}
            )
        )
        await ok(
            await client.post(
                f"/db/default/conversations/{conversation}/messages",
                json={"role": "assistant", "content": "Maria Lindqvist."},
            )
        )
        found = await ok(
            await client.post(
                "/db/default/chunks/search",
                json={"query": "Where does she work?", "k": 1, "conversationId": conversation},
            )
        )
        assert found["hits"][0]["path"] == "notes/lindqvist.md"
        rated = await ok(
            await client.post(
                "/db/default/feedback", json={"target": found["hits"][0]["chunk_id"], "value": 1, "userId": "ada"}
            )
        )
        assert rated["rated"] == [found["hits"][0]["chunk_id"]]
        listed = (await ok(await client.get("/db/default/conversations", params={"userId": "ada"})))["conversations"]
        assert [one["title"] for one in listed] == ["Heron"]
        await ok(await client.delete(f"/db/default/conversations/{conversation}"))
        await ok(await client.get(f"/db/default/conversations/{conversation}"), 404)


async def test_namespaces_are_apart_listed_and_removed() -> None:
    async with with_notes() as client:
        assert (await ok(await client.get("/db/other/documents")))["documents"] == []
        assert (await ok(await client.post("/db/other/chunks/search", json={"query": "Heron"})))["hits"] == []
        await ok(await client.post("/db/other/documents", json={"documents": NOTES[:1]}))
        listed = (await ok(await client.get("/db")))["databases"]
        assert {one["name"]: one["nodes"]["Document"] for one in listed} == {"default": 2, "other": 1}
        assert (await ok(await client.get("/db/other/status")))["nodes"]["Document"] == 1
        await ok(await client.delete("/db/other"))
        assert (await ok(await client.get("/db/other/documents")))["documents"] == []
        assert len((await ok(await client.get("/db/default/documents")))["documents"]) == 2
        refused = await ok(await client.get("/db/%20x/documents"), 400)
        assert "namespace" in refused["error"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", "/db/default/chunks/search", {"query": "x", "k": 0}, 422, "k: "),
        ("POST", "/db/default/chunks/search", {"query": "x", "k": 1, "limit": 2}, 422, "limit"),
        ("POST", "/db/default/chunks/search", {"query": "x", "filtres": ""}, 422, "filtres: There is no such field"),
        ("POST", "/db/default/chunks/search", {"query": "x", "filters": "path:("}, 400, "Filter"),
        ("POST", "/db/default/chunks/search", {"query": " "}, 400, "empty"),
        ("POST", "/db/default/chunks/search", {"query": "x", "conversation_id": "none"}, 404, "none"),
        ("POST", "/db/default/graph/traverse", {"start": "Nobody"}, 404, "Nobody"),
        ("POST", "/db/default/search", {"query": "x", "mode": "vector"}, 422, "mode"),
        ("POST", "/db/default/documents", {"documents": []}, 422, "documents"),
        ("POST", "/db/default/feedback", {"target": "x", "value": 7}, 422, "value"),
        ("POST", "/db/default/employees", [1], 422, "A record is a JSON object"),
        ("POST", "/db/default/employees", "Alice", 422, "A record is a JSON object"),
        ("POST", "/db/default/files", {}, 422, "multipart/form-data"),
        ("POST", "/db/default/documents", {"documents": [NOTES[0], NOTES[1], NOTES[0]]}, 400, "notes/heron.md"),
        ("POST", "/db/default/graph/link", {"source": "A", "target": "B"}, 404, '"create": true'),
        ("POST", "/db/default/feedback", {"target": "x", "value": 1}, 404, "Nothing has been ingested"),
        ("GET", "/db/default/graph/node/nobody", None, 404, "GET /db/NAME/graph/nodes"),
        ("POST", "/db/default/conversations/c/messages", {"content": "x"}, 404, "POST /db/NAME/conversations"),
        ("PUT", "/db/default/documents", {"documents": []}, 405, "PUT /db/default/documents"),
        ("POST", "/db/default/ingest", {"sources": ["/etc/hostname"]}, 400, "--root"),
        ("POST", "/db/default/ingest", {"sources": ["a"], "facts": True}, 400, "MGRAG_LLM_MODEL"),
        ("POST", "/db/default/ingest", {"sources": ["a"], "max_urls": 0}, 422, "greater than or equal to 1"),
        (
            "POST",
            "/db/default/memory/remember",
            {"sessionId": "s", "content": "x", "timestamp": "never"},
            422,
            "timestamp: 'never' is not a time",
        ),
        ("GET", "/db/default/documents/none.md", None, 404, "none.md"),
        ("DELETE", "/db/default/memory/forget?userId=ada&befor=2020-01-01", None, 400, "'befor' (there are sessionId"),
        ("DELETE", "/db/default/memory/forget?memoryId=a&memoryId=b", None, 400, "memoryId can be given once"),
        ("DELETE", "/db/default/memory/forget?sessionId=a&agent_id=b", None, 400, "sessionId and agent_id"),
        ("DELETE", "/db/default/memory/forget?before=2020-13", None, 400, "'2020-13-01' is not a time"),
        ("DELETE", "/db/default?force=true", None, 400, "'force' (it has none)"),
        ("GET", "/db/default/documents?limt=3", None, 400, "'limt' (there are prefix, limit, after)"),
        ("GET", "/nothing", None, 404, "GET /nothing"),
        ("POST", "/db/default/memory", {"content": "without a session"}, 404, "'memory'"),
        ("POST", "/db/default/memory/", {"content": "without a session"}, 404, ""),
        ("POST", "/db/default/users", {"name": "Ada"}, 405, "a collection cannot be called 'users'"),
        ("DELETE", "/db/default/graph/link/none", None, 404, "No link has the id 'none'"),
        ("GET", "/db/default/graph/node/a?limit=1&limit=2", None, 400, "limit can be given once"),
        ("POST", "/db/default/chunks/search", {"query": "x", "filters": {"\ud83d": 1}}, 400, "field"),
    ],
)
async def test_bad_requests_are_told(method: str, path: str, body: Any, status: int, says: str) -> None:
    async with serving() as client:
        sent: dict[str, Any] = (
            {} if body is None else {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        )
        assert says in (await ok(await client.request(method, path, **sent), status))["error"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/db/default/documents", "DELETE, GET, HEAD, POST"),
        ("PATCH", "/db/default/documents/notes%2Fheron.md", "DELETE, GET, HEAD"),
        ("PUT", "/db/default/memory/recall", "POST"),
        ("GET", "/db/default/memory/recall", "POST"),
        ("POST", "/db/default/memory/list", "GET, HEAD"),
        ("GET", "/db/default/memory/revise", "POST"),
        ("DELETE", "/db/default/memory/revise", "POST"),
        ("DELETE", "/db/default/memory/monday/recall", "POST"),
        ("DELETE", "/db/default/users/ada/history", "GET, HEAD, POST"),
        ("DELETE", "/db/default/users/ada/export", "GET, HEAD"),
        ("DELETE", "/db/default/users/team%2Fada/anonymize", "POST"),
        ("PATCH", "/db/default/conversations/monday/messages", "POST"),
        ("DELETE", "/db/default/conversations/monday/anonymize", "POST"),
        ("DELETE", "/db/default/graph/stats", "GET, HEAD"),
        ("POST", "/db/default/users", "GET, HEAD"),
        ("PUT", "/db/default/employees", "GET, HEAD, POST"),
        ("POST", "/db/default/graph/stats", "GET, HEAD"),
        ("POST", "/health", "GET, HEAD"),
    ],
)
async def test_a_refused_method_comes_with_those_that_there_are(method: str, path: str, allowed: str) -> None:
    async with serving() as client:
        response = await client.request(method, path)
        assert (response.status_code, response.headers["allow"]) == (405, allowed)


async def test_what_the_command_line_can_do_with_memories_and_names_a_client_can_too() -> None:
    async with serving() as client:

        async def post(path: str, body: Any) -> Any:
            return await ok(await client.post(f"/db/default/{path}", json=body))

        for number in range(6):
            await post("memory/s", {"content": f"Step {number}: Maria Lindqvist oils the mill.", "userId": "maria"})
        pages: list[str] = []
        before: dict[str, str] = {}
        for path, session in (("memory/s", {}), ("memory/list", {"sessionId": "s"}), ("memory/s", {})):
            page = await ok(await client.get(f"/db/default/{path}", params={"limit": "2", **session, **before}))
            pages = [item["content"][:6] for item in page["memories"]] + pages
            before = {"before": page["memories"][0]["memoryId"]}
        assert pages == [f"Step {number}" for number in range(6)]
        last = before["before"]
        revised = await post("memory/revise", {"memoryId": last, "content": "Step zero.", "metadata": {"sure": True}})
        assert (revised["memoryId"], revised["content"], revised["userId"]) == (last, "Step zero.", "maria")
        assert (await post("memory/revise", {"memory_id": last, "tags": ["oil"]}))["metadata"] == {"sure": True}
        assert (await ok(await client.get("/db/default/memory/s")))["memories"][0]["tags"] == ["oil"]
        nothing = await client.post("/db/default/memory/revise", json={"memoryId": last})
        assert "content, tags or metadata" in (await ok(nothing, 400))["error"]
        await ok(await client.post("/db/default/memory/revise", json={"memoryId": "none", "content": "x"}), 404)
        summary = (await post("memory/compact", {"sessionId": "s", "keep": 2}))["memoryId"]
        listed = (await ok(await client.get("/db/default/memory/s")))["memories"]
        assert [item["memoryId"] == summary for item in listed] == [True, False, False]
        assert await post("memory/compact", {"sessionId": "s", "keep": 2}) == {"memoryId": None}
        await ok(await client.post("/db/default/memory/compact", json={"sessionId": "none"}), 404)
        told = await post("users/maria/anonymize", {})
        assert (len(told["conversations"]), told["replaced"]) == (1, {"person": 1})
        assert (await post("memory/recall", {"query": "Lindqvist mill"}))["memories"]
        await ok(await client.post("/db/default/users/maria/anonymize", json={}), 404)

        renamed = await client.patch(f"/db/default/conversations/{told['conversations'][0]}", json={"title": "Mill"})
        assert (await ok(renamed))["conversationId"] == told["conversations"][0]
        [talk] = (await ok(await client.get("/db/default/conversations")))["conversations"]
        assert talk["title"] == "Mill"
        await ok(await client.patch("/db/default/conversations/none", json={"title": "Mill"}), 404)

        people = [{"name": "Ann", "company": "TechCorp"}, {"name": "Bob", "company": "Kestrel"}]
        await ok(await client.post("/db/default/people", json=people), 201)
        await ok(await client.post("/db/default/firms", json={"name": "Kestrel"}), 201)
        collections = (await ok(await client.get("/db/default/collections")))["collections"]
        assert collections == [{"name": "firms", "records": 1}, {"name": "people", "records": 2}]
        ends = {"start": "Ann", "end": "Bob"}
        assert (await post("graph/path", ends))["path"] is None
        assert await post("graph/merge", {"alias": "Kestrel", "entity": "TechCorp"}) == {
            "alias": "Kestrel",
            "entity": "TechCorp",
        }
        assert (await post("graph/path", ends))["path"]["length"] == 3
        assert await post("graph/split", {"entity": "Kestrel"}) == {"split": 1}
        assert (await post("graph/path", ends))["path"] is None
        assert await post("graph/resolve", {}) == {"same": [], "added": 0, "removed": 0}


async def test_lists_say_where_their_next_page_begins() -> None:
    async with serving() as client:
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        await ok(await client.post("/db/default/employees", json=[ALICE, {"name": "Bob Smith"}]), 201)
        for name in ("ann", "bob"):
            await ok(await client.post("/db/default/conversations", json={"conversationId": name}))
        for path, key in (("documents", "path"), ("employees", "id"), ("conversations", "id")):
            whole = await ok(await client.get(f"/db/default/{path}"))
            name = path if path in whole else "records"
            assert (len(whole[name]), whole["next"]) == (2, "")
            first = await ok(await client.get(f"/db/default/{path}", params={"limit": 1}))
            second = await ok(await client.get(f"/db/default/{path}", params={"limit": 1, "after": first["next"]}))
            assert [row[key] for row in (*first[name], *second[name])] == [row[key] for row in whole[name]]
            assert second["next"] == ""


async def test_a_bug_is_told_as_json_and_stays_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: KnowledgeBase) -> None:
        raise KeyError("a secret")

    async with serving() as client:
        monkeypatch.setattr(KnowledgeBase, "status", broken)
        response = await client.get("/db/default/status", headers={"X-Request-ID": "from-the-proxy"})
        failed = await ok(response, 500)
        assert "log" in failed["error"] and "secret" not in failed["error"]
        assert failed["request_id"] == response.headers["X-Request-ID"] == "from-the-proxy"
        assert "a secret" in caplog.text and "KeyError (request from-the-proxy)" in caplog.text


async def test_what_is_wrong_with_the_server_is_in_its_log_with_the_route(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def slow(*_: Any, **__: Any) -> None:
        raise StoreTimeoutError("db.internal took 60 s.")

    async with serving() as client:
        monkeypatch.setattr(KnowledgeBase, "export_user", slow)
        monkeypatch.setattr(KnowledgeBase, "ingest", slow)
        failed = await ok(await client.get("/db/default/users/ada%0Amgrag:%20all%20is%20well/export"), 504)
        assert "too long" in failed["error"] and "db.internal" not in failed["error"]
        said = await client.post("/db/default/ingest/stream", json={"sources": ["https://example.org/"]})
        [(name, problem)] = events(said.text)
        assert name == "error" and "db.internal" not in said.text
        assert problem["request_id"] == said.headers["X-Request-ID"] != failed["request_id"]
    told = [record.getMessage() for record in caplog.records if record.name == "mgrag.http.errors"]
    assert [line.replace("/db/{namespace}", "") for line in told] == [  # not with every FastAPI
        f"GET /users/{{user}}/export: StoreTimeoutError: db.internal took 60 s. (request {failed['request_id']})",
        f"POST /ingest/stream: StoreTimeoutError: db.internal took 60 s. (request {problem['request_id']})",
    ]


@pytest.mark.parametrize("given", ["", "x" * 129, "an id", "é"])
async def test_a_request_has_an_id_of_its_own_where_what_it_is_called_could_be_anything(given: str) -> None:
    async with serving(access(api_keys=KEY)) as client:
        response = await client.get("/db", headers={b"X-Request-ID": given.encode()})
        await ok(response, 401)
        assert re.fullmatch(r"[0-9a-f]{32}", response.headers["X-Request-ID"])


async def test_a_request_that_the_end_of_the_server_cuts_off_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = asyncio.Event()

    async def endless(_: KnowledgeBase) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(KnowledgeBase, "status", endless)
    async with httpx.AsyncClient(timeout=60) as patient:
        async with serving() as client:
            waiting = asyncio.create_task(patient.get(client.base_url.join("/db/default/status")))
            await begun.wait()
        assert "Repeat it" in (await ok(await waiting, 503))["error"]
    assert "Traceback" not in caplog.text


async def test_events_that_the_end_of_the_server_cuts_off_end_with_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def endless(_: KnowledgeBase, __: Any, *, progress: Callable[[IngestReport], None], **___: Any) -> None:
        progress(IngestReport(chunks=7))
        await asyncio.Event().wait()

    monkeypatch.setattr(KnowledgeBase, "ingest", endless)
    begun = asyncio.Event()

    async def read(client: httpx.AsyncClient, url: httpx.URL) -> str:
        text = ""
        async with client.stream("POST", url, json={"sources": ["https://example.org/"]}) as response:
            async for part in response.aiter_text():
                text += part
                begun.set()
        return text

    async with httpx.AsyncClient(timeout=60) as patient:
        async with serving() as client:
            waiting = asyncio.create_task(read(patient, client.base_url.join("/db/default/ingest/stream")))
            await begun.wait()
        said = events(await waiting)
    assert [name for name, _ in said] == ["progress", "error"]
    assert said[0][1]["chunks"] == 7 and "Repeat it" in said[1][1]["error"]
    assert "Traceback" not in caplog.text


async def test_a_body_that_is_no_json_is_told() -> None:
    async with serving() as client:
        as_json = {"Content-Type": "application/json"}
        broken = await ok(await client.post("/db/default/answer", content='{"question"', headers=as_json), 422)
        assert "not valid JSON" in broken["error"]
        form = await ok(await client.post("/db/default/answer", data={"question": "x"}), 422)
        assert "Content-Type: application/json" in form["error"]


async def test_pages_are_fetched_from_public_addresses_only_and_files_from_roots_only(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.md").write_text("# A\n\nA text.\n")
    (tmp_path / "secret.md").write_text("# S\n")
    (tmp_path / "open" / "link.md").symlink_to(tmp_path / "secret.md")
    async with serving(roots=[tmp_path / "open"]) as client:
        own = str(client.base_url)
        report = await ok(await client.post("/db/default/ingest", json={"sources": [own]}), 422)
        assert "public" in report["error"] or "private" in report["error"]
        assert (await ok(await client.post("/db/default/ingest", json={"sources": [str(tmp_path / "open" / "a.md")]})))[
            "documents"
        ]["added"] == 1
        for outside in (tmp_path / "secret.md", tmp_path / "open" / ".." / "secret.md", tmp_path / "open" / "link.md"):
            await ok(await client.post("/db/default/ingest", json={"sources": [str(outside)]}), 400)
        streamed = events(
            (await client.post("/db/default/ingest/stream", json={"sources": [str(tmp_path / "open" / "a.md")]})).text
        )
        assert streamed[-1][0] == "done" and streamed[-1][1]["documents"]["unchanged"] == 1
        relative = await ok(await client.post("/db/default/ingest", json={"sources": ["a.md"]}))
        assert relative["documents"]["unchanged"] == 1


async def test_the_names_of_documents_are_no_files_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the server was started
    there = [Path("notes/heron.md"), Path("notes/list.txt"), Path("notes/tern.md")]
    Path("notes").mkdir()
    for file in there:
        file.write_text("What the server has.\n")
    plain = {"path": "notes/list.txt", "content": "Heron, tern."}
    upload = ("files", ("notes/tern.md", b"# Tern\n\nSee [the heron](heron.md) and [all](https://example.org/).\n"))
    async with serving(roots=[tmp_path]) as client:
        await ok(await client.post("/db/other/documents", json={"documents": NOTES}))
        await ok(await client.post("/db/other/ingest", json={"sources": ["notes/heron.md"]}))
        for path, text in (("notes/heron.md", "Maria"), ((tmp_path / there[0]).as_uri(), "What the server has")):
            assert text in (await ok(await client.get(f"/db/other/documents/{quote(path, safe='')}")))["content"]
        for made in (True, False):
            for file in there if not made else ():
                file.unlink()
            stored = await ok(await client.post("/db/default/documents", json={"documents": [*NOTES, plain]}))
            assert stored["documents"]["added" if made else "unchanged"] == 3
            uploaded = await ok(await client.post("/db/default/files", files=[upload]))
            assert uploaded["documents"]["added" if made else "unchanged"] == 1
        documents = (await ok(await client.get("/db/default/documents")))["documents"]
        assert len(documents) == 4 and all(document["uri"] == document["path"] for document in documents)
        tern = await ok(await client.get("/db/default/documents/notes/tern.md"))
        assert {link["target"] for link in tern["references"]} == {"notes/heron.md", "https://example.org/"}


async def test_a_request_that_is_too_large_is_refused_also_without_saying_so() -> None:
    async with serving(max_bytes=1000) as client:
        large = json.dumps({"documents": [{"path": "a", "content": "x" * 1_100_000}]}).encode()
        assert "1,001,000" in (await ok(await client.post("/db/default/documents", content=large), 413))["error"]

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(large), 50_000):
                yield large[at : at + 50_000]

        response = await client.post(
            "/db/default/documents", content=pieces(), headers={"content-type": "application/json"}
        )
        assert response.status_code == 413
        assert (await ok(await client.get("/db/default/documents")))["documents"] == []


@pytest.mark.bolt
async def test_a_graph_on_a_server_is_served(server_engine: Engine) -> None:
    namespace = server_engine.namespace()
    async with serving(knowledge=server_engine.knowledge(namespace)) as client:
        report = await ok(await client.post(f"/db/{namespace}/documents", json={"documents": NOTES}))
        assert report["documents"]["added"] == 2
        inserted = await ok(await client.post(f"/db/{namespace}/employees", json=ALICE), 201)
        assert (inserted["nodes"], inserted["edges"]) == (5, 10)
        together = await asyncio.gather(
            *(client.post(f"/db/{namespace}/chunks/search", json={"query": "Maria Lindqvist"}) for _ in range(8))
        )
        for response in together:
            assert {hit["path"] for hit in (await ok(response))["hits"]} == {note["path"] for note in NOTES}
        said = events(
            (await client.post(f"/db/{namespace}/answer/stream", json={"question": "What is Heron's budget?"})).text
        )
        assert said[-1][0] == "done" and "42,000" in said[-1][1]["text"]
        assert namespace in {one["name"] for one in (await ok(await client.get("/db")))["databases"]}
