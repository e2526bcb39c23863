"""Source code and configuration."""

from __future__ import annotations

import re

from libs.dataloader.formats.base import Content, FileData
from libs.dataloader.formats.registry import Format

_OBJECTIVE_C = re.compile(r"^[^\S\n]*(?:#import|#include|@interface|@implementation|@protocol|@class)\b", re.MULTILINE)


def read(file: FileData, kind: Format) -> Content:
    """Return code as it is; the format has its language."""
    text = file.text()
    language = kind.language
    if file.extension == ".m" and _OBJECTIVE_C.search(text) is None:
        language = "matlab"
    return Content(text, f"code:{language}", metadata={"language": language})
