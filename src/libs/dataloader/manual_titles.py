"""Titles of pages of manuals, of whatever format: "mkdir(2)" alone does not say what the page is about."""

from __future__ import annotations

import re

from libs.regexes import regex

#: The name of a page and its section, before what says whose manual it is: "mkdir(2) — Linux manual page".
_NAME = regex(r"(\S{1,100}\([1-9]\w{0,4}\))(?:\s.{0,80})?")
#: The section that each page begins with: names, and what they are for.
_PURPOSE = regex(
    r"^#{1,6} \W{0,3}name\W{0,3}\n\s*[^\n#]{1,1000}?\s(?:[-–—]|--)\s+(\S[^\n]*)$", re.IGNORECASE | re.MULTILINE
)
_BEGINNING = 3_000
_LONGEST_PURPOSE = 200


def title_with_purpose(title: str | None, text: str) -> str | None:
    """Return the title of a page of a manual with what the page says it is for; other titles as they are.

    Args:
        title: The title of a document.
        text: Its Markdown.

    Example:
        >>> title_with_purpose("mkdir(2)", "# mkdir(2)\\n\\n## NAME\\n\\nmkdir, mkdirat - create a directory\\n")
        'mkdir(2) - create a directory'
    """
    name = _NAME.fullmatch(title or "")
    purpose = _PURPOSE.search(text[:_BEGINNING]) if name is not None else None
    if name is None or purpose is None or len(purpose[1]) > _LONGEST_PURPOSE:
        return title
    return f"{name[1]} - {purpose[1].strip()}"
