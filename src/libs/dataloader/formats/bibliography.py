"""Bibliographies: BibTeX (also that of BibLaTeX) and RIS. Each entry is a record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.latex import tex_line
from libs.dataloader.formats.records import content_of_records
from libs.dataloader.formats.registry import RIS, Format
from libs.regexes import regex

# -- BibTeX: an entry begins at the margin, so that one whose braces do not match ends where the next one begins.
_ENTRY = regex(r"^[ \t]*@[ \t]*(?P<type>[A-Za-z]{1,40})\s*[{(]", re.MULTILINE)
_KEY = regex(r"\s*(?P<key>[^\s,={}()\"]{1,200})\s*(?:,|(?=[})]))")
_FIELD = regex(r"[\s,]*(?P<name>[A-Za-z][\w:+.-]{0,60})\s*=\s*")
_WORD = regex(r"[^\s,#{}\"=()]{1,200}")
_AND = regex(r"\s+and\s+", re.IGNORECASE)
_MORE = regex(r"\s*#\s*")
_QUOTED = regex(r"[{}\"]")
_BRACES = regex(r"(?<!\\)[{}]")
_PEOPLE = frozenset(("author", "editor", "translator", "bookauthor", "holder"))
#: Values that are no text: addresses and numbers, in which nothing is a command.
_PLAIN = frozenset(("url", "doi", "eprint", "isbn", "issn", "pdf", "link"))
#: What programs note for themselves: the time of a change would be found for the year of a paper.
_OF_PROGRAMS = frozenset(
    "timestamp biburl bibsource owner creationdate modificationdate date-added date-modified file".split()
)
_FIRST = ("title", "author", "year", "date")
_NO_FIELDS = frozenset(("comment", "preamble", "string"))

# -- RIS
_TAG = regex(r"([A-Z][A-Z0-9])  ?-(?: (.*))?$")
_RIS_NAMES = {
    tag: name
    for name, tags in {
        "title": "TI T1 CT",
        "author": "AU A1",
        "editor": "A2 ED",
        "year": "PY Y1",
        "date": "DA",
        "journal": "JO JF T2 JA BT",
        "series": "T3",
        "volume": "VL",
        "issue": "IS",
        "first_page": "SP",
        "last_page": "EP",
        "publisher": "PB",
        "place": "CY",
        "edition": "ET",
        "doi": "DO",
        "url": "UR L2",
        "isbn_or_issn": "SN",
        "language": "LA",
        "keywords": "KW",
        "abstract": "AB N2",
        "note": "N1",
        "type": "TY",
        "key": "ID",
    }.items()
    for tag in tags.split()
}
_RIS_PEOPLE = frozenset(("author", "editor"))
_RIS_LISTS = _RIS_PEOPLE | {"keywords"}
_RIS_ORDER = {name: place for place, name in enumerate(dict.fromkeys(_RIS_NAMES.values()))}


def read(file: FileData, kind: Format) -> Content:
    """Convert each entry to a record: title, authors by their given names first, year, then its other fields.

    What has no entries stays as it is.
    """
    text = file.text()
    entries = list(_ris(text) if kind is RIS else _bibtex(text))
    if not entries:
        return Content(text)
    return content_of_records(range(1, len(entries) + 1), entries.__getitem__)


def _bibtex(text: str) -> Iterator[dict[str, Any]]:
    words: dict[str, str] = {}  # what @string defines
    found = list(_ENTRY.finditer(text))
    stops = [*(match.start() for match in found), len(text)][1:]
    for match, stop in zip(found, stops, strict=True):
        kind = match["type"].lower()
        if kind == "string":
            words |= dict(_fields(text, match.end(), stop, words))
        elif kind not in _NO_FIELDS and (entry := _entry(text, kind, match.end(), stop, words)):
            yield entry


def _entry(text: str, kind: str, start: int, stop: int, words: dict[str, str]) -> dict[str, Any]:
    key = _KEY.match(text, start, stop)
    fields: dict[str, Any] = {}
    for name, value in _fields(text, key.end() if key is not None else start, stop, words):
        if name in _OF_PROGRAMS or name.startswith("bdsk-"):
            continue
        shown: Any = _people(value) if name in _PEOPLE else _shown(name, value)
        if shown:
            fields.setdefault(name, shown)
    first = {name: fields[name] for name in _FIRST if name in fields}
    return first | fields | {"type": kind} | ({"key": key["key"]} if key is not None else {}) if fields else {}


def _fields(text: str, start: int, stop: int, words: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of an entry, with their names in small letters, and their values as written."""
    while (match := _FIELD.match(text, start, stop)) is not None:
        value = ""
        start = match.end()
        while True:
            part, start = _part(text, start, stop, words)
            value += part
            more = _MORE.match(text, start, stop)
            if more is None:
                break
            start = more.end()
        yield match["name"].lower(), value


def _part(text: str, start: int, stop: int, words: dict[str, str]) -> tuple[str, int]:
    """Return a value, or a part of one with ``#`` behind it, and where it ends."""
    opening = text[start : start + 1]
    if opening not in ("{", '"') or start >= stop:
        word = _WORD.match(text, start, stop)
        # What is defined in another file is called by its name.
        return ("", start) if word is None else (words.get(word[0].lower(), f" {word[0]} "), word.end())
    depth = 0
    for mark in _QUOTED.finditer(text, start + 1, stop):
        if text[mark.start() - 1] == "\\" and mark[0] != '"':
            continue
        if depth == 0 and mark[0] == ('"' if opening == '"' else "}"):
            return text[start + 1 : mark.start()], mark.end()
        if mark[0] != '"':
            depth += 1 if mark[0] == "{" else -1
    return text[start + 1 : stop], stop  # it does not end


def _shown(name: str, value: str) -> str:
    if name in _PLAIN:
        return " ".join(_BRACES.sub("", value).split())
    return tex_line(value)


def _people(value: str) -> list[str]:
    """Return the names in a list of people; one in braces is that of an organisation, whatever it consists of."""
    names: list[str] = []
    depth, start = 0, 0
    cuts = [(mark.start(), mark) for mark in _BRACES.finditer(value)] + [
        (mark.start(), mark) for mark in _AND.finditer(value)
    ]
    for place, mark in sorted(cuts, key=lambda cut: cut[0]):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif depth == 0 and place >= start:
            names.append(value[start:place])
            start = mark.end()
    names.append(value[start:])
    said = ((name.strip(), tex_line(name)) for name in names)
    return [_turned(name) if raw[:1] != "{" else name for raw, name in said if name and name != "others"]


def _turned(name: str) -> str:
    """Return a name as people say it: ``Lovelace, Ada`` is Ada Lovelace, ``King, Jr., Martin`` Martin King, Jr."""
    parts = [part for part in map(str.strip, name.split(",")) if part]
    if len(parts) == 2:
        return f"{parts[1]} {parts[0]}".strip()
    return f"{parts[2]} {parts[0]}, {parts[1]}" if len(parts) == 3 else name


def _ris(text: str) -> Iterator[dict[str, Any]]:
    entry: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in text.split("\n"):
        match = _TAG.match(line.rstrip())
        if match is None:
            if last and line.strip():
                last[-1] += f"\n{line.strip()}"  # a value of several lines
            continue
        tag, value = match[1], (match[2] or "").strip()
        if tag in ("TY", "ER") and entry:
            yield _of_ris(entry)
            entry, last = {}, None
        if tag != "ER" and value:
            last = entry.setdefault(_RIS_NAMES.get(tag, tag), [])
            last.append(value)
    if entry:
        yield _of_ris(entry)


def _of_ris(entry: dict[str, list[str]]) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for name in sorted(entry, key=lambda name: _RIS_ORDER.get(name, len(_RIS_ORDER))):
        values = list(dict.fromkeys(_turned(value) if name in _RIS_PEOPLE else value for value in entry[name]))
        shown[name] = values if name in _RIS_LISTS else "; ".join(values)
    if "/" in shown.get("year", ""):  # 2019/07// or 2019///
        parts = shown["year"].split("/")
        shown["year"] = parts[0]
        shown.setdefault("date", "-".join(filter(None, parts[:3])))
    return shown
