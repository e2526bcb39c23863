"""JSON as services export it: the addresses that programs go on from, and the texts of editors."""

from __future__ import annotations

import json
from typing import Any

from libs.dataloader import Document
from tests.dataloader.filetools import convert

API = "https://api.example.org"
USER = {
    "login": "ada",
    "url": f"{API}/users/ada",
    "repos_url": f"{API}/users/ada/repos",
    "events_url": f"{API}/users/ada/events{{/privacy}}",
    "type": "User",
}
ISSUE = {
    "url": f"{API}/issues/7",
    "labels_url": f"{API}/issues/7/labels{{/name}}",
    "html_url": "https://example.org/issues/7",
    "number": 7,
    "title": "The gate leaks",
    "user": USER,
    "state": "open",
    "body": f"See {API}/docs for more.",
}
TEXT = {
    "type": "doc",
    "version": 1,
    "content": [
        {"type": "heading", "attrs": {"level": 2}, "content": [{"type": "text", "text": "Steps"}]},
        {
            "type": "bulletList",
            "content": [
                {
                    "type": "listItem",
                    "content": [
                        {
                            "type": "paragraph",
                            "content": [
                                {"type": "text", "text": "Ask "},
                                {"type": "mention", "attrs": {"id": "712020:9e90", "text": "@Ada Lane"}},
                                {"type": "text", "text": " first", "marks": [{"type": "strong"}]},
                            ],
                        }
                    ],
                },
                {"type": "listItem", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Wait"}]}]},
            ],
        },
        {"type": "paragraph", "content": [{"type": "text", "text": "One"}, {"type": "hardBreak"}]},
        {"type": "paragraph"},
        {
            "type": "table",
            "content": [
                {
                    "type": "tableRow",
                    "content": [
                        {
                            "type": "tableCell",
                            "content": [{"type": "paragraph", "content": [{"type": "text", "text": t}]}],
                        }
                        for t in ("Gate", "leaks")
                    ],
                }
            ],
        },
    ],
}


def _read(data: Any, name: str = "issues.json") -> Document:
    return convert(name, json.dumps(data))


def test_of_many_addresses_on_one_host_a_passage_has_the_first_and_the_record_all() -> None:
    document = _read([ISSUE, {**ISSUE, "number": 8}])
    first = document.content.split("\n\n")[0].splitlines()
    assert first == [
        f"url: {API}/issues/7",
        "html_url: https://example.org/issues/7",
        "number: 7",
        "title: The gate leaks",
        "user: ada (type: User)",
        "state: open",
        f"body: See {API}/docs for more.",
    ]
    assert document.records[0][1] == ISSUE


def test_a_few_addresses_and_lists_of_them_stay() -> None:
    firm = {"name": "Acme", "page": "https://a.org", "logo": "https://a.org/l.png", "jobs": "https://a.org/jobs"}
    links = [{"title": f"Page {n}", "link": f"https://b.org/{n}"} for n in range(9)]
    document = _read([{**firm, "links": links}, firm])
    assert all(address in document.content for address in (*list(firm.values())[1:], *(one["link"] for one in links)))


def test_the_text_of_an_editor_is_a_text() -> None:
    records = [{"key": "A-1", "fields": {"summary": "Leak", "description": TEXT}}, {"key": "A-2", "fields": {}}]
    text = "Steps\n- Ask @Ada Lane first\n- Wait\nOne\nGate | leaks"
    for name, data in (("issues.json", records), ("one.json", {"issue": records[0], "more": {"a": [1, {"b": 2}]}})):
        content = _read(data, name).content
        assert text in "\n".join(line.strip() for line in content.splitlines()).replace("description: ", "")
        assert "bulletList" not in content
    assert _read(records).records[0][1]["fields"]["description"] == text


def test_what_is_only_called_a_text_stays() -> None:
    documents = [{"id": 1, "file": {"type": "doc", "content": ["a", "b"]}}, {"id": 2, "file": {"type": "doc"}}]
    document = _read(documents)
    assert [record for _, record in document.records] == documents
    assert "file.content: a, b" in document.content
