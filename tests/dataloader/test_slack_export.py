"""An export of Slack names its persons in one file, and the messages in others have ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.dataloader.filetools import Memory, load, tree

PERSONS: list[dict[str, Any]] = [
    {"id": "U1", "name": "ada", "profile": {"real_name": "Ada Lovelace", "display_name": "ada"}},
    {"id": "U2", "name": "grace", "real_name": "Grace Hopper", "profile": {"real_name": ""}},
    {"id": 3, "name": "nobody"},
]
MESSAGES = [
    {"type": "message", "user": "U1", "ts": "1709283600.0001", "text": "<@U2>: the list is done"},
    {"type": "message", "user": "U2", "ts": "1709283660.0", "text": "Thanks, <@U9>"},
]
DAY = "general/2024-03-01.json"


def export(root: Path) -> Path:
    return tree(root, {"users.json": json.dumps(PERSONS), DAY: json.dumps(MESSAGES)})


async def test_persons_are_named(tmp_path: Path) -> None:
    folder = export(tmp_path)
    text = (await load(folder)).documents[f"{folder}/{DAY}"].content
    assert "Ada Lovelace (2024-03-01 09:00): @Grace Hopper: the list is done\n" in text
    assert "Grace Hopper (2024-03-01 09:01): Thanks, @U9\n" in text


async def test_messages_are_read_again_when_names_change(tmp_path: Path) -> None:
    folder, memory = export(tmp_path), Memory()
    await load(folder, memory)
    assert (await load(folder, memory)).unchanged == [f"{folder}/{DAY}", f"{folder}/users.json"]
    renamed = [{"id": "U1", "real_name": "Ada King"}, PERSONS[1]]
    (folder / "users.json").write_text(json.dumps(renamed))
    assert "Ada King (" in (await load(folder, memory)).documents[f"{folder}/{DAY}"].content


async def test_only_what_is_in_the_folder_names_persons(tmp_path: Path) -> None:
    folder = export(tmp_path / "export")
    inside = await load(folder / "general")
    assert "U1 (2024" in inside.documents[f"{folder}/general/2024-03-01.json"].content
    (folder / "users.json").rename(tmp_path / "users.json")
    (folder / "users.json").symlink_to(tmp_path / "users.json")
    assert "U1 (2024" in (await load(folder)).documents[f"{folder}/{DAY}"].content


async def test_a_list_of_persons_that_is_broken_changes_nothing(tmp_path: Path) -> None:
    folder = export(tmp_path)
    for content in ("[{", '{"id": "U1"}', ""):
        (folder / "users.json").write_text(content)
        assert "U1 (2024" in (await load(folder)).documents[f"{folder}/{DAY}"].content


async def test_what_stands_below_a_message_is_read_and_who_comes_and_goes_is_told_together(tmp_path: Path) -> None:
    told = {"type": "message", "ts": "1709283600.0", "user": "U1"}
    link = {"title": "The mill &amp; its wheel", "text": "How it was rebuilt.", "fallback": "The mill"}
    messages = [
        {**told, "subtype": "channel_join", "text": "<@U1> has joined the channel"},
        {**told, "subtype": "channel_join", "text": "<@U2> has joined the channel", "user": "U2"},
        {**told, "text": "Look: <https://mill.example/a>", "attachments": [link, {"fallback": "a picture"}]},
        {**told, "text": "", "files": [{"name": "plan.pdf", "title": "Plan of the weir"}]},
        {**told, "text": "", "attachments": [{"fallback": "Build 7 failed"}]},
        {**told, "text": "", "attachments": []},
    ]
    folder = tree(tmp_path, {"users.json": json.dumps(PERSONS), DAY: json.dumps(messages)})
    text = (await load(folder)).documents[f"{folder}/{DAY}"].content
    assert text.split("\n\n", 2)[2] == (
        "Ada Lovelace, Grace Hopper (2024-03-01 09:00): joined the channel\n\n"
        "Ada Lovelace (2024-03-01 09:00): Look: https://mill.example/a\nThe mill & its wheel: How it was rebuilt.\n\n"
        "Ada Lovelace (2024-03-01 09:00): File: Plan of the weir\n\n"
        "Ada Lovelace (2024-03-01 09:00): Build 7 failed\n"
    )
