"""The fields at the top of Markdown: front matter, the properties of a page of Logseq, or lines of names and values."""

from __future__ import annotations

from typing import Any

from libs.dataloader.formats.front_matter import COMMON_FIELDS, split_front_matter
from libs.dataloader.formats.preamble import listed_preamble, preamble_in_code, preamble_title, split_preamble
from libs.dataloader.notes import without_brackets
from libs.regexes import regex

_PAGE_PROPERTIES = regex(r"\A(?:[^\W\d_][\w./-]{0,60}::[ \t][^\n]*+(?:\n|\Z))+(?=\n|[ \t]*-[ \t]|\Z)")  # of Logseq

_FENCED = regex(r"\s*(`{3,}|~{3,})[ \t]*\n((?:[ \t]*\S[^\n]*\n)+?)\1[ \t]*(?:\n|\Z)")


def fields_at_top(text: str) -> tuple[dict[str, Any], str, str]:
    """Return the fields at the top, where they may have links, and the text after them."""
    fields, source, rest = split_front_matter(text)
    if fields:
        return fields, source, rest
    if match := _PAGE_PROPERTIES.match(text):
        fields, others = _page_properties(match[0])
        return fields, match[0], f"{others}{text[match.end() :]}".lstrip("\n") or text
    preamble, rest = split_preamble(text)
    if (fenced := _FENCED.match(text)) is not None and (preamble := preamble_in_code(fenced[2])):
        rest = f"{listed_preamble(preamble)}\n{text[fenced.end() :].lstrip(chr(10))}"
    if preamble:
        fields = {name: value for name, value in preamble.items() if name.lower() != "title"}
        return {"title": preamble_title(preamble), **fields}, "", rest or text
    return {}, "", text


def _page_properties(body: str) -> tuple[dict[str, Any], str]:
    """``key:: value`` lines, and those of them that say something of their own."""
    fields: dict[str, Any] = {}
    others: list[str] = []
    for line in body.splitlines(keepends=True):
        name, _, value = line.partition("::")
        name, value = name.lower(), without_brackets(value.strip())
        values = [part.strip(" #") for part in value.split(",") if part.strip(" #")]
        if name in COMMON_FIELDS or name == "title":
            fields[name] = values if name in ("alias", "tags") else value
        else:
            others.append(line)
    return fields, "".join(others)
