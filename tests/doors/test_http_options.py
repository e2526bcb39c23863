"""What the command line and the library can be told, a client of the HTTP API can tell, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from core.rag import KnowledgeBase
from tests.doors.kit import NOTES, ok, serving, with_notes
from tests.extraction.models import SayingModel

FACT = {"subject": "Ada Vane", "relation": "owns", "object": "Heron Mill", "sentence": "She owns it."}
NAMES = [{"name": "Ada Vane", "type": "person"}, {"name": "Heron Mill", "type": "mill"}]


class Backwards:
    """A reranker that likes short texts."""

    model = "backwards"

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [-len(text) for text in texts]

    async def close(self) -> None: ...


async def test_of_a_folder_only_what_is_wanted_is_loaded_and_read_for_facts(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "drafts/c.md", "built.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Ada Vane owns the mill of {name}.")
    (tmp_path / ".gitignore").write_text("built.md\n")
    model = SayingModel(lambda _: {"entities": NAMES, "facts": [FACT]})
    knowledge = KnowledgeBase.open("embedded::memory:", language_model=model)
    async with serving(knowledge=knowledge, roots=[tmp_path]) as client:

        async def load(**options: object) -> list[str]:
            await ok(await client.post("/db/default/ingest", json={"sources": ["."], "prune": True, **options}))
            listed = (await ok(await client.get("/db/default/documents")))["documents"]
            return [Path(one["path"]).name for one in listed]

        assert await load(include=["*.md"], exclude=["drafts"]) == ["a.md"]
        assert model.asked == []
        assert await load(include=["*.md"], gitignore=False) == ["a.md", "built.md", "c.md"]
        report = await ok(await client.post("/db/default/ingest", json={"sources": ["b.txt"], "facts": True}))
        assert report["facts"]["facts"] == 4, "of all that was not read yet"


async def test_an_answer_can_do_without_the_model() -> None:
    model = SayingModel(lambda _: "The model says so [1].")
    knowledge = KnowledgeBase.open("embedded::memory:", language_model=model)
    async with serving(knowledge=knowledge) as client:
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        asked = {"question": "Who leads Project Heron?", "extracts": True}
        told = await ok(await client.post("/db/default/answer", json=asked))
        assert told["extracts"] and "Maria Lindqvist" in told["text"]
        assert model.asked == []


async def test_a_search_can_do_without_the_reranker() -> None:
    knowledge = KnowledgeBase.open("embedded::memory:", reranker=Backwards())
    async with serving(knowledge=knowledge) as client:
        await ok(await client.post("/db/default/documents", json={"documents": NOTES}))
        for rerank in (True, False):
            asked = {"query": "Maria Lindqvist", "mode": "hybrid", "rerank": rerank}
            hits = (await ok(await client.post("/db/default/chunks/search", json=asked)))["hits"]
            assert ["rerank" in hit["scores"] for hit in hits] == [rerank] * 2


async def test_neighbours_are_those_of_the_edges_that_are_named() -> None:
    async with with_notes() as client:
        node = f"/db/default/graph/node/{quote('Project Heron')}"
        for name in ("edgeType", "edge_type"):
            found = await ok(await client.get(node, params={name: "MENTIONS"}))
            assert {edge["type"] for edge in found["edges"]} == {"MENTIONS"}
        assert "edge type" in (await ok(await client.get(node, params={"edgeType": "NOTHING"}), 400))["error"]


async def test_a_conversation_is_anonymized() -> None:
    async with serving() as client:
        talk = "/db/default/conversations/team%2Fmonday"
        said = {"conversationId": "team/monday", "userId": "ada"}
        await ok(await client.post("/db/default/conversations", json=said))
        await ok(await client.post(f"{talk}/messages", json={"content": "Call Maria Lindqvist at 030 1234567."}))
        told = await ok(await client.post(f"{talk}/anonymize", json={"region": "DE"}))
        await ok(await client.get(talk), 404)
        again = await ok(await client.get(f"/db/default/conversations/{told['conversations'][0]}"))
        assert again["user_id"] == ""
        assert not any(text in again["messages"][0]["content"] for text in ("Maria", "1234567"))
        await ok(await client.post(f"{talk}/anonymize"), 404)


async def test_what_a_summary_replaced_is_listed_on_demand() -> None:
    async with serving() as client:
        said = [{"content": f"Step {number}: oil the mill."} for number in range(6)]
        replaced = (await ok(await client.post("/db/default/memory/s", json=said)))["memoryIds"][:4]
        await ok(await client.post("/db/default/memory/compact", json={"sessionId": "s", "keep": 2}))
        for path, session in (("memory/s", {}), ("memory/list", {"sessionId": "s"})):
            for compacted, there in (("false", []), ("true", replaced)):
                asked = {"compacted": compacted, **session}
                listed = (await ok(await client.get(f"/db/default/{path}", params=asked)))["memories"]
                assert [one["memoryId"] for one in listed if one["memoryId"] in replaced] == there
