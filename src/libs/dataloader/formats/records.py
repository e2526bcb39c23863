"""Records as text, one paragraph each: those of JSON and XML, and entries of bibliographies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from libs.dataloader.formats.base import Content, TextBuilder, join_lines
from libs.dataloader.formats.json_outline import flat
from libs.dataloader.formats.rows import Records
from libs.dataloader.text import clean_text


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
    """Return ``name: value`` lines; empty if there is nothing to tell."""
    return clean_text(join_lines(line for line in flat(record) if line.strip()))


def add_record(builder: TextBuilder, number: int, text: str) -> int:
    """Append a record as a paragraph, and return where it begins."""
    builder.separate()
    builder.mark("row", number)
    start = builder.position
    builder.add(text)
    return start


def _kept(record: Callable[[int], Mapping[str, Any]], kept: Sequence[int], index: int) -> Mapping[str, Any]:
    return record(kept[index])
