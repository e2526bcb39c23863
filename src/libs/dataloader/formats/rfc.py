"""What the first page of an RFC or an Internet-Draft says of it: its authors, its date, what it replaces."""

from __future__ import annotations

import re
from typing import Any

from libs.regexes import regex

_BEGINNING = 4_000
_DIGITS = regex(r"(?<!\d)\d{3,5}(?!\d)")
#: The fields of a document are beside the names of its authors, above an empty line.
_HEAD = regex(
    r"\s*(?:Network Working Group|(?:Internet|Independent|IRTF|IAB)\b[^\n]{0,60}|INTERNET[- ]DRAFT|Internet[- ]Draft)"
    r"[^\n]*\n(?:[^\n]*\S[^\n]*\n){1,60}",
)
_NUMBER = regex(r"^\s*(?:Request for Comments:\s*(\d{1,5})\b|INTERNET[- ]DRAFT\b|Internet[- ]Draft\b)", re.MULTILINE)
_FIELD = regex(
    r"^\s*(Obsoletes|Updates|Category|Intended (?:status|category)):\s*(\S.*?)(?:\s{3}|\s*$)",
    re.MULTILINE | re.IGNORECASE,
)
#: Below that is its title, perhaps with the name of its file.
_TITLE = regex(r"\s*((?:[^\n]*\S[^\n]*\n){1,6})")
_NO_TITLE = regex(r"\s*(?:status of this memo|abstract|copyright)\b.*", re.IGNORECASE | re.DOTALL)
_FILE = regex(r"\s*<?draft-[\w.-]+>?\s*\Z")
_PERSON = regex(
    r"(?:^|\s{3})((?:[A-Z]\.[ -]?){1,3}(?:[a-z]{1,4} ){0,2}[^\W\d_][\w'’.-]{1,40}(?: [^\W\d_][\w'’.-]{1,40})?)"
    r"(?:, Ed(?:itor|\.)?)?[ \t]*$",
    re.MULTILINE,
)
_MONTHS = "January February March April May June July August September October November December".split()
_DATE = regex(
    rf"\s{{3}}(?:(\d{{1,2}}) )?({'|'.join(_MONTHS)})(?: (\d{{1,2}}),)? (\d{{4}})[ \t]*$",
    re.MULTILINE,
)


def front_matter(text: str) -> tuple[str | None, dict[str, Any]]:
    """Return the title and the metadata of an RFC or an Internet-Draft; none for other texts.

    Example:
        >>> front_matter("Network Working Group    C. Rigney\\nRequest for Comments: 2865\\n\\n    RADIUS\\n\\n")
        ('RADIUS', {'rfc': '2865', 'author': ['C. Rigney']})
    """
    head = _HEAD.match(text[:_BEGINNING])
    number = _NUMBER.search(head[0]) if head is not None else None
    if head is None or number is None:
        return None, {}
    found: dict[str, Any] = {"rfc": number[1]} if number[1] else {}
    if authors := list(dict.fromkeys(match[1] for match in _PERSON.finditer(head[0]))):
        found["author"] = authors
    if (dated := _DATE.search(head[0])) is not None:
        day, month, other_day, year = dated.groups()
        written = f"{year}-{_MONTHS.index(month) + 1:02}"
        found["created"] = f"{written}-{int(day or other_day):02}" if day or other_day else written
    for name, value in _FIELD.findall(head[0]):
        is_list = name.casefold() in ("obsoletes", "updates")
        told = [f"RFC {number}" for number in _DIGITS.findall(value)] if is_list else value
        if told:
            found[name.casefold()] = told
    below = _TITLE.match(text[: 2 * _BEGINNING], head.end())
    title = _FILE.sub("", " ".join(below[1].split())) if below is not None and not _NO_TITLE.match(below[1]) else ""
    return title[:500] or None, found
