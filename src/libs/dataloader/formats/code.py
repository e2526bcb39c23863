"""Source code and configuration."""

from __future__ import annotations

import re
from typing import Any

from libs.dataloader.formats.api_description import read_description
from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format
from libs.dataloader.formats.sql_dump import read_dump
from libs.dataloader.formats.yaml_data import parse_yaml
from libs.dataloader.text import clean_text
from libs.regexes import regex

_OBJECTIVE_C = regex(r"^[^\S\n]*(?:#import|#include|@interface|@implementation|@protocol|@class)\b", re.MULTILINE)
# Letters that files write in ASCII: ``pós`` as ``p&#xf3;s`` in XML, and as ``p\u00f3s`` in properties of Java.
_WRITTEN_LETTERS = {
    ".properties": regex(r"(?<!\\)((?:\\\\)*)\\u()([0-9A-Fa-f]{4})"),
    "xml": regex(r"()&#(?:([0-9]{3,7})|x([0-9A-Fa-f]{2,6}));"),
}
_API = regex(r"^[\"']?(?:openapi|swagger)[\"']?[ ]*:", re.MULTILINE)
_NAMED = regex(r"^(?:name|title|info:\n(?:[ ]+\S.*\n){0,9}?[ ]+title):[ ]+([^\s>|{\[&*!#][^\n#]*)", re.MULTILINE)
_BEFORE_NAME = 4_000
_LONGEST_NAME = 200
#: Languages of which the files of each part of a project have the same names: ``compose.yaml``, ``main.tf``.
_CALLED_ALIKE = frozenset(("yaml", "terraform", "dockerfile", "make", "ini", "toml"))
_DEEPEST_YAML = 100
_FEWEST_PARTS, _MOST_PARTS = 2, 3
#: A template of Helm takes values from elsewhere: called by its chart, it would be found in place of these.
_TAKES_VALUES = regex(r"\{\{(?:-|[ ]*\.)")
_FIRST_LETTER = 0xA0  # below it are the marks of the language itself


def read(file: FileData, kind: Format) -> Content:
    """Return code as it is, but letters as such; the format has its language.

    Dumps of databases are tables, and descriptions of interfaces the sections of their operations.
    """
    text = file.text()
    language = kind.language
    if language == "sql" and (dump := read_dump(text)) is not None:
        return dump
    if language == "yaml" and _API.search(text) and (api := read_description(_parsed(text))) is not None:
        return api
    if (written := _WRITTEN_LETTERS.get(language if language == "xml" else file.extension)) is not None:
        text = clean_text(written.sub(_letter, text))
    if file.extension == ".m" and _OBJECTIVE_C.search(text) is None:
        language = "matlab"
    title = _title(file, text) if language in _CALLED_ALIKE else None
    return Content(text, f"code:{language}", title, metadata={"language": language})


def _title(file: FileData, text: str) -> str | None:
    """Return what a file calls itself, such as a workflow; else its name with those of two folders, if it is in some.

    Of what is loaded, the names above its folder are none: ``shop/backend/Dockerfile``, ``shop/compose.yaml``.
    """
    own = _NAMED.search(text[:_BEFORE_NAME])
    name = " ".join(own[1].strip().strip("\"'").split())[:_LONGEST_NAME] if own is not None else ""
    is_below = file.root_uri and not _TAKES_VALUES.search(text)
    below = (file.uri or "").removeprefix(file.root_uri or "").count("/") if is_below else 0
    place = "/".join(file.path.replace("\\", "/").split("/")[-min(max(below, _FEWEST_PARTS), _MOST_PARTS) :])
    return name or (place if "/" in place else None)


def _parsed(text: str) -> Any:
    return parse_yaml(text, deepest=_DEEPEST_YAML, most=len(text) // 10)


def _letter(match: re.Match[str]) -> str:
    number = int(match[2]) if match[2] else int(match[3], 16)
    return f"{match[1]}{chr(number)}" if _FIRST_LETTER <= number < 0x110000 else match[0]
