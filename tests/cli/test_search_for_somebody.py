"""``mgrag search`` in a conversation, and for a user."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import Command


def test_a_conversation_tells_what_a_search_refers_to(graph: Path) -> None:
    mgrag = Command(graph.parent.parent)
    assert mgrag("ask", "Who is Tomasz Wilk?", "--conversation", "talk").code == 0
    said = mgrag("conversation", "show", "talk", "--json").json["messages"]
    alone = mgrag("search", "when was he born?", "-k", "3", "--json").json
    found = mgrag("search", "when was he born?", "-k", "3", "--conversation", "talk", "--json").json
    assert "Tomasz Wilk" in found[0]["content"]
    assert "Tomasz Wilk" not in alone[0]["content"]
    assert mgrag("conversation", "show", "talk", "--json").json["messages"] == said, "it is only read"


def test_a_conversation_that_is_not_there_is_told(graph: Path) -> None:
    done = Command(graph.parent.parent)("search", "the mill", "--conversation", "nix")
    assert (done.code, "mgrag ask --conversation ID begins one" in done.err) == (4, True)


def test_the_ratings_of_the_user_take_precedence(graph: Path) -> None:
    mgrag = Command(graph.parent.parent)
    query, options = "stones", ("--mode", "keyword", "-k", "4", "--json")
    best = mgrag("search", query, *options).json[0]["chunk_id"]
    for number in range(3):
        assert mgrag("feedback", best, "1", "--user", f"other-{number}").code == 0
    assert mgrag("feedback", best, "-1", "--user", "ann").code == 0
    scores = {
        user: {hit["chunk_id"]: hit["score"] for hit in mgrag("search", query, *options, "--user", user).json}
        for user in ("ann", "other-0")
    }
    assert scores["ann"][best] < scores["other-0"][best]
