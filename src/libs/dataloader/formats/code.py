"""Source code and configuration."""

from __future__ import annotations

import re

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.sql_dump import read_dump
from libs.dataloader.text import clean_text
from libs.regexes import regex

_OBJECTIVE_C = regex(r"^[^\S\n]*(?:#import|#include|@interface|@implementation|@protocol|@class)\b", re.MULTILINE)
# Letters that files write in ASCII: ``pós`` as ``p&#xf3;s`` in XML, and as ``p\u00f3s`` in properties of Java.
_WRITTEN_LETTERS = {
    ".properties": regex(r"(?<!\\)((?:\\\\)*)\\u()([0-9A-Fa-f]{4})"),
    "xml": regex(r"()&#(?:([0-9]{3,7})|x([0-9A-Fa-f]{2,6}));"),
}
_FIRST_LETTER = 0xA0  # below it are the marks of the language itself


def read(file: FileData, kind: Format) -> Content:
    """Return code as it is, but letters as such; the format has its language. Dumps of databases are tables."""
    text = file.text()
    language = kind.language
    if language == "sql" and (dump := read_dump(text)) is not None:
        return dump
    if (written := _WRITTEN_LETTERS.get(language if language == "xml" else file.extension)) is not None:
        text = clean_text(written.sub(_letter, text))
    if file.extension == ".m" and _OBJECTIVE_C.search(text) is None:
        language = "matlab"
    return Content(text, f"code:{language}", metadata={"language": language})


def _letter(match: re.Match[str]) -> str:
    number = int(match[2]) if match[2] else int(match[3], 16)
    return f"{match[1]}{chr(number)}" if _FIRST_LETTER <= number < 0x110000 else match[0]
