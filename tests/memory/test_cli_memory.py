"""``mgrag memory``, as a process would call it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from tests.cli.command import Command


def call(place: Path, *arguments: str, stdin: bytes | None = None) -> tuple[int, str]:
    return run(place, "memory", *arguments, stdin=stdin)


def test_remember_recall_list_and_forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(tmp_path, "remember", "s", "Bob leads Platform Core.", "--tag", "team", "--user", "bob")[0] == 0
    assert call(tmp_path, "remember", "s", "Bob leads Platform Core.", "--user", "bob")[0] == 0
    assert call(tmp_path, "recall", "--session", "s", "--tag", "nothing")[1] == "Nothing found.\n"
    assert call(tmp_path, "recall", "--session", "s", "--filter", "metadata.project=mill")[1] == "Nothing found.\n"
    code, output = call(tmp_path, "recall", "platform core", "--session", "s", "--json")
    assert code == 0
    [memory] = json.loads(output)["memories"]
    assert (memory["content"], memory["count"], memory["tags"]) == ("Bob leads Platform Core.", 2, ["team"])
    assert 0.5 < memory["relevance"] <= 1
    assert memory["because"] == {"reason": "words", "memoryId": None}
    assert "x2" in call(tmp_path, "list", "s")[1]
    assert call(tmp_path, "list", "s", "-k", "0")[0] == 2
    assert call(tmp_path, "forget", "--user", "bob")[0] == 2, "nobody can be asked"
    forgotten = json.loads(call(tmp_path, "forget", "--user", "bob", "--yes", "--json")[1])
    assert forgotten == {"memories": 1, "sessions": 1, "users": 1}
    assert call(tmp_path, "list", "s")[1].strip() == "Nothing found."
    code, output = call(tmp_path, "forget")
    assert code == 2 and "--session, --memory, --user or --before" in output
    code, output = call(tmp_path, "forget", "--before", "nonsense")
    assert code == 2 and "'nonsense' is not a time" in output and "--yes" not in output
    call(tmp_path, "remember", "s", "The mill turns.")
    assert call(tmp_path, "forget", "--session", "s", "--yes")[1] == "Forgotten: 1 memory, 1 session, 0 users.\n"
    for what in (("--session", "s"), ("--memory", "nix"), ("--user", "nobody")):
        assert call(tmp_path, "forget", *what, "--yes") == (4, "Forgotten: 0 memories, 0 sessions, 0 users.\n")
    assert call(tmp_path, "forget", "--before", "2020-01-01", "--yes")[0] == 0, "nothing is that old"


def test_a_memory_is_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory = call(tmp_path, "remember", "s", "The tide was late.", "--tag", "tide")[1].strip()
    code, output = call(tmp_path, "revise", memory, "-", stdin=b"The tide was early.")
    assert code == 0 and output.rstrip().endswith(f"The tide was early.  ({memory})")
    revised = json.loads(call(tmp_path, "revise", memory, "--tag", "sea", "--tag", "mill", "--json")[1])
    assert (revised["content"], revised["tags"]) == ("The tide was early.", ["sea", "mill"])
    code, output = call(tmp_path, "revise", memory)
    assert code == 2 and "--tag or --metadata" in output
    assert call(tmp_path, "revise", "nix", "text")[0] == 4


def test_metadata_are_given_and_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = ("--metadata", "project=mill", "--metadata", "priority=3", "--metadata", 'who=["ann", "bob"]')
    memory = call(tmp_path, "remember", "s", "The tide was late.", *values)[1].strip()
    found = json.loads(call(tmp_path, "recall", "--filter", "metadata.project=mill metadata.priority>=2", "--json")[1])
    assert [one["metadata"] for one in found["memories"]] == [{"project": "mill", "priority": 3, "who": ["ann", "bob"]}]
    revised = json.loads(call(tmp_path, "revise", memory, "--metadata", "project=weir", "--json")[1])
    assert (revised["content"], revised["metadata"]) == ("The tide was late.", {"project": "weir"})
    code, output = call(tmp_path, "remember", "s", "x", "--metadata", "project")
    assert code == 2 and "NAME=VALUE" in output


def test_a_session_is_listed_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"role": "user", "content": f"Step {number}."} for number in range(5)]
    call(tmp_path, "remember-all", "s", "-", stdin=json.dumps(said).encode())
    pages: list[list[str]] = []
    before: tuple[str, ...] = ()
    while page := json.loads(call(tmp_path, "list", "s", "-k", "2", *before, "--json")[1])["memories"]:
        pages.append([one["content"] for one in page])
        before = ("--before", page[0]["memoryId"])
    assert pages == [["Step 3.", "Step 4."], ["Step 1.", "Step 2."], ["Step 0."]]
    assert call(tmp_path, "list", "s", "--before", "nix")[0] == 4


def test_a_session_is_remembered_from_a_file_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = [{"role": "user", "content": "The mill\u2028turns."}, {"role": "assistant", "content": "When?"}]
    (tmp_path / "talk.json").write_text(json.dumps(said, indent=1))
    assert call(tmp_path, "remember-all", "s", "talk.json", "--user", "ann") == (0, "Remembered: 2 messages.\n")
    lines = "\n".join(json.dumps(message, ensure_ascii=False) for message in said).encode()
    code, output = call(tmp_path, "remember-all", "s", "-", "--json", "--user", "ann", stdin=lines)
    assert code == 0 and len(json.loads(output)["memoryIds"]) == 2
    memories = json.loads(call(tmp_path, "list", "s", "--json")[1])["memories"]
    assert [(memory["content"], memory["count"], memory["userId"]) for memory in memories] == [
        ("The mill\u2028turns.", 2, "ann"),
        ("When?", 2, "ann"),
    ]
    (tmp_path / "bad.json").write_text('[{"role": "user"}]')
    (tmp_path / "worse.json").write_text("role: user")
    (tmp_path / "worst.json").write_bytes(b"\xff\x00")
    for file, code, why in (
        ("bad.json", 2, "Message 1 has no content"),
        ("worse.json", 2, "neither a JSON array nor JSON lines"),
        ("worst.json", 1, "cannot be read"),
        ("none.json", 1, "cannot be read"),
    ):
        told = call(tmp_path, "remember-all", "s", file)
        assert told[0] == code and why in told[1]


def test_an_answer_that_was_left_is_shown_as_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    talk = [
        {"role": "user", "content": "When does the mill turn?"},
        {"role": "assistant", "content": "It turns", "metadata": {"cut": "stopped"}},
    ]
    call(tmp_path, "remember-all", "s", "-", stdin=json.dumps(talk).encode())
    heads = [line for line in run(tmp_path, "conversation", "show", "s")[1].splitlines() if line.startswith("20")]
    assert [head.endswith("assistant  (cut off)") for head in heads] == [False, True]


def test_recall_says_what_a_memory_stands_near_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = call(tmp_path, "remember", "s", "Which wifi password does the harbour office use?")[1].strip()
    answer = call(tmp_path, "remember", "s", "hunter2", "--role", "assistant")[1].strip()
    lines = call(tmp_path, "recall", "wifi password of the harbour office")[1].splitlines()
    assert lines[0].endswith(f"hunter2  ({answer}, near {asked})")
    assert lines[1].endswith(f"({asked})")


def test_what_was_said_may_come_from_standard_input_and_be_of_another_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = "Die Mühle ruht.\n\nBis Mai.\n".encode()
    assert call(tmp_path, "remember", "s", "-", "--at", "2024-05-01T10:00:00Z", stdin=said)[0] == 0
    [memory] = json.loads(call(tmp_path, "list", "s", "--json")[1])["memories"]
    assert (memory["content"], memory["createdAt"]) == (
        "Die Mühle ruht.\n\nBis Mai.",
        "2024-05-01T10:00:00.000000Z",
    )
    for data, why in (
        (b"\xff\xfe\x00", "not text in UTF-8"),
        (b"", "empty"),
        (b"x" * 5_000_001, "more than 5,000,000"),
    ):
        code, output = call(tmp_path, "remember", "s", "-", stdin=data)
        assert code == 2
        assert why in output
    call(tmp_path, "remember", "s", "Die Mühle mahlt.", "--at", "2025-05-01T10:00:00Z")
    recall = ("recall", "Mühle", "--json")
    for period, expected in ((("--before", "2025-01-01"), "Bis Mai."), (("--since", "2025-01-01"), "mahlt.")):
        [memory] = json.loads(call(tmp_path, *recall, *period)[1])["memories"]
        assert memory["content"].endswith(expected)
    assert call(tmp_path, *recall, "--since", "Mai")[0] == 2
    code, output = call(tmp_path, "remember", "s", "It rained.", "--at", "yesterday")
    assert code == 2
    assert "'yesterday' is not a time" in output


def test_what_is_listed_and_recalled_can_be_forgotten_by_the_id_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = call(tmp_path, "remember", "s", "The mill turns.")[1].strip()
    said = json.loads(call(tmp_path, "list", "s", "--json")[1])["memories"][0]["createdAt"]
    line = f"s  {said[:10]} {said[11:16]}  user  The mill turns.  ({memory})\n"
    assert call(tmp_path, "list", "s")[1] == line
    assert call(tmp_path, "recall", "mill")[1].endswith(f"  {line}")
    assert call(tmp_path, "forget", "--memory", memory)[0] == 0
    assert call(tmp_path, "list", "s")[1] == "Nothing found.\n"


def test_forgetting_what_is_not_there_is_told_by_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call(tmp_path, "remember", "s", "The mill turns.")
    for named in (("--session", "t"), ("--user", "bob"), ("--memory", "m")):
        assert call(tmp_path, "forget", *named, "--yes") == (4, "Forgotten: 0 memories, 0 sessions, 0 users.\n")
    assert call(tmp_path, "forget", "--before", "2020-01-01", "--yes")[0] == 0


def test_only_remembering_makes_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (("recall", "mill"), ("compact", "s"), ("list", "s"), ("forget", "--session", "s", "--yes")):
        assert call(tmp_path, *arguments)[0] == 4
    assert not list(tmp_path.iterdir())


def run(place: Path, *arguments: str, stdin: bytes | None = None) -> tuple[int, str]:
    done = Command(place)("--db", f"embedded:{place / 'g.grafeo'}", *arguments, stdin=stdin)
    return done.code, done.out + done.err


def test_conversations_users_and_feedback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("The tide mill turns with the ebb.", encoding="utf-8")
    assert run(tmp_path, "ingest", "a.md")[0] == 0
    call(tmp_path, "remember", "s", "I am Ann Lee, write to ann@example.org.", "--user", "ann")
    call(tmp_path, "remember", "t", "Bob was here.", "--user", "bob")

    listed = json.loads(run(tmp_path, "conversation", "list", "--json")[1])
    assert {(row["id"], row["user_id"], row["message_count"]) for row in listed} == {("s", "ann", 1), ("t", "bob", 1)}
    first = run(tmp_path, "conversation", "list", "-k", "1")[1]
    assert "There may be more: --after" in first and "  t  " in first
    rest = run(tmp_path, "conversation", "list", "--after", f"{listed[0]['updated_at']} {listed[0]['id']}", "--json")[1]
    assert [row["id"] for row in json.loads(rest)] == ["s"]
    people = run(tmp_path, "user", "list", "-k", "1")[1]
    assert "ann" in people and "bob" not in people and "--after ann" in people
    rest = json.loads(run(tmp_path, "user", "list", "--after", "ann", "--json")[1])
    assert [(row["id"], row["conversations"]) for row in rest] == [("bob", 1)]
    assert "ann@example.org" in run(tmp_path, "conversation", "show", "s")[1]
    assert run(tmp_path, "conversation", "show", "nowhere")[0] == 4
    renamed = json.loads(run(tmp_path, "conversation", "rename", "t", "What Bob said", "--json")[1])
    assert (renamed["id"], renamed["title"]) == ("t", "What Bob said")
    assert run(tmp_path, "conversation", "list", "--user", "bob")[1].endswith("  What Bob said\n")
    assert run(tmp_path, "conversation", "rename", "nowhere", "x")[0] == 4
    assert run(tmp_path, "conversation", "delete", "t")[0] == 2, "nobody can be asked"
    assert json.loads(run(tmp_path, "conversation", "delete", "t", "--yes", "--json")[1])["memories"] == 1
    assert run(tmp_path, "conversation", "delete", "t", "--yes")[0] == 4

    path = json.loads(run(tmp_path, "list", "--json")[1])[0]["path"]
    assert (
        len(json.loads(run(tmp_path, "feedback", path, "--user", "ann", "--json", "--", "-0.5")[1])["chunk_ids"]) == 1
    )
    assert run(tmp_path, "feedback", path, "2")[0] == 2
    assert run(tmp_path, "feedback", "nowhere", "1")[0] == 4
    assert json.loads(run(tmp_path, "user", "history", "ann", "--json")[1]) == []
    export = json.loads(run(tmp_path, "user", "export", "ann")[1])
    assert [rating["value"] for rating in export["ratings"]] == [-0.5]
    assert export["conversations"][0]["messages"][0]["content"].startswith("I am Ann Lee")

    assert run(tmp_path, "user", "anonymize", "ann")[0] == 2, "nobody can be asked"
    report = json.loads(run(tmp_path, "user", "anonymize", "ann", "--yes", "--json")[1])
    assert report["replaced"]["email"] == 1
    [new] = report["conversations"]
    shown = json.loads(run(tmp_path, "conversation", "show", new, "--json")[1])
    assert shown["messages"][0]["content"] == "I am [person 1], write to [email 1]."
    assert run(tmp_path, "user", "export", "ann")[0] == 4
    assert run(tmp_path, "user", "forget", "ann", "--yes")[0] == 4
    call(tmp_path, "remember", "u", "Bob again.", "--user", "bob")
    assert run(tmp_path, "user", "forget", "bob")[0] == 2, "nobody can be asked"
    assert json.loads(run(tmp_path, "user", "forget", "bob", "--yes", "--json")[1])["users"] == 1
    assert run(tmp_path, "conversation", "anonymize", "nowhere", "--yes")[0] == 4


def test_what_is_printed_of_ratings_views_and_anonymized_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("The tide mill turns with the ebb.", encoding="utf-8")
    assert run(tmp_path, "ingest", "a.md")[0] == 0
    assert run(tmp_path, "feedback", "a.md", "1", "--user", "ann") == (0, "Rated: 1 chunk.\n")
    assert run(tmp_path, "user", "history", "ann") == (0, "No viewed documents.\n")

    async def view() -> None:
        async with KnowledgeBase.open(f"embedded:{tmp_path / 'g.grafeo'}") as kb:
            await kb.client.track_user_viewed_document("ann", "a.md")

    asyncio.run(view())
    code, output = run(tmp_path, "user", "history", "ann")
    heads, row = (line.split() for line in output.splitlines())
    assert (code, heads, row[0], row[-1]) == (0, ["VIEWS", "LAST", "(UTC)", "PATH"], "1", "a.md")

    call(tmp_path, "remember", "s", "I am Ann Lee, write to ann@example.org.", "--user", "ann")
    code, output = run(tmp_path, "conversation", "anonymize", "s", "--yes")
    first, new = output.splitlines()
    assert (code, first) == (0, "Anonymized: 1 conversation; replaced: 1 x email, 1 x person.")
    assert run(tmp_path, "conversation", "show", new)[1].splitlines()[-1] == "  I am [person 1], write to [email 1]."
    assert call(tmp_path, "compact", new) == (0, "There was nothing to compact.\n")
