"""Conversations in plain text, a message a line: exports of WhatsApp, logs of IRC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from libs.dataloader.formats.base import Content, lowered
from libs.dataloader.formats.chats import Chat, Message, content_of
from libs.regexes import regex

_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[ \u00a0\u202f]?[AaPp]\.?[ \u00a0\u202f]?[Mm]\.?)?"
#: ``[12.03.25, 18:04:11] Ida: words``, ``3/12/25, 6:04 PM - Ida: words``. Logs of programs have no comma in a time.
_WHATSAPP = regex(
    rf"[\u200e\u200f]?(?:\[(?P<on>[\d./-]{{6,10}}, {_TIME})\]|(?P<at>[\d./-]{{6,10}}, {_TIME}) -)"
    r" (?:(?P<who>[^:\n]{1,80}): )?(?P<text>.*)"
)
#: ``2025-02-11 10:01 <ida> words``, ``[10:01] <@ida> words``.
_IRC = regex(
    r"\[?(?P<at>(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2})?)\]?"
    r"\s+<[ @+%&~]?(?P<who>[^<>\s]{1,50})>\s(?P<text>.*)"
)
#: Who came and went, in logs of IRC.
_EVENT = regex(r"\[?(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2})?\]?\s+(?:-!-|\*{1,3}|-->|<--)\s")
_DATE = regex(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4}), (\d{1,2})[:.](\d{2})[^AaPp]*([AaPp])?.*")
#: What stands for a picture without a name, or a deleted message, in any language: iOS has a mark before what it says.
_NOTE = regex(r"<[^<>.\n]{3,60}>|\u200e[^\n:<]*")
#: Marks of the direction of writing.
_MARKS = regex(r"[\u200e\u200f]")
_LOOKED_AT = 20  # lines
_MONTHS = 12
_YEAR = 4  # digits
_FEWEST = 3
_MOSTLY = 0.5


def read_log(text: str) -> Content | None:
    """Convert a conversation to a paragraph for each message; ``None`` if the text is none.

    A message may go on in the next lines. What a program says is kept without a name, and so is what stands before the
    first message; who came and went is not. Times are written as in other exports, if it is certain which number is the
    day.
    """
    head = [line for line in text[:20_000].split("\n", 4 * _LOOKED_AT) if line.strip()][:_LOOKED_AT]
    pattern = next((form for form in (_WHATSAPP, _IRC) if _is_log(head, form)), None)
    if pattern is None:
        return None
    told: list[tuple[str, str, list[str]]] = [("", "", [])]
    for line in text.split("\n"):
        found = pattern.fullmatch(line)
        if found is not None:
            told.append((found["at"] or found["on"], found["who"] or "", [found["text"]]))
        elif not (pattern is _IRC and _EVENT.match(line)):
            told[-1][2].append(line)
    is_day = day_first(when for when, _, _ in told)
    (_, _, before), *rest = told
    messages = [
        Message(iso_time(when, is_day), who, _MARKS.sub("", said))
        for when, who, lines in rest
        if not _NOTE.fullmatch(said := "\n".join(lines).strip()) or not who
    ]
    return content_of([Chat(None, messages)], lowered("\n".join(before).strip()))


def _is_log(lines: list[str], form: re.Pattern[str]) -> bool:
    found = [match for line in lines if (match := form.fullmatch(line)) is not None and match["who"]]
    told = [line for line in lines if not (form is _IRC and _EVENT.match(line))]
    return len(found) >= _FEWEST and len(found) >= _MOSTLY * len(told)


def day_first(times: Iterable[str]) -> bool | None:
    """Return whether dates begin with the day; ``None`` if nothing tells whether they begin with that or the month."""
    dates = [date for time in times if (date := _DATE.fullmatch(time))]
    if any(date[2] == "." or (len(date[1]) < _YEAR and int(date[1]) > _MONTHS) for date in dates):
        return True
    return False if any(int(date[3]) > _MONTHS for date in dates) else None


def iso_time(time: str, is_day: bool | None) -> str:
    """Return a time as ``2025-03-12 18:04``, or as it is if it may be another one.

    Args:
        time: The time, ``12.03.25, 18:04``.
        is_day: Whether its first number is the day.
    """
    date = _DATE.fullmatch(time)
    if date is None:
        return time
    first, _, second, third, hour, minute, half = date.groups()
    if len(first) == _YEAR:
        year, month, day = first, second, third
    elif is_day is None:
        return time
    else:
        month, day = (second, first) if is_day else (first, second)
        year = f"20{third}" if len(third) == 2 else third
    if half:
        hour = int(hour) % 12 + (12 if half in "Pp" else 0)
    try:
        return f"{datetime(int(year), int(month), int(day), int(hour), int(minute)):%Y-%m-%d %H:%M}"
    except ValueError:
        return time
