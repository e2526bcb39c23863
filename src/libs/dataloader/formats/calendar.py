"""Calendars (iCalendar) and address books (vCard)."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any, NamedTuple

from libs.dataloader.formats.base import Content, FileData, TextBuilder, sensible_title
from libs.dataloader.formats.registry import Format
from libs.dataloader.text import clean_text
from libs.regexes import regex

_FOLD = regex(rb"\r?\n[ \t]")
_ESCAPE = regex(r"\\([,;:nN\\])")
#: A line: a name (of a group before it), parameters, a value.
_LINE = regex(r"(?:[\w-]{1,50}\.)?([\w-]{1,50})((?:;[^\s=;:]{1,50}(?:=(?:\"[^\"\n]*\"|[^\";:\n])*)?)*):(.*)")
_PARAMETER = regex(r";([^=;:]+)(?:=(\"[^\"\n]*\"|[^;:\n]*))?")
_ENTRIES = frozenset(("VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VCARD"))
#: What people see of an entry, in their order; what else there is follows by its own name.
_NAMES = {
    "SUMMARY": "Title",
    "FN": "Name",
    "N": "Name",
    "DTSTART": "Start",
    "DTEND": "End",
    "DUE": "Due",
    "COMPLETED": "Completed",
    "RRULE": "Repeats",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "DESCRIPTION": "Description",
    "NICKNAME": "Nickname",
    "ORG": "Organization",
    "TITLE": "Job title",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Birthday",
    "URL": "Website",
    "NOTE": "Note",
}
_ORDER = {name: number for number, name in enumerate(_NAMES)}
#: What is for programs.
_LEFT_OUT = frozenset(
    (
        *("UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "TRANSP", "CLASS", "VERSION", "PRODID", "METHOD"),
        *("RECURRENCE-ID", "CALSCALE", "REV", "PHOTO", "LOGO", "KEY", "SOUND", "ATTACH", "N", "SORT-STRING", "AGENT"),
    )
)
_TIMES = frozenset(("DTSTART", "DTEND", "DUE", "COMPLETED", "EXDATE", "RDATE", "BDAY", "ANNIVERSARY"))
_PEOPLE = frozenset(("ORGANIZER", "ATTENDEE"))
_MOMENT = regex(r"(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2})(?::?\d{2}(?:\.\d+)?)?(Z?))?")
_NO_KINDS = frozenset(("voice", "internet", "pref", "x-internet", "quoted-printable"))
_DAY = len("2025-01-31")


class _Line(NamedTuple):
    name: str
    parameters: dict[str, list[str]]
    value: str


def read(file: FileData, _kind: Format) -> Content:
    """Convert each entry to a record of what people see of it; folded lines are joined again."""
    # Before they are decoded: lines are folded after so many bytes, within characters too.
    text = replace(file, data=_FOLD.sub(b"", file.data)).text()
    title = None
    builder = TextBuilder()
    records: list[tuple[int, dict[str, Any]]] = []
    entry: list[_Line] = []
    inside: list[str] = []

    def end_entry() -> None:
        if fields := _fields(entry):
            builder.separate()
            records.append((builder.position, {**fields, **_people(entry)}))
            builder.add("\n".join(f"{name}: {value}" for name, value in fields.items()))
        entry.clear()

    for line in _lines(text):
        if line.name == "BEGIN":
            inside.append(line.value.strip().upper())
            if inside[-1] in _ENTRIES:
                end_entry()  # one without an end
        elif line.name == "END":
            if inside and inside.pop() in _ENTRIES:
                end_entry()
        elif inside and inside[-1] in _ENTRIES:
            entry.append(line)
        elif line.name == "X-WR-CALNAME":
            title = sensible_title(_unescaped(line.value))
    end_entry()  # one that the file breaks off in
    return Content(builder.text() or text, "records", title, records=records)


def _lines(text: str) -> Iterator[_Line]:
    lines = iter(text.split("\n"))
    for raw in lines:
        if (match := _LINE.fullmatch(raw)) is not None:
            parameters: dict[str, list[str]] = {}
            for name, value in _PARAMETER.findall(match[2]):
                parameters.setdefault(name.upper() if value else "TYPE", []).append((value or name).strip('"'))
            value = match[3]
            if _has(parameters, "QUOTED-PRINTABLE"):  # vCard 2.1, as telephones write it
                parts = [value]
                while parts[-1].endswith("=") and (following := next(lines, None)) is not None:
                    parts.append(following)
                value = _decoded("".join(part.removesuffix("=") for part in parts), parameters)
            yield _Line(match[1].upper(), parameters, value)


def _has(parameters: dict[str, list[str]], *encodings: str) -> bool:
    """Return whether a value has one of these encodings."""
    named = (*parameters.get("ENCODING", ()), *parameters.get("TYPE", ()))
    return not {name.upper() for name in named}.isdisjoint(encodings)


def _decoded(value: str, parameters: dict[str, list[str]]) -> str:
    data = quopri.decodestring(value.encode())
    try:
        text = data.decode(next(iter(parameters.get("CHARSET", ())), "utf-8"), "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return clean_text(text)


def _fields(lines: list[_Line]) -> dict[str, str]:
    """Return what people see of an entry, by its names."""
    # The parts of a name are for programs where the whole name is given.
    left_out = _LEFT_OUT if any(line.name == "FN" and line.value.strip() for line in lines) else _LEFT_OUT - {"N"}
    fields: dict[str, list[str]] = {}
    for line in sorted(lines, key=lambda line: _ORDER.get(line.name, len(_ORDER))):
        if line.name in left_out or line.name.startswith("X-") or _has(line.parameters, "B", "BASE64"):
            continue
        if value := _shown(line):
            fields.setdefault(_label(line), []).append(value)
    shown = {name: ", ".join(dict.fromkeys(values)) for name, values in fields.items()}
    if len(shown.get("End", "")) == _DAY and shown["End"] < shown.get("Start", ""):
        shown["End"] = shown["Start"]  # a day that was written as its own end, which is not part of it
    return shown


def _people(lines: list[_Line]) -> dict[str, list[str]]:
    """Return who is named in an entry, without addresses and answers."""
    people: dict[str, list[str]] = {}
    for line in lines:
        if line.name in _PEOPLE and (name := _unescaped(next(iter(line.parameters.get("CN", ())), "")).strip()):
            people.setdefault(_label(line), []).append(name)
    return people


def _label(line: _Line) -> str:
    name = _NAMES.get(line.name) or line.name.replace("-", " ").capitalize()
    kinds = [kind for value in line.parameters.get("TYPE", ()) for kind in value.lower().split(",")]
    shown = [kind for kind in kinds if kind not in _NO_KINDS] if line.name in ("TEL", "ADR", "EMAIL") else []
    return f"{name} ({', '.join(shown)})" if shown else name


def _shown(line: _Line) -> str:
    """Return a value as people write it."""
    value = line.value.strip()
    if line.name in _TIMES:
        return _moment(line)
    if line.name in _PEOPLE:
        return _person(line)
    if line.name == "RRULE":
        rule = dict(part.partition("=")[::2] for part in value.split(";"))
        other = ", ".join(f"{name.lower()} {what}" for name, what in rule.items() if name != "FREQ")
        return f"{rule.get('FREQ', '').lower()} ({other})" if other else rule.get("FREQ", "").lower()
    if line.name in ("ADR", "ORG", "N"):
        parts = list(map(_unescaped, re.split(r"(?<!\\);", value)))
        if line.name == "N":  # the family name, the given and the other ones, what stands before and behind
            return " ".join(filter(None, (*parts[3:4], *parts[1:3], *parts[:1], *parts[4:])))
        return ", ".join(filter(None, parts))
    if line.name in ("CATEGORIES", "NICKNAME"):
        return ", ".join(filter(None, map(str.strip, map(_unescaped, re.split(r"(?<!\\),", value)))))
    if line.name == "STATUS":
        return value.replace("-", " ").lower()
    text = _unescaped(value)
    return text.removeprefix("tel:").removeprefix("mailto:") if line.name in ("TEL", "EMAIL") else text


def _moment(line: _Line) -> str:
    """Return a date or time; of days, the last one, for the end of these is the day after."""
    match = _MOMENT.fullmatch(line.value.strip())
    if match is None:
        return _unescaped(line.value.strip())
    year, month, day, hour, minute, is_utc = match.groups()
    if hour is None:
        shown = f"{year}-{month}-{day}"
        try:
            return str(date.fromisoformat(shown) - timedelta(days=line.name == "DTEND"))
        except (ValueError, OverflowError):
            return shown
    zone = "UTC" if is_utc else next(iter(line.parameters.get("TZID", ())), "").lstrip("/")
    return f"{year}-{month}-{day} {hour}:{minute}{f' ({zone})' if zone else ''}"


def _person(line: _Line) -> str:
    name = _unescaped(next(iter(line.parameters.get("CN", ())), ""))
    address = re.sub("^mailto:", "", line.value.strip(), flags=re.IGNORECASE)
    whole = f"{name} <{address}>" if name and "@" in address and name != address else name or address
    answer = next(iter(line.parameters.get("PARTSTAT", ())), "").replace("-", " ").lower()
    return f"{whole} ({answer})" if answer else whole


def _unescaped(text: str) -> str:
    """Return a value without its escapes, and without empty lines, which would end the record."""
    plain = _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], text)
    return "\n".join(line.strip() for line in plain.split("\n") if line.strip()) if "\n" in plain else plain
