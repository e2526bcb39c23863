"""Joins letters and accents that a PDF draws one over the other, as older TeX does, and tells symbols by their font."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from typing import Any

from libs.dataloader.formats.symbols import symbol
from libs.regexes import regex

_COMBINING = {
    "`": "\u0300",
    "´": "\u0301",
    "^": "\u0302",
    "ˆ": "\u0302",
    "~": "\u0303",
    "˜": "\u0303",
    "¯": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "¨": "\u0308",
    "˚": "\u030a",
    "˝": "\u030b",
    "ˇ": "\u030c",
    "¸": "\u0327",
}
_ACCENT = regex(f"[{re.escape(''.join(_COMBINING))}]")
_WITHOUT_DOT = {"ı": "i", "ȷ": "j"}
_PLACE_IN_FONT = regex("[\uf020-\uf0ff]")
_FONT = regex(rb"(?:[A-Z]{6}\+)?(Symbol|Wingdings)(?:MT|-Regular|,\w+)?")
#: Stands for an accent that became part of a letter, because positions in the text must stay; cleaning drops it.
_GONE = "\x00"


def with_symbols(text: str, textpage: Any) -> str:
    """Return the text of a page with the symbols that Word and MathType write as places in a font: ``=``, ``≤``."""
    if _PLACE_IN_FONT.search(text) is None:
        return text

    def shown(match: re.Match[str]) -> str:
        from pypdfium2 import raw

        index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, match.start())
        flags, name = ctypes.c_int(), ctypes.create_string_buffer(100)
        raw.FPDFText_GetFontInfo(textpage, index, name, len(name), flags)
        font = _FONT.fullmatch(name.value)
        return (symbol(font[1].decode(), ord(match[0])) if font is not None else "") or match[0]

    return _PLACE_IN_FONT.sub(shown, text)


def with_accents(text: str, textpage: Any) -> str:
    """Return the text of a page with every accent that is above or below a letter as a part of it.

    Where both are one letter of the alphabet of some language only: a hat on a P of mathematics stays beside it.
    """
    if _ACCENT.search(text) is None:
        return text
    chars = list(text)
    for match in _ACCENT.finditer(text):
        at = match.start()
        if (box := _box(textpage, at)) is None:
            continue
        middle = (box[0] + box[2]) / 2
        for place in (at - 1, at + 1):
            letter = chars[place] if 0 <= place < len(chars) else ""
            joined = unicodedata.normalize("NFC", _WITHOUT_DOT.get(letter, letter) + _COMBINING[match[0]])
            if not letter.isalpha() or len(joined) > 1:
                continue
            around = _box(textpage, place)
            if around is not None and around[0] <= middle <= around[2]:
                chars[place], chars[at] = joined, _GONE
                break
    return "".join(chars)


def _box(textpage: Any, place: int) -> tuple[float, float, float, float] | None:
    from pypdfium2 import raw

    index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, place)
    box: tuple[float, float, float, float] | None = textpage.get_charbox(index) if index >= 0 else None
    return box if box is not None and box[0] < box[2] else None
