"""Exports of the tools that people keep what they know in: issues, boards, bookmarks, feeds, questions and answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dataloader.filetools import convert

ADA = {"id": "MDQ6VXNlcjE3", "login": "ada", "name": "", "is_bot": False}
COMMENT = {"id": "IC_1", "author": {"login": "bo"}, "createdAt": "2026-03-02T08:15:00Z", "isMinimized": False}
ISSUE: dict[str, Any] = {
    "number": 7,
    "title": "The gate leaks",
    "author": ADA,
    "labels": [
        {"id": "MDU6TGFiZWwx", "name": "bug", "color": "ededed"},
        {"id": "MDU6TGFiZWxz", "name": "weir", "color": "0e8a16"},
    ],
    "milestone": {"number": 2, "title": "Spring", "dueOn": "2026-04-01T00:00:00Z", "description": "Before the flood."},
    "comments": [{**COMMENT, "body": "I saw it, too.\n\nIt is the seal."}, {**COMMENT, "body": ""}],
}


def test_an_issue_has_names_for_persons_and_labels_and_says_who_commented() -> None:
    document = convert("issues.json", json.dumps([ISSUE, {**ISSUE, "number": 8, "comments": []}]))
    first = document.content.split("\n\n")[0]
    assert first.splitlines() == [
        "number: 7",
        "title: The gate leaks",
        "author: ada",
        "labels: bug, weir",
        "milestone.number: 2",
        "milestone.title: Spring",
        "milestone.dueOn: 2026-04-01T00:00:00Z",
        "milestone.description: Before the flood.",
        "bo (2026-03-02 08:15): I saw it, too.",
        "It is the seal.",
    ]
    assert document.records[0][1] == ISSUE


@pytest.mark.parametrize(
    "value",
    [
        {"id": 5, "name": "Ada", "city": "Ulm", "email": "ada@example.org"},  # a customer
        {"name": "oak", "qty": 2, "price": 5.5},
        [{"sku": "A-1", "name": "oak", "qty": 2}],
        [{"author": "Ada", "date": "2026-03-02"}],  # says nothing
        [{"author": "Ada", "text": "words"}],  # nobody knows when
    ],
)
def test_what_tells_more_than_a_name_stays_as_it_is(value: Any) -> None:
    content = convert("a.json", json.dumps([{"id": 1, "of": value}, {"id": 2, "of": value}])).content
    inner = value if isinstance(value, dict) else value[0]
    mark = "of." if isinstance(value, dict) else "of[1]."
    assert all(f"{mark}{name}: {told}" in content for name, told in inner.items())


def test_what_else_a_comment_tells_is_said() -> None:
    review = {"user": "Bo", "date": "2026-03-02", "text": "Good oak.", "rating": 4, "user_id": 12}
    content = convert("a.json", json.dumps([{"id": 1, "name": "Table", "reviews": [review]}] * 2)).content
    assert "Bo (2026-03-02): Good oak. [rating: 4]" in content


BOARD: dict[str, Any] = {
    "name": "The weir",
    "lists": [{"id": "l1", "name": "To do"}, {"id": "l2", "name": "Old", "closed": True}],
    "labels": [{"id": "b1", "name": "Urgent"}],
    "members": [{"id": "m1", "fullName": "Ada Lane", "username": "ada"}],
    "checklists": [
        {"idCard": "c1", "name": "Parts", "checkItems": [{"name": "seal", "state": "complete"}, {"name": "bolts"}]}
    ],
    "cards": [
        {"id": "c2", "name": "Paint it", "idList": "l2", "idShort": 4, "labels": [], "idMembers": []},
        {
            "id": "c1",
            "name": "Mend the gate",
            "idList": "l1",
            "idShort": 3,
            "idLabels": ["b1"],
            "idMembers": ["m1", "gone"],
            "due": "2026-05-01T10:00:00.000Z",
            "desc": "It leaks.",
            "shortUrl": "https://trello.com/c/x",
        },
    ],
    "actions": [
        {
            "type": "commentCard",
            "date": "2026-04-02T10:00:00.000Z",
            "memberCreator": {"fullName": "Ada Lane"},
            "data": {"text": "The seal is here.", "card": {"id": "c1"}},
        },
        {"type": "updateCard", "date": "2026-04-01T10:00:00.000Z", "data": {"card": {"id": "c1"}}},
        {"type": "addMemberToBoard", "data": {}},
    ],
}


def test_a_board_of_trello_is_its_cards() -> None:
    document = convert("board.json", json.dumps(BOARD))
    assert document.title == "The weir"
    assert document.content.split("\n\n")[1].splitlines() == [
        "card: Mend the gate",
        "card_number: 3",
        "list: To do",
        "labels: Urgent",
        "members: Ada Lane",
        "due: 2026-05-01T10:00:00.000Z",
        "archived: false",
        "description: It leaks.",
        "checklist: Parts: seal (done), Parts: bolts",
        "address: https://trello.com/c/x",
        "Ada Lane (2026-04-02 10:00): The seal is here.",
    ]
    assert [record["archived"] for _, record in document.records] == [False, True]


@pytest.mark.parametrize("damage", [{"cards": [{"name": "x"}]}, {"lists": {}}, {"cards": None}])
def test_what_is_no_board_is_read_otherwise(damage: dict[str, Any]) -> None:
    assert "card: Mend the gate" not in convert("board.json", json.dumps({**BOARD, **damage})).content


def test_a_damaged_board_is_read_as_far_as_it_goes() -> None:
    broken = {**BOARD, "members": 5, "actions": [None, {"type": "commentCard", "data": 3}], "checklists": [{}, 1]}
    assert "card: Mend the gate\ncard_number: 3\nlist: To do" in convert("board.json", json.dumps(broken)).content


BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks menu</H1>
<DL><p>
  <DT><A HREF="place:type=6">Recent tags</A>
  <DT><H3 ADD_DATE="1463688081">Water</H3>
  <DD>Mills &amp; weirs
  <DL><p>
    <DT><H3>Old</H3>
    <DL><p>
      <DT><A HREF="https://mill.example/a?b=1&amp;c=2" ADD_DATE="1463686493" TAGS="mill, tide"
       ICON="data:x>y">Tide mills</A>
      <DD>How they turn
    </DL><p>
    <DT><A HREF="https://weir.example/">Weirs</A>
  </DL><p>
</DL>
"""


def test_bookmarks_have_their_address_folder_tags_and_day() -> None:
    document = convert("bookmarks.html", BOOKMARKS)
    assert [record for _, record in document.records] == [
        {
            "bookmark": "Tide mills",
            "address": "https://mill.example/a?b=1&c=2",
            "folder": "Water > Old",
            "tags": ["mill", "tide"],
            "added": "2016-05-19T19:34:53Z",
            "description": "How they turn",
        },
        {"bookmark": "Weirs", "address": "https://weir.example/", "folder": "Water"},
    ]
    assert document.title == "Bookmarks menu"
    assert {link.target for link in document.links} == {"https://mill.example/a?b=1&c=2", "https://weir.example/"}


def test_feeds_have_the_folder_that_they_are_in() -> None:
    outline = (
        '<opml version="2.0"><head><title>Mine</title></head><body><outline text="Water"><outline text="The mill" '
        'title="The mill" type="rss" xmlUrl="https://mill.example/feed" htmlUrl="https://mill.example"/></outline>'
        '<outline text="Alone" xmlUrl="https://alone.example/feed"/></body></opml>'
    )
    document = convert("feeds.opml", outline)
    assert document.content.split("\n\n") == [
        "feed: The mill\nfolder: Water\naddress: https://mill.example/feed\nwebsite: https://mill.example",
        "feed: Alone\naddress: https://alone.example/feed",
    ]
    thoughts = outline.replace("xmlUrl", "note")
    assert "feed:" not in convert("notes.opml", thoughts).content


def test_questions_of_stack_exchange_have_their_answers() -> None:
    rows = [
        '<row Id="1" PostTypeId="1" AcceptedAnswerId="3" Score="2" Title="Why does a mill stop?" Tags="&lt;mill&gt;" '
        'Body="&lt;p&gt;Mine does.&lt;/p&gt;" />',
        '<row Id="2" PostTypeId="2" ParentId="1" Score="9" CreationDate="2026-01-02T10:00:00.000" Body="The ebb." />',
        '<row Id="3" PostTypeId="2" ParentId="1" Score="x" CreationDate="2026-01-03T10:00:00.000" Body="The seal." />',
        '<row Id="4" PostTypeId="2" ParentId="99" Score="1" CreationDate="2026-01-03T10:00:00" Body="Lost words." />',
        '<row Id="5" PostTypeId="1" Score="1" Title="Which oak is best?" Body="For a wheel." />',
    ]
    document = convert("Posts.xml", f'<?xml version="1.0"?><posts>{"".join(rows)}</posts>')
    assert document.content.split("\n\n")[0].splitlines() == [
        "Title: Why does a mill stop?",
        "Tags: mill",
        "Id: 1",
        "Score: 2",
        "Body: Mine does.",
        "Accepted answer (2026-01-03 10:00): The seal.",
        "Answer (2026-01-02 10:00): The ebb.",
    ]
    assert len(document.records) == 3
    assert "Lost words." in document.content


JIRA = """Summary,Issue key,Assignee,Assignee Id,Labels,Labels,Labels,Comment,Comment
Gate leaks,WEB-1,Ada Lane,5b10a,bug,weir,,12/Mar/26 11:30 AM;5b10b;It is the seal.,13/Mar/26 9:05 AM;5b10a;Mended; see.
Paint it,WEB-2,Bo Stone,5b10b,,,,,
"""


def test_columns_of_jira_are_joined_and_comments_are_said_by_persons() -> None:
    padding = ",".join(f"Custom field ({number} of very many)" for number in range(20))
    head, *rows = JIRA.splitlines()
    text = "\n".join([f"{head},{padding}", *(f"{row}{',' * 20}" for row in rows)])
    document = convert("jira.csv", text)
    assert document.content.split("\n\n")[0].splitlines() == [
        "Summary: Gate leaks",
        "Issue key: WEB-1",
        "Assignee: Ada Lane",
        "Labels: bug, weir",
        "Bo Stone (2026-03-12 11:30): It is the seal.",
        "Ada Lane (2026-03-13 09:05): Mended; see.",
    ]
    record = document.records[0][1]
    assert (record["Labels"], record["Assignee Id"]) == (["bug", "weir"], "5b10a")


def test_columns_with_one_name_that_are_no_list_stay() -> None:
    document = convert("rides.csv", "Ride,Time,Time\nTo Ely,90,5400\nHome,12,720\n")
    assert document.records[0][1] == {"Ride": "To Ely", "Time": "90", "Time_2": "5400"}


def test_codes_of_excel_and_times_of_programs_are_read_as_people_see_them() -> None:
    document = convert("saved.csv", 'title,isbn,time_added,number\nSalt,"=""0441004822""",1704067200,1704067200\n')
    assert "| Salt | 0441004822 | 2024-01-01T00:00:00Z | 1704067200 |" in document.content


def test_of_things_that_are_of_no_service_everything_is_told() -> None:
    order = {"order": 5, "items": [{"id": "SKU-1", "name": "Chair", "color": "red", "in_stock": False}]}
    document = convert("orders.json", json.dumps([order, {**order, "order": 6}]))
    for told in ("SKU-1", "Chair", "red", "in_stock", "False"):
        assert told.casefold() in document.content.split("\n\n")[0].casefold(), told
