"""Repairs text that was saved as UTF-8 after it had been read in another encoding: ``1986â€“1990``."""

from __future__ import annotations

import re

from libs.regexes import regex

# What programs make of the bytes that continue a character: cp1252 where it has a letter, else a control character.
_BYTES = {bytes((byte,)).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0xC0)}
_BYTES |= {chr(byte): byte for byte in range(0x80, 0x100)}
_NEXT = f"[{''.join(map(re.escape, (char for char, byte in _BYTES.items() if byte < 0xC0)))}]"
_TWICE = regex(f"[\u00c2-\u00df]{_NEXT}|[\u00e0-\u00ef]{_NEXT}{{2}}|[\u00f0-\u00f4]{_NEXT}{{3}}")
_CONTROL = regex(f"[\u00c2-\u00f4]{_NEXT}{{0,2}}[\u0080-\u009f]")
_PUNCTUATION = regex(f"\u00e2(?:\u20ac{_NEXT}|\u201a\u00ac)")  # dashes, quotation marks, the euro sign
_PROPER = regex("[\u2010-\u201f\u2026\u20ac]")


def repaired(text: str) -> str:
    """Return a text with characters that were encoded twice as they were meant, if it is certain that there are any.

    It is where there are control characters in them; or punctuation, of which nothing is as it should be (a text about
    such characters has both).
    """
    if text.isascii():
        return text
    is_certain = _CONTROL.search(text) is not None
    if not is_certain and _PUNCTUATION.search(text) is not None:
        is_certain = _PROPER.search(_TWICE.sub("", text)) is None
    return _TWICE.sub(_once, text) if is_certain else text


def _once(match: re.Match[str]) -> str:
    try:
        return bytes(_BYTES[char] for char in match[0]).decode()
    except UnicodeDecodeError:
        return match[0]
