"""Decodes bytes of unknown encoding."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

from libs.dataloader.mojibake import repaired
from libs.regexes import regex

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
    "tis-620": "cp874",
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

# A declaration that can be read as ASCII is not in UTF-16, whatever it says.
_XML_ENCODING = regex(
    rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["'](?!utf-?16|ucs-?2|utf-?32)([a-z0-9_.:-]+)""", re.IGNORECASE
)

# What is also right for the text that a detector names the key for. ISO 8859-2, -5, -6 and -7 have no such superset:
# cp1250, cp1251, cp1256 and cp1253 have other letters in places.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-8": "cp1255",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "iso8859-13": "cp1257",
    "tis-620": "cp874",
    "euc_kr": "cp949",
}
# Where a detector is wrong about a short text it takes one or two accented letters for another script.
_OTHER_SCRIPTS = frozenset(
    (
        "cp1251",
        "cp1253",
        "cp1255",
        "cp1256",
        "cp874",
        "koi8-r",
        "koi8-u",
        "iso8859-5",
        "iso8859-6",
        "iso8859-7",
        "iso8859-8",
    )
)
_DOS = ("cp866", "cp1125")
# Maltese, Esperanto, Sami, Welsh, Romanian: hardly any text is in these, and one with `¿` is taken for them.
_RARE = frozenset(("iso8859-3", "iso8859-10", "iso8859-14", "iso8859-16"))
# The letters beyond a to z of each language written in cp1250 or ISO 8859-2.
_CENTRAL_EUROPEAN = {
    "pl": frozenset("ąćęłńóśźż"),
    "cs": frozenset("áčďéěíňóřšťúůýž"),
    "sk": frozenset("áäčďéíĺľňóôŕšťúýž"),
    "hu": frozenset("áéíóöőúüű"),
    "sl": frozenset("čšžćđ"),
    "hr": frozenset("čćđšž"),
    "bs": frozenset("čćđšž"),
    "sr": frozenset("čćđšž"),
    "ro": frozenset("âăîşţ"),
    "sq": frozenset("ëç"),
}
# What short texts of Western languages are taken for; the letters are those that these have beyond a to z.
_BALTIC = frozenset(("cp1257", "iso8859-4"))
_WESTERN = frozenset("àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿß" + "“”‘’«»–—…€")
# Quotation marks in pairs, apostrophes, dashes and ellipses of cp1252, without the ASCII between them.
_TYPOGRAPHY = regex(rb"(?:\x93\x94|\x91\x92|\xab\xbb|[\x85\x92\x96\x97])+")
_ASCII = bytes(range(128))
_C1 = regex(rb"[\x80-\x9f]")  # control characters in ISO 8859
_HIGH_RUN = regex(rb"[\x80-\xff]{3}")
# Two letters with accents inside a word (Grüße, ação); as one Chinese character they would stand between Latin letters.
_TWO_IN_A_WORD = regex(rb"(?<=[A-Za-z])[\x80-\xff]{2}(?=[A-Za-z])")
# What cp1252 has no characters for, capital letters behind small ones (``donÕt``), signs inside of words.
_NOT_CP1252 = regex(
    rb"[\x81\x8d\x8f\x90\x9d]|[a-z](?:[\x8a\x8c\x8e\x9f\xc0-\xd6\xd8-\xde]"
    rb"|[\x80-\x91\x93-\x9f\xa1-\xac\xae-\xb6\xb8-\xbf\xd7][a-z])"
)
_EAST_ASIAN = ("gb", "big5", "cp932", "cp949", "euc", "shift", "johab")
_MULTIBYTE = regex(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_ISO_2022_KR = b"\x1b$)C"  # RFC 1557: the text begins with it
_SAMPLE = 65_536
_TIE = 0.85
_UNSURE = 0.08  # a detector of a few words, or of a sentence with a single accent
_FITTING = 0.8
_CERTAIN = 0.12  # a detector of a few words in another script, in the right encoding
_CLEARLY = 1.5  # times as certain


class Decoded(NamedTuple):
    """Text and the name of the encoding it came in."""

    text: str
    encoding: str


def bom_encoding(data: bytes) -> str | None:
    """Return the encoding that a byte order mark tells, or ``None``."""
    return next((name for mark, name in _BOMS if data.startswith(mark)), None)


def python_codec(label: str | None) -> str | None:
    """Return the Python codec for a charset label from a header or a document; ``None`` if there is none."""
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

    A byte order mark wins, then strict UTF-8, then what was declared (without ``declared``, by an XML declaration at
    the beginning), then what the bytes look like. UTF-8 goes before the declaration because text in another encoding
    practically never happens to be valid UTF-8, while wrong declarations are common.

    Args:
        data: The bytes.
        declared: Charset label from a header or a document, if any.

    Returns:
        The text, without byte order mark and otherwise uncleaned (but for what was UTF-8 twice), and the name of its
        encoding. Bytes that are not text at all come back as cp1252 (:func:`looks_binary` tells them).
    """
    if (name := bom_encoding(data)) is not None:
        return Decoded(data.decode(name, "replace").removeprefix("\ufeff"), name)
    if declared is None and (match := _XML_ENCODING.match(data)):
        declared = match[1].decode("ascii")
    codec = python_codec(declared)
    passes_for_utf8 = codec is not None and codec.replace("_", "-").startswith(
        ("iso-2022", "iso2022", "utf-7", "utf-16", "hz")
    )
    if not passes_for_utf8:
        try:
            text = data.decode("utf-8")
            if "\x00" not in text and "\x1b$" not in text:  # else it may be UTF-16, UTF-32 or ISO-2022
                return Decoded(repaired(text), "utf-8")
        except UnicodeDecodeError:
            pass
    if codec is not None:
        try:
            return Decoded(data.decode(codec), codec)
        except UnicodeError:
            pass
    name = detect_encoding(data) or "cp1252"
    return Decoded(data.decode(name, "replace"), name)


def detect_encoding(data: bytes) -> str | None:
    """Guess the encoding of bytes.

    Args:
        data: Bytes without byte order mark.

    Returns:
        The name of a Python codec, or ``None`` if they do not look like text.
    """
    return _detected(data[:_SAMPLE])


@lru_cache(maxsize=16)  # whether bytes are text is asked before what text they are, in each of several threads
def _detected(sample: bytes) -> str | None:
    name = _named(sample)
    return "mac-roman" if name in ("cp1252", "iso8859-15") and _is_of_mac(sample) else name


def _named(sample: bytes) -> str | None:
    import chardet
    from chardet import EncodingEra

    if sample.startswith(_ISO_2022_KR):
        return "iso2022_kr"
    if _is_damaged_utf8(sample):
        return "utf-8"
    era = EncodingEra.MODERN_WEB | EncodingEra.LEGACY_ISO  # the rest costs more wrong guesses than it brings right ones
    found = chardet.detect(sample, encoding_era=era, compat_names=False)
    if found["encoding"] is None and is_mostly_text(sample):  # a text may begin like a file of images ("BMW")
        found = chardet.detect(b"\n" + sample, encoding_era=era, compat_names=False)
    name, language = found["encoding"], found["language"]
    if name is None:
        if is_mostly_text(sample):  # "BMÜ" is no image
            return "utf-8" if _is_utf8(sample) else "cp1252"
        return next((name for name in ("utf-16-le", "utf-16-be") if _is_east_asian(sample, name)), None)
    if name.startswith("utf-16") and _is_utf8(sample) and is_mostly_text(sample):
        return "utf-8"  # two ASCII characters make a Chinese one, but Chinese text has many that are not made so
    if _TYPOGRAPHY.fullmatch(sample.translate(None, _ASCII)) is not None:
        return "cp1252"
    if (other := _of_other_scripts(sample, name)) is not None:
        return _SUPERSETS.get(other, other)
    name = _SUPERSETS.get(name, name)
    if name == "shift_jis_2004" and _is_cp932(sample):
        return "cp932"  # far more common; the other has no backslash
    if name.startswith(_EAST_ASIAN) and _TWO_IN_A_WORD.sub(b"", sample).isascii() and _is_western(sample):
        return "cp1252"
    if name in _OTHER_SCRIPTS and _HIGH_RUN.search(sample) is None:
        return "cp1252"
    if name in ("cp1250", "iso8859-2") and (
        language not in _CENTRAL_EUROPEAN
        or not _is_central_european(sample, name)
        or _is_western_as_well(sample, name, found["confidence"])
    ):
        return "cp1252"
    if name in _RARE and _is_western_as_well(sample, name, found["confidence"]):
        return "cp1252"
    unsure = found["confidence"] < _UNSURE or (name == "iso8859-4" and _C1.search(sample) is not None)
    if name in _BALTIC and unsure and _is_western(sample):
        return "cp1252"
    return name


def _of_other_scripts(sample: bytes, name: str) -> str | None:
    """Return the encoding of words in another script, where it is clearly none that was found for the whole sample.

    A detector does not notice a few such words among much ASCII (comments in code). It is asked for the Cyrillic of DOS
    alone, as it would find too much of what DOS had for other languages.
    """
    if _HIGH_RUN.search(sample) is None or name.startswith("utf"):
        return None
    lines = b"\n".join(line for line in sample.split(b"\n") if _HIGH_RUN.search(line) is not None)
    confidence = _confidence(lines, *_OTHER_SCRIPTS, *_DOS, name)
    if not confidence:  # they begin like a file of images, say
        return None
    best = max(confidence, key=lambda other: confidence[other])
    return best if confidence[best] >= max(_CERTAIN, _CLEARLY * confidence.get(name, 0.0)) else None


def _confidence(sample: bytes, *names: str) -> dict[str, float]:
    """Return how certain a detector is of each of these encodings; those that the bytes cannot be in are left out."""
    import chardet

    found = chardet.detect_all(sample, ignore_threshold=True, compat_names=False, include_encodings=names)
    return {encoding: other["confidence"] for other in found if (encoding := other["encoding"])}


def _is_western(sample: bytes) -> bool:
    """Return whether cp1252 makes nothing of the bytes but what Western languages are written with."""
    return all(char.isascii() or char in _WESTERN for char in sample.decode("cp1252", "replace").lower())


def _is_of_mac(sample: bytes) -> bool:
    """Return whether bytes that were taken for cp1252 are Mac Roman, which has letters where that has hardly any."""
    if _NOT_CP1252.search(sample) is None:
        return False
    confidence = _confidence(sample, "cp1252", "mac-roman")
    return confidence.get("mac-roman", 0.0) > confidence.get("cp1252", 0.0)


def _is_central_european(sample: bytes, name: str) -> bool:
    """Return whether there is a language that has most of the letters which the encoding makes of the bytes."""
    letters = [char for char in sample.decode(name, "ignore").lower() if not char.isascii() and char.isalpha()]
    most = max(sum(char in alphabet for char in letters) for alphabet in _CENTRAL_EUROPEAN.values())
    return bool(letters) and most >= _FITTING * len(letters)


def _is_western_as_well(sample: bytes, name: str, confidence: float) -> bool:
    """Return whether cp1252, which is far more common, fits hardly less than the encoding."""
    return _confidence(sample, name, "cp1252").get("cp1252", 0.0) >= _TIE * confidence


def looks_binary(data: bytes) -> bool:
    """Return whether these bytes are not text in any encoding."""
    if bom_encoding(data) is not None or not data:
        return False
    sample = data[:_SAMPLE]
    if b"\x00" not in sample and is_mostly_text(sample):
        try:
            sample.decode("utf-8")
            return False
        except UnicodeDecodeError as error:
            if error.start > len(sample) - 4 and len(data) > len(sample):  # cut inside a character
                return False
    return detect_encoding(data) is None


def is_mostly_text(sample: bytes) -> bool:
    """Return whether hardly any control characters are among the bytes; in a short text one or two say nothing."""
    allowed = len(sample) // 100
    if _is_utf8(sample):
        allowed = max(allowed, min(len(sample) // 16, 4))
    return len(sample) - len(sample.translate(None, _CONTROL_BYTES)) <= allowed


def _is_utf8(sample: bytes) -> bool:
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_cp932(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("cp932")().decode(sample)  # which may end inside a character
    except UnicodeDecodeError:
        return False
    return True


def _is_damaged_utf8(sample: bytes) -> bool:
    """Return whether this is UTF-8 except for a few bytes; other encodings rarely contain valid UTF-8 sequences."""
    if sample.isascii():
        return False
    whole = len(_MULTIBYTE.findall(sample))
    broken = sum(byte > 127 for byte in _MULTIBYTE.sub(b"", sample))
    return whole >= 4 and whole > 4 * broken and is_mostly_text(sample)


def _is_east_asian(sample: bytes, name: str) -> bool:
    """Return whether the bytes make sense as Chinese, Japanese or Korean in UTF-16 without byte order mark."""
    try:
        text = sample[: len(sample) // 2 * 2].decode(name)
    except UnicodeDecodeError:
        return False
    common = sum(
        "\u3000" <= char <= "\u30ff"
        or "\u4e00" <= char <= "\u9fa5"
        or "\uac00" <= char <= "\ud7a3"
        or " " <= char <= "~"
        or char in "\n\r\t\uff0c\uff01\uff1f"
        for char in text
    )
    punctuation = sum(char in "。、，．.! \n！？" for char in text)
    return len(text) >= 8 and common >= 0.97 * len(text) and punctuation > 0
