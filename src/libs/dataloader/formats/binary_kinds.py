"""Tells what kind of binary file something is that is not read."""

from __future__ import annotations

from libs.dataloader.formats.base import UnreadableError
from libs.dataloader.formats.compound import SIGNATURE as OLE
from libs.dataloader.formats.compound import CompoundFile

_OTHER_OLE = "an old binary Office file; save it in the current format"
_OLE_KINDS = (
    ("worddocument", "an old Word document (.doc); save it as .docx"),
    ("powerpoint document", "an old PowerPoint presentation (.ppt); save it as .pptx"),
)
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\xca\xfe\xba\xbe", "Java byte code or a program"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\x00", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"ID3", "an audio file"),
    (b"fLaC", "an audio file"),
    (b"OggS", "an audio or video file"),
    (b"PAR1", "a Parquet file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\x00asm", "a WebAssembly module"),
    (b"\x1aE\xdf\xa3", "a video file"),
)
_ODF = b"mimetypeapplication/vnd.oasis.opendocument."
_OTHER_ZIPS: tuple[tuple[bytes, str], ...] = (
    (_ODF + b"graphics", "an OpenDocument drawing; save it as .pdf"),
    (b"xl/workbook.bin", "a binary Excel workbook; save it as .xlsx"),
)


def describe_binary(data: bytes) -> str:
    """Describe what kind of binary file this is, as far as its bytes tell, as the end of a sentence."""
    return binary_kind(data) or "in an unknown binary format"


def binary_kind(data: bytes) -> str | None:
    """Return what kind of binary file this is; ``None`` if its bytes do not tell."""
    if data.startswith(OLE):
        if "__substg1.0_".encode("utf-16-le") in data:
            return "an Outlook message; save it as .eml"
        names = top_names(data)
        return next((kind for name, kind in _OLE_KINDS if name in names), _OTHER_OLE)
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data[257:262] == b"ustar":
        return "a tar archive"
    if data[4:8] == b"ftyp":
        return "a video, audio or image file (MP4 family)"
    if data[:4] == b"RIFF":
        return {b"WEBP": "a WebP image", b"WAVE": "an audio file"}.get(data[8:12], "a media file")
    if data.startswith(b"PK\x03\x04"):
        return next((kind for mark, kind in _OTHER_ZIPS if mark in data), "a ZIP archive")
    return None


def top_names(data: bytes) -> frozenset[str]:
    """Return what an old Office file has in it, by name; empty if it is damaged."""
    try:
        return CompoundFile(data).names
    except UnreadableError:
        return frozenset()
