"""What the fields at the top of Markdown tell, as sites show it: sentences, and lists of things with fields.

A page of a site made from data (versions and their dates, parameters, members, examples) often has no other text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from libs.dataloader.formats.front_matter import COMMON_FIELDS
from libs.dataloader.tables import markdown_table

#: Words of a text that tells something, and is no name, date or setting.
_SENTENCE: Final = 6
#: Things with more different fields than that are no rows of one table.
_MOST_COLUMNS: Final = 24


def field_sentences(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields that are sentences, but those with common names, such as the title and the description."""
    for name, value in fields.items():
        if name.lower() not in {"title", *COMMON_FIELDS} and _tells(value):
            yield value


def field_sections(fields: Mapping[str, Any]) -> str:
    """Return a section for each field that is a list of things or of sentences, in Markdown: a table, or a list.

    Example:
        >>> print(field_sections({"releases": [{"cycle": "3.12", "eol": "2028-10-31"}]}), end="")
        ## releases
        <BLANKLINE>
        | cycle | eol |
        | --- | --- |
        | 3.12 | 2028-10-31 |
    """
    sections = []
    for name, value in fields.items():
        items = value if isinstance(value, list) and name.lower() not in COMMON_FIELDS else []
        things = [item for item in items if isinstance(item, Mapping) and len(item) > 1]
        names = list(dict.fromkeys(key for thing in things for key in thing))
        if things and len(names) <= _MOST_COLUMNS:
            rows = [[_cell(thing.get(key, "")) for key in names] for thing in things]
            sections.append(f"## {name}\n\n{markdown_table([names, *rows])}\n")
        elif items and not things and all(map(_tells, items)):
            sections.append(f"## {name}\n\n" + "".join(f"- {item}\n" for item in items))
    return "\n".join(sections)


def _tells(value: Any) -> bool:
    return isinstance(value, str) and sum(word[0].isalpha() for word in value.split()) >= _SENTENCE


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_cell(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "; ".join(map(_cell, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
