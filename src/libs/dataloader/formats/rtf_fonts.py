"""Decodes characters of RTF by the code page of their font."""

from __future__ import annotations

import re
from typing import NamedTuple

from libs.dataloader.formats.symbols import symbol
from libs.regexes import regex

# Of a font that has the document's code page (0, 1) or none (2) nothing is said here.
_CODE_PAGES = {
    77: "mac-roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
_FONT = regex(r"\\f([0-9]{1,6})(?:\s?\\(?!f[0-9])[a-z]{1,32}-?[0-9]{0,10}){0,20}?\s?\\fcharset([0-9]{1,3})(?![0-9])")
#: A font of symbols, whose places are no letters.
_SYMBOLS = regex(
    r"\\f([0-9]{1,6})(?:\s?\\(?!f[0-9])[a-z]{1,32}-?[0-9]{0,10}){0,20}?\s?(?:\{\\\*[^{}]{0,200}\}\s?){0,3}"
    r"(Symbol|Wingdings);"
)
_DEFAULT_FONT = regex(r"\\deff([0-9]{1,6})(?![0-9])")
_TOKEN = regex(
    r"""\\(?:
      (f|uc|plain)([0-9]{0,6})(?![a-z0-9])                  # a font, how many bytes stand in for a character
    | (u)(-?[0-9]{1,10})(?![0-9])\ ?                        # a character, which may have such bytes
    | (?:'[0-9a-f]{2}(?:[\r\n]*\\'[0-9a-f]{2})*)            # bytes
    | [a-z]{1,32}-?[0-9]{0,10}\ ? | .                       # any other word or sign
    ) | [{}] | [^\\{}\r\n]+""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_BYTE = regex(r"'([0-9a-f]{2})", re.IGNORECASE)


class _State(NamedTuple):
    """What a group inherits.

    That is the code page, the font if it is one of symbols, and the number of fallback bytes after a Unicode character
    (``\\uc``).
    """

    page: str | None
    symbols: str
    stand_in: int


def with_characters(source: str) -> str:
    r"""Replace bytes (``\'e4``) by characters in text whose font has another code page than the document, or symbols.

    Args:
        source: The file.

    Returns:
        The file, otherwise unchanged.
    """
    fonts = {match[1]: page for match in _FONT.finditer(source) if (page := _CODE_PAGES.get(int(match[2])))}
    symbols = {match[1]: match[2] for match in _SYMBOLS.finditer(source)}
    if not fonts and not symbols:
        return source
    default = match[1] if (match := _DEFAULT_FONT.search(source)) else "0"
    state = _State(fonts.get(default), symbols.get(default, ""), 1)
    groups: list[_State] = []
    spared = 0  # bytes that stand in for the character before them

    def replace(match: re.Match[str]) -> str:
        nonlocal state, spared
        part, word = match[0], match[1] or match[3]
        skip, spared = spared, 0
        if part == "{":
            groups.append(state)
        elif part == "}":
            state = groups.pop() if groups else state
        elif word in ("f", "plain"):
            font = match[2] if word == "f" else default
            state = state._replace(page=fonts.get(font), symbols=symbols.get(font, ""))
        elif word == "uc":
            state = state._replace(stand_in=int(match[2] or 1))
        elif word == "u":
            spared = state.stand_in
            known = symbol(state.symbols, int(match[4]) % 0x10000) if state.symbols else ""
            return f"\\u{ord(known)} " if known else part
        elif part.startswith("\\'"):
            return _bytes(part, skip, state)
        elif state.symbols and part[0] != "\\":
            return part[:skip] + "".join(char if char == " " else _symbol(char, state) for char in part[skip:])
        return part

    return _TOKEN.sub(replace, source)


def _bytes(part: str, skip: int, state: _State) -> str:
    """Return bytes as characters, but for the first ones (``skip``), which stand in for one before them."""
    if not (state.page or state.symbols):
        return part
    values = _BYTE.findall(part)
    rest = bytes.fromhex("".join(values[skip:]))
    if state.symbols:
        text = "".join(symbol(state.symbols, value) or f"\\'{value:02x}" for value in rest)
    else:
        text = "".join(
            f"\\'{ord(char):02x}" if char.isascii() else char for char in rest.decode(state.page or "", "replace")
        )
    return "".join([*(f"\\'{value}" for value in values[:skip]), text])


def _symbol(char: str, state: _State) -> str:
    """Return what a letter shows in a font of symbols; itself if that is not known."""
    return symbol(state.symbols, ord(char)) or char
