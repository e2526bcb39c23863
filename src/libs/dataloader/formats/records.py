"""Records as text, one paragraph each: those of JSON and XML, and entries of bibliographies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from libs.dataloader.formats.base import Content, TextBuilder, join_lines
from libs.dataloader.formats.json_outline import flat
from libs.dataloader.formats.record_parts import as_seen
from libs.dataloader.formats.rows import Records
from libs.dataloader.service_addresses import superfluous
from libs.dataloader.text import clean_text
from libs.regexes import regex

#: A line of a record with an address, and the number of an item in the name of its field.
_LINE: Final = regex(r"(?P<field>\S+): (?P<address>https?://\S+)", re.IGNORECASE)
_NUMBER: Final = regex(r"\[\d+\]")


def content_of_records(numbers: Sequence[int], record: Callable[[int], Mapping[str, Any]], intro: str = "") -> Content:
    """Return records as paragraphs of ``name: value`` lines.

    Args:
        numbers: The number that each record has in its file.
        record: Returns the record with an index (from 0); can be pickled.
        intro: What stands above them.
    """
    builder = TextBuilder()
    builder.add(clean_text(intro).strip())
    starts: list[int] = []
    kept: list[int] = []
    for index, number in enumerate(numbers):
        if text := text_of_record(record(index)):
            starts.append(add_record(builder, number, text))
            kept.append(index)
    return Content(
        builder.text(),
        "records",
        metadata={"row_count": len(starts)},
        locations=builder.locations,
        records=Records(starts, partial(_kept, record, kept)),
    )


def text_of_record(record: Mapping[str, Any]) -> str:
    """Return ``name: value`` lines, then what was said about it; empty if there is nothing to tell."""
    seen, said = as_seen(record)
    lines = list(flat(record))
    left_out = _left_out(lines)
    told = lines if seen is record else flat(seen)
    return clean_text(join_lines(line for line in (*told, *said) if line.strip() and line not in left_out))


def _left_out(lines: list[str]) -> frozenset[str]:
    """Return the lines of a record with addresses that are superfluous. The record itself keeps them."""
    found = [(place, match) for place, line in enumerate(lines) if "://" in line and (match := _LINE.fullmatch(line))]
    places = superfluous([(_NUMBER.sub("", match["field"]), match["address"]) for _, match in found])
    return frozenset(lines[found[place][0]] for place in places)


def add_record(builder: TextBuilder, number: int, text: str) -> int:
    """Append a record as a paragraph, and return where it begins."""
    builder.separate()
    builder.mark("row", number)
    start = builder.position
    builder.add(text)
    return start


def _kept(record: Callable[[int], Mapping[str, Any]], kept: Sequence[int], index: int) -> Mapping[str, Any]:
    return record(kept[index])
