"""Conversations that programs export as pages: those of DiscordChatExporter (also as CSV) and of Telegram.

As any other page, such a one has who wrote, and when, in lines of their own, with pictures of them between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.chat_logs import day_first, iso_time
from libs.dataloader.formats.chats import JOINED, Chat, Message, content_of
from libs.dataloader.html import parse
from libs.dataloader.links import LinkCollector
from libs.regexes import regex

if TYPE_CHECKING:
    from lxml.html import HtmlElement


class _Form(NamedTuple):
    """Where a program has what: a sign that a page is of it, then names of classes."""

    sign: bytes
    title: str
    message: str
    who: str
    when: str
    #: What a message consists of.
    parts: tuple[str, ...]


_FORMS: Final = (
    _Form(
        b"chatlog__message-group",
        "preamble__entry",
        "chatlog__message",
        "chatlog__author chatlog__author-name chatlog__system-notification-author",
        "chatlog__timestamp chatlog__system-notification-timestamp chatlog__short-timestamp",
        (
            *("chatlog__content", "chatlog__system-notification-content", "chatlog__attachment-generic-name"),
            *("chatlog__embed-title", "chatlog__embed-description"),
        ),
    ),
    _Form(
        b'class="message default',
        "page_header",
        "message",
        "from_name",
        "date",
        ("text", "title"),
    ),
)
#: What is in a text without being said.
_LEFT_OUT: Final = frozenset({"chatlog__edited-timestamp", "chatlog__system-notification-timestamp"})
_BLOCKS: Final = frozenset({"div", "p", "pre", "blockquote", "li"})
_COLUMNS: Final = ("AuthorID", "Author", "Date", "Content")
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_CAME: Final = regex(r"(?:has )?joined (?:the (?:server|group|channel)|group by link).*", flags=2)
_CLOCK: Final = r"(?:T|,? +)(\d{1,2}[:.]\d\d\S*(?: ?[AaPp]\.?[Mm]\.?)?)"
_ISO: Final = regex(r"(\d{4})-(\d\d)-(\d\d)" + _CLOCK)
_DAY_MONTH: Final = regex(r"(?:[^\W\d]+,? )?(\d{1,2})[ -]([A-Za-z]{3,9})\.?[ -](\d{4}|\d\d)" + _CLOCK)
_MONTH_DAY: Final = regex(r"(?:[^\W\d]+,? )?([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})" + _CLOCK)
_NUMBERS: Final = regex(r"([\d./-]{6,10})" + _CLOCK + ".*")
#: The number that an account of Discord had, as its name was not its own.
_ACCOUNT: Final = regex(r"#\d{4}\Z")
_GAPS: Final = regex(r"\n{3,}")
_EMOJI: Final = regex(r"\S{1,40}")


def read_chat_page(file: FileData) -> Content | None:
    """Convert a page with a conversation; ``None`` if it has none."""
    form = next((form for form in _FORMS if form.sign in file.data), None)
    tree = parse(file.text()) if form is not None else None
    if form is None or tree is None:
        return None
    collector = LinkCollector(file.uri, file.root_uri)
    told: list[tuple[str, list[str], str]] = []
    who, times = "", [""]
    for node in _of(tree, form.message):
        who = next((name for one in _of(node, form.who) if (name := _words(one))), who)
        named = [time for one in _of(node, form.when) for time in (one.get("title", ""), _words(one)) if time]
        times = [time for time in named if _is_dated(time)] or times
        parts = [_words(one) for name in form.parts for one in _of(node, name) if not _is_within(one, form.parts)]
        for link in node.iter("a"):
            collector.add(link.get("href", ""), _words(link))
        if said := "\n".join(filter(None, parts)):
            told.append((who, times, JOINED if _CAME.fullmatch(said.strip(" .")) else said))
    if not told:
        return None
    is_day = day_first(_for_log(time) for _, written, _ in told for time in written)
    messages = [Message(_moment(written, is_day), name or "Unknown", said) for name, written, said in told]
    titles = [words for one in _of(tree, form.title) if (words := " ".join(_words(one).split()))]
    content = content_of([Chat(" ".join(titles[:2]) or None, messages)])
    content.links = collector.links()
    return content


def chat_of_rows(columns: Sequence[str], rows: Iterator[Mapping[str, str]]) -> Content | None:
    """Convert the rows of a table that DiscordChatExporter wrote; ``None`` if it is another one."""
    if tuple(columns[: len(_COLUMNS)]) != _COLUMNS:
        return None
    told = [(row["Author"], row["Date"], "\n".join(filter(None, _said(row)))) for row in rows]
    is_day = day_first(_for_log(date) for _, date, _ in told)
    messages = [
        Message(_moment([date], is_day), _ACCOUNT.sub("", who) or who, said) for who, date, said in told if said
    ]
    return content_of([Chat(None, messages)]) if messages else None


def _said(row: Mapping[str, str]) -> Iterator[str]:
    text = row["Content"].strip()
    yield JOINED if _CAME.fullmatch(text.strip(" .")) else text
    for address in row.get("Attachments", "").split(","):
        if name := address.rpartition("/")[2].partition("?")[0].strip():
            yield f"File: {name}"


def _of(node: HtmlElement, names: str) -> list[HtmlElement]:
    """Return the elements with one of some classes."""
    wanted = frozenset(names.split())
    return [one for one in node.iter() if not wanted.isdisjoint((one.get("class") or "").split())]


def _is_within(node: HtmlElement, names: Sequence[str]) -> bool:
    return any(not frozenset(names).isdisjoint((one.get("class") or "").split()) for one in node.iterancestors())


def _words(node: HtmlElement) -> str:
    """Return what an element says, in lines as it is shown."""
    return _GAPS.sub("\n\n", "\n".join(line.rstrip() for line in "".join(_pieces(node)).strip().split("\n")))


def _pieces(node: HtmlElement) -> Iterator[str]:
    if not _LEFT_OUT.isdisjoint((node.get("class") or "").split()):
        return
    if node.tag == "br":
        yield "\n"
    elif node.tag == "img" and _EMOJI.fullmatch(said := node.get("alt") or ""):
        yield said
    yield node.text or ""
    for inner in node:
        yield "\n" if inner.tag in _BLOCKS else ""
        yield from _pieces(inner)
        yield f"\n{inner.tail or ''}" if inner.tag in _BLOCKS else inner.tail or ""


def _is_dated(time: str) -> bool:
    return any(form.fullmatch(time) for form in (_ISO, _DAY_MONTH, _MONTH_DAY, _NUMBERS))


def _for_log(time: str) -> str:
    """Return a time as logs have it: ``14.03.2022, 18:12``."""
    found = _NUMBERS.fullmatch(time)
    return f"{found[1]}, {found[2]}" if found else time


def _moment(times: Sequence[str], is_day: bool | None) -> str:
    """Return a time, of which there are several forms, as ``2024-03-01 09:00``; as it is, if it may be another one."""
    for time in times:
        if found := _ISO.fullmatch(time):
            year, month, day, clock = found.groups()
        elif found := _DAY_MONTH.fullmatch(time):
            day, month, year, clock = found.groups()
        elif found := _MONTH_DAY.fullmatch(time):
            month, day, year, clock = found.groups()
        else:
            continue
        number = (
            month if month.isdigit() else str(1 + _MONTHS.index(name)) if (name := month[:3].lower()) in _MONTHS else ""
        )
        if number:
            return iso_time(f"{year if len(year) == 4 else f'20{year}'}-{number}-{day}, {clock}", is_day)
    return iso_time(_for_log(times[-1]), is_day)
