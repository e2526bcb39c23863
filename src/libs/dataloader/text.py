"""Makes text safe to store."""

from __future__ import annotations

from libs.regexes import regex

_SUPERSCRIPT = regex(r"[+\-−–]?\d+|[n-]")
_UNWANTED = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\ufeff\u2028\u2029\ud800-\udfff]")
_NEWLINES = regex("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ANSI = regex("\x1b\\[[0-9;?]*[A-Za-z]")
_CONTROL = regex("[\x00-\x08\x0e-\x1f\x7f\xad\ufeff]")
# What is cp1252, and was taken for Latin-1: in these places one has letters, the other has controls that no text uses.
_LATIN_CONTROL = regex("[\x80-\x84\x86-\x9f]")
_LATIN_CONTROLS = regex("[\x80-\x9f]")  # with the one that is also the line end of mainframes
_SURROGATE_PAIR = regex("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = regex("[\ud800-\udfff]")


def raised(text: str, before: str) -> str:
    """Return a superscript as plain text: ``10`` and a raised ``6`` are ``10^6``; ordinals stay as they are."""
    return f"^{text}" if before[-1:].isalnum() and _SUPERSCRIPT.fullmatch(text) else text


def clean_text(text: str) -> str:
    """Make text safe to store.

    Line ends become ``\\n``; NUL, other control characters, colour codes, byte order marks and soft hyphens go (words
    with one in them would not be found); lone surrogates become U+FFFD. Controls of Latin-1 are what cp1252
    has in their place (``It\\x92s``). Composition (NFC, NFD) stays as it is.
    """
    if _UNWANTED.search(text) is None:
        return text
    if _LATIN_CONTROL.search(text) is not None:
        text = _LATIN_CONTROLS.sub(lambda match: match[0].encode("latin-1").decode("cp1252", "ignore"), text)
    text = _NEWLINES.sub("\n", text)
    text = _CONTROL.sub("", _ANSI.sub("", text))
    text = _SURROGATE_PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", text)
