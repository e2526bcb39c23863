"""Conversations among people or with an assistant, as programs export them in JSON: who, when, what."""

from __future__ import annotations

import json
import posixpath
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from html import unescape
from itertools import chain
from typing import Any, NamedTuple

from libs.dataloader.formats.base import Content, FileData, closed, escaped, join_lines, lowered, sensible_title
from libs.dataloader.formats.json_outline import flat
from libs.dataloader.formats.rows import Records
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text
from libs.regexes import regex

_MOSTLY = 0.8
_SLACK_MARK = regex(r"<([@#!]?)([^<>|\n]{1,2000})(?:\|([^<>\n]{0,2000}))?>")
#: The beginning of a time as messages have it: the year and the month.
_DATED = regex(r"(\d{4})-(0[1-9]|1[0-2])")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
#: The parts of an export of an account of Telegram that have conversations.
_ACCOUNT = ("chats", "left_chats")
#: What is told of those who come and go.
JOINED = "joined the channel"
_LEFT = "left the channel"
#: What Slack and Discord note themselves then.
_COMES = {
    "channel_join": JOINED,
    "channel_leave": _LEFT,
    "group_join": JOINED,
    "group_leave": _LEFT,
    "GuildMemberJoin": JOINED,
    "RecipientAdd": JOINED,
    "RecipientRemove": _LEFT,
}
_CAME = frozenset(_COMES.values())
_BETWEEN = 10_000  # characters at most, of names and headings
_ROLES = {"user": "User", "human": "User", "assistant": "Assistant", "tool": "Tool"}


class Message(NamedTuple):
    """A message: when it was written, by whom, and its text."""

    when: str
    who: str
    text: str


class Chat(NamedTuple):
    """A conversation."""

    title: str | None
    messages: list[Message]


def read_chats(data: Any, file: FileData) -> Content | None:
    """Convert an export of conversations from ChatGPT, Claude, Slack, Discord or Telegram.

    Args:
        data: The parsed content of the file.
        file: The file; in an export of Slack its path tells the channel and the day, and its ``persons`` who wrote.

    Returns:
        Markdown with a heading for each conversation and each month, and a paragraph for each message that says who
        wrote it and when; ``None`` if the data is something else.
    """
    collector = LinkCollector(file.uri, file.root_uri)
    found: list[Chat | None] = []
    if isinstance(data, list) and data and all(isinstance(item, dict) for item in data):
        if all(_is_assistant(item) for item in data):
            found = [_assistant(item) for item in data]
        elif sum(_is_slack(item) for item in data) > _MOSTLY * len(data):
            found = [_slack(data, file, collector)]
    elif isinstance(data, dict):
        account = [_dicts(data[name].get("list")) for name in _ACCOUNT if isinstance(data.get(name), dict)]
        found = [_of_people(each) for each in (chain.from_iterable(account) if account else (data,))]
    chats = [chat for chat in found if chat is not None and chat.messages]
    if not chats or None in found:
        return None
    times = [message.when for chat in chats for message in chat.messages if message.when]
    beside: dict[str, Any] = {}
    if isinstance(data, dict) and "chats" in data:  # and persons, with their numbers
        beside = {name: value for name, value in data.items() if name not in _ACCOUNT}
    content = content_of(chats, "\n".join(map(escaped, flat(beside))))
    content.metadata |= {"created": min(times)[:10]} if times else {}
    content.links = collector.links()
    return content


def content_of(chats: Sequence[Chat], intro: str = "") -> Content:
    """Return conversations as Markdown, with a record for each message; see :func:`read_chats`.

    Args:
        chats: The conversations.
        intro: What stands above them.
    """
    lines = (line for chat in chats for line in _lines(Chat(chat.title, _coming_together(chat.messages))))
    text = clean_text(join_lines((intro.strip(), "", *lines) if intro.strip() else lines))
    messages = [message for chat in chats for message in chat.messages if message.text not in _CAME]
    starts, place, far = array("Q"), 0, len(text)
    for message in messages:  # not far behind the one before
        place = max(text.find(clean_text(_named(message)), place, place + far), place)
        far = 2 * len(message.text) + _BETWEEN
        starts.append(place)
    return Content(
        text,
        "markdown",
        sensible_title(chats[0].title or "") if len(chats) == 1 else None,
        {"message_count": sum(len(chat.messages) for chat in chats)},
        records=Records(starts, partial(_record, messages)),
    )


def _coming_together(messages: Sequence[Message]) -> list[Message]:
    """Return messages in which those who join or leave one after another are told together."""
    told: list[Message] = []
    for message in messages:
        if told and message.text in _CAME and message.text == told[-1].text:
            told[-1] = told[-1]._replace(who=f"{told[-1].who}, {message.who}")
        else:
            told.append(message)
    return told


def _record(messages: Sequence[Message], number: int) -> Mapping[str, Any]:
    when, who, text = messages[number]
    return {name: said for name, said in (("time", when), ("author", who), ("message", text)) if said}


def _named(message: Message) -> str:
    """Return what stands before a message: who wrote it, and when."""
    return f"{message.who} ({message.when}):".strip() if message.when else f"{message.who}:"


def _lines(chat: Chat) -> Iterator[str]:
    if chat.title:
        yield f"# {' '.join(chat.title.split())}\n"
    month = ""
    for message in chat.messages:
        when, _, text = message
        # Nobody asks for 2024-03: what was said in March is found by its heading.
        if (dated := _DATED.match(when)) and dated[0] != month:
            month = dated[0]
            yield f"## {_MONTHS[int(dated[2]) - 1]} {dated[1]}\n"
        text = lowered(text.strip())
        text = lowered(text) if month else text
        yield f"{_named(message)}{'\n\n' if text.startswith(('#', '`', '~', '|', '- ', '* ', '1.')) else ' '}{text}\n"


def _is_assistant(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("mapping"), dict) or isinstance(item.get("chat_messages"), list)


def _assistant(item: Mapping[str, Any]) -> Chat:
    if isinstance(item.get("chat_messages"), list):  # Claude
        told = (message for message in item["chat_messages"] if isinstance(message, dict))
        messages = [
            Message(_moment(each.get("created_at")), _role(each.get("sender")), _with_pasted(each)) for each in told
        ]
        return Chat(_text(item.get("name")) or None, [message for message in messages if message.text.strip()])
    messages = []
    for node in _branch(item["mapping"], item.get("current_node")):
        message = node.get("message")
        if not isinstance(message, dict) or _hidden(message):
            continue
        if text := _text(message.get("content")).strip():
            author = message.get("author")
            role = _role(author.get("role") if isinstance(author, dict) else None)
            messages.append(Message(_moment(message.get("create_time")), role, text))
    return Chat(_text(item.get("title")) or None, messages)


def _with_pasted(message: Mapping[str, Any]) -> str:
    """Return the text of a message, and that of what was attached to it: Claude makes such of a long text in it."""
    pasted = (
        closed(f"{_first(item, 'file_name') or 'Attachment'}:\n\n{text}")
        for item in _dicts(message.get("attachments"))
        if (text := _text(item.get("extracted_content")).strip())
    )
    said = _text(message.get("text")) or _text(message.get("content"))
    return "\n\n".join(filter(None, (said.strip(), *pasted)))


def _branch(nodes: Mapping[str, Any], last: Any) -> list[Mapping[str, Any]]:
    """Return the messages on the path to the current one, without the alternatives of answers that were regenerated."""
    if not isinstance(last, str) or last not in nodes:
        return [node for node in nodes.values() if isinstance(node, dict)]
    branch: list[Mapping[str, Any]] = []
    seen = set()
    while isinstance(last, str) and last not in seen and isinstance(node := nodes.get(last), dict):
        seen.add(last)
        branch.append(node)
        last = node.get("parent")
    return branch[::-1]


def _hidden(message: Mapping[str, Any]) -> bool:
    author, about = message.get("author"), message.get("metadata")
    if isinstance(author, dict) and author.get("role") == "system":
        return True
    return isinstance(about, dict) and bool(about.get("is_visually_hidden_from_conversation"))


def _role(role: Any) -> str:
    return _ROLES.get(str(role), str(role or "Unknown").capitalize())


def _is_slack(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "message" and isinstance(item.get("ts"), str) and isinstance(item.get("text"), str)


def names_of_users(users: bytes) -> dict[str, str]:
    """Return the names of the persons in ``users.json`` of an export of Slack, by id; none if it is something else."""
    try:
        listed = json.loads(users)
    except (ValueError, RecursionError):
        return {}
    told = ((item, item.get("profile")) for item in _dicts(listed) if isinstance(item.get("id"), str))
    return {
        item["id"]: name
        for item, profile in told
        if (name := _name(profile) if isinstance(profile, dict) else None) or (name := _name(item))
    }


def _name(person: Mapping[str, Any]) -> str | None:
    return _first(person, "real_name", "display_name", "name")


def _slack(data: list[dict[str, Any]], file: FileData, collector: LinkCollector) -> Chat:
    names = dict(file.persons)
    for item in data:
        profile = item.get("user_profile")
        if isinstance(profile, dict) and isinstance(item.get("user"), str):
            names[item["user"]] = _name(profile) or names.get(item["user"], item["user"])

    def mark(match: re.Match[str]) -> str:
        sign, target, words = match.groups()
        if sign == "@":
            return f"@{words or names.get(target, target)}"
        if sign:
            return f"{sign.replace('!', '@')}{words or target}"
        collector.add(unescape(target), unescape(words or ""))
        return words or target.removeprefix("mailto:")

    messages: list[Message] = []
    for item in data:
        if not _is_slack(item):
            continue
        who = names.get(str(item.get("user")), "") or _first(item, "username", "user", "bot_id") or "Unknown"
        text = _COMES.get(str(item.get("subtype"))) or unescape(_SLACK_MARK.sub(mark, _with_posted(item).strip()))
        messages += [Message(_moment(item["ts"]), who, text)] if text else []
    folder, name = posixpath.split(file.path.replace("\\", "/"))
    return Chat(" ".join(filter(None, (posixpath.basename(folder), posixpath.splitext(name)[0]))), messages)


def _with_posted(item: Mapping[str, Any]) -> str:
    """Return the text of a message with what stands below it: what its links lead to, files, what a program posted."""
    said = [(_first(item, "text", "content") or "").strip()]
    for part in (*_dicts(item.get("attachments")), *_dicts(item.get("embeds"))):
        above, title = (unescape(_first(part, name) or "").strip() for name in ("pretext", "title"))
        told = [title, unescape(_first(part, "text", "description") or "").strip()]
        if not (above or any(told) or said[0]):
            above = unescape(_first(part, "fallback") or "")
        # Texts of other sites have been escaped twice.
        there = unescape("\n".join(said))
        said += [above, ": ".join(text for text in told if text and text not in there)]
    files = [_first(part, "title", "name") for part in (*_dicts(item.get("files")), *_dicts([item.get("file")]))]
    files += [_first(part, "fileName") for part in _dicts(item.get("attachments"))]
    said += [f"File: {name}" for name in files if name and name not in said[0]]
    return "\n".join(filter(None, said))


def _of_people(data: Mapping[str, Any]) -> Chat | None:
    """Return a conversation of Discord or Telegram; ``None`` if it is none."""
    messages = data.get("messages")
    if messages == []:
        return Chat(None, [])
    for told, read in ((_is_discord, _discord), (_is_telegram, _telegram)):
        found = [item for item in _dicts(messages) if told(item)]
        # Of what an export does not support, it has nothing but a number.
        if found and all(told(item) or not _first(item, "text", "content") for item in _dicts(messages)):
            return read(data, found)
    return None


def _is_discord(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("author"), dict) and "timestamp" in item and isinstance(item.get("content"), str)


def _discord(data: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Chat:
    messages = [
        Message(_moment(item["timestamp"]), _first(item["author"], "nickname", "name") or "Unknown", text)
        for item in items
        if (text := _COMES.get(str(item.get("type"))) or _with_posted(item))
    ]
    names = [_first(data[name], "name") for name in ("guild", "channel") if isinstance(data.get(name), dict)]
    return Chat(" ".join(filter(None, names)) or None, messages)


def _is_telegram(item: Mapping[str, Any]) -> bool:
    return item.get("type") in ("message", "service") and "date" in item and isinstance(item.get("text"), str | list)


def _telegram(data: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Chat:
    messages = [
        Message(_moment(item["date"]), _first(item, "from", "actor") or "Unknown", text)
        for item in items
        if (text := _text(item["text"])).strip()
    ]
    return Chat(_first(data, "name"), messages)


def _first(item: Mapping[str, Any], *keys: str) -> str | None:
    return next((value for key in keys if isinstance(value := item.get(key), str) and value.strip()), None)


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """Return a text that may be a string, inside an object, or a list of either."""
    if isinstance(value, dict):
        value = value.get("parts", value.get("text"))
    if not isinstance(value, list):
        return value if isinstance(value, str) else ""
    parts = (part.get("text") if isinstance(part, dict) else part for part in value)
    return "".join(part for part in parts if isinstance(part, str))


def _moment(value: Any) -> str:
    """Return a time as ``2024-03-01 09:00``; empty if it is not a time."""
    try:
        if isinstance(value, str) and "T" in value:
            return f"{datetime.fromisoformat(value):%Y-%m-%d %H:%M}"
        return f"{datetime.fromtimestamp(float(value), UTC):%Y-%m-%d %H:%M}"
    except (TypeError, ValueError, OverflowError, OSError):
        return ""
