"""The lines below the title of an AsciiDoc document: who wrote it, and when."""

from __future__ import annotations

from libs.regexes import regex

_AUTHOR = regex(r"([\w.'-]{1,60}(?:[ \t]+[\w.'-]{1,60}){0,2})(?:[ \t]+<[^<>\s]{1,200}>)?[ \t]*(?:;|$)")
_REVISION = regex(r"(?:v?\d[\w.-]{0,40},[ \t]*)?(\d{4}-\d\d-\d\d)\b")


def read_header_line(line: str, fields: dict[str, str]) -> bool:
    """Take the authors or the date from a line below the title; return whether another such line may follow.

    Args:
        line: The line.
        fields: Gets ``author`` and ``revdate``.
    """
    if "author" not in fields and (found := _authors(line)):
        fields["author"] = found
        return True
    if told := _REVISION.match(line):
        fields.setdefault("revdate", told[1])
    return False


def _authors(line: str) -> str:
    """Return the names in a line such as ``Ann Author <ann@example.org>; Bo Ferris``; empty if it has others."""
    names: list[str] = []
    position = 0
    while position < len(line):
        name = _AUTHOR.match(line, position)
        if name is None or not name[1][0].isalpha():
            return ""
        names.append(name[1].replace("_", " "))
        position = name.end() + len(line[name.end() :]) - len(line[name.end() :].lstrip())
    return "; ".join(names)
