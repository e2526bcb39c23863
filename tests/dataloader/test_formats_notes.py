"""Notes, as programs for these store and export them."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from core.rag import KnowledgeBase
from tests.dataloader.filetools import convert, load, reason, tree

_ENEX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">
<en-export export-date="20250601T101112Z" application="Evernote" version="10.83.2">{}</en-export>
"""
_CONTENT = (
    '<content><![CDATA[<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
    '<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note>{}</en-note>]]></content>'
)
_MILL = (
    "<note><title>Mill &amp; wheel</title><created>20250304T090000Z</created><updated>20250305T101112Z</updated>"
    "<tag>heritage</tag><tag>oak</tag><note-attributes><author>Ada Berg</author>"
    "<source-url>https://example.org/mills</source-url></note-attributes>"
    + _CONTENT.format(
        '<div>The gate is cracked, see <a href="https://example.org/gate">this</a>.</div><h1>Tasks</h1>'
        '<ul style="--en-todo:true;"><li style="--en-checked:true;"><div>Order oak</div></li></ul>'
        '<div><en-todo checked="false"/>Paint it</div><table><tr><td>Wood</td><td>Price</td></tr>'
        '<tr><td>Oak</td><td>1,450</td></tr></table><en-media type="image/png" hash="0123"/>'
    )
    + "<resource><data encoding='base64'>iVBORw0KGgo=</data><mime>image/png</mime></resource>{}</note>"
)
_LETTER = (
    "<resource><data encoding='base64'>"
    + base64.b64encode(b"The county pays.").decode()
    + "</data><mime>text/plain</mime><resource-attributes><file-name>letter.txt</file-name></resource-attributes>"
    "</resource>"
)


def test_a_note_of_evernote() -> None:
    document = convert("mill.enex", _ENEX.format(_MILL.format(_LETTER)))
    assert document.title == "Mill & wheel"
    assert document.content == (
        "The gate is cracked, see this.\n\n# Tasks\n\n- [x] Order oak\n\n[ ] Paint it\n\n"
        "| Wood | Price |\n| --- | --- |\n| Oak | 1,450 |\n\n\n# letter.txt\n\nThe county pays."
    )
    assert document.metadata == {
        "created": "2025-03-04T09:00:00+00:00",
        "modified": "2025-03-05T10:11:12+00:00",
        "tags": ["heritage", "oak"],
        "author": "Ada Berg",
        "url": "https://example.org/mills",
    }
    assert [link.target for link in document.links] == ["https://example.org/gate"]


def test_notebooks_of_evernote_have_a_section_for_each_note() -> None:
    other = "<note><title>Ada</title>" + _CONTENT.format("<div>Carpenter</div>") + "</note>"
    document = convert("all.enex", _ENEX.format(_MILL.format("") + other + "<note><title/></note>"))
    assert document.title is None
    assert document.metadata == {"note_count": 3}
    assert document.content.startswith(
        "# Mill & wheel\n\nCreated: 2025-03-04 · Tags: heritage, oak · Author: Ada Berg\n\nThe"
    )
    assert "\n## Tasks\n" in document.content
    assert document.content.endswith("\n\n# Ada\n\nCarpenter\n\n# (untitled)\n\n\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (_ENEX.format(""), "it has no notes"),
        (_ENEX.format("<note>"), "it is damaged"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><en-export><note>&a;</note></en-export>', "the XML declares XML entities"),
    ],
)
def test_files_of_evernote_that_cannot_be_read(data: str, why: str) -> None:
    assert reason("a.enex", data).startswith(why)


def test_large_attachments_of_notes_of_evernote_are_no_obstacle() -> None:
    large = f"<resource><data encoding='base64'>{'QUJD' * 3_000_000}</data><mime>image/png</mime></resource>"
    assert "cracked" in convert("a.enex", _ENEX.format(_MILL.format(large))).content


_KEEP = {
    "color": "DEFAULT",
    "isTrashed": False,
    "title": "Mill",
    "userEditedTimestampUsec": 1741082400000000,
    "createdTimestampUsec": 1741078800000000,
}


def test_a_note_of_google_keep() -> None:
    note = {
        **_KEEP,
        "textContent": "The gate is cracked.\nSee https://example.org/gate",
        "textContentHtml": "<p>The gate is cracked.</p>",
        "annotations": [{"source": "WEBLINK", "title": "Gates", "url": "https://example.org/gates"}],
        "labels": [{"name": "heritage"}],
    }
    document = convert("a.json", json.dumps(note))
    assert document.title == "Mill"
    assert document.content == "The gate is cracked.\nSee https://example.org/gate"
    assert document.metadata == {
        "tags": ["heritage"],
        "created": "2025-03-04T09:00:00+00:00",
        "modified": "2025-03-04T10:00:00+00:00",
    }
    assert [link.target for link in document.links] == ["https://example.org/gate", "https://example.org/gates"]


def test_lists_of_google_keep_and_its_trash() -> None:
    items = [{"text": "Oil", "isChecked": False}, {"text": "Oak", "isChecked": True}]
    document = convert("a.json", json.dumps({**_KEEP, "title": "", "listContent": items, "labels": None}))
    assert (document.title, document.content) == (None, "- [ ] Oil\n- [x] Oak")
    trashed = {**_KEEP, "textContent": "Old", "isTrashed": True}
    assert reason("a.json", json.dumps(trashed)) == "it is in the trash of Google Keep"
    assert reason("a.json", json.dumps(_KEEP)) == "it has no text"


_NOTE = """---
aliases: [MR]
tags: project, heritage/mills
deadline: 2025-09-30
lead: "[[Ada]]"
kanban-plugin: basic
---
# Overview

It began. %%secret%% #oak ^p1

- [ ] Ask `%%this%%` #todo ^abc-12

Area: r ^2, see https://example.org/x#y

%% kanban:settings
```
{"a": 1}
```
%%

```sh
%% in code %% #not ^code1
```
"""


async def test_notes_in_a_vault_of_obsidian_are_what_it_shows(tmp_path: Path) -> None:
    folder = tree(
        tmp_path, {"Mill.md": _NOTE, "Ada.md": "Of the mill.", "Daily/2025-03-05.md": "## Log\nOak.\n## Plans\nNone."}
    )
    assert (await load(folder)).documents[f"{folder}/Mill.md"].title == "Overview"
    (folder / ".obsidian").mkdir()
    for loaded in (await load(folder), await load(folder / "Mill.md"), await load(folder / "Daily")):
        for path, document in loaded.documents.items():
            assert document.title == Path(path).stem
    (folder / "README.md").write_text("# Mills\n\nAll.")
    assert (await load(folder)).documents[f"{folder}/README.md"].title == "Mills"
    mill = (await load(folder)).documents[f"{folder}/Mill.md"]
    assert mill.metadata["tags"] == ["project", "heritage/mills", "oak", "todo"]
    assert mill.metadata["kanban-plugin"] == "basic"
    assert [link.target for link in mill.links] == ["https://example.org/x", f"{folder.as_uri()}/Ada.md"]
    assert (
        mill.content
        == """- deadline: 2025-09-30
- lead: Ada

# Overview

It began.  #oak

- [ ] Ask `%%this%%` #todo

Area: r ^2, see https://example.org/x#y

```sh
%% in code %% #not ^code1
```
"""
    )


async def test_a_daily_note_is_called_by_its_day() -> None:
    assert convert("2025-03-05.md", "## Log\n\nOak.\n\n## Plans\n\nNone.\n").title == "2025-03-05"


async def test_tables_of_notion_are_counted_once_and_by_their_names(tmp_path: Path) -> None:
    number = "2b2b3c4d5e6f708192a3b4c5d6e7f8aa"
    rows = "Name,Status,Hours\nPaint,Open,12\nOrder,Done,2\nAsk,Done,3\n"
    folder = tree(tmp_path, {f"Tasks {number}.csv": rows[: rows.index("Ask")], f"Tasks {number}_all.csv": rows})
    async with KnowledgeBase.open("embedded::memory:") as kb:
        report = await kb.ingest(folder)
        answer = await kb.ask("How many tasks are done?")
    assert [failed.path for failed in report.documents.failed] == [f"{folder}/Tasks {number}.csv"]
    assert "Tasks with Status = Done: 2 of 3 records" in answer.text
