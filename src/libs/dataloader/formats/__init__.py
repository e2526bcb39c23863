"""One module per family of formats, each with a function ``read(file) -> Content``."""

from __future__ import annotations

from importlib import import_module

from libs.dataloader.formats.base import Content, FileData, UnreadableError, check_length
from libs.dataloader.formats.binary_kinds import describe_binary
from libs.dataloader.formats.generated import check_written
from libs.dataloader.formats.registry import COMPRESSED, FORMATS, MARKDOWN, PDF, WIKI, Format, find_format
from libs.dataloader.manual_titles import title_with_purpose
from libs.dataloader.types import Document

__all__ = [
    "FORMATS",
    "MARKDOWN",
    "WIKI",
    "Content",
    "FileData",
    "Format",
    "UnreadableError",
    "convert",
    "read_document",
    "read_file",
]


def read_file(file: FileData, mime_type: str | None = None) -> tuple[Content, Format]:
    """Convert a file.

    Args:
        file: The file.
        mime_type: Media type that came with it, used where its name does not tell the format.

    Returns:
        What is in it, and its format.

    Raises:
        UnreadableError: if it is empty, encrypted, damaged, of no known format, made for programs, or has no text;
            with the reason.
    """
    if not file.data:
        raise UnreadableError("it is empty")
    if file.extension in COMPRESSED:
        from libs.dataloader.formats.compressed import expanded

        file = expanded(file)
    kind = find_format(file.name, file.data, mime_type)
    check_written(file, kind)
    if kind == PDF:
        from libs.dataloader.isolated import read_isolated

        content = read_isolated(file, kind)
    else:
        content = convert(file, kind)
    check_length(len(content.text))
    if content.format == MARKDOWN.reader:
        content.title = title_with_purpose(content.title, content.text)
    if not content.text.strip():
        raise UnreadableError("it has no text")
    return content, kind


def convert(file: FileData, kind: Format) -> Content:
    """Convert a file of a known format in this process.

    Raises:
        UnreadableError: with the reason, whatever it is.
    """
    reader = import_module(f"libs.dataloader.formats.{kind.reader}")
    try:
        content: Content = reader.read(file, kind)
    except UnreadableError as error:
        if error.reason == "it is binary, not text":
            raise UnreadableError(f"it is {describe_binary(file.data)}") from error
        raise
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(
            f"it is nested too deeply or too large to be converted ({type(error).__name__})"
        ) from error
    except Exception as error:
        raise UnreadableError(f"it is damaged: {type(error).__name__}: {error}") from error
    return content


def read_document(file: FileData, mime_type: str | None = None) -> Document:
    """Convert a file to a document, without a fingerprint.

    Raises:
        UnreadableError: as :func:`read_file`.
    """
    content, kind = read_file(file, mime_type)
    return Document(
        path=file.path,
        content=content.text,
        title=content.title,
        metadata=content.metadata,
        uri=file.uri,
        mime_type=content.mime_type or kind.mime_type,
        format=content.format,
        links=content.links,
        locations=content.locations,
        records=content.records,
    )
