"""Files that are attached to messages."""

from __future__ import annotations

from libs.dataloader.formats import read_file
from libs.dataloader.formats.base import Content, FileData, UnreadableError, check_length, escaped, fenced, lowered
from libs.dataloader.links import LinkCollector
from libs.dataloader.text import clean_text


class Attachments:
    """Reads the attachments of a message, or of all messages of an archive.

    Args:
        file: The file with the messages.
        collector: Gets the links in the attachments.
    """

    def __init__(self, file: FileData, collector: LinkCollector) -> None:
        self._file = file
        self._collector = collector
        self._chars = 0
        # A message can be attached to one that is attached to one, and so on.
        self._limit = file.max_bytes // 2

    def read(self, name: str, data: bytes, mime_type: str) -> str:
        """Return the text of an attachment below its name as a heading; empty if it cannot be read."""
        if len(data) > self._limit or not self._file.nested.take():
            return ""
        file = FileData(path=name, data=data, max_bytes=self._limit, nested=self._file.nested)
        try:
            content, _ = read_file(file, mime_type)
            check_length(self._chars + len(content.text))
        except UnreadableError:
            return ""  # it costs only itself
        self._chars += len(content.text)
        self._collector.extend((link.target, link.text) for link in content.links)
        return f"\n\n# {clean_text(name)}\n\n{_as_markdown(content).strip()}"


def _as_markdown(content: Content) -> str:
    if content.format == "markdown":
        return lowered(content.text)
    if content.format.startswith("code:"):
        return fenced(content.text.strip("\n"), content.format.removeprefix("code:"))
    return escaped(content.text)
