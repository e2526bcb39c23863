"""Characters that office programs write as places in a font of symbols: ``≥`` of Symbol, arrows of Wingdings."""

from __future__ import annotations

from libs.regexes import regex

_SYMBOL = (
    "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑",
)
#: What people use of it; what is missing here shows something that has no words.
_WINGDINGS = {
    **dict(zip((0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6), "←→↑↓↖↗↙↘", strict=True)),
    **dict(zip((0xE7, 0xE8, 0xE9, 0xEA, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3), "←→↑↓⇦⇨⇧⇩⇔", strict=True)),
    **dict(zip((0x6F, 0xA8, 0xFB, 0xFC, 0xFD, 0xFE), "☐☐✗✓☒☑", strict=True)),
    **dict(zip((0x4A, 0x4B, 0x4C, 0x6C, 0x6E, 0xA7, 0x9F), "☺😐☹●■▪•", strict=True)),
}
_FONTS = {
    "symbol": {
        first + place: char for first, row in zip((0x21, 0xA0), _SYMBOL, strict=True) for place, char in enumerate(row)
    },
    "wingdings": _WINGDINGS,
}
_PRIVATE = range(0xF000, 0xF100)  # where programs put the places of such a font
_PRIVATE_CHARACTER = regex("[\uf000-\uf0ff]")


def symbol(font: str, code: int) -> str:
    """Return the character at a place of a font; empty if it is only known there."""
    known = _FONTS.get(font.strip().lower())
    if known is not None:
        return known.get(code - _PRIVATE.start if code in _PRIVATE else code, "")
    return "" if code in _PRIVATE or not 0x20 <= code < 0xD800 else chr(code)


def shown(text: str, font: str) -> str:
    """Return text in a font of symbols as what it shows: what has a place of such a font, and a letter by itself."""
    letter = text.strip()
    if len(letter) == 1 and not letter.isascii():
        return text.replace(letter, symbol(font, ord(letter)) or letter)
    return _PRIVATE_CHARACTER.sub(lambda match: symbol(font, ord(match[0])) or match[0], text)
