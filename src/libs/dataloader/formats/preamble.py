"""The fields at the very top of a text, as MultiMarkdown, Pelican and Python's PEPs have them: ``Title: words``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any

from libs.regexes import regex

_LINE = regex(r"([^\W\d_][\w -]{0,40}?)[ \t]*:(?:[ \t]+(\S[^\n]*))?[ \t]*(?:\n|\Z)")
_FURTHER = regex(r"[ \t]+(\S[^\n]*)(?:\n|\Z)")
_SERIES = regex(r"[A-Z]{2,6}")


def split_preamble(text: str) -> tuple[dict[str, str], str]:
    """Return the fields at the top by their names, as they are written, and the text after them.

    There are none unless one is the title, and nothing but an empty line comes after the last. A value may go on in
    indented lines.
    """
    fields: dict[str, str] = {}
    at = 0
    while match := _LINE.match(text, at):
        words, at = [match[2] or ""], match.end()
        while further := _FURTHER.match(text, at):
            words.append(further[1])
            at = further.end()
        fields[match[1]] = " ".join(" ".join(words).split())
    if len(fields) < 2 or (at < len(text) and text[at] != "\n") or not preamble_title(fields):
        return {}, text
    return fields, text[at:].lstrip("\n")


def preamble_in_code(text: str) -> dict[str, str]:
    """Return the fields that are all of a block of code, as at the top of Bitcoin's proposals; there may be none."""
    fields, rest = split_preamble(dedent(text.expandtabs(8)).strip("\n"))
    return {} if rest.strip() else fields


def listed_preamble(fields: Mapping[str, str]) -> str:
    """Return fields as a list in Markdown, as their readers see them above the text."""
    return "".join(f"- {name}: {value}\n" for name, value in fields.items() if value)


def fields_line(metadata: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return what is known of a part of a text as a line that its readers see, and an empty one; moments as days.

    Args:
        metadata: What is known.
        names: What of that is shown, in this order.
    """
    values = {name: value for name in names if (value := metadata.get(name))}
    shown = {name: ", ".join(value) if isinstance(value, list) else value for name, value in values.items()}
    days = {name: shown[name][:10] for name in ("created", "modified") if name in shown}
    line = " · ".join(f"{name.capitalize()}: {value}" for name, value in (shown | days).items())
    return [line, ""] if line else []


def preamble_title(fields: dict[str, str]) -> str:
    """Return the title that fields give, empty if none; one of a numbered series has both ("PEP 8 – Style Guide")."""
    title = next((value for name, value in fields.items() if name.lower() == "title"), "")
    name, value = next(iter(fields.items()), ("", ""))
    return f"{name} {value} – {title}" if title and _SERIES.fullmatch(name) and value.isdecimal() else title
