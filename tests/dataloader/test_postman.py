"""Collections of Postman."""

from __future__ import annotations

import json
from pathlib import Path

from core.rag import KnowledgeBase
from tests.dataloader.filetools import convert

GRIND = {
    "method": "POST",
    "header": [{"key": "Content-Type", "value": "application/json"}],
    "body": {"mode": "raw", "raw": '{"grain": "rye", "sacks": 3}'},
    "url": {
        "raw": "{{base}}/mills/:mill/flour?fine=true",
        "query": [{"key": "fine", "value": "true", "description": "Whether it is ground twice"}],
        "variable": [{"key": "mill", "value": "ebb", "description": {"content": "Name of the mill"}}],
    },
    "description": "Grinds some sacks.",
}
COLLECTION = {
    "info": {
        "name": "Mills",
        "description": "All about mills.",
        "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    "item": [
        {
            "name": "Flour",
            "description": "What mills are for.",
            "item": [
                {
                    "name": "Grind grain",
                    "request": GRIND,
                    "event": [{"listen": "test", "script": {"exec": ["pm.response.to.have.status(201)"]}}],
                    "response": [
                        {"name": "Ground", "originalRequest": GRIND, "code": 201, "body": '{"weight": 75}'},
                        {"name": "No such mill", "originalRequest": GRIND, "code": 404, "body": "gone"},
                    ],
                },
                {"name": "Grind it again", "request": GRIND},
            ],
        },
        {"name": "List mills", "request": "{{base}}/mills"},
    ],
    "variable": [{"key": "base", "value": "https://mills.example"}],
}


def test_each_request_is_a_section_and_a_record() -> None:
    document = convert("mills.json", json.dumps(COLLECTION))
    said = document.content
    assert document.title == "Mills"
    for part in (
        "## POST {{base}}/mills/:mill/flour: Grind grain",
        "- mill (path; example: ebb): Name of the mill",
        "- fine (query; example: true): Whether it is ground twice",
        "grain: rye\nsacks: 3",
        "- 404: No such mill",
        "weight: 75",
        "pm.response.to.have.status(201)",
        "## POST {{base}}/mills/:mill/flour (2): Grind it again",
        "## GET {{base}}/mills: List mills",
        "- Flour: What mills are for.",
        "https://mills.example",
    ):
        assert part in said, said
    assert said.count("grain: rye") == 2  # not again with each saved response
    assert [record["returns"] for _, record in document.records] == [["201", "404"], [], []]


def test_other_files_are_none() -> None:
    for other in ({**COLLECTION, "item": {}}, {**COLLECTION, "info": {"name": "Mills"}}, {"info": 1, "item": []}):
        assert "## POST" not in convert("mills.json", json.dumps(other)).content
    for item in (None, 3, {"request": None}, {"request": {"url": [], "header": {}, "body": [], "method": 7}}):
        assert convert("mills.json", json.dumps({**COLLECTION, "item": [item]})).title == "Mills"


async def test_questions_for_a_request(tmp_path: Path) -> None:
    (tmp_path / "mills.json").write_text(json.dumps(COLLECTION))
    async with KnowledgeBase.open("embedded::memory:") as kb:
        await kb.ingest([tmp_path])
        answer = await kb.ask("How do I grind grain?")
        assert "POST {{base}}/mills/:mill/flour" in answer.text.split("\n- ")[1]
        assert (await kb.ask("Which operations of mills return 404?")).text.count("flour") >= 1
