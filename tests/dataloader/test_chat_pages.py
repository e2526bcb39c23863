"""Conversations that are exported as pages and tables, and what the programs say in them."""

from __future__ import annotations

import json

import pytest

from tests.dataloader.filetools import convert


def _discord(*groups: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>Mill - weir</title><style>.chatlog__message-group{}</style></head><body>"
        "<div class=preamble><div class=preamble__entry>Mill</div><div class=preamble__entry>Water / weir</div></div>"
        f'<div class="chatlog">{"".join(groups)}</div><div class=postamble>Exported 3 message(s)</div></body></html>'
    )


def _group(who: str, when: str, title: str, *said: str) -> str:
    messages = "".join(
        f"<div class=chatlog__message><img class=chatlog__avatar alt=Avatar src=a.png>{head}"
        f'<div class="chatlog__content chatlog__markdown">{text}</div></div>'
        for text, head in zip(
            said,
            [f'<span class=chatlog__author>{who}</span> <span class=chatlog__timestamp title="{title}">{when}</span>']
            + ['<div class=chatlog__short-timestamp title="">9:06</div>'] * len(said),
            strict=False,
        )
    )
    return f"<div class=chatlog__message-group>{messages}</div>"


@pytest.mark.parametrize(
    ("when", "title"),
    [
        ("2026-03-01 2:05 p.m.", "Sunday, March 1, 2026 2:05 p.m."),
        ("01-Mar-26 02:05 PM", ""),
        ("01.03.2026 14:05", "Sonntag, 1. März 2026 14:05"),
        ("13/03/2026 14:05", ""),
    ],
)
def test_a_page_of_discord_says_who_wrote_what_when(when: str, title: str) -> None:
    page = _discord(
        _group("🦦 Ada", when, title, "The weir<br>leaks.", "It <b>really</b> does."), _group("Bo", when, title, "ok")
    )
    document = convert("weir.html", page)
    day = "13" if when.startswith("13") else "01"
    assert document.content == (
        "# Mill Water / weir\n\n## March 2026\n\n"
        f"🦦 Ada (2026-03-{day} 14:05): The weir\nleaks.\n\n"
        f"🦦 Ada (2026-03-{day} 14:05): It really does.\n\nBo (2026-03-{day} 14:05): ok\n"
    )
    assert document.records[2][1] == {"time": f"2026-03-{day} 14:05", "author": "Bo", "message": "ok"}


def test_a_page_of_telegram_goes_on_where_nobody_is_named() -> None:
    message = '<div class="message default clearfix{joined}"><div class="body"><div class="pull_right date details" '
    message += 'title="{when} UTC+01:00">{clock}</div>{who}<div class="text">{said}</div></div></div>'
    ada, lens = '<div class="from_name">Ada Lane</div>', "The <a href='https://l.example/x'>14 mm</a>?"
    page = (
        '<html><body><div class="page_header"><div class="text bold">Iceland</div></div><div class="history">'
        '<div class="message service"><div class="body details">14 March 2026</div></div>'
        + message.format(joined="", when="14.03.2026 18:12:44", clock="18:12", who=ada, said="Which lens?")
        + message.format(
            joined=" joined",
            when="14.03.2026 18:13:00",
            clock="18:13",
            who="",
            said=lens,
        )
        + "</div></body></html>"
    )
    document = convert("messages.html", page)
    assert document.content == (
        "# Iceland\n\n## March 2026\n\nAda Lane (2026-03-14 18:12): Which lens?\n\n"
        "Ada Lane (2026-03-14 18:13): The 14 mm?\n"
    )
    assert [link.target for link in document.links] == ["https://l.example/x"]


def test_a_page_about_such_pages_is_one() -> None:
    page = "<html><body><main><p>The class chatlog__message-group holds messages.</p></main></body></html>"
    assert convert("about.html", page).content.strip() == "The class chatlog__message-group holds messages."


def test_a_table_of_discord_is_a_conversation() -> None:
    table = (
        "AuthorID,Author,Date,Content,Attachments,Reactions\n"
        '"1","ada#0042","22-Dec-26 09:08 AM","Is it\nopen?","https://cdn.example/a/weir.png?x=1",""\n'
        '"2","bo","22-Dec-26 09:12 PM","Joined the server.","",""\n'
    )
    assert convert("weir.csv", table).content == (
        "## December 2026\n\nada (2026-12-22 09:08): Is it\nopen?\nFile: weir.png\n\n"
        "bo (2026-12-22 21:12): joined the channel\n"
    )


def test_who_joins_in_discord_is_told_together_and_previews_and_files_are_read() -> None:
    def message(who: str, text: str, **others: object) -> dict[str, object]:
        return {"author": {"name": who}, "timestamp": "2026-03-01T10:00:00+00:00", "content": text, **others}

    preview = {"title": "The ebb", "description": "When it turns."}
    messages = [
        message("ada", "Joined the server.", type="GuildMemberJoin"),
        message("bo", "Joined the server.", type="GuildMemberJoin"),
        message("bo", "See this", type="Default", embeds=[preview], attachments=[{"fileName": "tide.pdf"}]),
    ]
    document = convert("a.json", json.dumps({"guild": {"name": "Mill"}, "messages": messages}))
    assert "ada, bo (2026-03-01 10:00): joined the channel\n" in document.content
    assert "bo (2026-03-01 10:00): See this\nThe ebb: When it turns.\nFile: tide.pdf\n" in document.content
    assert len(document.records) == 1


def test_what_stands_for_a_picture_or_a_deleted_message_is_left_out() -> None:
    said = [
        "[14/03/2026, 18:22:05] Weir: \u200eMessages and calls are end-to-end encrypted.",
        "[14/03/2026, 18:25:11] Ada: The water is on.",
        "\u200e[14/03/2026, 18:26:00] Bo: \u200eimage omitted",
        "[14/03/2026, 18:27:00] Bo: <Medien ausgeschlossen>",
        "\u200e[14/03/2026, 18:28:00] Bo: \u200e<attached: 0001-weir.jpg>",
        "\u200e[14/03/2026, 18:29:00] Bo: \u200ePOLL:\nWhen?\n\u200eOPTION: May (2 votes)",
        "\u200e[14/03/2026, 18:30:00] \u200eAda added Cyd",
    ]
    assert convert("_chat.txt", "\n".join(said)).content == (
        "## March 2026\n\nAda (2026-03-14 18:25): The water is on.\n\n"
        "Bo (2026-03-14 18:28): <attached: 0001-weir.jpg>\n\n"
        "Bo (2026-03-14 18:29): POLL:\nWhen?\nOPTION: May (2 votes)\n\n(2026-03-14 18:30): Ada added Cyd\n"
    )
