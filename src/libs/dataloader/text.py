"""From bytes to clean text."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# What a label means in practice (WHATWG Encoding Standard, section 4.2): supersets of what it says.
_LABELS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "l1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ms_kanji": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "x-euc-jp": "euc-jp",
    "utf8": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "x-user-defined": "cp1252",
    "x-mac-roman": "mac-roman",
    "macintosh": "mac-roman",
    "x-cp1252": "cp1252",
}

_UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\ufeff\u2028\u2029\ud800-\udfff]")
_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ANSI = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Decoded(NamedTuple):
    """Text and the name of the encoding it came in."""

    text: str
    encoding: str


def clean_text(text: str) -> str:
    """Make text safe to store: line ends become ``\\n``; NUL, other control characters, colour codes and byte order
    marks go; lone surrogates become U+FFFD. Composition (NFC, NFD) stays as it is.
    """
    if _UNWANTED.search(text) is None:
        return text
    text = _NEWLINES.sub("\n", text)
    text = _CONTROL.sub("", _ANSI.sub("", text))
    text = _SURROGATE_PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", text)


def bom_encoding(data: bytes) -> str | None:
    """The encoding that a byte order mark tells, or ``None``."""
    return next((name for mark, name in _BOMS if data.startswith(mark)), None)


def python_codec(label: str | None) -> str | None:
    """The Python codec for a charset label from a header or a document; ``None`` where there is none."""
    if not label:
        return None
    label = label.strip().strip("\"'").lower()
    name = _LABELS.get(label, label)
    try:
        info = codecs.lookup(name)
        is_text = isinstance(info.decode(b"")[0], str)  # "base64" and the like are codecs too
    except (LookupError, ValueError, UnicodeError, OSError):
        return None
    return name if is_text and info.name not in ("idna", "punycode", "undefined", "unicode-escape") else None


def decode_bytes(data: bytes, *, declared: str | None = None) -> Decoded:
    """Decode text of unknown encoding; never fails.

    A byte order mark wins, then strict UTF-8, then what was declared, then what the bytes look like. UTF-8 goes before
    the declaration because text in another encoding practically never happens to be valid UTF-8, while wrong
    declarations are common.

    Args:
        data: The bytes.
        declared: Charset label from a header or a document, if any.

    Returns:
        The text, without byte order mark and otherwise uncleaned, and the name of its encoding.
    """
    if (name := bom_encoding(data)) is not None:
        return Decoded(data.decode(name, "replace").removeprefix("\ufeff"), name)
    codec = python_codec(declared)
    try:
        # ISO-2022-JP and UTF-7 are ASCII bytes throughout.
        if codec is None or not codec.replace("_", "-").startswith(("iso-2022", "iso2022", "utf-7", "utf-16", "hz")):
            text = data.decode("utf-8")
            if "\x00" not in text:
                return Decoded(text, "utf-8")
    except UnicodeDecodeError:
        pass
    if codec is not None:
        try:
            return Decoded(data.decode(codec), codec)
        except UnicodeError:
            pass
    return detect_and_decode(data)


def detect_and_decode(data: bytes) -> Decoded:
    """Decode by what the bytes look like; never fails."""
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        return Decoded(data.decode("cp1252", "replace"), "cp1252")
    return Decoded(str(best), best.encoding)
